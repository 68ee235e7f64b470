"""What a run has shown of each joint besides its links' inertia: more inertia, friction, and a load that the motor held.

Least squares over the last seconds of every joint's torque, less that of the links' rigid motion, on acceleration, direction,
speed and one. What the states cannot tell apart is shrunk to zero, friction the least and a load the most, so that nothing
is counted on that was not seen.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.loop.motion import Inertial
from diffpbd.runtime.mpc.history import History

__all__ = ["Seen"]

EVERY = 0.01
"""s between two samples, each of which takes a call of the model."""
WINDOW = 0.03
"""s of states in a sample: four at 100 Hz."""
MEMORY = 1.0
"""s after which a sample counts 1/e."""
DIRECTION = 0.05
"""rad/s; below it a joint's friction is not fully developed."""
QUICK = 10.0
"""rad/s²; acceleration that is one unit of its column."""
NOISE = 0.01
"""Of the effort limit; deviation of a sample."""
PRIOR = np.diag((NOISE / np.array([0.2, 0.1, 0.05])) ** 2)
"""Inverse squares of the deviations, over that of a sample, that inertia (at QUICK), dry friction, viscous friction (at
1 rad/s) and load have a priori, of the effort limit."""
LATELY = 0.15
"""s; the torque that the motor gave in that time, its median, bounds a load."""


class Seen:
    """Takes every state; what was seen is asked for when a stop begins."""

    def __init__(self, effort: FloatArray, rigid: Inertial) -> None:
        """`effort` [N·m] are the limits, `rigid` is the torque of the links' motion without friction and gravity."""
        self._effort, self._rigid = effort, rigid
        self.start()

    def start(self) -> None:
        """Reset."""
        n = len(self._effort)
        self._states: deque[tuple[float, FloatArray, FloatArray, FloatArray]] = deque()
        self._lately: deque[tuple[float, FloatArray, FloatArray, FloatArray]] = deque()
        self._judged = -math.inf
        self._squares, self._products = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self._total = np.zeros(n)
        self._count = 0.0

    def add(self, stamp: float, q: FloatArray, dq: FloatArray, acted: History) -> None:
        """A state [s, rad, rad/s] and the torques that acted until then, gravity left out."""
        states = self._states
        if states and stamp <= states[-1][0]:
            return
        states.append((stamp, q, dq, np.tanh(dq / DIRECTION)))
        while len(states) > 2 and stamp - states[1][0] >= WINDOW - 1e-6:
            states.popleft()
        first = states[0]
        elapsed = stamp - first[0]
        if elapsed < 0.5 * WINDOW or stamp - self._judged < EVERY - 1e-6:
            return
        torque = acted.mean(first[0], stamp)
        if torque is None:
            return
        fade = math.exp(-min((stamp - self._judged) / MEMORY, 700.0))
        self._judged = stamp
        speed, faster = (q - first[1]) / elapsed, (dq - first[2]) / elapsed
        given = (torque - self._rigid(q, speed, faster)) / self._effort
        way = np.mean([one[3] for one in states], axis=0)
        row = np.stack([faster / QUICK, way, np.ones_like(speed)], axis=1)
        self._squares = fade * self._squares + row[:, :, None] * row[:, None, :]
        self._products = fade * self._products + row * given[:, None]
        self._total = fade * self._total + given**2
        self._count = fade * self._count + 1.0
        self._lately.append((stamp, given, torque / self._effort, way))
        while stamp - self._lately[0][0] > LATELY:
            self._lately.popleft()

    def shown(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inertia [kg·m²] besides the links', dry friction [N·m], and the torque that held a load [N·m], of every joint."""
        zero = np.zeros_like(self._effort)
        if not self._lately:
            return zero, zero, zero
        inverse = np.linalg.inv(self._squares + PRIOR)
        found = np.einsum("kij,kj->ki", inverse, self._products)
        left = self._total - np.einsum("ki,ki->k", found, self._products)
        spread = np.sqrt(np.maximum(left / self._count, NOISE**2) * inverse[:, 0, 0])
        inertia = np.maximum(SURE * found[:, 0] - DEVIATIONS * spread, 0.0) * self._effort / QUICK
        given, sent, way = (np.median([one[k] for one in self._lately], axis=0) for k in (1, 2, 3))
        held = np.where(given * sent > 0.0, np.copysign(np.minimum(np.abs(given), np.abs(sent)), given), 0.0)
        against = given * way  # > 0: what the motor gives may be friction
        friction = np.minimum(np.maximum(found[:, 1], 0.0), np.maximum(against, 0.0))
        moving = np.abs(way) > 0.5
        load = np.where(found[:, 2] * held > 0.0, np.copysign(np.minimum(np.abs(found[:, 2]), np.abs(held)), held), 0.0)
        kept = np.where(moving & (against > 0.0), load, held)
        return inertia, friction * self._effort, kept * self._effort


SURE, DEVIATIONS = 0.7, 3.0
"""Share of an inertia that is counted on, less that many deviations."""
