"""An arm with an effort interface over ROS 2, as the loop's `Arm`: joint states by name in, torques in its order out.

The controllers of ros2_control keep the last torque until a new one comes, without a timeout. So a pose is held by our own
servo, beside what holds the arm; an arm that is released is first braked by its last plausible motion, and then served until
its own controller has it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.runtime.arms.heard import Heard
from diffpbd.runtime.arms.ros2.hold import Hold
from diffpbd.runtime.arms.ros2.holder import Holder
from diffpbd.runtime.arms.ros2.link import Handing, Link
from diffpbd.runtime.arms.ros2.nudges import Nudges
from diffpbd.runtime.arms.ros2.parting import BRAKING, Holding, Past, slowed
from diffpbd.runtime.arms.ros2.said import Said, contradiction, in_order
from diffpbd.runtime.arms.ros2.serving import serve
from diffpbd.runtime.arms.ros2.servo import HOLD_PERIOD
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Clock, Fault
from diffpbd.runtime.loop.guard import Guard
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.statics import Inertial
from diffpbd.runtime.records.messages import JointState, Receipt

__all__ = ["Ros2Arm"]

SHORTEST = 0.05
"""s; a timeout below it releases the arm at once."""
LOOK = 1e-3
"""s between two looks for the effect of the first torque."""
LETTING_GO = 50
"""Most messages for braking and fading to the holding torque; a tenth of the effort limit each."""

Listener = Callable[[JointState, Receipt], None]


class Ros2Arm(Heard):
    """An arm; `link` has its two topics. Nothing is sent but by `transmit`, and on letting go."""

    handed_back = "the arm was braked by what was believed of it and left with what holds it, after {}"

    def __init__(
        self,
        link: Link,
        joints: tuple[str, ...],
        limits: Limits,
        gravity: Holding,
        inertial: Inertial,
        said: Said,
        *,
        clock: Clock | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`gravity` and `inertial` [N·m] are the model's; `say` gets remarks."""
        super().__init__(joints, limits, clock)
        self.listener: Listener | None = None
        """Gets every message that comes in, in the reading thread."""
        self._link, self._said, self._say = link, said, say
        self._holder = Holder(joints, limits.effort, gravity, models=said.models)
        self._inertial, self._holding = inertial, Hold(joints, self._holder, inertial)
        self._order = list(in_order(joints, said.order))
        self._torques = self._holds = Guard(limits, HOLD_PERIOD)
        self._sent: FloatArray | None = None
        self._sent_at = float("-inf")
        self._past: Past | None = None
        """Plausible states at the times of commands, since the last release."""
        self._handing: Handing | None = None
        """The switch to the arm's own controller."""
        self._asked = self._blind = False
        """Whether the controller was asked; whether the arm was released because its states could not be believed."""

    # What comes in, in the reading thread

    def _on_state(self, message: JointState, received: float, participant: str) -> None:
        if self.listener is not None:
            self.listener(message, Receipt(self._link.states, participant, received, message.encode()))
        self._take(message, received, participant)
        if self._sent is None and self._state is not None:
            self._holder.rest(self._state.q, self._state.effort)

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
        """Let the arm go if something was sent, serve it until its own controller has it, and leave."""
        self._let_go() if self._sent is None or self._said.release == 0.0 else self._serve(self._sent)
        self._link.close()

    def missing(self, *, suppressing: bool) -> str:
        """Names what has not come yet."""
        if (state := self._state) is None:
            why = self._link.seen() or ", ".join(f"{count} with {text}" for text, count in self.rejected.items())
            return f"no joint state on {self._link.states} names every joint of the arm" + (f": {why}" if why else "")
        if np.isnan(state.dq).all():
            return f"the joint states on {self._link.states} carry no velocities"
        if not self._heard():
            return self._deaf()
        if self._link.answer() is None or not self._holder.rested:
            return f"what reads {self._link.commands} is still asked for its joints"
        return ""

    def _heard(self) -> bool:
        """Whether the robot itself subscribes, not just a recorder or a plot."""
        anyone = self._said.any_listener or self._state is None
        return self._link.hears("" if anyone or self._state is None else self._state.source)

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
        return self._noted or self.unable() or self._doubt()

    def _doubt(self) -> str:
        """Contradiction of what the arm says before the first torque to what was said of it, or empty."""
        answer = self._link.answer()
        if self._asked or self._sent is not None or answer is None or self._state is None:
            return ""
        text = contradiction(answer, self._said, self.joints, self._link.commands)
        if not text and not self._said.allow_mismatch:
            text = self._holder.refusal()
        if text:
            return text
        self._asked = True
        if self._holder.measured:
            mass = Motion(self._inertial).mass_at(self._state.q)
            inertia = 1.0 / np.diag(np.linalg.inv(mass))
            ordered = answer.joints is not None
            self._holding.nudges = Nudges(self.joints, self.limits.effort, inertia, self._holder.noise, ordered=ordered)
        if answer.joints is not None and list(order := in_order(self.joints, answer.joints)) != self._order:
            self._order = list(order)
            self._say(f"the controller's joints are {', '.join(answer.joints)}: torques are sent in this order")
        return ""

    def unable(self) -> str:
        """The topics do not say whether the robot is enabled or stopped: its states' silence does."""
        return "" if self._state is not None else "its state is unknown"

    def request_enable(self) -> None:
        """Enabling is the robot's own."""

    def set_timeout(self, seconds: float | None = None) -> None:
        """These controllers have no timeout; a short one releases the arm at once."""
        if seconds is not None and seconds < SHORTEST:
            self._blind = not self._noted  # what was noted is no fault of the states
            if self._blind or self._said.release == 0.0:
                self._let_go()

    def suppress(self) -> None:
        """An interface whose gravity is the model's has no compensation of its own."""

    # What goes out

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Command a torque [N·m], or the torque that holds a pose [rad]."""
        state, zero = self._state, np.zeros_like(values)
        believed = state is not None and self._believe(state)
        if mode is Mode.TORQUE:
            self._holding.forget()
            self._send(self._torques, values, zero)
            return
        if state is None or not believed:
            if self._sent is None:
                raise RefusedError("Not sent: the arm cannot be held, its state cannot be believed.")
            self._send(self._torques, zero, self._sent)  # what was sent before, once more
            return
        self._hold(state, values)
        if self._holding.trying:
            self._try(values)

    def _try(self, pose: FloatArray) -> None:
        """Send what holds the arm as soon as the first torque is seen to be obeyed as told; takes whole periods of a hold."""
        begin = self.clock.now()
        while self._holding.trying:
            self.clock.sleep(LOOK)
            state = self._state
            if state is not None and self._believe(state):
                self._hold(state, pose)
        self.clock.sleep((begin - self.clock.now()) % HOLD_PERIOD)

    def _hold(self, state: LimbState, pose: FloatArray) -> None:
        """Hold a pose [rad] by the servo, beside what holds the arm as far as it is seen."""
        now = self.clock.now()
        step = self._holding.step(state, pose, now, self._sent, now - self._sent_at)
        self._note(self._holding.trouble)
        if step.wrong:
            self._give_up()
        if step.at_once or self._sent is None:
            self._sent = step.held
        self._send(self._paced, step.law, step.held)
        self._holding.keep(state, self._sent)

    def _give_up(self) -> None:
        """Give the arm to its own controller."""
        answer = self._link.answer()
        if self._handing is None and answer is not None and answer.own is not None and self._said.release != 0.0:
            self._handing = self._link.hand_over(answer.own)

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
        told = self._holder.factor * self._sent
        self._holder.sent(self._sent_at, told)
        if self._past is not None:
            self._past.tell(self._sent_at, self._sent)
        if not (self._handing and self._handing.done):
            self._link.send(tuple(self.joints[k] for k in self._order), told[self._order])

    def _let_go(self) -> None:
        """Release: brake the last plausible motion, then send the holding torque."""
        if self._sent is None or self._past is None:
            return
        holding = self._seen()
        self._holding.forget()
        q, dq = self._past.motion(self.clock.now(), self._inertial, holding)
        self._past = None
        for _ in range(LETTING_GO):
            before, held = self._sent, holding(q)
            law = self._inertial(q, dq, -BRAKING * dq)
            self._send(self._paced, law if self._holder.known else np.zeros_like(q), held)
            self.clock.sleep(HOLD_PERIOD)
            if not dq.any() and np.allclose(self._sent, before):
                return
            dq = slowed(self._inertial, q, dq, self._sent - held, HOLD_PERIOD)
            q = q + HOLD_PERIOD * dq
        self._send(self._paced, np.zeros_like(q), holding(q))

    def _seen(self) -> Holding:
        """Holder of the arm, seen or believed."""
        kept = self._holding.kept()
        return self._holder.torque if kept is None else lambda q: self._holder.seen(q, kept)

    def _serve(self, held: FloatArray) -> None:
        """Hold the arm where it is now; without states that can be believed, by the torque [N·m] that it was left with."""
        state, zero = self._state, np.zeros_like(held)
        pose = None if state is None or self._blind else state.q

        def hold() -> None:
            state = self._state
            fresh = state is not None and state.age(self.clock.now()) <= self.stale_after
            if pose is not None and state is not None and fresh and self._believe(state):
                self._hold(state, pose)
            else:
                self._send(self._holds, zero, held if self._sent is None else self._sent)

        def gone() -> str:
            return ", ".join(self.others()) or ("" if self._heard() else self._deaf())

        self._give_up()
        if not serve(self._handing, self.clock, self._said.release, hold, gone, self._say) and pose is not None:
            self._send(self._holds, zero, self._seen()(pose))
