"""Torques of a motion with and without friction, and the mass matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Inertial", "Laden", "Motion"]

Inertial = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Torque [N·m] of a motion without gravity at q [rad], dq [rad/s], ddq [rad/s²]: inertia, Coriolis, friction."""


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
    """`inertial` of an arm; `rigid`: of its links alone, without friction and rotors (None: the same), `mass` (n, n) [kg·m²] of
    the links at q [rad]; `laden`: the links with a point mass (4,), its mass [kg, may be zero] and place in the tip's frame [m]."""

    inertial: Inertial
    rigid: Inertial | None = None
    mass: Callable[[FloatArray], FloatArray] | None = None
    laden: Callable[[FloatArray], Laden] | None = None

    @property
    def links(self) -> Inertial:
        """The torque of the links' motion."""
        return self.rigid or self.inertial
