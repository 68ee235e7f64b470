"""Mechanisms that move by their dimensions alone: rows stay regular along the motion, forces are pinocchio's."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.judges.closed import Judge
from support.robots import CACHE, generated
from support.small.overclosed import rockers, wheels

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.graph.loops.build import probe
from diffpbd.codegen.graph.loops.poses import CLOSED, close
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError

LIMIT = '<limit lower="0.2" upper="2.9" effort="1000" velocity="1000"/>'
MADE = {"wheels": wheels, "rockers": lambda: rockers(LIMIT)}


@cache
def made(name: str) -> tuple[Robot, Judge]:
    path = MADE[name]().write(CACHE / "mechanisms", name)
    robot = load(generated(str(path), functions=("joint_step", "jac_forward_dynamics")))
    return robot, Judge(path.with_suffix(".urdf"), read_robot(find_recipe(str(path))))


def turned(name: str, angle: float, rate: float) -> tuple[Any, Any]:
    """The closed form: everything turns as the first joint, the bars stay level."""
    robot, _ = made(name)
    sign = np.array([-1.0 if joint in ("pl", "pr", "jb") else 1.0 for joint in robot.joints])
    return sign * angle, sign * rate


@pytest.mark.thorough("rockers")
@pytest.mark.parametrize("name", MADE)
def test_all_along_the_motion(name: str) -> None:
    """Accelerations, their Jacobian along the motion and a step, where one row or another says nothing."""
    robot, judge = made(name)
    angles = np.linspace(0.0, 2 * np.pi, 25) if name == "wheels" else np.linspace(0.2, 2.9, 15)
    u = np.array([1.0, 0.3, -0.2, 0.1])
    for angle in [*angles, np.pi / 2, np.pi / 2 + 1e-6, np.pi / 2 - 1e-9]:
        p, pd = turned(name, angle, 2.0)
        wanted = judge.acceleration(p, pd, u)
        np.testing.assert_allclose(robot.forward_dynamics(p, pd, u), wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
        np.testing.assert_allclose(robot.close_rates(p, pd), pd, rtol=0, atol=1e-12)
        J = robot.jac_forward_dynamics(p, pd, u)
        e = 1e-5
        ends = [judge.acceleration(*turned(name, angle + s * e, 2.0), u) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * e)
        way, _ = turned(name, 1.0, 0.0)
        np.testing.assert_allclose(J.dpdd_dp @ way, slope, rtol=0, atol=1e-6 * max(np.abs(slope).max(), 1.0))


def test_wheels_roll_through_every_dead_centre() -> None:
    """Three of four rows count, no three of them everywhere: they are chosen at every pose. Second order, derivatives too."""
    robot, judge = made("wheels")
    kept = [row for loop in robot.manifest.robot.loops for row in loop.kept]
    assert sorted(kept) == ["left_pin.gap_x", "left_pin.gap_z", "right_pin.gap_x", "right_pin.gap_z"]
    p, pd = turned("wheels", 0.4, 9.0)
    u = np.array([0.5, 0.0, 0.0, 0.0])
    wanted, errors = judge.swing(p, pd, u, 1.0), []
    for steps in (200, 400):
        P, PD = robot.rollout(p, pd, np.tile(u, (steps, 1)), h=1.0 / steps)
        left = robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < 1e-12
        assert np.abs(left.row_rates).max() < 1e-10
        errors.append(np.abs(P[-1] - wanted[:4]).max())
    assert P[-1, 0] > 2 * np.pi
    assert 3.8 < errors[0] / errors[1] < 4.2
    J, e = robot.jac_joint_step(p, pd, u, h=0.005), 1e-6
    ways = [robot.joint_step(*turned("wheels", 0.4 + s * e, 9.0), u, h=0.005) for s in (1, -1)]
    way, _ = turned("wheels", 1.0, 0.0)
    np.testing.assert_allclose(J.dp_next_dp @ way, (ways[0].p_next - ways[1].p_next) / (2 * e), rtol=0, atol=1e-7)
    np.testing.assert_allclose(J.dpd_next_dp @ way, (ways[0].pd_next - ways[1].pd_next) / (2 * e), rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def triple(shared: Path) -> tuple[Robot, Judge]:
    """C02: three rockers that hang, in the file's own order of joints."""
    recipe = shared / "cases" / "C02-dropped-rows-open" / "triple.toml"
    described = read_robot(find_recipe(str(recipe)))
    return load(generated(str(recipe), functions=("joint_step",))), Judge(recipe.with_suffix(".urdf"), described)


LEVEL = np.array([1.0, -1.0, 1.0, 1.0])
"""How the joints of C02 turn."""


def test_rockers_swing_through_the_middle_for_minutes(triple: tuple[Robot, Judge]) -> None:
    """A run that ended in a status while rows were kept that depend on each other there."""
    robot, _ = triple
    for rate in (0.0, 0.3, 1.0, 2.0):
        P, PD = robot.rollout(1.2 * LEVEL, rate * LEVEL, np.zeros((12_000, 4)), h=0.01)
        left = robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < 1e-13
        assert np.abs(left.row_rates).max() < 1e-11
        assert P[:, 0].min() < np.pi / 2 < P[:, 0].max()


def test_close_loops_keeps_off_poses_where_nothing_is_told(triple: tuple[Robot, Judge], count: Any) -> None:
    """From all over the limits the closed pose is on the motion, and what moves there is the judge's."""
    robot, judge = triple
    rng = np.random.default_rng(3)
    for p in [[1.56859051, -0.57822804, 0.30634786, 1.15171223], *rng.uniform(-1.5, 1.5, (count(60, 2000), 4))]:
        q = robot.close_loops(p, np.zeros(4))
        assert np.abs((q - q[0] * LEVEL + np.pi) % (2 * np.pi) - np.pi).max() < 1e-9
        if abs(np.sin(q[0])) > 1e-3:
            pd = robot.close_rates(q, LEVEL)
            np.testing.assert_allclose(pd, pd[0] * LEVEL, rtol=0, atol=1e-9)
            wanted = judge.acceleration(q, pd, np.zeros(4))
            found = robot.forward_dynamics(q, pd, np.zeros(4))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


def test_a_closed_pose_that_tells_nothing_is_said(triple: tuple[Robot, Judge], shared: Path) -> None:
    """Poses nearly stretched out that are closed to 1e-12 m and on no motion: least changes alone end there."""
    robot, _ = triple
    found = find_recipe(str(shared / "cases" / "C02-dropped-rows-open" / "triple.toml"))
    rows, _ = probe(read_robot(found), found)
    rng, seen, still = np.random.default_rng(5), 0, np.zeros(4)
    for guess in rng.uniform(-1.5, 1.5, (40, 4)):
        p, left = close(rows, guess)
        if left > CLOSED or abs(np.sin(p[0])) > 1e-5:
            continue
        seen += 1
        for asked in (robot.close_rates, lambda p, pd: robot.forward_dynamics(p, pd, still)):
            with pytest.raises(SolverError, match="status 10"):
                asked(p, LEVEL)
        try:
            P, PD = robot.rollout(p, 0.1 * LEVEL, np.zeros((20, 4)), h=0.01)
        except SolverError as error:
            assert re.search(r"status 1[07]", str(error))
            continue
        assert np.abs(robot.loop_residual(P, PD).rows).max() < 1e-9
        off = P - P[:, :1] * LEVEL
        assert np.abs((off + np.pi) % (2 * np.pi) - np.pi).max() < 1e-5  # it has come upon the motion
    assert seen > 5
