"""Torques of a motion with and without friction, and the mass matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
