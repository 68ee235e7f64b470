"""Friction laws beyond the plain one, with limits, closed loops, contact and a floating base: derivatives, energy, momentum.

Judged by SciPy on the equations of the mechanism without the law, by what internal forces cannot change, and by counts of
violent steps of which none may be refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from support import mechanisms
from support.free_flyer import position
from support.judges.properties import Scene, properties_of
from support.numeric import Array
from support.robots import generated

from diffpbd.runtime import Robot, load

FUNCTIONS = ("joint_step", "jac_alpha_joint_step", "forward_dynamics")
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0.02"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial>{}</link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.2 0 0"/><axis xyz="{}"/>
<limit lower="-1.2" upper="1.2" effort="20" velocity="5"/></joint>"""
BALL = '<collision><origin xyz="0.25 0 0"/><geometry><sphere radius="0.05"/></geometry></collision>'
FRICTION, DRAG, WAY, HELD = 0.6, 0.1, 0.02, 0.3
LAWS = {
    "dahl": {"coulomb": FRICTION, "viscous": DRAG, "way": WAY, "deflection": HELD},
    "stribeck": {"coulomb": FRICTION, "viscous": DRAG, "stribeck": 0.3, "stribeck_velocity": 0.2},
    "asymmetric": {"coulomb": FRICTION, "viscous": DRAG, "coulomb_asymmetry": 0.2, "viscous_asymmetry": 0.05},
}
SIZES = {"friction.way": 1e-6, "friction": 1e-4}


def two_links(folder: Path, law: str, kind: str) -> Robot:
    """A double pendulum whose joints end at 1.2 rad, whose ball meets the floor, or a free body with a hinge and a slide."""
    file = folder / f"{kind}.urdf"
    bodies = LINK.format("b", "") + LINK.format("c", BALL)
    if kind == "floating":
        text = f"{bodies}{LINK.format('d', '')}{JOINT.format('j1', 'revolute', 'b', 'c', '0 1 0')}"
        text += JOINT.format("j2", "prismatic", "c", "d", "0 0 1")
        options: dict[str, object] = {"base_joint": "floating"}
    else:
        text = f'<link name="w"/>{bodies}{JOINT.format("j1", "revolute", "w", "b", "0 1 0")}'
        text += JOINT.format("j2", "revolute", "b", "c", "0 1 0")
        options = {"limits": True} | ({"contact_from_collision": ["c"], "ground": -0.3} if kind == "contact" else {})
    file.write_text(f'<robot name="{kind}">{text}</robot>', encoding="utf-8")
    return load(generated(str(file), friction_law=[law], functions=FUNCTIONS[:2], **options))


def rubbing(robot: Robot, law: str, **more: float) -> Array:
    entries = {**LAWS[law], **more}
    own = (name for name in robot.alpha.names if name.removeprefix("friction.").rpartition(".")[0] in entries)
    return robot.alpha.vector({name: entries[name.removeprefix("friction.").rpartition(".")[0]] for name in own})


def touching(robot: Robot) -> float:
    """Angle of the first joint at which the ball touches, the second at 0.3 rad."""
    return float(brentq(lambda q: float(robot.contact_gap([q, 0.3])[0]), 0.2, 0.8))


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        ("dahl", "limits"),
        ("dahl", "contact"),
        ("dahl", "floating"),
        ("stribeck", "floating"),
        ("asymmetric", "floating"),
    ],
)
def test_every_derivative_of_the_step(tmp_path: Path, law: str, kind: str) -> None:
    robot = two_links(tmp_path, law, kind)
    alpha, rng = rubbing(robot, law), np.random.default_rng(0)
    if kind == "floating":
        scenes = [(position(rng, 2), rng.uniform(-1.0, 1.0, 8), 0.1 * rng.uniform(-1.0, 1.0, 8))]
    elif kind == "limits":
        scenes = [([0.3, -0.2], [1.0, 2.0], [0.1, 0.2]), ([0.3, 1.195], [1.0, 2.0], [0.1, 0.2])]
    else:
        scenes = [([touching(robot) - 0.002, 0.3], [1.0, 1.0], [0.1, 0.2])]
    for scene in scenes:
        properties_of(Scene(robot, *map(np.array, scene), alpha, 0.01), SIZES, graph=None)
    if kind == "limits":
        assert robot.joint_step(*scenes[1], 0.01, alpha).p_next[1] == pytest.approx(1.2, abs=1e-3)


def carried(robot: Robot, alpha: Array, pd: Array, h: float) -> Array:
    found = alpha.copy()
    found[list(robot.alpha.indices("friction.deflection"))] = robot.deflection_next(pd, h, alpha)
    return found


def test_no_violent_step_is_refused(tmp_path: Path) -> None:
    """What a deflection gives back is counted in the balance of energy that a step is judged by."""
    robot = two_links(tmp_path, "dahl", "contact")
    rng, top, count = np.random.default_rng(1), touching(robot), 0
    while count < 4000:
        alpha = rubbing(robot, "dahl", coulomb=1.0, deflection=rng.uniform(-1.0, 1.0))
        p, pd = np.array([rng.uniform(-1.0, top), rng.uniform(-0.5, 1.1)]), rng.uniform(-8.0, 8.0, 2)
        if robot.contact_gap(p)[0] < 0.0:
            continue
        for _ in range(40):
            p, pd = robot.joint_step(p, pd, rng.uniform(-3.0, 3.0, 2), 0.01, alpha)
            alpha, count = carried(robot, alpha, pd, 0.01), count + 1


def test_energy_falls_between_stops(tmp_path: Path) -> None:
    """Kinetic energy, weight and that of the deflections, ½ f (s + h v) z², of an arm that falls onto its stops."""
    robot, h = two_links(tmp_path, "dahl", "limits"), 2e-3
    alpha = rubbing(robot, "dahl")
    places, transition = list(robot.alpha.indices("friction.deflection")), 0.01
    p, pd, energies = np.array([-0.5, 0.4]), np.zeros(2), []
    for _ in range(600):
        p, pd = robot.joint_step(p, pd, np.zeros(2), h, alpha)
        alpha = carried(robot, alpha, pd, h)
        stored = 0.5 * FRICTION * (WAY + h * transition) * float((alpha[places] ** 2).sum())
        energies.append(sum(map(float, robot.energy(p, pd, alpha))) + stored)
    assert np.diff(energies).max() < 1e-5  # J of 5.4, of a step of second order
    assert p[0] == pytest.approx(1.2, abs=1e-3)


def test_a_closed_loop_is_that_of_the_equations() -> None:
    """Dahl's equations beside those of the four-bar without friction; the error falls with the step."""
    made = mechanisms.in_cache(mechanisms.four_bar(), "four_bar_beside", sources="mechanisms")
    robot = load(generated(str(made), friction_law=["dahl"], functions=FUNCTIONS))
    plain = load(generated(str(made), functions=FUNCTIONS))
    driven = np.array([1.0, 0.0, 0.0])
    p = robot.close_loops(np.array([0.9, -0.483, 1.1991]), driven)
    pd, u, end = robot.close_rates(p, driven), np.array([2.0, 0.0, 0.0]), 0.4

    def rate(_: float, x: Array) -> Array:
        q, dq, z = x[:3], x[3:6], x[6:]
        turned = dq / WAY - np.abs(dq) / WAY * z
        return np.r_[dq, plain.forward_dynamics(q, dq, u - FRICTION * z - DRAG * dq), turned]

    true = solve_ivp(rate, (0.0, end), np.r_[p, pd, np.full(3, HELD)], rtol=1e-9, atol=1e-11).y[:3, -1]
    off = []
    for h in (1e-3, 5e-4):
        q, dq, alpha = p, pd, rubbing(robot, "dahl", transition_velocity=1e-3)
        for _ in range(round(end / h)):
            q, dq = robot.joint_step(q, dq, u, h, alpha)
            alpha = carried(robot, alpha, dq, h)
        off.append(float(np.abs(q - true).max()))
    assert off[1] < 2e-3 and off[0] / off[1] == pytest.approx(2.0, rel=0.3)


@pytest.mark.parametrize("law", ["dahl", "stribeck"])
def test_friction_inside_a_free_body_changes_no_momentum(tmp_path: Path, law: str) -> None:
    robot, h, steps = two_links(tmp_path, law, "floating"), 5e-3, 100
    alpha, rng = rubbing(robot, law), np.random.default_rng(2)
    p, pd = position(rng, 2), rng.uniform(-1.0, 1.0, 8)

    def momentum(p: Array, pd: Array) -> Array:
        """Of three links of 1 kg; `fk` gives place, velocity, quaternion and rate of each (13)."""
        return np.reshape(robot.fk(p, pd, alpha), (-1, 13))[-3:, 3:6].sum(axis=0)

    before, inside = momentum(p, pd), np.abs(pd[6:]).max()
    for _ in range(steps):
        p, pd = robot.joint_step(p, pd, np.zeros(8), h, alpha)
        alpha = carried(robot, alpha, pd, h) if law == "dahl" else alpha
    np.testing.assert_allclose(momentum(p, pd) - before, [0.0, 0.0, -9.81 * 3.0 * h * steps], atol=1e-9)
    assert np.abs(pd[6:]).max() < 0.5 * inside
