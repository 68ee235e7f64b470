"""The last check before sending, independent of every controller."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, finite
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Arm
from diffpbd.runtime.model.limits import Limits

__all__ = ["CommandGate", "GatedArm"]

EFFORT_TOLERANCE = 1e-9  # N·m; rounding of a clipped sum
POSITION_REACH = 0.1
"""rad; largest distance of a commanded position from the measured one: a position servo jumps to its command."""
SUPPRESS_LIMIT = 0.1
"""s; half of the 0.2 s after which a robot's own gravity compensation comes back."""


class CommandGate:
    """Refuses commands that are not finite, beyond a limit, change too much, or follow from an old state.

    `stale_after` [s] is the largest age of a state that a command may follow from; `step` (n,) [N·m] is the
    largest change from one torque to the next. `passed` tells it what was sent; it knows nothing else of the run.
    """

    def __init__(self, limits: Limits, stale_after: float, step: FloatArray) -> None:
        self.limits = limits
        self.stale_after = stale_after
        self.step = step
        self._torque: FloatArray | None = None
        self._suppressed = float("-inf")

    def suppressed(self, now: float) -> None:
        """A suppress message was sent at monotonic time `now` [s]."""
        self._suppressed = now

    def passed(self, mode: Mode, values: FloatArray) -> None:
        """A command was sent."""
        self._torque = values if mode is Mode.TORQUE else None

    def refusal(
        self, mode: Mode, values: FloatArray, q: FloatArray, age: float, now: float, *, model_gravity: bool
    ) -> str:
        """Why this command, made from a state at `q` [rad], must not be sent at `now` [s]; empty if it may."""
        limits = self.limits
        if values.shape != limits.effort.shape:
            return f"a command of shape {values.shape} for {len(limits.effort)} joints"
        if not finite(values):
            return "a command that is not finite"
        if not age <= self.stale_after:
            return f"a command from a state {age:.3f} s old (at most {self.stale_after:g} s)"
        silent = now - self._suppressed
        if model_gravity and silent > SUPPRESS_LIMIT:
            return (
                f"model gravity, but the last suppress message left {silent:.3f} s ago: the robot's own gravity "
                "may be back"
            )
        if mode is Mode.TORQUE:
            if any(_beyond(values, limits.effort)):
                return "a torque beyond the effort limits"
            if self._torque is not None and any(_beyond(values - self._torque, self.step)):
                return "a torque that changes faster than the limit"
            return ""
        if mode is Mode.POSITION:
            # Outside its limits an arm may move back in, never further out.
            if (limits.outside(values) > limits.outside(q)).any():
                return "a position beyond the limits"
            if not (np.abs(values - q) <= POSITION_REACH).all():  # also where q is not finite
                return f"a position more than {POSITION_REACH:g} rad from the measured one"
            return ""
        return f"{mode.name.lower()} mode is not used"


def _beyond(torques: FloatArray, allowed: FloatArray) -> list[bool]:
    """Joint by joint, whether finite torques [N·m] are larger than what is allowed."""
    sizes = zip(torques.tolist(), allowed.tolist(), strict=True)
    return [abs(torque) > most + EFFORT_TOLERANCE for torque, most in sizes]


class GatedArm:
    """The loop's only access to an arm's motors: every command passes the gate."""

    def __init__(self, arm: Arm, step: FloatArray) -> None:
        """`step` (n,) [N·m]: see `CommandGate`."""
        self.arm = arm
        self.sent = 0
        self._gate = CommandGate(arm.limits, arm.stale_after, step)

    def send(self, mode: Mode, values: FloatArray, state: LimbState, *, model_gravity: bool) -> float:
        """Send a command that follows from `state`; returns the monotonic time [s] afterwards.

        A RefusedError, and nothing sent, if the gate refuses it.
        """
        now = self.arm.clock.now()
        reason = self._gate.refusal(mode, values, state.q, state.age(now), now, model_gravity=model_gravity)
        if reason:
            raise RefusedError(f"Not sent: {reason}.")
        self.arm.transmit(mode, values)
        self._gate.passed(mode, values)
        self.sent += 1
        return self.arm.clock.now()

    def suppress(self) -> None:
        """Keep the robot's own gravity compensation off for a while."""
        self.arm.suppress()
        self._gate.suppressed(self.arm.clock.now())
