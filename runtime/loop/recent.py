"""The states of the last tenth of a second with their integrals: what reflexes are judged by."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.mpc.history import History

__all__ = ["ENCODER", "FEW", "PUSHED", "Recent", "Sample"]

WINDOW = 0.1
"""s of measurement over which motion and frozen values are judged."""
FEW = 4
"""Least number of states in a window."""
PUSHED = 0.03
"""s; window for accelerations: four states at 100 Hz."""
ENCODER = 1e-3
"""rad; a change of position that may be the encoder's steps."""
TELLING = 0.005
"""s between two states whose positions tell a jump of the speed; where states are closer the next one comes as soon."""
SHOWN = 0.25
"""Of a joint's change of speed times the time between two states, the change of position that confirms it: half if it
accelerated steadily, none if only the measured speed jumped."""


class Sample(NamedTuple):
    """One state; plain numbers, whose arithmetic for seven joints takes a third of that of arrays."""

    stamp: float
    q: list[float]
    dq: list[float]
    effort: list[float] | None
    law: list[float]
    way: list[float]
    """∫ dq since the start [rad]."""
    path: list[float]
    """∫ |dq| since the start [rad]."""
    impulse: list[float]
    """∫ of the laws' torques since the start [N·m·s]."""

    def same(self, other: Sample) -> bool:
        """Whether every measured number is the same; missing torques equal missing torques only."""
        return self.q == other.q and self.dq == other.dq and self.effort == other.effort


class Recent:
    """Takes every state, and knows the last ones."""

    def __init__(self) -> None:
        self.past: deque[Sample]
        """The first is the newest that is at least WINDOW older than the last, or the oldest there is; at least FEW."""
        self.lately: deque[Sample]
        """The same for PUSHED, at least two."""
        self.acted: History
        """Laws [N·m] with the times, on the clock of stamps, from which they acted; if unknown the last one sent is used."""
        self.start()

    def start(self) -> None:
        """Reset."""
        self.past, self.lately, self.acted = deque(), deque(), History(None)

    def add(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray
    ) -> Sample | None:
        """The state as a sample, if it is a new one."""
        angles, rates, torques = q.tolist(), dq.tolist(), law.tolist()
        way = path = impulse = [0.0] * len(angles)
        past, lately = self.past, self.lately
        if past:
            last = past[-1]
            elapsed = stamp - last.stamp
            if elapsed <= 0.0:
                return None
            half = 0.5 * elapsed
            both = list(zip(last.dq, rates, strict=True))
            way = [total + half * (before + rate) for total, (before, rate) in zip(last.way, both, strict=True)]
            path = [
                total + half * (abs(before) + abs(rate)) for total, (before, rate) in zip(last.path, both, strict=True)
            ]
            acted = self.acted.impulse(last.stamp, stamp)
            acted = [elapsed * torque for torque in torques] if acted is None else acted
            impulse = [total + part for total, part in zip(last.impulse, acted, strict=True)]
        sample = Sample(stamp, angles, rates, None if effort is None else effort.tolist(), torques, way, path, impulse)
        past.append(sample)
        lately.append(sample)
        while len(past) > FEW and stamp - past[1].stamp >= WINDOW:
            past.popleft()
        while len(lately) > 1 and stamp - lately[1].stamp >= PUSHED:
            lately.popleft()
        return sample

    def at_rest(self, speed: float) -> bool:
        """Whether the newest speeds and those from the last positions are below `speed` [rad/s]."""
        if len(self.past) < FEW:
            return False
        now, then = self.past[-1], self.lately[0]
        way = speed * (now.stamp - then.stamp) + ENCODER
        slow = all(abs(rate) <= speed for rate in now.dq)
        return slow and all(abs(angle - before) <= way for angle, before in zip(now.q, then.q, strict=True))

    def confirmed(self) -> bool:
        """Whether positions show the last change of the speeds."""
        shown = self._shown()
        return bool(shown) and all(shown)

    def tells(self) -> bool:
        """Whether positions would deny a jump of the speeds since the last state, and do not."""
        return len(self.past) > 1 and self.past[-1].stamp - self.past[-2].stamp >= TELLING and all(self._shown())

    def _shown(self) -> list[bool]:
        """Whether the position shows the last change of speed, of every joint where that is by far more than ENCODER."""
        if len(self.past) < 2:
            return []
        before, now = self.past[-2], self.past[-1]
        elapsed, found = now.stamp - before.stamp, []
        for angle, start, rate, slow in zip(now.q, before.q, now.dq, before.dq, strict=True):
            change = SHOWN * elapsed * (rate - slow)
            if abs(change) > 2.0 * ENCODER:
                found.append((angle - start - elapsed * slow) * change >= change * change)
        return found
