"""One complete control tick: state in, command out, with a status. Deterministic, so a log can be replayed.

The safe action of a refused tick: in torque mode the last torque for REPEAT seconds, then the law's part goes to zero
at the rate limit while gravity stays that of the last good tick; in position mode the last position sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, finite, within
from diffpbd.runtime.base.errors import DiffpbdError, InputError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Controller, Mode
from diffpbd.runtime.loop.braking import Brake
from diffpbd.runtime.loop.decision import Decision, GravityModel, Settings
from diffpbd.runtime.loop.guard import Guard, TickStatus
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import Breach, Reflex, Reflexes
from diffpbd.runtime.loop.seen import Seen
from diffpbd.runtime.model.limits import Limits

__all__ = ["Decision", "GravityModel", "Settings", "Supervisor"]

RUNAWAY_PATIENCE = 0.03
"""s of absurd speeds before the run stops: longer than one bad message, shorter than the patience, because an arm
that really is that fast must be stopped."""
REPEAT = 0.02
"""s for which a refused tick repeats the last torque: one bad message at 100 Hz leaves no trace in what is sent."""
REST_SPEED = 0.05
"""rad/s; an arm below it is at rest: it may be started, and a position servo may hold it."""

YIELD_WAY = 0.2
"""rad that a joint yields after a contact: a hand's breadth at arm's length, which frees a clamped person."""


class Supervisor:
    """Runs a controller behind a guard and reflexes, and adds gravity if the model owns it.

    A controller's method `sent`, if any, gets the law's torque [N·m] after all limits; its method `expected`, if any, gives
    the reference at a time [rad].
    """

    def __init__(
        self,
        controller: Controller,
        limits: Limits,
        settings: Settings,
        *,
        owner: GravityOwner,
        gravity: GravityModel | None,
        motion: Motion | None = None,
        joints: tuple[str, ...] = (),
        clearance: Callable[[FloatArray], str] | None = None,
    ) -> None:
        """`motion` is for CONTACT and the brake, `clearance` see `Reflexes`; `joints` are names for messages."""
        if controller.mode not in (Mode.TORQUE, Mode.POSITION):
            raise InputError(f"The supervisor has no guard for {controller.mode.name.lower()} mode.")
        if (owner is GravityOwner.MODEL) != (gravity is not None):
            raise InputError(
                "Gravity has one owner: give the supervisor a gravity model if and only if the model owns it."
            )
        if owner is GravityOwner.MODEL and controller.mode is not Mode.TORQUE:
            raise InputError("Model gravity is a torque and cannot be added in another mode.")
        self.controller = controller
        self.limits = limits
        self.settings = settings
        self.owner = owner
        self.counts: Counter[TickStatus] = Counter()
        names = joints or tuple(f"joint {k}" for k in range(len(limits.effort)))
        self.joints = names
        self._gravity_model = gravity
        self._clearance = clearance
        self._measured: Callable[[float], None] | None = getattr(controller, "measured", None)
        self._told: Callable[[FloatArray], None] | None = getattr(controller, "sent", None)
        self._expected: Callable[[float], FloatArray] | None = getattr(controller, "expected", None)
        self._brake = Brake(limits, motion)
        self._seen = None if motion is None else Seen(limits.effort, motion)
        self._braking = self._pushed = False
        self._guard = Guard(limits, settings.period)
        self._reflexes = Reflexes(names, limits, settings.reflexes, motion=motion, clearance=clearance)
        self.beside = self._reflexes.beside
        self._age: float
        self._now: float
        self._zero = np.zeros_like(limits.effort)
        self._law = self._zero
        self._held_gravity = self._zero
        self._held_position = self._zero
        self._refused_since: float | None = None
        self.accepted: FloatArray | None = None
        """The last accepted pose [rad]; None while the newest one is in dispute."""

    def refusal(self, q: FloatArray, dq: FloatArray, *, outside: bool = False) -> str:
        """Why the arm cannot be started from q [rad], dq [rad/s], or empty; `outside`: allow poses beyond the soft limits."""
        status = Guard(self.limits, self.settings.period).judge(0.0, q, dq)
        if not status.good:
            return f"The measured state cannot be a start: {status.words}."
        if (np.abs(dq) > REST_SPEED).any():
            k = int(np.argmax(np.abs(dq)))
            return (
                f"{self.joints[k]} moves at {dq[k]:.2f} rad/s; a run starts at rest (below {REST_SPEED:g} rad/s). "
                "Wait until the arm stands still."
            )
        beyond = self.limits.outside(q, self.settings.reflexes.margin)
        if (beyond > 0.0).any() and not outside:
            k, margin = int(np.argmax(beyond)), self.settings.reflexes.margin
            low, high = self.limits.lower[k] + margin, self.limits.upper[k] - margin
            return (
                f"{self.joints[k]} stands at {q[k]:.3f} rad, expected within [{low:.3f}, {high:.3f}] rad, its limits "
                "and a margin. Move it there by hand, or use --bring-in, which does it slowly."
            )
        near = "" if self._clearance is None else self._clearance(q)
        return f"The measured pose cannot be a start: {near}." if near else ""

    def start(self, q: FloatArray, dq: FloatArray | None = None, age: float = 0.0) -> None:
        """Begin at rest at the pose [rad] measured `age` [s] before time zero; an InputError if that is impossible."""
        reason = self.refusal(q, self._zero if dq is None else dq)
        if reason:
            raise InputError(reason)
        gravity = self._zero if self._gravity_model is None else self._gravity_model(q)
        if not np.isfinite(gravity).all():
            raise InputError("The model's gravity at the measured pose is not finite.")
        if (np.abs(gravity) > self.limits.effort).any():
            raise InputError(
                f"The model's gravity at the measured pose, {np.round(gravity, 2).tolist()} N·m, is beyond "
                f"the effort limits {self.limits.effort.tolist()}: the arm could not be held."
            )
        self.controller.start(q)
        self._age = age
        self._guard.start(gravity)
        self._reflexes.start()
        if self._seen is not None:
            self._seen.start()
        self._braking = self._pushed = False
        self._law = self._zero
        self._held_position = within(q, self.limits.lower, self.limits.upper)
        self._held_gravity = gravity
        self._refused_since = None
        self.accepted = q.copy()
        self.counts.clear()

    @property
    def step(self) -> FloatArray:
        """Largest change [N·m] from one sent torque to the next."""
        return self._guard.step

    @property
    def models_gravity(self) -> bool:
        """Whether commands carry the model's gravity."""
        return self.owner is GravityOwner.MODEL

    @property
    def refusing(self) -> bool:
        """Whether the last tick was refused."""
        return self._refused_since is not None

    @property
    def at_rest(self) -> bool:
        """Whether the arm is at rest by speeds and positions of the last states."""
        return self._reflexes.at_rest(REST_SPEED)

    def may_yield(self, since: FloatArray) -> bool:
        """Whether the arm is near to its pose `since` [rad] (YIELD_WAY); see `Reflexes.free`."""
        return self._reflexes.free(YIELD_WAY, since)

    @property
    def holding_torque(self) -> FloatArray:
        """The model's gravity [N·m] at the pose last started from or used; zero if the robot compensates gravity."""
        return self._held_gravity

    def tick(
        self, time: float, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None = None
    ) -> Decision:
        """The command at `time` [s] since the start for a state measured at `stamp` [s]: q [rad], dq [rad/s] and,
        if available, joint torques `effort` [N·m]."""
        self._now = time
        status = self._judge(stamp, q, dq)
        if not status.good:
            return self._refuse(time, status)
        try:
            if self._measured is not None:
                self._measured(stamp - self._age)
            wanted = np.asarray(self.controller.output(time, q, dq), dtype=np.float64)
            gravity = self._held_gravity if self._gravity_model is None else self._gravity_model(q)
        except (DiffpbdError, ArithmeticError, np.linalg.LinAlgError):
            return self._refuse(time, TickStatus.CONTROLLER_FAILED)
        if wanted.shape != q.shape or not finite(wanted):
            return self._refuse(time, TickStatus.NOT_FINITE_OUTPUT)
        if not finite(gravity):
            return self._refuse(time, TickStatus.NOT_FINITE_GRAVITY)
        self._guard.accept(stamp, q, dq)
        self._refused_since = None
        reference = None if self._expected is None else self._expected(time)
        breach = self._reflexes.watch(stamp, q, dq, effort, self._law, reference)
        if self._seen is not None:
            self._seen.add(stamp, q, dq, self._reflexes.acted)
        if breach is not None:
            return self._end(TickStatus.OK, breach)
        if self.controller.mode is Mode.POSITION:
            position = within(wanted, self.limits.lower, self.limits.upper)
            self._held_position = position
            status = TickStatus.OK if (position == wanted).all() else TickStatus.LIMITED
            self.counts[status] += 1
            return Decision(status, Mode.POSITION, position, self._zero, self._zero)
        share = 1.0 if time >= self.settings.ramp else max(time, 0.0) / self.settings.ramp
        ramped = share * wanted
        law = self._guard.heeded(time, stamp) * self._guard.limit(ramped, q, dq)
        command = self._torque(law, gravity)
        status = TickStatus.OK if self._law.tolist() == ramped.tolist() else TickStatus.LIMITED
        self.counts[status] += 1
        return Decision(status, Mode.TORQUE, command, self._law, gravity)

    def brake(
        self, time: float, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None = None,
        *, yielding: bool = False,
    ) -> Decision:  # fmt: skip
        """A torque command of the stop, within the rate; see `Brake`, `tick` for the arguments; `yielding`: the arm yields."""
        self._now = time
        status = self._judge(stamp, q, dq)
        if not status.good:
            return self._refuse(time, status)
        gravity = self._held_gravity if self._gravity_model is None else self._gravity_model(q)
        pressed = self._zero
        if self._seen is not None:
            self._seen.add(stamp, q, dq, self._reflexes.acted)
            pressed = self._seen.pressed()
        if yielding:
            self._pushed = True
            law, mass = self._brake.yielding(q, dq, self._reflexes.external)
        else:
            if self._seen is not None and not self._braking:
                self._brake.begin(self._seen.shown(), led=self._pushed or self._expected is None)
            self._braking = True
            law, mass = self._brake.torque(stamp, q, dq, pressed)
        if not (finite(law) and finite(gravity)):
            return self._refuse(time, TickStatus.NOT_FINITE_OUTPUT)
        self._guard.accept(stamp, q, dq)
        self._refused_since = None
        breach = self._reflexes.doubt(stamp, q, dq, effort, self._law)
        if breach is not None:
            return self._end(TickStatus.OK, breach)
        command = self._torque(self._guard.heeded(time, stamp) * law, gravity, mass)
        return Decision(TickStatus.OK, Mode.TORQUE, command, self._law, gravity, yielding=yielding)

    def _judge(self, stamp: float, q: FloatArray, dq: FloatArray) -> TickStatus:
        status = self._guard.judge(stamp, q, dq)
        self.accepted = q.copy() if status.good else None
        return status

    def _torque(self, law: FloatArray, gravity: FloatArray, mass: FloatArray | None = None) -> FloatArray:
        """The torque sent for this law and gravity [N·m]; `_law` becomes the law after the rate limit."""
        command = self._guard.send(law, gravity, mass)
        remained: FloatArray = np.where(command == law + gravity, law, command - gravity)
        self._law, self._held_gravity = remained, gravity
        self._reflexes.acted.begin(self._now + self._age, remained)
        if self._told is not None:
            self._told(remained)
        return command

    def _end(self, status: TickStatus, breach: Breach) -> Decision:
        """End this law; the last command stays as it was."""
        self.counts[status] += 1
        if breach.reflex.distrusts_state:
            self.accepted = None
        mode = self.controller.mode
        command = self._held_position if mode is Mode.POSITION else self._guard.last
        return Decision(status, mode, command, self._law, self._held_gravity, breach)

    def _refuse(self, time: float, status: TickStatus) -> Decision:
        if self._refused_since is None:
            self._refused_since = time
        lasted = time - self._refused_since
        patience = self.settings.patience
        if status is TickStatus.ABSURD_SPEED:
            patience = min(patience, RUNAWAY_PATIENCE)
        if status is TickStatus.STAMP_WENT_BACK:  # the reflexes' history is of another clock
            patience = 0.0
        if lasted >= patience:
            return self._end(status, Breach(Reflex.STATE, f"{status.words} for {lasted:.3f} s"))
        self.counts[status] += 1
        if self.controller.mode is Mode.POSITION:
            return Decision(status, Mode.POSITION, self._held_position, self._zero, self._zero)
        command = self._torque(self._law if lasted < REPEAT else self._zero, self._held_gravity)
        return Decision(status, Mode.TORQUE, command, self._law, self._held_gravity)
