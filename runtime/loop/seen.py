"""What a run has shown of an arm besides its links: inertia, friction and held torque of every joint, and a load at the tip.

Least squares over the last seconds of every joint's torque, less that of the links' motion, on acceleration, direction and
one; and over all joints on a point mass at the tip, too. What the states cannot tell apart is shrunk to zero, so that nothing
is counted on that was not seen.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.loop.motion import Laden, Motion
from diffpbd.runtime.mpc.history import History

__all__ = ["Seen", "Shown"]

EVERY = 0.01
"""s between two samples, each of which takes a call of the model."""
WINDOW = 0.03
"""s of states in a sample: four at 100 Hz."""
MEMORY = 1.0
"""s after which a sample counts 1/e."""
DIRECTION = 0.05
"""rad/s; below it a joint's friction is not fully developed."""
MOVING = 0.5
"""Share of full friction above which a joint moves; the motor of one that does not is seen to hold all that is on it."""
QUICK = 10.0
"""rad/s²; acceleration that is one unit of its column."""
NOISE = 0.01
"""Of the effort limit; deviation of a sample against the prior ones below."""
BEFORE = np.array([0.2, 0.1, 0.05])
"""Of the effort limit; deviations a priori of inertia (at QUICK), friction and load: a load is believed last."""
QUIET = 0.003
"""Of the effort limit; least deviation of a sample that an inertia's own deviation is computed from."""
SURE, DEVIATIONS = 0.8, 3.0
"""Share of a seen inertia that is counted on, after so many of its deviations."""
LATELY = 0.15
"""s; of the torque in that time a straight line is drawn to now."""
PRESSED, UNSURE = 0.045, 0.1
"""s in which all samples have to show what drives a joint, and share of the effort limit of it that may be friction or more
inertia."""
ROWS = 10
"""Samples that a load at the tip is fitted to."""
MASS, OFFSET = 1.0, 0.1
"""kg and m; deviations a priori of a point mass and of its place along each axis."""
LEAST_MASS, MASS_DEVIATIONS, FURTHEST = 0.1, 4.0, 0.25
"""kg, and so many deviations: smallest mass that counts as seen; m along each axis within which it is sought."""


class _Sample(NamedTuple):
    """Of one joint each [share of the effort limit], and the motion [rad, rad/s, rad/s²]."""

    stamp: float
    given: FloatArray
    sent: FloatArray
    way: FloatArray
    q: FloatArray
    speed: FloatArray
    faster: FloatArray


@dataclass(frozen=True, eq=False)
class Shown:
    """Of every joint: inertia besides the links' [kg·m²], friction and the torque that held a load [N·m]; a point mass at the
    tip (4,), [kg] and [m], or None."""

    inertia: FloatArray
    friction: FloatArray
    held: FloatArray
    load: FloatArray | None = None


class Seen:
    """Takes every state; what was seen is asked for when a stop begins."""

    def __init__(self, effort: FloatArray, motion: Motion) -> None:
        """`effort` [N·m] are the limits."""
        self._effort, self._motion = effort, motion
        self._empty = motion.links()
        self._loads: list[Laden] = []
        if motion.laden is not None:
            units = [(1.0, 0.0, 0.0, 0.0), *((1.0, *row) for row in (OFFSET * np.eye(3)).tolist())]
            self._loads = [motion.laden(np.array(unit)) for unit in units]
        self.start()

    def start(self) -> None:
        """Reset."""
        n = len(self._effort)
        self._states: deque[tuple[float, FloatArray, FloatArray, FloatArray]] = deque()
        self._samples: deque[_Sample] = deque()
        self._squares, self._products = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self._total, self._count = np.zeros(n), 0.0

    def add(self, stamp: float, q: FloatArray, dq: FloatArray, acted: History) -> None:
        """A state [s, rad, rad/s], and the torques that acted until then, gravity left out."""
        states = self._states
        if states and stamp <= states[-1][0]:
            return
        states.append((stamp, q, dq, np.tanh(dq / DIRECTION)))
        while len(states) > 2 and stamp - states[1][0] >= WINDOW - 1e-6:
            states.popleft()
        first = states[0]
        elapsed = stamp - first[0]
        before = self._samples[-1].stamp if self._samples else -math.inf
        if elapsed < 0.5 * WINDOW or stamp - before < EVERY - 1e-6:
            return
        torque = acted.mean(first[0], stamp)
        if torque is None:
            return
        speed, faster = (q - first[1]) / elapsed, (dq - first[2]) / elapsed
        given = (torque - self._empty.rigid(q, speed, faster)) / self._effort
        way = np.mean([one[3] for one in states], axis=0)
        row = np.stack([faster / QUICK, way, np.ones_like(way)], axis=1)
        fade = math.exp(-min((stamp - before) / MEMORY, 700.0))
        self._squares = fade * self._squares + row[:, :, None] * row[:, None, :]
        self._products = fade * self._products + row * given[:, None]
        self._total, self._count = fade * self._total + given**2, fade * self._count + 1.0
        self._samples.append(_Sample(stamp, given, torque / self._effort, way, q, speed, faster))
        while stamp - self._samples[0].stamp > MEMORY:
            self._samples.popleft()

    def shown(self) -> Shown:
        """What the states up to now show."""
        zero = np.zeros_like(self._effort)
        if len(self._samples) < 2:
            return Shown(zero, zero, zero)
        last = self._samples[-1]
        load = self._load()
        inverse = np.linalg.inv(self._squares + np.diag((NOISE / BEFORE) ** 2))
        found = np.einsum("kij,kj->ki", inverse, self._products)
        left = np.maximum(self._total - np.einsum("ki,ki->k", found, self._products), 0.0) / self._count
        spread = np.sqrt(np.maximum(left, QUIET**2) * inverse[:, 0, 0])
        inertia = self._effort / QUICK * (SURE * found[:, 0] - DEVIATIONS * spread)
        given, sent = self._now(1), self._now(2)
        constant, weighs = found[:, 2], zero
        if load is not None:
            bare, laden = self._empty, self._motion.links(load)
            inertia -= np.diag(laden.mass(last.q) - bare.mass(last.q))
            weighs = (laden.dynamics(last.q, zero, zero) - bare.dynamics(last.q, zero, zero)) / self._effort
            motion = (last.q, last.speed, last.faster)
            given = given - (laden.dynamics(*motion) - bare.dynamics(*motion)) / self._effort
        against = given * last.way  # > 0: what the motor gives may be friction
        friction = np.minimum(np.maximum(found[:, 1], 0.0), np.maximum(against, 0.0))
        held = _both(given, sent - weighs)
        held = np.where(against > 0.0, _both(held, constant - weighs), held)
        held = np.where(np.abs(last.way) > MOVING, held, _both(given + weighs, sent) - weighs)
        return Shown(np.maximum(inertia, 0.0), friction * self._effort, held * self._effort, load)

    def pressed(self) -> FloatArray:
        """The torque [N·m] that the motors give against what drives joints along their motion, by all of the last samples."""
        if not self._samples:
            return np.zeros_like(self._effort)
        now = self._samples[-1].stamp
        lately = [one.given for one in self._samples if now - one.stamp <= PRESSED]
        given, way = np.array(lately), self._samples[-1].way
        least = np.maximum(np.abs(given).min(axis=0) - UNSURE, 0.0)
        sure = (
            (np.sign(given) == np.sign(given[-1])).all(axis=0)
            & (given[-1] * way < 0.0)
            & (now - self._samples[0].stamp >= PRESSED)
        )
        return np.where(sure, np.copysign(least, given[-1]), 0.0) * self._effort

    def _now(self, k: int) -> FloatArray:
        """The straight line through the last values of a field of the samples, at its end and within them."""
        lately = [one for one in self._samples if self._samples[-1].stamp - one.stamp <= LATELY]
        times = np.array([one.stamp for one in lately])
        values = np.array([one[k] for one in lately])
        times = times - times.mean()
        slope = times @ values / max(float(times @ times), np.finfo(float).tiny)
        return within(values.mean(axis=0) + slope * times[-1], values.min(axis=0), values.max(axis=0))

    def _load(self) -> FloatArray | None:
        """A point mass at the tip that the torques of all joints show together."""
        samples = list(self._samples)[:: -max(1, len(self._samples) // ROWS)]
        n = len(self._effort)
        if not self._loads or len(samples) < ROWS // 2:
            return None
        eye = np.eye(n)
        rows, given = [], []
        for one in samples:
            motion = (one.q, one.speed, one.faster)
            whole = np.array([laden.dynamics(*motion) for laden in self._loads]) - self._empty.dynamics(*motion)
            whole[1:] = (whole[1:] - whole[0]) / OFFSET
            rows.append(np.hstack([whole.T / self._effort[:, None], eye * one.way, eye * one.faster / QUICK]))
            given.append(one.given)
        table, torques = np.concatenate(rows), np.concatenate(given)
        before = np.array([MASS, *[MASS * OFFSET] * 3, *[BEFORE[1]] * n, *[BEFORE[0]] * n])
        inverse = np.linalg.inv(table.T @ table + np.diag((NOISE / before) ** 2))
        found = inverse @ (table.T @ torques)
        left = float(np.mean((torques - table @ found) ** 2))
        if found[0] < max(LEAST_MASS, MASS_DEVIATIONS * math.sqrt(max(left, NOISE**2) * inverse[0, 0])):
            return None
        return np.array([found[0], *within(found[1:4] / found[0], -FURTHEST, FURTHEST)])


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    """The smaller of two values of one sign, else zero."""
    smaller = np.copysign(np.minimum(np.abs(one), np.abs(other)), one)
    return np.where(one * other > 0.0, smaller, 0.0)
