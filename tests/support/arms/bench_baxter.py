"""The bench's link, clock and faults around a whole arm: seven joints by pinocchio, no graph, no real time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support.arms.bench import Bench, BenchArm
from support.arms.lone_baxter import EFFORT, HELD, LoneBaxter

from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.model.limits import Limits


class BenchBaxter(BenchArm):
    """See `BenchArm`; friction, spring and sensors are the arm's own, of `bench` it takes jitter and faults."""

    def __init__(self, urdf: str, limits: Limits, q: Sequence[float], bench: Bench, *, rate: float) -> None:
        super().__init__(bench=bench, rate=rate)
        self.robot = self._robot(urdf)
        self.limits = limits
        self.joints = self._reader.joints = self.robot.joints
        self.robot.place(q)
        self.robot.enable(True)

    def _robot(self, urdf: str) -> LoneBaxter:
        return LoneBaxter(urdf, self.time)

    def _obey(self, mode: Mode, values: tuple[float, ...]) -> None:
        number = {Mode.POSITION: HELD, Mode.TORQUE: EFFORT}[mode]
        self.robot.command(number, self.joints, values, self.time)

    def suppress(self) -> None:
        self.robot.suppress(self.time)

    def _move(self) -> None:
        self.robot.timeout = self.timeout
        self.robot.advance(self.time)
        self.q, self.dq, self.torque = (tuple(values) for values in (self.robot.q, self.robot.dq, self.robot.torque))
        if self.marked is not None:
            self.trace.append(self.q)

    def _measured(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.robot.measured()
