"""The clean stop: brake, then hold; no command if the measured pose cannot be trusted.

1. After torque commands and a contact: damping without a held pose, until the arm rests or has yielded far enough.
2. In motion, after torque commands: damped torque within the limits until the arm is at rest.
3. Position mode at the last accepted pose, while fresh states agree with it.

If the newest state was refused or is old, no command is sent: the robot's own timeout, set short, makes it hold; an arm
without such a timeout is released as `Arm.handed_back` says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Arm
from diffpbd.runtime.loop.gate import GatedArm
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Breach, Reflex
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.loop.supervisor import Decision, Supervisor

__all__ = ["CleanStop"]

AGREEMENT = 0.05
"""rad; largest difference of a state from the held pose; beyond it commands end."""
HOLD_PERIOD = 0.01  # s between two commands to hold
HAND_BACK = 0.02
"""s; the robot's timeout during the hand-over. With its default it would keep the last torque for 0.2 s."""
HAND_BACK_WAIT = 0.06
"""s until the default timeout is restored."""
BRAKE_LIMIT = 0.4
"""s; braking from the speed limit takes 0.25 s. If the arm still moves, damping does not overcome what drives it."""

YIELD_REST, YIELD_LIMIT = 0.5, 10.0
"""s at rest after which the push is over, and longest time [s] of yielding."""

Note = Callable[[float, LimbState, Decision], None]
"""Writes a braking tick at a time [s] to the log."""


class CleanStop:
    """One stop, from torque mode (`torque`) or from position mode."""

    def __init__(
        self, gated: GatedArm, supervisor: Supervisor, *, torque: bool, hold: float, yielding: bool = False
    ) -> None:
        """`hold` [s] in position mode; `yielding`: the arm yields first."""
        self._yielding = yielding
        self._gated = gated
        self._arm: Arm = gated.arm
        self._supervisor = supervisor
        self._torque = torque
        self._hold = hold
        self.contradiction: Breach | None = None
        """Contradiction between positions and speeds during braking."""

    def execute(self, elapsed: Callable[[], float], origin: float, suppress: Callable[[], None], note: Note) -> str:
        """Stop the arm; returns what was done, in words. `elapsed`: the run's time [s], `origin`: its stamp at zero,
        `suppress`: sends a message of the suppress stream if there is one."""
        unable = self._arm.unable()
        if unable:
            self._arm.set_timeout()
            return f"nothing more was sent: {unable}"
        braked, gave = 0, ""
        if self._yielding and self._torque and self._supervisor.accepted is not None:
            count, doubt = self._give_way(self._supervisor.accepted, elapsed, origin, suppress, note)
            gave = f"{count} torques that gave way, "
            if doubt:
                return self._hand_back(f"{gave}{doubt}")
        if self._torque and self._supervisor.accepted is not None:
            braked, doubt = self._brake(elapsed, origin, suppress, note)
            if doubt:
                return self._hand_back(f"{gave}{braked} braking torques, {doubt}")
        held = self._supervisor.accepted
        if held is None:
            return self._hand_back(f"{gave}{braked} braking torques, the measured pose is in dispute")
        self._arm.set_timeout()
        count, doubt = self._hold_at(held)
        if doubt:
            return self._hand_back(f"{gave}{count} commands to hold, {doubt}")
        before = f"{braked} braking torques, then " if braked else ""
        return f"{gave}{before}{count} commands to hold the measured pose"

    def _hand_back(self, after: str) -> str:
        """Hand the arm to the robot at once: its own timeout makes it hold by its own sensors."""
        self._arm.set_timeout(HAND_BACK)
        self._arm.clock.sleep(HAND_BACK_WAIT)
        self._arm.set_timeout()
        return self._arm.handed_back.format(after)

    def _give_way(
        self, since: FloatArray, elapsed: Callable[[], float], origin: float, suppress: Callable[[], None], note: Note
    ) -> tuple[int, str]:
        """Yield; returns the number of torques and why no command may follow. Ends too far from the pose `since` [rad]."""
        arm, supervisor, clock = self._arm, self._supervisor, self._arm.clock
        begun = rested = clock.now()
        count = 0
        while True:
            state = arm.state
            doubt = self._stale(state) or arm.unable()
            if state is None or doubt:
                return count, doubt
            time = elapsed()
            decision = supervisor.brake(time, state.stamp - origin, state.q, state.dq, state.effort, yielding=True)
            if decision.breach is not None:
                if decision.breach.reflex is Reflex.MOTION:
                    self.contradiction = decision.breach
                return count, decision.breach.text
            suppress()
            self._gated.send(Mode.TORQUE, decision.command, state, model_gravity=supervisor.models_gravity)
            note(time, state, decision)
            count += 1
            now = clock.now()
            rested = rested if supervisor.at_rest else now
            enough = now - rested >= YIELD_REST or now - begun >= YIELD_LIMIT or not supervisor.may_yield(since)
            clock.sleep(supervisor.settings.period)
            if enough:
                return count, ""

    def _brake(
        self, elapsed: Callable[[], float], origin: float, suppress: Callable[[], None], note: Note
    ) -> tuple[int, str]:
        """Brake; returns the number of torques, and why braking was aborted."""
        arm, supervisor, clock = self._arm, self._supervisor, self._arm.clock
        end, count = clock.now() + BRAKE_LIMIT, 0
        while True:
            state = arm.state
            doubt = self._stale(state)
            if state is None or doubt:
                return count, doubt
            time = elapsed()
            decision = supervisor.brake(time, state.stamp - origin, state.q, state.dq, state.effort)
            if decision.breach is not None:
                if decision.breach.reflex is Reflex.MOTION or decision.status is TickStatus.POSITION_JUMP:
                    self.contradiction = decision.breach
                return count, decision.breach.text
            if supervisor.at_rest or clock.now() >= end:
                return count, ""
            suppress()
            self._gated.send(Mode.TORQUE, decision.command, state, model_gravity=supervisor.models_gravity)
            note(time, state, decision)
            count += 1
            clock.sleep(supervisor.settings.period)

    def _hold_at(self, held: FloatArray) -> tuple[int, str]:
        """Hold; returns the number of commands, and why they ended early."""
        arm, clock = self._arm, self._arm.clock
        position = within(held, arm.limits.lower, arm.limits.upper)
        end, count = clock.now() + self._hold, 0
        while clock.now() < end:
            state = arm.state
            doubt = self._stale(state)
            if state is None or doubt:
                return count, doubt
            if not (np.abs(state.q - held) <= AGREEMENT).all():  # also where it is not finite
                return count, f"the measured pose is not within {AGREEMENT:g} rad of the held one"
            try:
                self._gated.send(Mode.POSITION, position, state, model_gravity=False)
            except RefusedError as error:
                return count, str(error)
            count += 1
            clock.sleep(HOLD_PERIOD)
        return count, ""

    def _stale(self, state: LimbState | None) -> str:
        """Why the newest state must not be used, or empty."""
        if state is None or state.age(self._arm.clock.now()) > self._arm.stale_after:
            return "no fresh pose"
        fault = self._arm.fault()
        return fault.text if fault is not None and fault.reason is Reason.LOST_ROBOT else ""
