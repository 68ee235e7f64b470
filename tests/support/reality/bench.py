"""A `RealArm` behind the loop's `Arm`: the link, clock and faults of the bench arm, a robot's modes, another plant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.model.limits import Limits
from support.arms.bench import Bench
from support.arms.bench_baxter import BenchBaxter
from support.arms.lone_baxter import DT, HELD, SERVO, SINKING, LoneBaxter
from support.reality.arm import STEP, RealArm
from support.reality.differences import Differences

assert STEP == DT


class RealRobot(LoneBaxter):
    """Motors, modes, timeout and account as there; what moves is a `RealArm`. Its servo knows its own weight and load."""

    def __init__(self, real: RealArm, now: float) -> None:
        self.real, self.coulomb = real, real.gears.coulomb
        super().__init__(real.kind.urdf(), now)
        assert self.joints == real.joints

    def place(self, q: Sequence[float]) -> None:
        self.real.place(np.array(q, dtype=float))
        super().place(q)

    def inertia(self) -> np.ndarray:
        return self.real.inertia()

    def command(self, mode: int, names: Sequence[str], values: Sequence[float], now: float) -> None:
        super().command(mode, names, values, now)
        self._heavy = np.diag(self.real.inertia()).copy()

    def gravity(self) -> np.ndarray:
        return self.real.links.at(self.q, np.zeros(len(self.q)))[1].copy()

    def compensation(self) -> np.ndarray:
        return self.real.holding()

    def _step(self) -> None:
        if self.enabled and self.mode != HELD and self.time > self._heard + self.timeout:
            self._hold()
        real = self.real
        real.drive(self._driven(), self._braked())
        real.external[:] = self.push
        real.advance()
        self.torque, self.q, self.dq = real.driven, real.q, real.dq
        out = np.maximum(self.lower - self.q, self.q - self.upper)
        self.account["fastest"] = max(self.account["fastest"], float(np.max(np.abs(self.dq) / self.speed)))
        self.account["beyond"] = max(self.account["beyond"], float(out.max()))

    def _driven(self) -> np.ndarray:
        if not self.enabled or self.mode != HELD:
            return self._motors(np.empty(0))
        real = self.real
        target = self.target + real.bent() if real.differences.sensor == "link" else self.target
        return self.compensation() + SERVO[0] * self._heavy * (target - real.gears.theta)

    def _braked(self) -> np.ndarray:
        """N·m·s/rad; a servo in the drive is quicker than the bench's steps, so that it damps as friction does."""
        if not self.enabled:
            return np.full(len(self.q), SINKING)
        return SERVO[1] * self._heavy if self.mode == HELD else np.zeros(len(self.q))

    def _hold(self) -> None:
        super()._hold()
        self.target = self.q if self.real.differences.sensor == "link" else self.real.gears.theta.copy()
        self._heavy = np.diag(self.real.inertia()).copy()

    def measured(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.real.measured(self.real.period)


class BenchReal(BenchBaxter):
    """An arm for `Run`, as `BenchBaxter` is; `robot` is one of `KINDS` or a URDF. A run with an unknown load needs
    `RunOptions(allow_mismatch=True)`."""

    def __init__(
        self, robot: str, limits: Limits, q: Sequence[float], differences: Differences, *, rate: float,
        bench: Bench | None = None,
    ) -> None:  # fmt: skip
        self.real = RealArm(robot, differences, 1.0 / rate)
        super().__init__(str(self.real.kind.urdf()), limits, q, bench or Bench(), rate=rate)
        self.bench.late, self.bench.jitter = differences.state_delay, differences.jitter
        self.bench.command_late = differences.command_delay

    def _robot(self, urdf: str) -> LoneBaxter:
        return RealRobot(self.real, self.time)
