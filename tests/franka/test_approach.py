"""The speed limits that shrink: the figures against the driver's own robot, and a run that is kept below them."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from support.arms.lone_fr3 import Lone

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.approach import APPROACH
from diffpbd.runtime.arms.franka.simulator import READY_POSE
from diffpbd.runtime.loop.replay import replay
from diffpbd.runtime.loop.stopping import Reason

from .conftest import LAWS, drive

JOINTS = tuple(f"fr3_joint{k}" for k in range(1, 8))


def test_they_are_within_what_the_drivers_robot_says_of_itself() -> None:
    """A newer system has limits of its own in its description: ours are at most 2.5 % above them, at every angle."""
    spec = importlib.util.find_spec("franky_sim")
    assert spec is not None and spec.origin is not None
    tree = ElementTree.parse(Path(spec.origin).parent / "assets" / "fr3_clean.urdf")
    robot = resolve("fr3")[1]
    ours = {joint.name: joint for joint in robot.joints if joint.name in JOINTS}
    for k, name in enumerate(JOINTS):
        element = tree.find(f".//joint[@name='{name.removeprefix('fr3_')}']")
        assert element is not None
        limit, own = element.find("limit").attrib, element.find("position_based_velocity_limits").attrib
        assert float(own["deceleration_limit"]) == APPROACH.deceleration[k]
        assert ours[name].lower >= APPROACH.lower[k] and ours[name].upper <= APPROACH.upper[k]
        for q in np.linspace(ours[name].lower, ours[name].upper, 200):
            for way, here in (
                (float(limit["upper"]) - q, APPROACH.upper - q),
                (q - float(limit["lower"]), q - APPROACH.lower),
            ):
                theirs = np.sqrt(2.0 * APPROACH.deceleration[k] * max(way, 0.0)) - float(own["velocity_offset"])
                found = min(APPROACH.towards(here)[k], float(limit["velocity"]))
                assert found <= max(1.025 * theirs, 0.05), (name, q, found, theirs)
                assert theirs - found < 0.95 or theirs > float(limit["velocity"]), (name, q, found, theirs)


@pytest.mark.thorough
def test_the_guard_keeps_an_arm_below_them(alone: Lone, fr3: Robot, tmp_path: Path) -> None:
    """Springs lead joint four towards its lower end at 1.6 rad/s: the guard brakes it, and the log knows why."""
    log, worst, before = tmp_path / "run.bag", {}, LAWS["impedance"] | {"goal": list(READY_POSE), "goal_speed": 0.8}
    for approach in (APPROACH, None):
        goal = [None, None, None, -2.98, None, None, None]
        law = LAWS["impedance"] | {"goal": goal, "goal_speed": 1.6, "stiffness": [400.0] * 4 + [60.0, 60.0, 20.0]}
        ran = drive(alone, law, rate=1000.0, share=1.0, approach=approach, duration=0.8, log=log if approach else None)
        worst[approach is None] = max(
            (-dq[3] / APPROACH.towards(q - APPROACH.lower)[3] for q, dq in zip(ran.q, ran.dq, strict=True))
        )
        assert drive(alone, before, rate=250.0, share=1.0, duration=1.2).report.reason is Reason.FINISHED
        if approach:
            assert ran.report.reason is Reason.FINISHED, str(ran.report)
            assert abs(ran.q[-1][3] + 2.98) < 0.05
    assert worst[False] < 1.0 < 1.2 < worst[True], worst
    assert replay(log, fr3).difference == ""
