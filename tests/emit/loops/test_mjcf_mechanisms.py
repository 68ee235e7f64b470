"""Robots of MuJoCo Menagerie with closed loops, as C: against MuJoCo's own numbers with every row of every equality."""

from __future__ import annotations

import os
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.made.gripper import Case, gripper, recipe_of

from benchmarks.menagerie import file_of
from benchmarks.mujoco_twin import hinged


def second_order(errors: list[float], bars: tuple[float, float]) -> None:
    for coarse, fine in zip(errors, errors[1:], strict=False):
        assert bars[0] < coarse / fine < bars[1], errors


@pytest.mark.thorough
def test_gripper_has_its_loops_and_one_motor() -> None:
    c = gripper()
    facts = c.robot.manifest.robot
    assert c.robot.n == 7 and [mimic.name for mimic in facts.mimics] == ["right_driver_joint"]
    assert [joint.name for joint in facts.joints if joint.name not in facts.passive] == ["left_driver_joint"]
    assert c.robot.alpha.defaults[c.robot.alpha.index("spring.stiffness.left_spring_link_joint")] == 0.05
    assert c.robot.alpha.defaults[c.robot.alpha.index("rotor_inertia.left_driver_joint")] == 0.005


def test_gripper_accelerates_as_in_mujoco() -> None:
    gripper().accelerations_agree(1e-11)


def test_gripper_is_second_order_and_stays_closed() -> None:
    c = gripper()
    u = np.array([0.6 if joint.name == "left_driver_joint" else 0.0 for joint in c.robot.manifest.robot.joints])
    pd = u / 0.6
    errors = c.errors(pd, u, 0.2, (0.01, 0.005, 0.0025))
    assert errors[0] < 2e-4
    second_order(errors, (3.8, 4.2))
    P, PD = c.robot.rollout(
        np.zeros(7), c.robot.close_rates(np.zeros(7), pd), np.tile(u, (40, 1)), h=0.005, alpha=c.alpha
    )
    left = [c.robot.loop_residual(p, pd) for p, pd in zip(P, PD, strict=True)]
    assert max(np.abs(r.rows).max() for r in left) < 1e-13
    assert max(np.abs(r.row_rates).max() for r in left) < 1e-12


@pytest.mark.soak
def test_a_thrown_gripper_keeps_its_energy_to_second_order() -> None:
    """At up to 100 rad/s, through every pose that it can reach: no step is wrong and says nothing."""
    c, n = gripper(), 7
    rng, still = np.random.default_rng(5), np.zeros(n)
    for _ in range(5):
        p = c.robot.close_loops(rng.uniform(-0.5, 0.5, n), still)
        pd = c.robot.close_rates(p, 3.0 * rng.standard_normal(n))
        off = []
        for h in (0.001, 0.0005):
            P, PD = c.robot.rollout(p, pd, np.zeros((round(0.6 / h), n)), h=h, alpha=c.alpha)
            energies = [sum(c.robot.energy(*state, alpha=c.alpha)) for state in zip(P, PD, strict=True)]
            off.append(float(np.abs(np.array(energies) - energies[0]).max()))
        assert 3.0 < off[0] / off[1] < 5.5, off


def left_leg(file: Path) -> mujoco.MjModel:
    """Cassie on a fixed pelvis, without the right leg's equalities."""
    spec = hinged(mujoco.MjSpec.from_file(str(file)))
    for joint in list(spec.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            spec.delete(joint)
    for equality in list(spec.equalities):
        if "right" in equality.name1:
            spec.delete(equality)
    return spec.compile()


@pytest.mark.soak
def test_leg_of_cassie_with_its_rods() -> None:
    if "MENAGERIE_ROOT" not in os.environ:
        pytest.skip("MENAGERIE_ROOT names no checkout of MuJoCo Menagerie")
    file = file_of("agility_cassie")
    lines = f'urdf = "{file}"\nhold = ["cassie-pelvis_joint"]\n'
    lines += 'tip = ["left-foot", "left-plantar-rod", "left-heel-spring", "left-achilles-rod"]\n'
    c = Case(recipe_of("cassie_leg", lines), left_leg(file))
    assert len(c.robot.manifest.robot.loops) == 2
    c.accelerations_agree(1e-9)
    zero = np.zeros(c.robot.n)
    errors = c.errors(zero, zero, 0.1, (0.001, 0.0005, 0.00025))
    assert errors[0] < 3e-5
    second_order(errors, (3.7, 4.3))
