"""An arm with an effort interface over ROS 2, as the loop's `Arm`: joint states by name in, torques in its order out.

The controllers of ros2_control keep the last torque until a new one comes, without a timeout. So a pose is held by our
own servo, and an arm that is released is first braked by its last plausible motion and then gets the holding torque,
which stays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.runtime.arms.heard import Heard
from diffpbd.runtime.arms.ros2.link import Link
from diffpbd.runtime.arms.ros2.parting import BRAKING, Holding, Past, slowed
from diffpbd.runtime.arms.ros2.servo import HOLD_PERIOD, SAG, holding_servo
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Clock, Fault
from diffpbd.runtime.loop.guard import Guard
from diffpbd.runtime.loop.motion import Inertial
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.messages import JointState, Receipt

__all__ = ["Ros2Arm", "in_order"]

SHORTEST = 0.05
"""s; a timeout below it releases the arm at once."""
LETTING_GO = 50
"""Most messages for braking and fading to the holding torque; a tenth of the effort limit each."""

Listener = Callable[[JointState, Receipt], None]


def in_order(joints: tuple[str, ...], order: tuple[str, ...] | None) -> tuple[int, ...]:
    """Where the controller's joints are among ours; an InputError if they are not the same ones."""
    if order is None:
        return tuple(range(len(joints)))
    if sorted(order) != sorted(joints):
        raise InputError(
            f"The controller's joints are {', '.join(order) or 'none'}, expected those of the robot, each once: "
            f"{', '.join(joints)}."
        )
    return tuple(joints.index(joint) for joint in order)


class Ros2Arm(Heard):
    """An arm; `link` has its two topics. Nothing is sent but by `transmit`, and on letting go."""

    handed_back = "the arm was braked by what was believed of it and left with what holds it, after {}"

    def __init__(
        self,
        link: Link,
        joints: tuple[str, ...],
        limits: Limits,
        holding: Holding,
        inertial: Inertial,
        *,
        order: tuple[str, ...] | None = None,
        any_listener: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """`order`: the joints of the controller, by default those of the robot;
        `any_listener`: whoever listens is the robot, by default the participant that publishes its joint states."""
        super().__init__(joints, limits, clock)
        self.listener: Listener | None = None
        """Gets every message that comes in, in the reading thread."""
        self._link = link
        self._holding = holding
        self._inertial, self._servo = inertial, holding_servo(inertial)
        self._order = list(in_order(joints, order))
        self._any_listener = any_listener
        self._torques = self._holds = Guard(limits, HOLD_PERIOD)
        self._sent: FloatArray | None = None
        self._sent_at = float("-inf")
        self._past: Past | None = None
        """Plausible states at the times of commands, since the last release."""

    # What comes in, in the reading thread

    def _on_state(self, message: JointState, received: float, participant: str) -> None:
        if self.listener is not None:
            self.listener(message, Receipt(self._link.states, participant, received, message.encode()))
        self._take(message, received, participant)

    def _named(self, source: str) -> str:
        return self._link.who(source)

    # What the loop asks

    @property
    def dropped(self) -> int:
        """Commands that the middleware did not take."""
        return self._link.dropped

    def open(self, rate: float) -> None:
        """Begin to read states; their rate is the robot's, `rate` [Hz] that of the commands."""
        self._torques = Guard(self.limits, 1.0 / rate)
        self._link.open(self._on_state)

    def close(self) -> None:
        """Let the arm go if something was sent, and leave."""
        self._let_go()
        self._link.close()

    def missing(self, *, suppressing: bool) -> str:
        """What has not come yet."""
        state = self._state
        if state is None:
            why = self._link.seen() or ", ".join(f"{count} with {text}" for text, count in self.rejected.items())
            return f"no joint state on {self._link.states} names every joint of the arm" + (f": {why}" if why else "")
        if np.isnan(state.dq).all():
            return f"the joint states on {self._link.states} carry no velocities"
        return "" if self._heard() else self._deaf()

    def _heard(self) -> bool:
        """Whether the robot itself subscribes, not just a recorder or a plot."""
        return self._link.hears("" if self._any_listener or self._state is None else self._state.source)

    def _deaf(self) -> str:
        who = self._link.who(self._state.source) if self._state is not None else "the robot"
        why = self._link.unfit() or "is its controller loaded and active? (--robot-node any takes whoever listens)"
        return f"the robot, {who}, does not listen to {self._link.commands}: {why}"

    def fault(self) -> Fault | None:
        """Whether the robot has gone from the commands' topic."""
        return None if self._heard() else Fault(Reason.LOST_ROBOT, self._deaf())

    def others(self) -> tuple[str, ...]:
        """Other participants that publish this arm's commands."""
        return self._link.commanders()

    def trouble(self) -> str:
        """Any fault, present or past, or empty."""
        return self._noted or self.unable()

    def unable(self) -> str:
        """The topics do not say whether the robot is enabled or stopped: its states' silence does."""
        return "" if self._state is not None else "its state is unknown"

    def request_enable(self) -> None:
        """Enabling is the robot's own."""

    def set_timeout(self, seconds: float | None = None) -> None:
        """These controllers have no timeout; a short one releases the arm at once."""
        if seconds is not None and seconds < SHORTEST:
            self._let_go()

    def suppress(self) -> None:
        """An interface whose gravity is the model's has no compensation of its own."""

    # What goes out

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Command a torque [N·m], or the torque that holds a pose [rad]."""
        state, zero = self._state, np.zeros_like(values)
        believed = state is not None and self._believe(state)
        if mode is Mode.TORQUE:
            self._send(self._torques, values, zero)
            return
        if state is None or not believed:
            if self._sent is None:
                raise RefusedError("Not sent: the arm cannot be held, its state cannot be believed.")
            self._send(self._torques, zero, self._sent)  # what was sent before, once more
            return
        far = np.abs(state.q - values)
        if not self._noted and (far > SAG).any():
            k = int(far.argmax())
            self._noted = (
                f"{self.joints[k]} is {far[k]:.3f} rad from the pose at which it is held: gravity has another owner than "
                "--gravity says, or something pulls"
            )
        held = self._holding(state.q)
        if self._sent is None:
            self._sent = held  # whatever held the arm before: a ramp from zero would let it fall
        self._send(self._paced, self._servo(state.q, state.dq, values), held)

    @property
    def _paced(self) -> Guard:
        """The guard whose step fits the time since the last message: of a hold, or of the law."""
        return self._holds if self.clock.now() - self._sent_at > 0.9 * HOLD_PERIOD else self._torques

    def _believe(self, state: LimbState) -> bool:
        """Whether a command may follow from a state, which then is the last plausible pose."""
        guard = self._torques
        good = guard.judge(state.stamp, state.q, state.dq).good
        if good:
            guard.accept(state.stamp, state.q, state.dq)
            self._past = self._past or Past()
            self._past.add(state.received - state.delay, state.q, state.dq)
        return good

    def _send(self, guard: Guard, law: FloatArray, held: FloatArray) -> None:
        """Within the efforts, and within a step of what was sent before, whichever of the two ways sent it."""
        guard.last = np.zeros_like(law) if self._sent is None else self._sent
        self._sent, self._sent_at = guard.send(law, held), self.clock.now()
        if self._past is not None:
            self._past.tell(self._sent_at, self._sent)
        self._link.send(tuple(self.joints[k] for k in self._order), self._sent[self._order])

    def _let_go(self) -> None:
        """Release: brake the last plausible motion, then leave the holding torque, which stays until another program
        commands."""
        if self._sent is None or self._past is None:
            return
        q, dq = self._past.motion(self.clock.now(), self._inertial, self._holding)
        self._past = None
        for _ in range(LETTING_GO):
            before, held = self._sent, self._holding(q)
            self._send(self._paced, self._inertial(q, dq, -BRAKING * dq), held)
            self.clock.sleep(HOLD_PERIOD)
            if not dq.any() and np.allclose(self._sent, before):
                return
            dq = slowed(self._inertial, q, dq, self._sent - held, HOLD_PERIOD)
            q = q + HOLD_PERIOD * dq
        self._send(self._paced, np.zeros_like(q), self._holding(q))
