"""Impedance of the tip, with a task inertia that stays bounded where the arm is straight.

The inverse of A = J M⁻¹ Jᵀ is taken on its eigenvalues: exactly as long as they are above a share of the largest,
damped below it and zero at zero. So the law equals the textbook's away from a singular pose, is continuous through
it, and asks for nothing in a direction in which the tip cannot move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.control.controllers import FloatArray
from diffpbd.runtime.errors import InputError

__all__ = ["SINGULAR_SHARE", "TaskImpedance", "task_inertia"]

SINGULAR_SHARE = 0.02
"""Share of the largest eigenvalue of J M⁻¹ Jᵀ below which the inverse is damped: the tip then takes fifty times
the force in that direction for the same acceleration."""


def _bounded_inverse(values: FloatArray) -> FloatArray:
    """1/s above the threshold s₀, s/(s² + (s₀ − s)²) below: continuous, at most 1.21/s₀, zero at zero."""
    values = np.maximum(values, 0.0)  # rounding leaves eigenvalues of a singular A slightly negative
    threshold = SINGULAR_SHARE * values.max(initial=0.0)
    if threshold == 0.0:
        return np.zeros_like(values)
    gap = np.maximum(threshold - values, 0.0)
    inverse: FloatArray = values / (values**2 + gap**2)
    return inverse


def task_inertia(jacobian: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The task inertia Λ (m, m) and its symmetric square root, from J (m, n) and the mass matrix (n, n)."""
    values, vectors = np.linalg.eigh(jacobian @ np.linalg.solve(mass, jacobian.T))
    inverse = _bounded_inverse(values)
    return (vectors * inverse) @ vectors.T, (vectors * np.sqrt(inverse)) @ vectors.T


@dataclass(frozen=True, eq=False)
class TaskImpedance:
    """Springs and dampers on the m task directions; `stiffness` (m,) > 0 [N/m or N·m/rad].

    Damping is ζ (√Λ √K + √K √Λ): the ratio ζ to critical for the task inertia, not for a unit mass.
    """

    stiffness: FloatArray
    damping_ratio: float
    effort: FloatArray
    """Limits of the joints' torques [N·m], (n,)."""

    def __post_init__(self) -> None:
        if not ((self.stiffness > 0).all() and self.damping_ratio >= 0 and (self.effort > 0).all()):
            raise InputError("Task impedance: stiffness and effort must be above 0, the damping ratio at least 0.")

    def torque(
        self,
        jacobian: FloatArray,
        mass: FloatArray,
        error: npt.ArrayLike,
        error_rate: npt.ArrayLike,
        acceleration: npt.ArrayLike,
    ) -> FloatArray:
        """Joint torque [N·m], gravity left out, for error and its rate (wanted − is) and wanted acceleration."""
        inertia, root = task_inertia(jacobian, mass)
        spring = np.sqrt(self.stiffness)
        damping = self.damping_ratio * (root * spring + spring[:, None] * root)
        force = inertia @ np.asarray(acceleration) + self.stiffness * np.asarray(error)
        torque: FloatArray = jacobian.T @ (force + damping @ np.asarray(error_rate))
        return np.clip(torque, -self.effort, self.effort)
