"""One joint's answer at a time: a small torque for each has to show in that joint's measured effort alone, with its sign.

An order of joints, a sign or units that are wrong are seen so before a law begins, while the arm hardly moves.
"""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Nudges"]

SHARE = 0.04
"""Most of a joint's effort limit."""
GENTLE = 5.0
"""rad/s² that a nudge gives a joint without friction at the most, for 0.02 s: 0.1 rad/s."""
WAIT, PULSE, WAY = 5, 6, 2
"""Commands before the first nudge, and of each: two there and two back, so that the arm rests again, and two without. The
effort that follows a command comes within two of them at 100 Hz."""
CERTAIN, LEAST = 4.0, 2e-3
"""Standard deviations of an effort's noise, and share of a joint's effort limit, below which an answer is none."""
MOST = 3.0
"""Times a nudge that its answer may be."""


class Nudges:
    """The nudges of a hold, one joint after the other; `wrong` says what answered instead."""

    def __init__(
        self, joints: tuple[str, ...], effort: FloatArray, inertia: FloatArray, noise: FloatArray, *, ordered: bool
    ) -> None:
        """`effort` [N·m]: the limits; `inertia` [kg·m²]: what a joint's torque accelerates; `noise` [N·m]: of the measured
        efforts; `ordered`: the order of the joints is known, so that a strong joint's nudge cannot throw a light one."""
        self.wrong = ""
        self.factor = np.ones_like(effort)
        """Factor of a torque by which it is obeyed."""
        self.known = True
        """Whether a torque for a joint is known to act on it."""
        self.proved = np.zeros(len(joints), dtype=bool)
        """Joints that answered rightly."""
        self._joints = joints
        self._least = np.maximum(CERTAIN * noise, LEAST * effort)
        sizes = np.minimum(SHARE * effort, GENTLE * inertia)
        self._sizes = sizes if ordered else np.full_like(effort, sizes.min())
        self._count = 0
        self._base: tuple[FloatArray, FloatArray] | None = None
        """Effort and torque sent before the nudge [N·m]."""
        self._doubt = ""
        """Doubt after a nudge that was answered otherwise; the second time it counts."""

    def torque(self, effort: FloatArray | None, sent: FloatArray, *, rests: bool) -> FloatArray:
        """Torque to add to the next command [N·m]; `effort` is newly measured, `sent` the last command. A nudge waits until the
        arm `rests`."""
        extra = np.zeros_like(self._sizes)
        place, step = divmod(self._count - WAIT, PULSE)
        if self.wrong or place >= len(self._joints) or effort is None:
            return extra
        if place >= 0 and step == 0:
            if self._sizes[place] < self._least[place]:
                self._count += PULSE  # no sensor would show it
                return extra
            if not rests:
                return extra
            self._base = effort, sent
        self._count += 1
        if place < 0:
            return extra
        if step == WAY and self._base is not None:
            before, told = self._base
            answer = effort - before - (sent - told)
            answer[place] += self._sizes[place]
            self._judge(place, answer)
        extra[place] = self._sizes[place] * (1.0, -1.0, 0.0)[step // WAY]
        if step == PULSE - 1 and self._doubt:
            self._count -= PULSE
        return np.zeros_like(extra) if self.wrong else extra

    def _judge(self, k: int, answer: FloatArray) -> None:
        """The change of the efforts [N·m] in which joint k's nudge has to show."""
        size, before = self._sizes[k], self._doubt
        seen = np.abs(answer) > np.maximum(0.5 * size, self._least)
        named = f"a torque of {size:.2g} N·m for {self._joints[k]}"
        others = np.flatnonzero(seen & (np.arange(len(seen)) != k))
        self._doubt = ""
        if seen[k] and (answer[k] < 0.0 or answer[k] > MOST * size):
            kind = "the other sign" if answer[k] < 0.0 else "other units"
            self._doubt = f"{named} is reported as {answer[k]:.2g} N·m: commands or efforts have {kind}"
        elif not seen[k] and len(others) == 1:
            where = self._joints[others[0]]
            self._doubt = (
                f"{named} is reported by {where}: the controller has another order of joints (--command-joints)"
            )
        else:
            self.proved[k] = seen[k]
        if self._doubt and before:
            self.wrong = self._doubt
            self.factor[k] = size / answer[k] if seen[k] else 1.0
            self.known = bool(seen[k])
