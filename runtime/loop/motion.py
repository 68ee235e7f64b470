"""Torques of a motion with and without friction, the mass matrix, and both of the links with a load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.statics import Inertial

__all__ = ["Laden", "Motion"]


@dataclass(frozen=True)
class Laden:
    """The links with a point mass at the tip: `dynamics` [N·m] of a motion with gravity and springs, `mass` (n, n) [kg·m²]."""

    dynamics: Inertial
    mass: Callable[[FloatArray], FloatArray]

    def rigid(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """As `Motion.rigid`."""
        zero = np.zeros_like(q)
        return self.dynamics(q, dq, ddq) - self.dynamics(q, zero, zero)


@dataclass(frozen=True)
class Motion:
    """`inertial` of an arm; `rigid`: without friction (None: there is no friction), `mass` (n, n) [kg·m²] at q [rad].

    `laden`: the links without friction and rotors, and with a point mass (4,): its mass [kg], which may be zero, and its place
    in the tip's frame [m]."""

    inertial: Inertial
    rigid: Inertial | None = None
    mass: Callable[[FloatArray], FloatArray] | None = None
    laden: Callable[[FloatArray], Laden] | None = None

    def links(self, load: FloatArray | None = None) -> Laden:
        """The links alone with a point mass (4,), as far as they are known."""
        if self.laden is None:
            return Laden(self.rigid or self.inertial, self.mass_at)
        return self.laden(np.zeros(4) if load is None else load)

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
