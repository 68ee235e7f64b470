"""Checks states and limits torques: nothing non-finite and nothing beyond a limit passes.

It stores the last accepted state and the last torque sent; a refused state changes neither, except for the decay of the
law. Its time is the stamp of the measurement, not the tick.
"""

from __future__ import annotations

import enum

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, common_factor, finite, within
from diffpbd.runtime.loop.braking import nearest
from diffpbd.runtime.model.limits import Limits

__all__ = ["POSITION_TOLERANCE", "Guard", "TickStatus"]

POSITION_TOLERANCE = 0.1
"""rad; tolerance of measured angles beyond a joint limit, for calibration and compliance."""
JUMP_FLOOR = 0.02
"""rad; change between two states that needs no explanation by their speeds; recordings of a physical arm stay below 0.01."""
SPEED_UP = 0.1
"""s; least time in which a joint reaches its speed limit: bounds motion between two states besides their speeds."""
SPEED_MARGIN = 0.8
"""Share of a joint's speed limit above which torque in the direction of motion fades out."""
BRAKED = 0.9
"""Share of a shrinking speed limit at which that torque is zero; it fades from SPEED_MARGIN on, and brakes as far beyond."""
HEEDED = 0.025
"""s for which a law acts in full without a new state: one lost message at 100 Hz. It is zero after twice that time."""
ABSURD = 2.0
"""Times the speed limit; a higher measured speed is a sensor fault."""


class TickStatus(enum.IntEnum):
    """Status of a tick; all but OK and LIMITED mean that the safe action was taken."""

    OK = 0
    LIMITED = 1
    NOT_FINITE_STATE = 2
    ABSURD_POSITION = 3
    ABSURD_SPEED = 4
    POSITION_JUMP = 5
    NOT_FINITE_OUTPUT = 6
    CONTROLLER_FAILED = 7
    NOT_FINITE_GRAVITY = 8
    STAMP_WENT_BACK = 9

    @property
    def good(self) -> bool:
        """Whether the controller's own output was used."""
        return self <= TickStatus.LIMITED

    @property
    def words(self) -> str:
        """In lower case, with spaces."""
        return self.name.lower().replace("_", " ")


class Guard:
    """Checks states, and limits torques between messages, at least `period` [s] apart."""

    def __init__(self, limits: Limits, period: float) -> None:
        self.limits = limits
        self.step: FloatArray = limits.torque_rate * period
        """Largest change [N·m] from one sent torque to the next."""
        self._ends = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
        self._speeds: list[float] = limits.speed.tolist()
        self._efforts: list[float] = limits.law_effort.tolist()
        self._seen: tuple[float, list[float], list[float]] | None = None
        """Stamp [s], q [rad] and dq [rad/s]; as plain numbers, on which a comparison costs a fifth of one on arrays."""
        self._newest: float
        self._renewed: float
        """Stamp of the newest state, and the time of the first tick that had it [s]."""
        self.last = np.zeros_like(limits.effort)
        """The last torque sent [N·m], gravity included."""

    def start(self, held: FloatArray) -> None:
        """Reset; the arm is held by `held` [N·m]."""
        self._seen = None
        self._newest = float("-inf")
        self.last = held

    def judge(self, stamp: float, q: FloatArray, dq: FloatArray) -> TickStatus:
        """Whether a state measured at `stamp` [s] is plausible."""
        if not (finite(q) and finite(dq)):
            return TickStatus.NOT_FINITE_STATE
        angles, rates = q.tolist(), dq.tolist()
        for angle, (lower, upper) in zip(angles, self._ends, strict=True):
            if max(lower - angle, angle - upper) > POSITION_TOLERANCE:
                return TickStatus.ABSURD_POSITION
        for rate, speed in zip(rates, self._speeds, strict=True):
            if abs(rate) > ABSURD * speed:
                return TickStatus.ABSURD_SPEED
        if self._seen is not None:
            before, angles0, rates0 = self._seen
            if stamp < before:
                return TickStatus.STAMP_WENT_BACK
            half = 0.5 * (stamp - before)
            gained = half * (stamp - before) / SPEED_UP
            for k, speed in enumerate(self._speeds):
                unexplained = angles[k] - angles0[k] - half * (rates0[k] + rates[k])
                if abs(unexplained) > JUMP_FLOOR + gained * speed:
                    return TickStatus.POSITION_JUMP
        return TickStatus.OK

    def accept(self, stamp: float, q: FloatArray, dq: FloatArray) -> None:
        """Remember a state that was used."""
        self._seen = (stamp, q.tolist(), dq.tolist())

    def heeded(self, time: float, stamp: float) -> float:
        """Factor on a law at `time` [s] for the age of its state: without new states the arm must not gain speed."""
        if stamp > self._newest:
            self._newest, self._renewed = stamp, time
        return min(max(2.0 - (time - self._renewed) / HEEDED, 0.0), 1.0)

    def limit(self, law: FloatArray, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The law's torque [N·m] within its effort, the position zone and the speed zone.

        The effort limits scale all joints by one factor. The zones act on single joints: one factor would also reduce the
        torques of all others, braking ones included, as soon as one joint is at its end. If the speed limit shrinks
        towards an end, a joint that is too fast is braked with the law's effort.
        """
        limits = self.limits
        low, high = self._zones(q.tolist(), dq.tolist())
        approach = limits.approach
        if approach is not None:
            high = np.minimum(high, limits.law_effort * _left(dq, approach.towards(approach.upper - q)))
            low = np.maximum(low, -limits.law_effort * _left(-dq, approach.towards(q - approach.lower)))
        return within(common_factor(law, limits.law_effort) * law, low, high)

    def _zones(self, angles: list[float], rates: list[float]) -> tuple[FloatArray, FloatArray]:
        """Bounds [N·m] of a law's torque in the zones before position and speed limits."""
        margin, fade = self.limits.position_margin, 1.0 / (1.0 - SPEED_MARGIN)
        low, high = [], []
        for angle, rate, (lower, upper), speed, effort in zip(
            angles, rates, self._ends, self._speeds, self._efforts, strict=True
        ):
            up = min((upper - angle) / margin, fade * (1.0 - rate / speed))
            down = min((angle - lower) / margin, fade * (1.0 + rate / speed))
            high.append(effort * min(max(up, 0.0), 1.0))
            low.append(-effort * min(max(down, 0.0), 1.0))
        return np.array(low), np.array(high)

    def send(self, law: FloatArray, gravity: FloatArray, mass: FloatArray | None = None) -> FloatArray:
        """Law and gravity [N·m] within the efforts, and within a step of the torque sent before.

        The effort limits scale the whole law by one factor, the rate limit the whole change. Inertia couples the joints:
        torques clipped joint by joint have another direction, and such a brake throws light joints. With the `mass`
        matrix [kg·m²] the torques with the nearest accelerations are sent instead (`nearest`).
        """
        effort = self.limits.effort
        held = within(gravity, -effort, effort)
        if mass is not None:
            low, high = np.maximum(self.last - self.step, -effort), np.minimum(self.last + self.step, effort)
            self.last = nearest(held + law, low, high, mass)
            return self.last
        room = np.where(law > 0.0, effort - held, effort + held)
        change = held + common_factor(law, room) * law - self.last
        self.last = self.last + common_factor(change, self.step) * change
        return self.last


def _left(speed: FloatArray, allowed: FloatArray) -> FloatArray:
    """Factor on the law's effort at a speed towards an end; −1: all of it brakes."""
    return within((BRAKED - speed / allowed) / (BRAKED - SPEED_MARGIN), -1.0, 1.0)
