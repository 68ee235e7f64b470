"""Follow a recorded or designed motion: the model's feed-forward torque plus springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.control.common import (
    DAMPING,
    GOAL_SPEED,
    STIFFNESS,
    GainWords,
    ReferenceWords,
    SpeedWords,
    gains,
)  # fmt: skip
from diffpbd.runtime.control.law import Given, Law, PerJoint, Setup, bounded
from diffpbd.runtime.interface.controller import Away, Mode, farthest
from diffpbd.runtime.model.statics import Inertial, inertial_model

__all__ = ["Track", "TrackController"]

PEAK = 1.875
"""Peak over mean speed of a fifth-order polynomial motion from rest to rest."""
SETTLE = 0.5
"""s at rest before the motion's first sample and after its last."""
AT_REST = 0.05
"""rad/s; a motion begins and ends below it."""


class TrackController:
    """u = τ(q_r, dq_r, ddq_r) + K (q_r − q) + D (dq_r − dq) [N·m], gravity left out; τ is the model's torque.

    First the arm is led to the motion's first sample, slowly; after its end the last one is held, and the run may end.
    """

    name = "track"
    mode = Mode.TORQUE

    def __init__(self, settings: Mapping[str, Any], inertial: Inertial, joints: tuple[str, ...]) -> None:
        """`settings` as `Track` has them: reference (time, q, dq), stiffness and damping a joint, goal_speed
        [rad/s] of the way to the first sample, and reach [rad] of it (None: any)."""
        try:
            reference = settings["reference"]
            self._time, self._q, self._dq = (np.array(reference[k], dtype=np.float64) for k in ("time", "q", "dq"))
            self.stiffness, self.damping = (np.array(settings[k], dtype=np.float64) for k in ("stiffness", "damping"))
            self._speed, reach = float(settings["goal_speed"]), settings.get("reach")
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The track controller's settings cannot be used: {error!r}.") from None
        shape = (len(self._time), len(joints))
        if shape[0] < 2 or not self._q.shape == self._dq.shape == shape or not (np.diff(self._time) > 0.0).all():
            raise InputError("Track: the motion needs at least two samples of every joint at increasing times.")
        gains = (self.stiffness, self.damping)
        if any(k.shape != (len(joints),) or not (np.isfinite(k) & (k >= 0.0)).all() for k in gains):
            raise InputError("Track: expected a finite stiffness and damping of at least 0 for every joint.")
        for at, words in ((0, "begins"), (-1, "ends")):
            k = int(np.argmax(np.abs(self._dq[at])))
            if abs(self._dq[at, k]) > AT_REST:
                raise InputError(
                    f"Track: the motion {words} with {joints[k]} at {self._dq[at, k]:.2f} rad/s; expected rest, "
                    f"below {AT_REST:g} rad/s."
                )
        self._time = self._time - self._time[0]
        self._ddq = np.gradient(self._dq, self._time, axis=0)
        self._inertial = inertial
        self._joints = joints
        self._reach = np.inf if reach is None else float(reach)

    def start(self, q: FloatArray) -> None:
        """From the measured pose."""
        self._from = q.copy()
        way = np.abs(self._q[0] - q)
        k = int(np.argmax(way))
        if way[k] > self._reach:
            raise InputError(
                f"{self._joints[k]}: the motion begins at {self._q[0, k]:.4g} rad, {way[k]:.4g} from the start pose's "
                f"{q[k]:.4g}; expected at most {self._reach:g}. Start nearer, or let --bridge-jumps go there at --goal-speed."
            )
        self._takes = PEAK * float(way[k]) / self._speed
        self._begins = self._takes + SETTLE

    def reference(self, time: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q [rad], dq [rad/s] and ddq [rad/s²] (n,) at `time` [s] since the start."""
        zero = np.zeros_like(self._from)
        if time < self._takes:
            s, way = max(time, 0.0) / self._takes, self._q[0] - self._from
            shape = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
            rate = 30.0 * s**2 * (1.0 - s) ** 2 / self._takes
            change = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self._takes**2
            return self._from + shape * way, rate * way, change * way
        since = time - self._begins
        if since < 0.0:
            return self._q[0], zero, zero
        if since >= self._time[-1]:
            return self._q[-1], zero, zero
        return self._between(since)

    def _between(self, since: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions by cubic Hermite interpolation, rates and accelerations by linear interpolation."""
        k = int(np.searchsorted(self._time, since, side="right")) - 1
        step = self._time[k + 1] - self._time[k]
        s = (since - self._time[k]) / step
        q, dq, ddq = (values[k : k + 2] for values in (self._q, self._dq, self._ddq))
        position = (
            (1.0 + 2.0 * s) * (1.0 - s) ** 2 * q[0] + s**2 * (3.0 - 2.0 * s) * q[1]
            + step * s * (1.0 - s) * ((1.0 - s) * dq[0] - s * dq[1])
        )  # fmt: skip
        return position, dq[0] + s * (dq[1] - dq[0]), ddq[0] + s * (ddq[1] - ddq[0])

    def expected(self, time: float) -> FloatArray:
        """Positions of the motion at `time` [s]."""
        return self.reference(time)[0]

    def away(self, time: float, q: FloatArray) -> Away | None:
        """From the motion."""
        return farthest(self.expected(time), q, "its reference")

    def finished(self, time: float) -> bool:
        """Whether the motion is over and the arm had time to settle."""
        return bool(time >= self._begins + self._time[-1] + SETTLE)

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The model's torque of the motion, spring and damper [N·m]."""
        wanted, rate, acceleration = self.reference(time)
        forward = self._inertial(wanted, rate, acceleration)
        return np.asarray(forward + self.stiffness * (wanted - q) + self.damping * (rate - dq), dtype=np.float64)


@dataclass(frozen=True)
class _Words(GainWords, SpeedWords, ReferenceWords):
    pass


@dataclass(frozen=True, kw_only=True, eq=False)
class Track(Law):
    """The motion `reference` (time, q, dq), `stiffness` [N·m/rad] and `damping` [N·m·s/rad] a joint, `goal_speed` [rad/s] of
    the way to the first sample and `reach` [rad] of it (None: any)."""

    name: ClassVar[str] = "track"
    words: ClassVar[type[_Words]] = _Words
    stiffness: PerJoint = bounded(STIFFNESS)
    damping: PerJoint = bounded(DAMPING)
    goal_speed: float = bounded(GOAL_SPEED)
    reference: Mapping[str, Any]
    reach: float | None = None

    @classmethod
    def told(cls, words: _Words, given: Given) -> Track:
        """Gains, and the samples of a log."""
        found = gains(words, given, "stiffness", "damping")
        if not words.reference:
            raise ArgumentError("--controller track needs --reference LOG, such as the motion of `diffpbd excite`.")
        return cls(**found, goal_speed=words.speed, **given.motion(words.reference, words.speed))

    def make(self, setup: Setup) -> TrackController:
        """The controller."""
        return TrackController(vars(self), inertial_model(setup.robot, setup.alpha), setup.robot.joints)
