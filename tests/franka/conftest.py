"""The generated FR3, and runs of it against the simulated robot in lock-step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arms.lone_fr3 import Lone, lone
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.arms.franka.approach import APPROACH
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Report, StopRequest
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.limits import Approach

pytest.importorskip("franky")
pytest.importorskip("franky_sim")

STIFFNESS = [200.0, 200.0, 200.0, 200.0, 60.0, 60.0, 20.0]
DAMPING = [20.0, 20.0, 20.0, 20.0, 4.0, 4.0, 1.5]
LAWS: dict[str, dict[str, Any]] = {
    "hold": {"name": "hold"},
    "gravity": {"name": "gravity", "damping": [0.2 * d for d in DAMPING]},
    "impedance": {
        "name": "impedance", "stiffness": STIFFNESS, "damping": DAMPING, "goal": [None] * 7, "goal_speed": 0.5,
    },
    "cartesian": {
        "name": "cartesian", "stiffness": [400.0, 400.0, 400.0, 20.0, 20.0, 20.0], "offset": [0.0, 0.0, 0.0],
        "damping_ratio": 0.7, "speed": 0.1, "damping": DAMPING, "posture": [0.2 * k for k in STIFFNESS],
    },
    "mpc": {
        "name": "mpc", "horizon": 20, "delay": 0, "goal_speed": 0.5, "weights": None, "goal": [None] * 7, "disturbance": 0.05,
        "reference": None,
    },
}  # fmt: skip


@pytest.fixture(scope="session")
def fr3_folder() -> Path:
    """Few functions: a run and an identification need no more."""
    return generated("fr3", functions=("mpc", "torque_terms"), variants=())


@pytest.fixture(scope="session")
def fr3(fr3_folder: Path) -> Robot:
    return load(fr3_folder)


@pytest.fixture(scope="module")
def alone(fr3: Robot) -> Iterator[Lone]:
    """A simulated robot that the tests of a file share; each run begins where the last one ended."""
    with lone(fr3) as robot:
        yield robot


@dataclass
class Ran:
    """A run's report, and where the robot really was in each of its ticks."""

    report: Report
    supervisor: Any
    times: list[float] = field(default_factory=list)
    q: list[np.ndarray] = field(default_factory=list)
    dq: list[np.ndarray] = field(default_factory=list)
    torques: np.ndarray = field(default_factory=lambda: np.empty((0, 7)))
    """What the robot was commanded a millisecond; NaN while no motion ran."""

    @property
    def largest_step(self) -> float:
        """N·m between two milliseconds of a motion."""
        steps = np.abs(np.diff(self.torques, axis=0))
        return float(np.nanmax(steps)) if np.isfinite(steps).any() else 0.0


def drive(
    alone: Lone, law: dict[str, Any], *, rate: float = 500.0, share: float = 0.3, log: Path | None = None, arm: Any = None,
    alpha: np.ndarray | None = None, approach: Approach | None = APPROACH, stop: StopRequest | None = None,
    **options: Any,
) -> Ran:  # fmt: skip
    """One run in lock-step."""
    robot = alone.robot
    limits = replace(limits_of(robot, torque_share=share), approach=approach)
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.ROBOT, alone.alpha if alpha is None else alpha,
        limits, Settings(1.0 / rate, ramp=0.2, reflexes=ReflexSettings()), None, robot.instructions,
    )  # fmt: skip
    recorder = None if log is None else Recorder(log, configuration.to_json(), robot.joints)
    if arm is None:
        arm = alone.arm(limits, listener=None if recorder is None else recorder.message)
    supervisor = configuration.supervisor(robot)
    ran = Ran(Report(), supervisor)

    def seen(tick: Any) -> None:
        ran.times.append(tick.time)
        ran.q.append(np.array(tick.position))
        ran.dq.append(np.array(tick.velocity))

    first = len(alone.clock.torques)
    try:
        ran.report = Run(arm, supervisor, RunOptions(**options), recorder=recorder, stop=stop, observer=seen).execute()
    finally:
        if recorder is not None:
            recorder.close()
        alone.settle()
    ran.torques = np.array(alone.clock.torques[first:]).reshape(-1, 7)
    return ran
