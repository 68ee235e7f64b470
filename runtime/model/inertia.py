"""The inertial parameters of a link in three forms, and the maps between them.

Physical: mass [kg], COM [m] and inertia about the COM [kg·m²], in link axes. It is what a URDF holds and what alpha
names (`mass.LINK`, `com.LINK.x`, `inertia.LINK.xx`).

Linear: the vector of `LINEAR_NAMES`, in which joint torques are linear: u = Y θ with Y of the function `regressor` and θ
the vectors of all moving links one after another. First moment and inertia are about the origin of the link frame, which
is the frame of the joint that moves the link, in its axes; products of inertia are entries of the matrix (Ixy = −∫ xy dm).

Log-Cholesky: ten unconstrained numbers, every choice of which is physically consistent (`LOG_CHOLESKY_NAMES`;
Rucker and Wensing 2022). The pseudo-inertia Σ = ∫ [ρ; 1][ρ; 1]ᵀ dm (4 × 4) connects them: a body is physically
consistent if Σ is positive definite.

Every function takes one body or a stack of them: the last axis, or the last two of a matrix, belong to the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Manifest
from diffpbd.runtime.functions.parameters import ParameterVector

__all__ = [
    "LINEAR_FRAME",
    "LINEAR_NAMES",
    "LINEAR_UNITS",
    "LOG_CHOLESKY_NAMES",
    "PINOCCHIO_ORDER",
    "inertial_from_linear",
    "linear_from_inertial",
    "linear_from_log_cholesky",
    "linear_from_pseudo_inertia",
    "link_parameters",
    "log_cholesky_from_linear",
    "pseudo_inertia_from_linear",
    "reordered",
]

LINEAR_NAMES: Final = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
LINEAR_UNITS: Final = ("kg", "kg·m", "kg·m", "kg·m", *("kg·m^2",) * 6)
LINEAR_FRAME: Final = "about the origin of the link frame (the frame of the joint that moves the link), link axes"
PINOCCHIO_ORDER: Final = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The order of pinocchio's `toDynamicParameters` and regressor: the triangle column by column."""
LOG_CHOLESKY_NAMES: Final = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")

_ROWS, _COLUMNS = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)
"""Where Ixx Ixy Ixz Iyy Iyz Izz stand in the matrix."""


def linear_from_inertial(mass: npt.ArrayLike, com: npt.ArrayLike, inertia: npt.ArrayLike) -> FloatArray:
    """The linear vector (10) of mass [kg], `com` [m] (3) and `inertia` about it [kg·m²] (3 × 3)."""
    m = np.asarray(mass, dtype=np.float64)
    c = _last(com, (3,), "com")
    about_com = _last(inertia, (3, 3), "inertia")
    about_origin = about_com + m[..., None, None] * _point(c)
    return np.concatenate([m[..., None], m[..., None] * c, about_origin[..., _ROWS, _COLUMNS]], axis=-1)


def inertial_from_linear(vector: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """mass [kg], COM [m] (3) and inertia about it [kg·m²] (3 × 3) of linear vectors (10).

    A vector without mass has a COM only if its first moment is zero too (then the origin); else it is refused.
    """
    v = _last(vector, (10,), "vector")
    mass, moment = v[..., 0], v[..., 1:4]
    if np.any((mass == 0.0) & np.any(moment != 0.0, axis=-1)):
        raise InputError(
            "vector: a body with m = 0 and a first moment (mcx, mcy, mcz) other than zero has no centre of mass."
        )
    com = np.divide(moment, mass[..., None], out=np.zeros_like(moment), where=mass[..., None] != 0.0)
    return mass.copy(), com, _symmetric(v[..., 4:]) - mass[..., None, None] * _point(com)


def pseudo_inertia_from_linear(vector: npt.ArrayLike) -> FloatArray:
    """Σ (4 × 4) of linear vectors: [[½ tr(I) 1 − I, m c], [(m c)ᵀ, m]]."""
    v = _last(vector, (10,), "vector")
    inertia = _symmetric(v[..., 4:])
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)
    result = np.empty((*v.shape[:-1], 4, 4))
    result[..., :3, :3] = half_trace[..., None, None] * np.eye(3) - inertia
    result[..., :3, 3] = result[..., 3, :3] = v[..., 1:4]
    result[..., 3, 3] = v[..., 0]
    return result


def linear_from_pseudo_inertia(sigma: npt.ArrayLike) -> FloatArray:
    """The linear vector (10) of Σ (4 × 4, symmetric)."""
    s = _last(sigma, (4, 4), "sigma")
    second = s[..., :3, :3]
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    return np.concatenate([s[..., 3:, 3], s[..., :3, 3], inertia[..., _ROWS, _COLUMNS]], axis=-1)


def linear_from_log_cholesky(parameters: npt.ArrayLike) -> FloatArray:
    """The linear vector (10) of log-Cholesky parameters (10): Σ = U Uᵀ with
    U = e^α [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]."""
    p = _last(parameters, (10,), "parameters")
    U = np.zeros((*p.shape[:-1], 4, 4))
    for k in range(3):
        U[..., k, k] = np.exp(p[..., 1 + k])
        U[..., k, 3] = p[..., 7 + k]
    U[..., 0, 1], U[..., 1, 2], U[..., 0, 2] = p[..., 4], p[..., 5], p[..., 6]
    U[..., 3, 3] = 1.0
    U *= np.exp(p[..., 0])[..., None, None]
    return linear_from_pseudo_inertia(U @ np.swapaxes(U, -1, -2))


def log_cholesky_from_linear(vector: npt.ArrayLike) -> FloatArray:
    """Log-Cholesky parameters (10) of linear vectors; physically inconsistent ones (Σ not positive definite) are refused."""
    sigma = pseudo_inertia_from_linear(vector)
    try:
        # Σ = U Uᵀ with U upper triangular: the ordinary factor with rows and columns in reverse.
        U = np.linalg.cholesky(sigma[..., ::-1, ::-1])[..., ::-1, ::-1]
    except np.linalg.LinAlgError:
        worst = float(np.min(np.linalg.eigvalsh(sigma)))
        raise InputError(
            "vector: no body has these inertial parameters: the pseudo-inertia is not positive definite, its smallest "
            f"eigenvalue is {worst:.4g}."
        ) from None
    scale = U[..., 3, 3]
    U = U / scale[..., None, None]
    diagonal = [np.log(U[..., k, k]) for k in range(3)]
    sheared = [U[..., 0, 1], U[..., 1, 2], U[..., 0, 2]]
    return np.stack([np.log(scale), *diagonal, *sheared, *(U[..., k, 3] for k in range(3))], axis=-1)


def reordered(vector: npt.ArrayLike, names: Sequence[str], *, given: Sequence[str] = LINEAR_NAMES) -> FloatArray:
    """Linear vectors (…, 10) written in the order `given`, in the order `names`; both hold every name once."""
    for order in (names, given):
        if sorted(order) != sorted(LINEAR_NAMES):
            raise InputError(f"order {', '.join(order)}: each of {', '.join(LINEAR_NAMES)} is expected once.")
    columns = [list(given).index(name) for name in names]
    result: FloatArray = np.take(_last(vector, (10,), "vector"), columns, axis=-1)
    return result


def link_parameters(manifest: Manifest, alpha: npt.ArrayLike | None = None) -> FloatArray:
    """Linear vectors (links, 10) of a generated robot's moving links: its constants, or values of alpha if it was
    generated with symbolic masses, COMs or inertias. The payload is left out, as in `regressor`."""
    layout = ParameterVector(manifest.alpha, manifest.name)
    values = layout.by_name(layout.defaults if alpha is None else alpha)
    rows = []
    for link in manifest.robot.links:
        com = [values.get(f"com.{link.name}.{axis}", x) for axis, x in zip("xyz", link.com, strict=True)]
        keys = [name[1:] for name in LINEAR_NAMES[4:]]
        about = [values.get(f"inertia.{link.name}.{key}", x) for key, x in zip(keys, link.inertia, strict=True)]
        mass = values.get(f"mass.{link.name}", link.mass)
        rows.append(linear_from_inertial(mass, com, _symmetric(np.array(about))))
    return np.array(rows, dtype=np.float64).reshape(len(rows), 10)


def _symmetric(upper: FloatArray) -> FloatArray:
    result: FloatArray = np.empty((*upper.shape[:-1], 3, 3))
    result[..., _ROWS, _COLUMNS] = upper
    result[..., _COLUMNS, _ROWS] = upper
    return result


def _point(offset: FloatArray) -> FloatArray:
    """Inertia about the origin of a unit mass at `offset`: |d|² 1 − d dᵀ."""
    square = np.sum(offset * offset, axis=-1)
    result: FloatArray = square[..., None, None] * np.eye(3) - offset[..., :, None] * offset[..., None, :]
    return result


def _last(value: npt.ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        expected = ", ".join(map(str, shape))
        raise InputError(f"{name}: expected shape (..., {expected}), found {array.shape}.")
    return array
