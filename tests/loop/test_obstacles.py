"""Obstacles around an arm in a run: goals, starts, the reflex COLLISION and plans; and what a log says came nearest."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.planning.around_a_ball import BALL, GOAL, LEAST, START, H, apart, planar

from diffpbd.runtime import Robot, load
from diffpbd.runtime.arms.attached import kind_of
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.commands.results.motion import nearest_of_log
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.mpc.controller import MpcController
from diffpbd.runtime.records.messages import Header, Tick

INTO = np.array([0.5, 0.5])
"""[rad] A pose in the ball."""
PLAN = {
    "name": "mpc",
    "horizon": 15,
    "goal": GOAL.tolist(),
    "goal_speed": 1.4,
    "clearance": LEAST,
    "clearance_hard": True,
}
STIFF = {"name": "impedance", "stiffness": [1.0] * 2, "damping": [1.0] * 2, "goal": GOAL.tolist(), "goal_speed": 0.2}


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load(planar(tmp_path_factory.mktemp("planar")))


def made(arm: Robot, law: dict[str, Any], placed: bool = True) -> Configuration:
    """By way of a log."""
    alpha, limits = arm.alpha.defaults, limits_of(arm, torque_share=1.0)
    around = {"spheres": [BALL.tolist()]} if placed else {}
    asked = Configuration(
        arm.name, arm.manifest.abi_hash, arm.joints, law, GravityOwner.MODEL, alpha, limits, Settings(H),
        clearance=LEAST if placed else None, obstacles=around,
    )  # fmt: skip
    return Configuration.from_json(json.loads(json.dumps(asked.to_json())))


def test_a_start_and_a_goal_in_an_obstacle_are_refused(arm: Robot) -> None:
    assert apart(INTO) < 0.0 < LEAST < apart(START)
    for placed in (True, False):
        asked = made(arm, {**STIFF, "goal": INTO.tolist()}, placed)
        words = asked.supervisor(arm).refusal(INTO, np.zeros(2))
        assert ("and spheres 0 are" in words) == placed, words
        assert asked.supervisor(arm).refusal(START, np.zeros(2)) == ""
        if placed:
            with pytest.raises(InputError, match="The goal cannot be reached: .* and spheres 0 are .* into each other"):
                asked.check_goals(arm)
        else:
            asked.check_goals(arm)


@pytest.mark.parametrize("placed", [True, False])
def test_the_controllers_plans_keep_away(arm: Robot, placed: bool) -> None:
    controller = made(arm, PLAN, placed).supervisor(arm).controller
    assert isinstance(controller, MpcController)
    assert controller.mpc.problem.horizon == 15
    p, pd, poses = START.copy(), np.zeros(2), []
    controller.start(p)
    for k in range(100):
        hold = np.zeros(2)  # the arm lies in a plane
        law = controller.output(k * H, p, pd)
        controller.sent(law)
        p, pd = arm.joint_step(p, pd, law + hold, H)
        poses.append(p)
    assert abs(poses[-1] - GOAL).max() < 0.02
    least = min(map(apart, poses))
    assert least > LEAST if placed else least < -0.02


def test_the_command_hands_them_over(arm: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Configuration] = []

    @contextlib.contextmanager
    def attach(robot: Robot, configuration: Configuration, options: object) -> Iterator[Any]:
        seen.append(configuration)
        yield SimpleNamespace(configuration=configuration)

    kind = dataclasses.replace(kind_of(arm, {"ros2": True}), attach=attach, expect=lambda options: None)
    monkeypatch.setattr("diffpbd.runtime.commands.run.kind_of", lambda *_: kind)
    ball = f"sphere={','.join(map(str, BALL))}"
    words = ["run", str(arm.folder), "--ros2", "--gravity", "model", "--obstacle", ball]
    into = ["--goal", json.dumps(dict(zip(arm.joints, INTO.tolist(), strict=True)))]
    for law, more in (("mpc", ["--clearance", "0.02"]), ("impedance", [])):
        found = CliRunner().invoke(cli, [*words, "--controller", law, *more, *into])
        assert found.exit_code == 1 and "and spheres 0 are" in found.output, found.output
        assert seen[-1].obstacles == {"spheres": [BALL.tolist()]}
        assert seen[-1].clearance == (0.02 if more else 0.0)
    found = CliRunner().invoke(
        cli, [*words, "--controller", "hold"]
    )  # there is no arm, but what is not watched is said
    assert "not watched, touch by their make, in 95 % of poses or more: lower and upper" in found.output
    found = CliRunner().invoke(cli, [*words, "--controller", "mpc", *into])
    assert found.exit_code == 2 and "--clearance M" in found.output
    found = CliRunner().invoke(cli, [*words, "--obstacle", ball])
    assert found.exit_code == 1 and "2 are given, planar was generated with 1" in found.output


def test_a_log_says_what_came_nearest(arm: Robot, tmp_path: Path) -> None:
    for placed, far in ((True, False), (False, True)):
        setup, zero = made(arm, STIFF, placed), np.zeros(2)
        recorder = Recorder(tmp_path / f"{placed}.csv", setup.to_json(), arm.joints)
        recorder.open()
        way = START + np.linspace(0.0, 0.6, 41)[:, None] * (GOAL - START)
        for k, q in enumerate(way):
            stamp = Header(0, (0, round(1e7 * k)), "")
            recorder.tick(Tick(stamp, 0.01 * k, 0.0, 3, 0, arm.joints, q, zero, zero, zero, zero, zero, ""))
        recorder.close()
        text, facts = nearest_of_log(arm, str(tmp_path / f"{placed}.csv"))
        if far:  # no links that could touch each other, and nothing around them
            assert (text, facts) == ("", {})
            continue
        least = [apart(q) for q in way]
        near = facts["nearest"]
        assert near["distance"] == pytest.approx(min(least), abs=1e-9) and near["between"][1] == "spheres 0"
        assert near["time"] == pytest.approx(0.01 * int(np.argmin(least)))
        inside = sum(x < 0.0 for x in least)
        assert near["touching_samples"] == inside and f"in {inside} of 41 samples" in text
