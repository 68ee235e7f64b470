"""Braking of an arm that is released while it moves, from earlier plausible states, without feedback.

The fault that made states unusable may have begun earlier. So the motion is that of SURE ago, with speeds confirmed by
positions. From there the model predicts the effect of the torques sent since, and of the braking torques.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.model.statics import Inertial

__all__ = ["BRAKING", "Holding", "Past", "slowed"]

Holding = Callable[[FloatArray], FloatArray]
"""The torque [N·m] that holds the arm at q [rad]; zero where the robot holds itself."""

SURE = 0.15
"""s; a fault is found within 0.1 s, a frozen sensor within 0.2 s of its beginning."""
STRIDE = 0.01
"""s; step of the prediction from then to now."""
WINDOW = 0.05
"""s; window over which positions must confirm the speeds."""
SHARE = 0.8
"""Share of a speed that is braked: friction does the rest, and too much would reverse the motion."""
BRAKING = 20.0
"""1/s; rate of braking."""
REST = 0.02  # rad/s
KEPT = 400
"""States; 0.4 s at 1 kHz."""


class Past:
    """Plausible states and sent torques, newest last."""

    def __init__(self) -> None:
        self._states: deque[tuple[float, FloatArray, FloatArray]] = deque(maxlen=KEPT)
        self._told: deque[tuple[float, FloatArray]] = deque(maxlen=KEPT)

    def add(self, time: float, q: FloatArray, dq: FloatArray) -> None:
        """A state measured at `time` [s]: q [rad], dq [rad/s]."""
        if not self._states or time > self._states[-1][0]:
            self._states.append((time, q, dq))

    def tell(self, time: float, torque: FloatArray) -> None:
        """A torque [N·m] that was sent at `time` [s]."""
        self._told.append((time, torque))

    def motion(self, now: float, inertial: Inertial, holding: Holding) -> tuple[FloatArray, FloatArray]:
        """Predicted pose [rad], and speeds [rad/s] that may be braked; needs a state."""
        states = list(self._states)
        sure = [state for state in states if state[0] <= now - SURE] or states[:1]
        end, q, dq = sure[-1]
        before = [state for state in sure if state[0] <= end - WINDOW]
        if not before:
            return q, np.zeros_like(q)
        begin, first, slow = before[-1]
        way, middle = (q - first) / (end - begin), 0.5 * (begin + end)
        mean = np.mean([state[2] for state in sure if state[0] >= begin], axis=0)
        agreed = np.where(way * mean > 0.0, np.sign(way) * np.minimum(np.abs(way), np.abs(mean)), 0.0)
        # Friction and load of that time are assumed to continue.
        q, lost = 0.5 * (first + q), self._mean(begin, end)
        lost = lost - holding(q) - inertial(q, agreed, (dq - slow) / (end - begin))
        lost = np.where(lost * agreed > 0.0, lost, 0.0)
        dq, count = agreed, math.ceil((now - middle) / STRIDE)
        stride = (now - middle) / count
        for k in range(count):
            acting = self._mean(middle + k * stride, middle + (k + 1) * stride) - holding(q) - lost * (dq != 0.0)
            found = dq + stride * np.linalg.solve(
                Motion(inertial).mass_at(q), acting - inertial(q, dq, np.zeros_like(q))
            )
            dq = np.where(found * agreed > 0.0, found, 0.0)
            q = q + stride * dq
        return q, SHARE * dq

    def _mean(self, begin: float, end: float) -> FloatArray:
        """The mean torque [N·m] in effect between two times [s]."""
        times = np.array([time for time, _ in self._told])
        torques = np.array([torque for _, torque in self._told])
        until = np.clip(np.append(times[1:], np.inf), begin, end)
        since = np.clip(np.append(-np.inf, times[1:]), begin, end)
        return np.asarray((until - since) @ torques / (end - begin), dtype=np.float64)


def slowed(inertial: Inertial, q: FloatArray, dq: FloatArray, torque: FloatArray, seconds: float) -> FloatArray:
    """The speeds [rad/s] that a torque [N·m], beside what holds the arm, leaves after `seconds`: all less by one factor.

    What it takes of the motion's energy counts. A torque that would speed the arm up is taken for what balances friction or a
    load: it does so at rest.
    """
    zero = np.zeros_like(q)
    energy = float(dq @ (inertial(q, zero, dq) - inertial(q, zero, zero)))
    if not energy > 0.0:
        return zero
    left = 1.0 + seconds * float(dq @ (torque - inertial(q, dq, zero))) / energy
    found = dq * min(max(left, 0.0), 1.0)
    return zero if (np.abs(found) < REST).all() else found
