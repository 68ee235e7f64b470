"""Runs and releases over ROS 2 of arms that are not their model, in lock-step: within speed limits, at rest at last."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from support.reality import KINDS, BenchReal, Differences
from support.reality.calm_stops import by_pinocchio
from support.reality.over_ros2 import RealRos2
from support.reality.runs import run_real

from diffpbd.runtime.arms.ros2.controllers import Answer
from diffpbd.runtime.arms.ros2.said import Said
from diffpbd.runtime.loop.supervisor import Settings

EVENTS: dict[str, Callable[[BenchReal], None] | None] = {
    "nothing": None,
    "a load": lambda arm: arm.real.carry(2.0),
    "silence": lambda arm: setattr(arm.bench, "fault", lambda data: None),
}
RATE = 250.0


@pytest.mark.thorough("an_fr3", "seed 1")
@pytest.mark.parametrize("seed", [None, 0, 1], ids=["on the model", "seed 0", "seed 1"])
@pytest.mark.parametrize("event", list(EVENTS))
@pytest.mark.parametrize("name", sorted(KINDS), ids=lambda name: f"an_{name}")
def test_a_run_and_its_release(name: str, event: str, seed: int | None) -> None:
    """Its own controller gets the arm in the end, which is what leaves it at rest whatever the model lacks."""
    kind = KINDS[name]
    laws = by_pinocchio(kind.urdf(), kind=kind, known=False)
    differences = Differences() if seed is None else Differences.drawn(seed)
    arm = RealRos2(name, laws[0], kind.ready, differences, rate=RATE)
    told = Answer(tuple(reversed(arm.joints)), "effort", True, "trajectory")
    model = laws[1]({"name": "gravity", "damping": [0.0] * len(kind.ready)}, laws[0], Settings(1.0 / RATE))
    arm.attach(model._gravity_model, model._brake._motion.inertial, Said(release=3.0, allow_mismatch=True), told)
    ran = run_real(name, "impedance", seed or 0, rate=RATE, arm=arm, laws=laws, event=EVENTS[event], hold=1.0)
    assert ran.report.sent > 0, ran.report
    ran.check()
