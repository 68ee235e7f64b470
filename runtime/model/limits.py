"""Joint limits: those of the description, which may be incomplete, and those of the guard of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, or_else
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Joint

__all__ = ["Approach", "JointLimits", "Limits", "beyond_effort"]

SLOWEST = 0.05
"""rad/s; lower bound of shrinking speed limits, above the noise of a joint at rest at an end."""

BEYOND = 1e-9
"""[1] Rounding tolerance relative to an effort limit."""


def beyond_effort(joints: Sequence[Joint], tau: FloatArray) -> list[str]:
    """A sentence for every joint whose torques tau (samples, n) [N·m or N] exceed its effort limit, which is not enforced."""
    found = []
    for joint, most in zip(joints, np.abs(tau).max(axis=0).tolist(), strict=True):
        if joint.effort is not None and most > joint.effort * (1.0 + BEYOND):
            unit = joint.effort_unit
            found.append(
                f"{joint.name} was driven with up to {most:.4g} {unit}, beyond its effort limit of {joint.effort:g} {unit}, "
                "which does not act"
            )
    return found


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of the description, arrays (n,), ±inf for none: positions [rad or m], speed [rad/s or m/s], effort [N·m or N]."""

    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    effort: FloatArray

    @classmethod
    def of(cls, joints: Sequence[Joint]) -> JointLimits:
        """Limits of a manifest's joints."""
        return cls(
            or_else((j.lower for j in joints), -np.inf), or_else((j.upper for j in joints), np.inf),
            or_else((j.velocity for j in joints), np.inf), or_else((j.effort for j in joints), np.inf),
        )  # fmt: skip

    def expect_room(self, joints: Sequence[str]) -> JointLimits:
        """Itself; speed or effort limits of zero are refused by the joint's name."""
        for what, values in (("speed", self.speed), ("effort", self.effort)):
            for joint, value in zip(joints, values.tolist(), strict=True):
                if not value > 0.0:
                    raise InputError(
                        f"Joint {joint}: its {what} limit of {value:g} in the description leaves nothing to move with; "
                        "correct the description and generate the robot again."
                    )
        return self


@dataclass(frozen=True, eq=False)
class Approach:
    """A robot's own speed limits towards an end of its range: sqrt(2 deceleration · distance) − offset, at least SLOWEST.

    Arrays (n,): `deceleration` [rad/s²], `offset` [rad/s], ends of the range `lower` and `upper` [rad].
    """

    deceleration: FloatArray
    offset: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        values = np.array([self.deceleration, self.offset, self.lower, self.upper])
        if not (np.isfinite(values).all() and (self.deceleration > 0).all() and (self.lower < self.upper).all()):
            raise InputError("Limits: an approach needs decelerations above 0 and finite ends, the lower ones below.")

    def towards(self, way: FloatArray) -> FloatArray:
        """The speed [rad/s] allowed at the distance `way` [rad] from an end, without the joint's own limit."""
        return np.asarray(
            np.maximum(np.sqrt(2.0 * self.deceleration * np.maximum(way, 0.0)) - self.offset, SLOWEST), dtype=np.float64
        )


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits per joint, arrays (n,): positions [rad], speed [rad/s], effort [N·m], and of the law's torque.

    `law_effort` bounds the law's part, gravity left out (a share of `effort` at the first runs);
    `torque_rate` [N·m/s] bounds the change of sent torques; `position_margin` [rad] is the zone before a position
    limit in which torque towards the limit is faded out; `approach` is of a robot whose speed limits shrink near its
    position limits.
    """

    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    effort: FloatArray
    law_effort: FloatArray
    torque_rate: FloatArray
    position_margin: float
    approach: Approach | None = None

    def __post_init__(self) -> None:
        for name in ("speed", "effort", "law_effort", "torque_rate"):
            values = getattr(self, name)
            if not (np.isfinite(values).all() and (values > 0).all()):
                raise InputError(
                    f"Limits: {name} must be finite and above 0 for every joint, found {values.tolist()}. "
                    "A joint without a limit cannot be guarded: give the description one."
                )
        if not (self.lower < self.upper).all():
            raise InputError("Limits: lower position limits must be below upper ones.")
        if not self.position_margin > 0:
            raise InputError(f"Limits: the position margin must be above 0, found {self.position_margin}.")

    def outside(self, q: FloatArray, margin: float = 0.0) -> FloatArray:
        """How far [rad] each joint is beyond its limits drawn in by `margin` [rad]; 0 inside, NaN if q is."""
        return np.maximum(np.maximum(self.lower + margin - q, q - (self.upper - margin)), 0.0)

    def speed_along(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The speed limit [rad/s] of each joint at q in the direction in which it moves."""
        if self.approach is None:
            return self.speed
        way = np.where(dq > 0.0, self.approach.upper - q, q - self.approach.lower)
        return np.minimum(self.speed, self.approach.towards(way))
