"""The last judge of states and torques: nothing non-finite and nothing beyond a limit gets past it.

It keeps two things from tick to tick, the last good position and the last good law torque, and a refused tick
changes neither, so the tick after it is as if the refused one had not been.
"""

from __future__ import annotations

import enum

import numpy as np

from diffpbd.runtime.arrays import FloatArray, within
from diffpbd.runtime.limits import Limits

__all__ = ["Guard", "TickStatus"]

POSITION_TOLERANCE = 0.1
"""rad beyond a joint limit up to which a measured angle is believed: calibration and compliance."""
JUMP_FLOOR = 0.02
"""rad; a change of the measured angle that is never called a jump: many encoder steps, still harmless."""
SPEED_MARGIN = 0.8
"""Share of a joint's speed limit from which on torque in the direction of motion is faded out."""


class TickStatus(enum.IntEnum):
    """What became of a tick; everything but OK and LIMITED means the safe action was taken."""

    OK = 0
    LIMITED = 1
    NOT_FINITE_STATE = 2
    ABSURD_POSITION = 3
    ABSURD_SPEED = 4
    POSITION_JUMP = 5
    NOT_FINITE_OUTPUT = 6
    CONTROLLER_FAILED = 7
    NOT_FINITE_GRAVITY = 8

    @property
    def good(self) -> bool:
        """Whether the controller's own output was used."""
        return self <= TickStatus.LIMITED


class Guard:
    """Checks states and limits torques at a fixed `period` [s]."""

    def __init__(self, limits: Limits, period: float) -> None:
        self.limits = limits
        self._step = limits.torque_rate * period
        self._seen: tuple[float, FloatArray] | None = None
        self._last = np.zeros_like(limits.effort)

    def start(self) -> None:
        """Forget the past: the first law torque starts from zero."""
        self._seen = None
        self._last = np.zeros_like(self.limits.effort)

    def judge(self, time: float, q: FloatArray, dq: FloatArray) -> TickStatus:
        """Whether a measured state can be believed; `time` [s] is that of the tick."""
        if not (np.isfinite(q).all() and np.isfinite(dq).all()):
            return TickStatus.NOT_FINITE_STATE
        limits = self.limits
        if (q < limits.lower - POSITION_TOLERANCE).any() or (q > limits.upper + POSITION_TOLERANCE).any():
            return TickStatus.ABSURD_POSITION
        if (np.abs(dq) > 2 * limits.speed).any():
            return TickStatus.ABSURD_SPEED
        if self._seen is not None:
            elapsed = time - self._seen[0]
            if (np.abs(q - self._seen[1]) > 2 * limits.speed * elapsed + JUMP_FLOOR).any():
                return TickStatus.POSITION_JUMP
        return TickStatus.OK

    def accept(self, time: float, q: FloatArray) -> None:
        """Remember a state that was used."""
        self._seen = (time, q.copy())

    def limit(self, law: FloatArray, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The law's torque [N·m] within every limit: effort, position zone, speed zone, rate."""
        limits = self.limits
        room_up = within((limits.upper - q) / limits.position_margin, 0.0, 1.0)
        room_down = within((q - limits.lower) / limits.position_margin, 0.0, 1.0)
        fade = 1.0 / (1.0 - SPEED_MARGIN)
        speed_up = within(fade * (1.0 - dq / limits.speed), 0.0, 1.0)
        speed_down = within(fade * (1.0 + dq / limits.speed), 0.0, 1.0)
        high = limits.law_effort * np.minimum(room_up, speed_up)
        low = -limits.law_effort * np.minimum(room_down, speed_down)
        result = within(law, low, high)
        # The rate comes before the zones in force: a torque towards a limit may be cut at once.
        result = within(within(result, self._last - self._step, self._last + self._step), low, high)
        self._last = result
        return result

    def total(self, law: FloatArray, gravity: FloatArray) -> FloatArray:
        """Law and gravity [N·m] within the joints' effort limits."""
        return within(law + gravity, -self.limits.effort, self.limits.effort)
