"""The external torque on the joints by the generalised momentum M(q) dq, and whether it or the law accelerates a joint.

A momentum observer (De Luca et al. 2005) in the discrete form of torques that are constant between ticks, with a finite
memory: over MEMORY the momentum changes by the impulses of the torques that were sent, of Coriolis terms and friction, and
of what is external. No acceleration is needed, and what ended before MEMORY has no effect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.motion import Motion

__all__ = ["MEMORY", "Observer"]

MEMORY = 0.018
"""s whose mean torque is observed: two states at 100 Hz with jitter. A shorter one shows an impact sooner, and more noise:
4 mrad/s of a stretched Baxter's shoulder are 0.9 N·m."""
LEAST = 3
"""States in the memory; of two alone one may be wrong."""
BETWEEN = 0.01
"""s between two evaluations of the model (mass matrix, Coriolis terms, friction), which change little meanwhile."""
BEFORE = 0.1
"""s for which torques are compared: longer than a push takes to make a joint too fast."""
EXPLAINED = 0.5
"""Of an acceleration, the share that a law has to explain to be its cause; models are wrong by less."""
UNSURE = 0.03
"""Of the effort limit; external torque that may be model error, beside the model's friction."""


class Observer:
    """Takes every state; `external` is zero until MEMORY has passed, and always without a model."""

    def __init__(self, motion: Motion | None, effort: FloatArray) -> None:
        """`effort` [N·m] are the limits."""
        self._motion, self._effort = motion, effort
        self.external: FloatArray
        """Mean torque [N·m] (n,) on the joints over MEMORY that the model, with its friction, does not explain."""
        self.moving: FloatArray
        """Mean speeds in that time [rad/s], from positions, renewed with the model's part."""
        self.since: float
        """Stamp [s] of the oldest state that `external` depends on; it may be the one that is wrong."""
        self.start()

    def start(self) -> None:
        """Reset."""
        self.external = self.moving = np.zeros_like(self._effort)
        self._past: deque[tuple[float, list[float], list[float], list[float]]] = deque()
        self._before: deque[tuple[float, FloatArray]] = deque()
        """`external` of the last BEFORE with the stamps."""
        self._evaluated = self.since = float("-inf")
        self._mass: FloatArray = np.zeros((len(self._effort), len(self._effort)))
        self._steady = self.external
        """Torque [N·m] that Coriolis terms and friction take at the mean speed."""

    def add(self, stamp: float, q: list[float], dq: list[float], impulse: list[float]) -> None:
        """A state [s, rad, rad/s], and ∫ of the law's torque since any time before [N·m·s]."""
        past = self._past
        past.append((stamp, q, dq, impulse))
        while len(past) > LEAST and stamp - past[1][0] >= MEMORY:
            past.popleft()
        self.since, q0, dq0, impulse0 = past[0]
        elapsed = stamp - self.since
        if len(past) < LEAST or elapsed < MEMORY or self._motion is None:
            return
        if stamp - self._evaluated >= BETWEEN:
            self._evaluated = stamp
            first, last = np.array(q0), np.array(q)
            middle, self.moving = 0.5 * (first + last), (last - first) / elapsed
            self._mass = self._motion.mass_at(middle)
            self._steady = self._motion.inertial(middle, self.moving, np.zeros_like(middle))
        change = np.array([b - a for a, b in zip(dq0, dq, strict=True)])
        sent = np.array([b - a for a, b in zip(impulse0, impulse, strict=True)])
        self.external = (self._mass @ change - sent) / elapsed + self._steady
        self._before.append((stamp, self.external))
        while stamp - self._before[0][0] > BEFORE:
            self._before.popleft()

    def drives(self, joint: int, along: float, laws: Sequence[list[float]], gained: float) -> bool:
        """Whether external torque accelerates a joint in the direction `along` (±1), and more than the law did at any time in
        BEFORE; `laws` [N·m] are those of that time, oldest first, `gained` is the mean acceleration [rad/s²] along it.

        It does where no law explains half of that acceleration, or where external torque is seen to accelerate it more. Of
        both, what they are or what they grew by counts: a law that balances a load has a large torque, but drives nothing.
        What may be friction or model error does not count. Inertia couples the joints, so a torque on one accelerates others.
        """
        if self._motion is None or not self._mass.any():
            return False
        unsure = UNSURE * self._effort + np.abs(self._motion.friction(self._past[-1][1], self.moving))
        row = along * np.linalg.solve(self._mass, np.eye(len(unsure))[joint])

        def driven(external: FloatArray) -> float:
            return float(row @ (external - np.clip(external, -unsure, unsure)))

        by_law = [float(row @ law) for law in laws]
        most, now = max(by_law), driven(self.external)
        grown = driven(self.external - self._before[0][1])
        return most < EXPLAINED * gained or now > max(most, 0.0) or (now > 0.0 and grown > most - by_law[0])
