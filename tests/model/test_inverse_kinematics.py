"""`diffpbd.ik` and `diffpbd ik`: goals that are none, names, what is missed, positions that are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

import diffpbd
from diffpbd import SolverError
from diffpbd.runtime.cli import cli

ROBOT = "baxter_bare"


@pytest.fixture(scope="module")
def goal() -> tuple[Any, Any]:
    robot = loaded(ROBOT)
    p = robot.limits.lower + 0.4 * (robot.limits.upper - robot.limits.lower)
    return tuple(robot.frame_pose(p))


def test_a_pose_is_reached_in_every_spelling(goal: Any) -> None:
    robot, (x, R) = loaded(ROBOT), goal
    x_, y, z, w = pin.Quaternion(R).coeffs()
    turns = [{"rotation": rotation} for rotation in (R, R.tolist(), [w, x_, y, z], [-w, -x_, -y, -z])]
    for turn in (*turns, {"rpy": pin.rpy.matrixToRpy(R)}):
        found = diffpbd.ik(robot, position=x, **turn)
        there = robot.frame_pose(found.q)
        assert found.reached and np.abs(there.position - x).max() <= 1e-6 and np.abs(there.rotation - R).max() <= 2e-6
    (tip,) = robot.manifest.robot.frames
    assert diffpbd.ik(robot, frame=tip, position=x).rotation_miss == 0.0
    assert diffpbd.ik(robot, rotation=R, q0=np.full(robot.n, 0.1)).position_miss == 0.0


def test_a_miss_is_never_unsaid(goal: Any) -> None:
    robot = loaded(ROBOT)
    with pytest.raises(
        SolverError, match=r"did not reach the goal from 3 starts: the nearest pose misses it by 3\.\d+ m"
    ):
        diffpbd.ik(robot, position=[4.5, 0, 0], starts=3)
    found = diffpbd.ik(robot, position=[4.5, 0, 0], starts=3, strict=False)
    away = np.linalg.norm(robot.frame_pose(found.q).position - [4.5, 0, 0])
    assert not found.reached and found.position_miss == pytest.approx(away, abs=1e-9)


def test_positions_that_are_refused_lead_to_other_starts(goal: Any) -> None:
    robot, (x, R) = loaded(ROBOT), goal
    seen: list[Any] = []

    def third(q: Any) -> bool:
        assert np.abs(robot.frame_pose(q).position - x).max() <= 1e-6
        seen.append(q)
        return len(seen) == 3

    found = diffpbd.ik(robot, position=x, rotation=R, starts=40, accept=third)
    assert found.reached and len(seen) == 3 and (found.q == seen[-1]).all()
    with pytest.raises(SolverError, match="in 1 positions of 1 starts, none of which is accepted"):
        diffpbd.ik(robot, position=x, starts=1, accept=lambda _q: False)


def test_the_command(goal: Any) -> None:
    folder, (x, R) = str(generated(ROBOT)), goal

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, ["ik", folder, *words])
        return done.exit_code, done.output

    rpy = json.dumps(pin.rpy.matrixToRpy(R).tolist())
    code, text = run("--position", json.dumps(x.tolist()), "--rpy", rpy, "--json")
    there = loaded(ROBOT).frame_pose(list(json.loads(text)["positions"].values()))
    assert code == 0 and np.abs(there.position - x).max() <= 1e-6 and np.abs(there.rotation - R).max() <= 2e-6
    assert "reaches the goal" in run("--rotation", json.dumps(R.tolist()))[1]
    for words, said in (
        (("--position", "[9,0,0]"), "misses it by"), (("--position", "[9,0]"), "--position: expected three"), ((), "neither"),
        (("--rpy", "[0,0]"), "three angles"), (("--rpy", "[0,0,0]", "--rotation", "[1,0,0,0]"), "given too"),
        (("--position", '["a",0,0]'), "expected numbers in a list"), (("--position", "[NaN,0,0]"), "--position"),
    ):  # fmt: skip
        code, text = run(*words)
        assert code == (1 if said == "misses it by" else 2) and said in text
