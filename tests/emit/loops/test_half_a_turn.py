"""Loops whose rows turn: closed poses are closed by the angle of the logarithm, and none of them half a turn off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.robots import generated

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.graph.loops.build import build, probe
from diffpbd.codegen.graph.loops.poses import CLOSED, close
from diffpbd.runtime import load

CASE = Path("cases/C03-weld-half-a-turn-off")
PLANE = '<mujoco><compiler angle="radian"/><worldbody>{}</worldbody><equality>{}</equality></mujoco>'


def turn(p: Any) -> float:
    """The angle [rad] of a chain of hinges about one axis, between minus and plus half a turn."""
    return float(np.abs((np.sum(p) + np.pi) % (2 * np.pi) - np.pi))


def test_slider_closes_and_moves_upright(shared: Path) -> None:
    """From all over a turn; a rollout then moves on the rail, upright, in both stages closed to rounding."""
    robot = load(generated(str(shared / CASE / "slidecut.toml"), functions=("joint_step",)))
    rng = np.random.default_rng(1)
    for guess in rng.uniform(-3, 3, (300, 3)):
        p = robot.close_loops(guess, np.zeros(3))
        assert turn(p) < 1e-12
    crank, rod = p[0], p[0] + p[1]
    assert abs(-0.2 * np.sin(crank) - 0.55 * np.sin(rod) - 0.05) < 1e-12
    pd = robot.close_rates(p, [3.0, 0.0, 0.0])
    P, PD = robot.rollout(p, pd, np.zeros((100, 3)), h=0.005)
    assert max(turn(x) for x in P) < 1e-12
    assert np.abs(PD.sum(axis=1)).max() < 1e-11
    assert np.ptp(P[:, 0]) > 0.3


def test_weld_closes_by_its_logarithm_from_everywhere(shared: Path) -> None:
    found = find_recipe(str(shared / CASE / "weld4.toml"))
    rows, _ = probe(read_robot(found), found)
    for guess in np.random.default_rng(2).uniform(-3, 3, (100, 4)):
        p, left = close(rows, guess)
        assert left < CLOSED
        assert turn(p) < 1e-12


def test_weld_that_half_a_turn_alone_would_close_is_refused(shared: Path) -> None:
    found = find_recipe(str(shared / CASE / "weld4bad.toml"))
    with pytest.raises(DescriptionError, match=r'loop "w" does not close: nearest pose has a gap of 0.503 rad'):
        build(read_robot(found), found)


def test_weld_of_an_mjcf_holds_what_its_relpose_says(tmp_path: Path) -> None:
    """By MuJoCo's own places of bodies, of a chain about the axis of the relative turn; about another one it is refused."""
    for axis, closes in (("1 2 3", True), ("0 1 0", False)):
        chain = ""
        for k in reversed(range(4)):
            at, inertia = "0.3 0 0" if k else "0 0 0", '<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
            chain = f'<body name="b{k}" pos="{at}"><joint name="j{k}" axis="{axis}"/>{inertia}{chain}</body>'
        weld = '<weld body1="b0" body2="b3" relpose="0.5 0 -0.16 0.9 0.1 0.2 0.3"/>'
        path = tmp_path / "chain.xml"
        path.write_text(PLANE.format(chain, weld))
        data = mujoco.MjData(mujoco.MjModel.from_xml_path(str(path)))
        found = find_recipe(str(path))
        rows, _ = probe(read_robot(found), found)
        turned = Rotation.from_quat([0.1, 0.2, 0.3, 0.9])
        for guess in np.random.default_rng(3).uniform(-3, 3, (20, 4)):
            p, _ = close(rows, guess)
            data.qpos[:] = p
            mujoco.mj_kinematics(data.model, data)
            one, other = (Rotation.from_matrix(data.body(name).xmat.reshape(3, 3)) for name in ("b0", "b3"))
            angle = (turned.inv() * one.inv() * other).magnitude()
            assert angle < 1e-7 if closes else angle > 1e-2
