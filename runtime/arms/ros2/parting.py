"""An arm that is let go while it moves, by what was believed of it before: nobody else will brake it.

Whatever made the states unusable may have begun a while ago. So the motion is one of SURE ago, and its speeds are those that
the positions of then tell, too; from there on the model says how the torques slow it. Nothing is fed back.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.motion import Inertial

__all__ = ["BRAKING", "Past", "slowed"]

SURE = 0.15
"""s; a fault is found within 0.1 s, a frozen sensor within 0.2 s of its beginning."""
WINDOW = 0.05
"""s over which positions must tell the speeds."""
SHARE = 0.8
"""Of a speed that is braked: friction does the rest, and what is braked too much goes backwards."""
BRAKING = 20.0
"""1/s; at which a speed is taken off."""
REST = 0.02  # rad/s
KEPT = 400
"""States; 0.4 s at 1 kHz."""


class Past:
    """The states that could be believed, newest last."""

    def __init__(self) -> None:
        self._states: deque[tuple[float, FloatArray, FloatArray]] = deque(maxlen=KEPT)

    def add(self, time: float, q: FloatArray, dq: FloatArray) -> None:
        """A state measured at `time` [s]: q [rad], dq [rad/s]."""
        if not self._states or time > self._states[-1][0]:
            self._states.append((time, q, dq))

    def motion(self, now: float) -> tuple[FloatArray, FloatArray]:
        """Where the arm is likely to be [rad], and the speeds [rad/s] that may be braked; there must be a state."""
        states = list(self._states)
        sure = [state for state in states if state[0] <= now - SURE] or states[:1]
        time, q, dq = sure[-1]
        before = [state for state in sure if state[0] <= time - WINDOW]
        if not before:
            return q, np.zeros_like(q)
        way = (q - before[-1][1]) / (time - before[-1][0])
        agreed = np.where(way * dq > 0.0, np.sign(dq) * np.minimum(np.abs(way), np.abs(dq)), 0.0)
        return q + agreed * (now - time), SHARE * agreed


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
