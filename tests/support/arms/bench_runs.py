"""Runs on the bench arm: a law, a fault that begins in the run phase, and what may never happen whatever the fault."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from support.arms.bench import EFFORT, JOINTS, SPEED, Bench, BenchArm, bench_limits, gravity, inertial

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.gravity import GravityController
from diffpbd.runtime.control.laws.hold import HoldController
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.interface.controller import Controller, Mode
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import BRAKING, ReflexSettings
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Report, StopRequest
from diffpbd.runtime.loop.supervisor import Settings, Supervisor

DETECTION = 0.1  # s from the first message that carries a fault to the stop
LEAST_MOTION = 0.05  # rad from rest


def impedance(goal: tuple[float, float] = (0.3, 0.9), speed: float = 0.5) -> ImpedanceController:
    return ImpedanceController([60.0, 20.0], [6.0, 1.0], goal, goal_speed=speed)


LAWS: dict[str, Callable[[], Controller]] = {
    "hold": HoldController,
    "gravity": lambda: GravityController([0.6, 0.2]),
    "impedance": impedance,
    "moving": lambda: impedance((-0.9, 1.9), 0.7),
}
"""`moving` is under way with up to 0.7 rad/s when a fault begins half a second into the run."""


def supervisor(
    law: str | Controller, owner: GravityOwner = GravityOwner.ROBOT, rate: float = 250.0, **more: Any
) -> Supervisor:
    controller = LAWS[law]() if isinstance(law, str) else law
    limits = bench_limits(**more.pop("limits", {}))
    reflexes = more.pop("reflexes", ReflexSettings())
    return Supervisor(
        controller, limits, Settings(1.0 / rate, ramp=more.pop("ramp", 0.1), reflexes=reflexes), owner=owner,
        gravity=gravity if owner is GravityOwner.MODEL else None, motion=Motion(inertial), joints=JOINTS, **more,
    )  # fmt: skip


def run(
    law: str | Controller, *, bench: Bench | None = None, owner: GravityOwner = GravityOwner.ROBOT, rate: float = 250.0,
    states: float = 100.0, duration: float = 1.5, at: float = 0.5,
    fault: Callable[[BenchArm], None] | None = None, arm: BenchArm | None = None, options: dict[str, Any] | None = None,
    stop: StopRequest | None = None, **more: Any,
) -> tuple[Report, BenchArm]:  # fmt: skip
    """One run; `fault` changes the arm `at` seconds after the first command of the run phase."""
    arm = arm or BenchArm(bench=bench, rate=states)
    observer = more.pop("observer", None)
    under = supervisor(law, owner, rate, **more)
    one = Run(arm, under, RunOptions(duration=duration, **(options or {})), stop=stop, observer=observer)
    arm.in_run = lambda: one.phase.value == "run"
    if fault is not None:
        arm.after(at, lambda: (arm.mark(), fault(arm)))
    report = execute(one)
    arm.advance(0.4)  # the robot's own timeout
    return report, arm


def execute(one: Run) -> Report:
    """The run at the process's own priority: its clock is simulated, and nothing waits for it."""
    with patch("diffpbd.runtime.loop.run.punctual", contextlib.nullcontext):
        return one.execute()


def check(arm: BenchArm, *, pushed: bool = False, detection: float = DETECTION) -> None:
    """Assert what holds in every run: limits, rates, and how far the arm moves once there is a fault."""
    speed = np.array(SPEED)
    if not pushed:
        assert (np.array(arm.fastest) <= 1.2 * speed).all(), arm.fastest
        assert max(arm.furthest) < 0.0, arm.furthest
    before = None
    for _, mode, values, q, dq in arm.commands:
        assert np.isfinite(values).all()
        if mode is Mode.TORQUE:
            assert (np.abs(values) <= np.array(EFFORT) + 1e-9).all()
            if before is not None and before[0] is Mode.TORQUE:
                assert (np.abs(values - before[1]) <= arm.step + 1e-9).all()
        elif before is not None and before[0] is Mode.TORQUE:
            # No position step, and none at speed; a push may be stronger than the brake.
            assert np.abs(values - q).max() < 0.06
            assert pushed or np.abs(dq).max() <= 0.1, dq
        before = mode, values
    if arm.marked is None:
        return
    _, q, dq = arm.marked
    moved = np.abs(np.array(arm.trace) - q).max(axis=0)
    v = np.abs(dq)
    allowed = np.maximum(v * detection + 0.5 * v**2 * BRAKING / speed, LEAST_MOTION)
    if not pushed:
        assert (moved <= allowed).all(), (moved, allowed, dq)


def stopped_after(arm: BenchArm) -> float:
    """s from the fault to the last command of the law: braking and holding come after it."""
    assert arm.marked is not None and arm.last_law is not None
    return arm.last_law - arm.marked[0]
