"""Torques of a motion with and without friction, and the mass matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Inertial", "Motion"]

Inertial = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Torque [N·m] of a motion without gravity at q [rad], dq [rad/s], ddq [rad/s²]: inertia, Coriolis, friction."""


@dataclass(frozen=True)
class Motion:
    """`inertial` of an arm; `rigid`: without friction (None: there is no friction), `mass` (n, n) [kg·m²] at q [rad]."""

    inertial: Inertial
    rigid: Inertial | None = None
    mass: Callable[[FloatArray], FloatArray] | None = None

    def mass_at(self, q: FloatArray) -> FloatArray:
        """The mass matrix (n, n) [kg·m²] at q [rad], by torques if the robot has no function for it."""
        if self.mass is not None:
            return self.mass(q)
        zero = np.zeros_like(q)
        rest = self.inertial(q, zero, zero)
        return np.stack([self.inertial(q, zero, one) - rest for one in np.eye(q.size)], axis=1)

    def friction(self, q: npt.ArrayLike, dq: FloatArray) -> FloatArray:
        """The model's friction torque [N·m] (n,) at q [rad], dq [rad/s]."""
        zero = np.zeros_like(dq)
        if self.rigid is None:
            return zero
        pose = np.asarray(q, dtype=np.float64)
        return self.inertial(pose, dq, zero) - self.rigid(pose, dq, zero)
