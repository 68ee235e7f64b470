"""Inertial parameters that stay physical: log-Cholesky coordinates of the pseudo-inertia, and a prior to a reference.

The pseudo-inertia of a body about its link origin, J = [[Σ, m c], [(m c)ᵀ, m]] with Σ = ½ tr(I) 1 − I, is positive definite
for every real body, and only then (Wensing, Kim and Slotine 2017). J = L₀ U Uᵀ L₀ᵀ with L₀ the factor of a reference and U
upper triangular with a positive diagonal, the exponentials of four of the ten coordinates θ (Rucker and Wensing 2022). θ = 0
is the reference.

The prior is the divergence tr(J₀⁻¹J) − log det(J₀⁻¹J) − 4: zero at the reference, invariant to the choice of frames and units,
convex in J, and infinite where J stops being positive definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = [
    "COORDINATES",
    "ENDS",
    "SIZES",
    "alpha_of",
    "curvature",
    "divergence",
    "factor",
    "factor_of",
    "metric",
    "moves_of",
    "pseudo_inertia",
]

COORDINATES = 10
"""[1] Coordinates of a body."""
SIZES = range(4)
"""Those of the diagonal's logarithms: half the logarithm of a factor in all of them multiplies the body by it."""
ENDS = tuple(50.0 if k in SIZES else np.inf for k in range(COORDINATES))
"""[1] Bounds of all: a trial step to a logarithm beyond 350 has no numbers, and e⁵⁰ times is no body."""
LEAST_EIGENVALUE = 1e-4
"""[1] A reference whose normalised pseudo-inertia has a smaller eigenvalue (a rod, a plate, a point) is thickened to it: as
a reference its length scale must not vanish in any direction."""
_UPPER = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


def pseudo_inertia(mass: float, com: Sequence[float], inertia: Sequence[float]) -> FloatArray:
    """J (4, 4) of mass [kg], COM [m] and inertia xx, xy, xz, yy, yz, zz about the COM [kg·m²], link frame."""
    xx, xy, xz, yy, yz, zz = inertia
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.asarray(com, dtype=np.float64)
    J = np.zeros((4, 4))
    J[:3, :3] = 0.5 * np.trace(about_com) * np.eye(3) - about_com + mass * np.outer(c, c)
    J[:3, 3] = J[3, :3] = mass * c
    J[3, 3] = mass
    return J


def factor(J: FloatArray) -> FloatArray:
    """L₀ (4, 4), upper triangular, of a reference J = L₀ L₀ᵀ with a mass; a singular one is thickened."""
    scale = float(np.sqrt(max(np.trace(J[:3, :3]), np.finfo(float).tiny) / J[3, 3]))
    units = np.array([scale, scale, scale, 1.0]) * np.sqrt(J[3, 3])
    values, vectors = np.linalg.eigh(J / np.outer(units, units))
    thick = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T * np.outer(units, units)
    flipped = np.linalg.cholesky(thick[::-1, ::-1])
    return np.asarray(flipped[::-1, ::-1], dtype=np.float64)


def factor_of(theta: Any) -> Any:
    """U (4, 4) of θ."""
    U = type(theta).zeros(4, 4)
    for k in range(4):
        U[k, k] = casadi.exp(theta[k])
    for k, (row, column) in enumerate(_UPPER):
        U[row, column] = theta[4 + k]
    return U


def alpha_of(theta: Any, reference: FloatArray) -> list[Any]:
    """Mass, COM x y z, inertia xx xy xz yy yz zz about the COM of coordinates θ (10) and a reference factor L₀."""
    root = casadi.mtimes(casadi.DM(reference), factor_of(theta))
    J = casadi.mtimes(root, root.T)
    mass = J[3, 3]
    com = J[:3, 3] / mass
    second = J[:3, :3] - mass * casadi.mtimes(com, com.T)
    inertia = casadi.trace(second) * type(theta).eye(3) - second
    return [mass, com[0], com[1], com[2], *(inertia[r, c] for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))]


def divergence(theta: Any) -> Any:
    """tr(J₀⁻¹J) − log det(J₀⁻¹J) − 4 of coordinates θ (10)."""
    return casadi.sumsqr(factor_of(theta)) - 2 * (theta[0] + theta[1] + theta[2] + theta[3]) - 4


def curvature(J: FloatArray) -> FloatArray:
    """Second derivatives (10, 10) of the divergence by m, m c, I about the link origin at a pseudo-inertia J (4, 4)."""
    moves = np.zeros((COORDINATES, 4, 4))
    moves[0, 3, 3] = 1.0
    for k in range(3):
        moves[1 + k, k, 3] = moves[1 + k, 3, k] = 1.0
    moves[4:, :3, :3] = _by_inertia()
    return metric(J, moves)


def metric(J: FloatArray, moves: FloatArray) -> FloatArray:
    """Second derivatives (k, k) of the divergence along moves (k, 4, 4) of a pseudo-inertia J (4, 4)."""
    relative = np.linalg.solve(J, moves)
    return np.asarray(np.einsum("aij,bji->ab", relative, relative), dtype=np.float64)


def moves_of(values: FloatArray) -> FloatArray:
    """Derivatives (10, 4, 4) of the pseudo-inertia by mass, COM and inertia about the COM, which are `values` (10)."""
    mass, c = float(values[0]), values[1:4]
    moves = np.zeros((COORDINATES, 4, 4))
    moves[0] = np.outer([*c, 1.0], [*c, 1.0])
    for k in range(3):
        moves[1 + k, k] += mass * np.array([*c, 1.0])
        moves[1 + k, :, k] += mass * np.array([*c, 1.0])
    moves[4:, :3, :3] = _by_inertia()
    return moves


def _by_inertia() -> FloatArray:
    """Derivatives (6, 3, 3) of Σ = ½ tr(I) 1 − I by xx, xy, xz, yy, yz, zz of I."""
    moves = np.zeros((6, 3, 3))
    for k, (row, column) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        moves[k, row, column] = moves[k, column, row] = -1.0
        if row == column:
            moves[k] += 0.5 * np.eye(3)
    return moves
