"""One control tick, whole: state in, command out, with a status. Deterministic, so a log can be replayed.

The safe action of a tick that is refused: in torque mode gravity alone as of the last good tick (nothing, if
the robot owns gravity), in position mode the last position that was sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arrays import FloatArray, within
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.controller import Controller, Mode
from diffpbd.runtime.errors import DiffpbdError, InputError
from diffpbd.runtime.limits import Limits
from diffpbd.runtime.loop.guard import Guard, TickStatus

__all__ = ["Decision", "GravityModel", "Settings", "Supervisor"]

RUNAWAY_PATIENCE = 0.03
"""s of absurd speeds before the run has to stop: longer than one bad message, shorter than the patience, because
an arm that really is that fast must be caught."""

GravityModel = Callable[[FloatArray], FloatArray]
"""Torque [N·m] that holds the arm against gravity (and springs) at q [rad]."""


@dataclass(frozen=True)
class Settings:
    """Of a run: tick `period` [s], `ramp` [s] over which the law's torque comes in, `patience` [s] of refused
    ticks in a row before the run has to stop."""

    period: float
    ramp: float = 1.0
    patience: float = 0.1

    def __post_init__(self) -> None:
        if not (self.period > 0 and self.ramp >= 0 and self.patience >= self.period):
            raise InputError(f"Settings: expected period > 0, ramp >= 0 and patience >= period, found {self}.")


@dataclass(frozen=True, eq=False)
class Decision:
    """What to send: `command` in the controller's mode; `law` and `gravity` [N·m] are its parts in torque
    mode. `stop` is the reason to leave the run, or empty."""

    status: TickStatus
    mode: Mode
    command: FloatArray
    law: FloatArray
    gravity: FloatArray
    stop: str = ""


class Supervisor:
    """Runs a controller behind a guard, and adds gravity if the model owns it.

    A controller with a method `sent` is told the law's torque [N·m] that remained, zero in a refused tick.
    """

    def __init__(
        self,
        controller: Controller,
        limits: Limits,
        settings: Settings,
        *,
        owner: GravityOwner,
        gravity: GravityModel | None,
    ) -> None:
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
        self._gravity_model = gravity
        self._told: Callable[[FloatArray], None] | None = getattr(controller, "sent", None)
        self._guard = Guard(limits, settings.period)
        self._zero = np.zeros_like(limits.effort)
        self._held_gravity = self._zero
        self._held_position = self._zero
        self._refused_since: float | None = None
        self.accepted: FloatArray | None = None
        """The last measured pose [rad] that was believed; None while the newest one is in dispute."""

    def start(self, q: FloatArray) -> None:
        """Begin at the measured pose [rad], which must be within the limits' tolerance."""
        self._guard.start()
        status = self._guard.judge(0.0, q, self._zero)
        if not status.good:
            raise InputError(f"The measured pose cannot be a start: {status.name.lower().replace('_', ' ')}.")
        self.controller.start(q)
        self._held_position = within(q, self.limits.lower, self.limits.upper)
        gravity = self._zero if self._gravity_model is None else self._gravity_model(q)
        if not np.isfinite(gravity).all():
            raise InputError("The model's gravity at the measured pose is not finite.")
        if (np.abs(gravity) > self.limits.effort).any():
            raise InputError(
                f"The model's gravity at the measured pose, {np.round(gravity, 2).tolist()} N·m, is beyond "
                f"the effort limits {self.limits.effort.tolist()}: the arm could not be held."
            )
        self._held_gravity = gravity
        self._refused_since = None
        self.accepted = q.copy()
        self.counts.clear()

    @property
    def refusing(self) -> bool:
        """Whether the last tick was refused."""
        return self._refused_since is not None

    @property
    def holding_torque(self) -> FloatArray:
        """The model's gravity [N·m] at the pose last started from or used; zero if the robot owns gravity."""
        return self._held_gravity

    def tick(self, time: float, q: FloatArray, dq: FloatArray) -> Decision:
        """The command for the measured q [rad], dq [rad/s] at `time` [s] since the start."""
        status = self._guard.judge(time, q, dq)
        self.accepted = q.copy() if status.good else None
        if not status.good:
            return self._refuse(time, status)
        try:
            wanted = np.asarray(self.controller.output(time, q, dq), dtype=np.float64)
            gravity = self._held_gravity if self._gravity_model is None else self._gravity_model(q)
        except (DiffpbdError, ArithmeticError, np.linalg.LinAlgError):
            return self._refuse(time, TickStatus.CONTROLLER_FAILED)
        if wanted.shape != q.shape or not np.isfinite(wanted).all():
            return self._refuse(time, TickStatus.NOT_FINITE_OUTPUT)
        if not np.isfinite(gravity).all():
            return self._refuse(time, TickStatus.NOT_FINITE_GRAVITY)
        self._guard.accept(time, q)
        self._refused_since = None
        if self.controller.mode is Mode.POSITION:
            position = within(wanted, self.limits.lower, self.limits.upper)
            self._held_position = position
            status = TickStatus.OK if (position == wanted).all() else TickStatus.LIMITED
            self.counts[status] += 1
            return Decision(status, Mode.POSITION, position, self._zero, self._zero)
        share = 1.0 if time >= self.settings.ramp else max(time, 0.0) / self.settings.ramp
        ramped = share * wanted
        law = self._guard.limit(ramped, q, dq)
        command = self._guard.total(law, gravity)
        if self._told is not None:
            self._told(law)
        self._held_gravity = gravity
        limited = (law != ramped).any() or (command != law + gravity).any()
        status = TickStatus.LIMITED if limited else TickStatus.OK
        self.counts[status] += 1
        return Decision(status, Mode.TORQUE, command, law, gravity)

    def _refuse(self, time: float, status: TickStatus) -> Decision:
        self.counts[status] += 1
        if self._refused_since is None:
            self._refused_since = time
        lasted = time - self._refused_since
        stop = ""
        patience = self.settings.patience
        if status is TickStatus.ABSURD_SPEED:
            patience = min(patience, RUNAWAY_PATIENCE)
        if lasted >= patience:
            stop = f"{status.name.lower().replace('_', ' ')} for {lasted:.3f} s"
        if self.controller.mode is Mode.POSITION:
            return Decision(status, Mode.POSITION, self._held_position, self._zero, self._zero, stop)
        if self._told is not None:
            self._told(self._zero)
        safe = self._guard.total(self._zero, self._held_gravity)
        return Decision(status, Mode.TORQUE, safe, self._zero, self._held_gravity, stop)
