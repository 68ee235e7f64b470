"""Runs of the generated arm on seven joints by pinocchio, by a clock that only the loop moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Report
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.records.messages import Tick
from support.arms.bench import Bench
from support.arms.bench_baxter import BenchBaxter
from support.arms.bench_runs import execute
from support.reality import BenchReal, Differences
from support.robots import loaded

REST = [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]
SPRING = {"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514}


PLANTS = pytest.mark.parametrize(
    "differences",
    [None, *(Differences.drawn(seed, load=0.0) for seed in (0, 1))],
    ids=["on the model", "seed 0", "seed 1"],
)
"""The arm as its model has it, and two of the reality bench with nothing in the hand."""


def run_of(
    law: dict[str, Any], rate: float, duration: float, *, owner: GravityOwner = GravityOwner.MODEL, bench: Bench | None = None,
    kind: type[Run] = Run, log: Path | None = None, observer: Callable[[Tick], None] | None = None, name: str = "baxter_bare",
    differences: Differences | None = None, make: Callable[..., BenchBaxter] = BenchBaxter,
) -> tuple[Run, BenchBaxter, Recorder | None]:  # fmt: skip
    """A run of the generated robot `name` that has not begun, its arm, and its log if there is one; with `differences` the
    arm is one of the reality bench, else what `make` makes."""
    robot = loaded(name)
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, owner, robot.alpha.vector(SPRING), limits_of(robot),
        Settings(1.0 / rate, ramp=0.2),
    )  # fmt: skip
    recorder = None if log is None else Recorder(log, configuration.to_json(), robot.joints)
    if differences is None:
        arm = make(str(find_description(name)), configuration.limits, REST, bench or Bench(), rate=rate)
    else:
        arm = BenchReal("baxter", configuration.limits, REST, differences, rate=rate, bench=bench)
    options = RunOptions(duration=duration, allow_mismatch=differences is not None)
    run = kind(arm, configuration.supervisor(robot), options, recorder=recorder, observer=observer)
    arm.in_run = lambda: run.phase.value == "run"
    return run, arm, recorder


def executed(run: Run, recorder: Recorder | None = None) -> Report:
    report = execute(run)
    if recorder is not None:
        recorder.close()
    return report


def check_account(arm: BenchBaxter) -> None:
    """Nothing over a limit, not finite, with gravity twice or to a stopped robot."""
    account = arm.robot.account
    assert account["over_limit"] == account["not_finite"] == account["gravity_twice"] == account["while_stopped"] == 0
