"""Runs of the loop on an arm that is not its model, and the promises of docs/safety.md that hold for each of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Report, StopRequest
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.limits import Limits
from support.reality import KINDS, BenchReal, Differences
from support.reality.calm_stops import Laws, by_pinocchio, generated_laws, law_of

REST = 0.05
"""rad/s of rotors at rest; links on elastic gears go on swinging for a while."""
AFTERWARDS = 1.0
"""s after a run for the robot's own timeout and servo."""


@dataclass
class Ran:
    """A run that has ended."""

    report: Report
    arm: BenchReal
    limits: Limits
    period: float

    def check(self, *, pushed: bool = False) -> None:
        """Whatever happened: finite, within effort and rate, from 1.2 × the speeds and the ends of the ways, at rest at last.

        `pushed`: something stronger than the motors may carry the arm to any speed and place.
        """
        limits, before = self.limits, None
        for time, mode, values, _, _ in self.arm.commands:
            assert np.isfinite(values).all()
            if mode is Mode.TORQUE:
                assert (np.abs(values) <= limits.effort + 1e-9).all(), (time, values)
                if before is not None:
                    steps = max(round((time - before[0]) / self.period), 1)
                    most = limits.torque_rate * self.period * steps
                    assert (np.abs(values - before[1]) <= most + 1e-9).all(), (time, values - before[1])
                before = time, values
            else:
                assert (values >= limits.lower).all() and (values <= limits.upper).all()
                before = None
        account = self.arm.robot.account
        assert account["over_limit"] == account["not_finite"] == account["while_stopped"] == 0
        if not pushed:
            assert account["fastest"] <= 1.2, f"{account['fastest']:.2f} of a speed limit"
            assert account["beyond"] < 0.0, f"{account['beyond']:.3f} rad beyond a limit"
            speed = np.abs(self.arm.real.gears.dtheta)
            assert speed.max() < REST or self.arm.robot.stopped, f"not at rest: {speed.round(3)} rad/s"


def law_named(name: str, kind: Any, q: np.ndarray, limits: Limits, seed: int, rate: float) -> dict[str, Any]:
    """The law's settings, at half of the speed limits' usual speed."""
    if name == "hold":
        return {"name": "hold"}
    share = 0.4 if rate < 200.0 else 1.0
    return law_of(name, q, np.random.default_rng(seed), limits, 0.6, share, kind)


def run_real(
    name: str, law: str | dict[str, Any], seed: int, *, rate: float = 250.0, duration: float = 1.5, robot: Robot | None = None,
    differences: Differences | None = None, at: float = 0.5, event: Callable[[BenchReal], None] | None = None,
    stop: StopRequest | None = None, arm: BenchReal | None = None, laws: tuple[Limits, Laws] | None = None, **options: Any,
) -> Ran:  # fmt: skip
    """A run of a law from the arm's ready pose; `event` happens `at` seconds after its first command."""
    kind = KINDS[name]
    told = {"kind": kind, "known": bool(seed % 2), "rotor": 0.15 if seed // 2 % 2 else 0.0}
    if laws is None:
        laws = by_pinocchio(kind.urdf(), **told) if robot is None else generated_laws(robot, **told)
    limits, made = laws
    q = np.array(kind.ready)
    setting = law_named(law, kind, q, limits, seed, rate) if isinstance(law, str) else law
    under = made(setting, limits, Settings(1.0 / rate, ramp=0.2))
    arm = arm or BenchReal(name, limits, q, differences or Differences.drawn(seed), rate=rate)
    one = Run(arm, under, RunOptions(duration=duration, allow_mismatch=True, **options), stop=stop)
    arm.in_run = lambda: one.phase.value == "run"
    if event is not None:
        arm.after(at, lambda: event(arm))
    with patch("diffpbd.runtime.loop.run.punctual", contextlib.nullcontext):
        report = one.execute()
    arm.advance(AFTERWARDS)
    return Ran(report, arm, limits, 1.0 / rate)
