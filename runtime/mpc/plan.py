"""Bounded reuse of old plans when a predictive controller's solver fails."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError

__all__ = ["PlanReuse", "PlanSource"]


class PlanSource(enum.Enum):
    """Where a tick's torque comes from."""

    SOLVED = "solved"
    SHIFTED = "shifted"
    FALL_BACK = "fall back"
    BLIND = "blind"
    """The fall-back torque of an old pose: none was measured for half a second."""


@dataclass
class PlanReuse:
    """Decides in each tick which torque is applied and whether the next solve has a warm start.

    At most `reuse` shifted previous plans in a row; from the failure after that on, the fall-back torque, and
    the warm start (primal and dual) is discarded so that the next try starts cold. Reference time is the
    clock's and never waits for a success.
    """

    reuse: int = 5
    failures: int = 0
    """Failures in a row."""
    total_failures: int = 0
    last_success: float | None = None
    """Clock [s] of the last success."""
    warm: object | None = None
    """The solver's warm start; None: start cold."""
    _plan: FloatArray | None = field(default=None, repr=False)
    _plan_time: float = 0.0

    def success(self, now: float, plan: FloatArray, warm: object) -> tuple[PlanSource, FloatArray]:
        """A solved plan, torques (steps, n) from `now` on; its first row is applied."""
        if plan.ndim != 2 or len(plan) == 0:
            raise InputError(f"A plan needs torques of shape (steps, n), found {plan.shape}.")
        if not np.isfinite(plan).all():
            raise InputError("A plan that is not finite is no success: report it as a failure.")
        self.failures = 0
        self.last_success = now
        self.warm = warm
        self._plan, self._plan_time = plan.copy(), now
        return PlanSource.SOLVED, self._plan[0]

    def forget(self) -> None:
        """No old plan may go on, and the next solve starts cold."""
        self.warm = self._plan = None

    def failure(self, now: float, period: float, fall_back: FloatArray) -> tuple[PlanSource, FloatArray]:
        """A failed solve: the old plan's row for `now`, or `fall_back`."""
        self.failures += 1
        self.total_failures += 1
        if self.failures > self.reuse or self._plan is None:
            self.warm = None
            self._plan = None
            return PlanSource.FALL_BACK, fall_back
        row = round((now - self._plan_time) / period)
        if not 0 <= row < len(self._plan):  # below 0 where the clock went back
            return PlanSource.FALL_BACK, fall_back
        return PlanSource.SHIFTED, self._plan[row]
