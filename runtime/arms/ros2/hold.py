"""Holding a pose over an effort interface: the servo beside what holds the arm, and what the arm's answers say meanwhile.

The first torques come in slowly, and every new state is judged: nothing that is said of an arm is believed before it is seen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arms.ros2.holder import Holder
from diffpbd.runtime.arms.ros2.nudges import Nudges
from diffpbd.runtime.arms.ros2.servo import SAG, HoldingServo
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.model.statics import Inertial

__all__ = ["Hold", "Step"]

FIRST = 2e-3
"""Share of what holds the arm in the first torque: in units a thousand times too large it is twice what holds it."""
COMING = 0.06
"""s in which the servo comes in, where measured efforts can show meanwhile that its torques are not obeyed as told."""
NEARLY = 0.05  # rad/s; an arm that is held is below it, and may be nudged
NUDGING = 0.6
"""s from the first torque on in which joints are nudged: after it the arm comes to rest for the law."""
KEPT = 15
"""Commands of a hold, 0.15 s, whose mean holds an arm that rests."""


@dataclass(frozen=True, eq=False)
class Step:
    """The next command: a `law` beside what is `held` [N·m]; `at_once`: what is held is sent without a ramp, which would let
    the arm fall; `wrong`: what was said of the arm was found to be wrong."""

    law: FloatArray
    held: FloatArray
    at_once: bool = False
    wrong: bool = False


class Hold:
    """One arm's; `trouble` says what is wrong, in words."""

    def __init__(self, joints: tuple[str, ...], holder: Holder, inertial: Inertial) -> None:
        self.trouble = ""
        self.holder = holder
        self.nudges: Nudges | None = None
        self._joints, self._servo = joints, HoldingServo(inertial)
        self._begin: float | None = None
        self._judged: LimbState | None = None
        self.trying = False
        """Whether the first torque, a small part of what holds the arm, is not in effect yet."""
        self._kept: deque[FloatArray] = deque(maxlen=KEPT)
        """Torques that held the arm at rest, the last ones."""

    def step(self, state: LimbState, pose: FloatArray, now: float, sent: FloatArray | None, seconds: float) -> Step:
        """The command at `now` [s], `seconds` after the one before, which was `sent`, that holds a pose [rad]."""
        holder, first = self.holder, self._begin is None
        self.trying = self.trying or (first and holder.measured)
        self._begin = now if self._begin is None else self._begin
        new, self._judged = state is not self._judged, state
        before, law = bool(holder.wrong), np.zeros_like(pose)
        if new:
            self._judge(state, pose)
            law = law if sent is None else self._nudge(state, sent, now)
        wrong = bool(holder.wrong) and not before
        held = holder.torque(state.q)
        if wrong:
            self._servo.reset()
            self._kept.clear()
            self.trying = False
        if self.trying:
            self.trying = first or not holder.begun(now, state.effort)
            return Step(law, FIRST * held if self.trying else held, at_once=True)
        if holder.known:
            doubtful = holder.measured and not holder.proved.any()
            coming = min((now - self._begin) / COMING, 1.0) ** 2 if doubtful else 1.0
            law = coming * (law + self._servo.torque(state.q, state.dq, pose, seconds))
        return Step(law, held, at_once=wrong, wrong=wrong)

    def _judge(self, state: LimbState, pose: FloatArray) -> None:
        """Whether a new state shows that what was said is wrong."""
        far = np.abs(state.q - pose)
        wrong = self.holder.judge(state.effort)
        if (far > SAG).any() and not self.trouble:
            wrong = self.holder.sagged(state.q - pose) or wrong
            k = int(far.argmax())
            self.trouble = (
                f"{self._joints[k]} is {far[k]:.3f} rad from the pose at which it is held: gravity has another owner than "
                "--gravity says, or something pulls"
            )
        if wrong:
            self.trouble = self.holder.wrong

    def _nudge(self, state: LimbState, sent: FloatArray, now: float) -> FloatArray:
        """Torque that a nudge adds to the next command [N·m]."""
        nudges, holder = self.nudges, self.holder
        if nudges is None or holder.wrong:
            return np.zeros_like(sent)
        rests = now - (self._begin or now) < NUDGING and bool(np.abs(state.dq).max() < NEARLY)
        law = nudges.torque(state.effort, sent, rests=rests)
        holder.proved |= nudges.proved
        if nudges.wrong:
            holder.factor, holder.wrong = nudges.factor, nudges.wrong
            holder.known = nudges.known and holder.models  # a robot that holds itself needs nothing
            self.trouble = self.trouble or nudges.wrong
        return law

    def keep(self, state: LimbState, sent: FloatArray) -> None:
        """A command [N·m] was sent to an arm in this state."""
        if np.abs(state.dq).max() < NEARLY:
            self._kept.append(sent)

    def kept(self) -> FloatArray | None:
        """Torque that held the arm at rest until now [N·m], if it was held."""
        return np.asarray(np.mean(self._kept, axis=0), dtype=np.float64) if len(self._kept) == KEPT else None

    def forget(self) -> None:
        """Another law has the arm."""
        self._servo.reset()
        self._kept.clear()
