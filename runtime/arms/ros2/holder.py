"""Who holds the arm against gravity: what was said, and what its states say.

Measured efforts answer before anything moves. At rest, before the first torque, they are what holds the arm, or nothing where
the robot's own compensation is left out of them. After it they are the torque that was sent (nobody adds to it), or that torque
beside what they were at rest (the robot adds its compensation). Other figures are another sign, other units or another order.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arms.ros2.parting import Holding
from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["DIFFERENCE", "Holder"]

DIFFERENCE = 0.08
"""Share of a joint's effort limit by which a measured effort may differ from an expected one: above a joint's friction."""
FRICTION = 0.02
"""Share of a joint's effort limit that friction may hold."""
RESTING = 20
"""Most states at rest whose efforts are averaged."""
LEAST_RESTING = 5
RECENT = 0.03
"""s; torques sent since then may be what a state has measured: two periods of states at 100 Hz, and a message's way."""
FACTOR = 3.0
"""Ratio of measured efforts and torques sent, or the other way round, beyond which the units differ."""


@dataclass(frozen=True)
class Names:
    """For sentences."""

    joints: tuple[str, ...]

    def figures(self, joints: np.ndarray, **values: FloatArray) -> str:
        """Numbers [N·m] of some joints."""
        return ", ".join(
            f"{self.joints[k]} " + ", ".join(f"{word} {value[k]:.1f} N·m" for word, value in values.items())
            for k in np.flatnonzero(joints)
        )


class Holder:
    """Holder of an arm, as far as it is known; `torque` is what has to be sent to hold it at a pose."""

    def __init__(self, joints: tuple[str, ...], effort: FloatArray, gravity: Holding, *, models: bool) -> None:
        """`effort` [N·m] are the limits; `gravity` [N·m] is the model's; `models`: it is said to hold the arm."""
        self.models = models
        self.wrong = ""
        """Why what was said is wrong, in words, once it is known."""
        self._gravity, self._tolerance, self._effort = gravity, DIFFERENCE * effort, effort
        self._names = Names(joints)
        self._resting: deque[FloatArray] = deque(maxlen=RESTING)
        self._rest: FloatArray | None = None
        self._pose = np.zeros(len(joints))
        self.factor = np.ones(len(joints))
        """Factor of a torque [N·m] by which it is obeyed."""
        self.known = True
        """Whether a torque for a joint is known to act on it."""
        self.proved = np.zeros(len(joints), dtype=bool)
        """Joints whose effort was seen to be what they were told."""
        self._beside = np.zeros(len(joints))
        self._sent: deque[tuple[float, FloatArray]] = deque()
        self._begin = float("inf")

    def torque(self, q: FloatArray) -> FloatArray:
        """Torque [N·m] that holds the arm at q [rad]."""
        return self._gravity(q) + self._beside if self.models else np.zeros_like(q)

    def seen(self, q: FloatArray, kept: FloatArray) -> FloatArray:
        """Torque that holds the arm at q [rad] if torques `kept` [N·m] held it at rest: friction's share is left out where
        that is all by which they differ from what is believed."""
        believed = self.torque(q)
        return believed if (np.abs(kept - believed) <= FRICTION * self._effort).all() else kept

    # At rest, before the first torque

    def rest(self, q: FloatArray, effort: FloatArray | None) -> None:
        """A state before the first torque."""
        self._pose = q
        if effort is not None:
            self._resting.append(effort)
            self._rest = np.mean(self._resting, axis=0)

    @property
    def rested(self) -> bool:
        """Whether enough states at rest came, or none has efforts."""
        return not self._resting or len(self._resting) >= LEAST_RESTING

    @property
    def noise(self) -> FloatArray:
        """Standard deviation [N·m] of the efforts at rest."""
        return np.std(self._resting, axis=0) if self._resting else np.zeros_like(self._effort)

    @property
    def measured(self) -> bool:
        """Whether the states have efforts."""
        return self._rest is not None

    def refusal(self) -> str:
        """Why the efforts at rest contradict what was said, or empty."""
        rest = self._rest
        if rest is None:
            return ""
        absurd = np.abs(rest) > self._effort + self._tolerance
        if absurd.any():
            figures = self._names.figures(absurd, reported=rest, limit=self._effort)
            return f"at rest {figures}: the states' efforts are not in N·m"
        gravity = self._gravity(self._pose)
        off = np.abs(rest - gravity) > self._tolerance
        if not self.models or not off.any():
            return ""
        figures = self._names.figures(off, reported=rest, model=gravity)
        heavy = np.abs(gravity) > self._tolerance
        if (np.abs(rest) <= self._tolerance)[heavy].all():
            why = "the robot compensates gravity itself (--gravity robot), or brakes or a support hold the arm"
        elif (np.abs(rest + gravity) <= self._tolerance)[heavy].all():
            why = "the states' efforts have the other sign"
        else:
            why = "the model's gravity, its payload, or the states' angles or units are not this arm's"
        return f"at rest, before the first torque, {figures}: {why}"

    # After the first torque

    def sent(self, time: float, torque: FloatArray) -> None:
        """Notes the torque that the arm was told [N·m] at `time` [s]."""
        self._begin = min(self._begin, time)
        self._sent.append((time, torque))
        while time - self._sent[0][0] > RECENT:
            self._sent.popleft()

    def judge(self, effort: FloatArray | None) -> bool:
        """Whether the efforts [N·m] of an arm that is held show for the first time that what was said is wrong; `torque` is
        then what was seen to hold it."""
        if self.wrong or not self._sent or effort is None or self._rest is None:
            return False
        self._judge(effort, self._rest)
        return bool(self.wrong)

    def begun(self, time: float, effort: FloatArray | None) -> bool:
        """Whether the first torque has come into effect at `time` [s], by an effort [N·m] or by the time since it was sent."""
        if time - self._begin > RECENT or not self.models or effort is None or self._rest is None:
            return True
        return not self._near(effort, [self._rest])

    def sagged(self, moved: FloatArray) -> bool:
        """Whether the other one holds an arm that left the pose at which it was held by `moved` [rad]: it rose although no
        effort holds it, or without efforts at all it went the way of its gravity, or against it."""
        gravity = self._gravity(self._pose)
        heavy = np.abs(gravity) > self._tolerance
        rose = float(gravity @ moved) > 0.0
        if self.wrong or not heavy.any() or rose != self.models:
            return False
        if self._rest is not None and not (self.models and (np.abs(self._rest) <= self._tolerance)[heavy].all()):
            return False
        self._exchange()
        return True

    def _near(self, effort: FloatArray, torques: list[FloatArray]) -> bool:
        return any((np.abs(effort - torque) <= self._tolerance).all() for torque in torques)

    def _judge(self, effort: FloatArray, rest: FloatArray) -> None:
        told = [torque for _, torque in self._sent]
        last = told[-1]
        added = [rest + torque for torque in told]
        if self._sent[-1][0] - self._begin < RECENT and self._near(effort, [rest]):
            return  # nothing has come into effect yet
        if self._near(effort, told if self.models else added):
            told_so = last if self.models else rest + last
            self.proved |= (np.abs(last) > self._tolerance) & (np.abs(effort - told_so) <= self._tolerance)
            return
        if self._near(effort, added if self.models else told):
            self._exchange()
            return
        seen = effort if self.models else effort - rest
        off = np.abs(seen - last) > self._tolerance
        figures = self._names.figures(off, told=last, reported=seen)
        most, sizes = float(np.abs(seen).max()), [float(np.abs(torque).max()) for torque in told]
        turned = off & (np.abs(seen + last) <= self._tolerance) & (np.abs(last) > 0.5 * self._tolerance)
        if most > FACTOR * max(sizes) or FACTOR * most < min(sizes):
            self.known = self.models
            if self.models and most > max(sizes) > 0.0:
                sign = float(seen @ np.sum(told, axis=0))
                self.factor = np.full_like(last, math.copysign(max(sizes) / most, sign))
            self.wrong = f"{figures}: commands or efforts have other units"
        elif turned.any():
            fine = self.proved | (~off & (np.abs(last) > 0.5 * self._tolerance))
            self.factor = np.where(turned | ~(fine | fine.any()), -1.0, 1.0)
            self.known = self.models
            self.wrong = f"{figures}: commands or efforts have the other sign"
        elif off.sum() > 1:
            self.known = False
            self.wrong = f"{figures}: the controller has another order of joints, or something else drives them"

    def _exchange(self) -> None:
        """The other one holds it."""
        adds = "adds its compensation to" if self.models else "adds nothing to"
        self.models = not self.models
        if self.models and self._rest is not None:
            held = self._gravity(self._pose)
            near = np.abs(self._rest - held) <= self._tolerance
            self._beside = np.where(near, self._rest - held, 0.0)
        self.wrong = f"gravity has another owner than --gravity says: the robot {adds} what it is told"
