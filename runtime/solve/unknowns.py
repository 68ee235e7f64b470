"""The unknowns of the torque form: which numbers the solver moves, and how they make alpha and φ.

Most unknowns are entries of alpha. Where both stiffness k and rest r of a spring are wanted, the unknowns are k and the
spring's torque at zero, b = −k r: the measured torque is linear in them, k = 0 is an ordinary point, and the problem stays
convex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt

from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.design import columns_of_joint_kind

__all__ = ["Unknowns", "make_unknowns"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

REST = "spring.rest."
STIFFNESS = "spring.stiffness."


@dataclass(frozen=True)
class Unknowns:
    """`names` are those of alpha, one an unknown, in its order; where `rest` is True the unknown is the torque at zero.

    `alpha` and `phi` are casadi functions of the unknowns x. Bounds and `start` belong to x.
    """

    names: tuple[str, ...]
    rest: tuple[bool, ...]
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    alpha: Any
    phi: Any

    def alpha_at(self, x: FloatArray) -> FloatArray:
        """alpha [units of the manifest]; not finite where a spring has no stiffness and so no rest."""
        return np.array(self.alpha(x), dtype=np.float64).reshape(-1)

    def phi_at(self, x: FloatArray) -> FloatArray:
        """Coefficients of `torque_terms`."""
        return np.array(self.phi(x), dtype=np.float64).reshape(-1)

    def phi_jacobian(self, x: FloatArray) -> FloatArray:
        """dφ/dx."""
        return _jacobian(self.phi, x)

    def alpha_jacobian(self, x: FloatArray, names: Sequence[int]) -> FloatArray:
        """dα/dx of some entries."""
        return _jacobian(self.alpha, x)[list(names)]


def _jacobian(function: Any, x: FloatArray) -> FloatArray:
    symbol = casadi.SX.sym("x", len(x))
    jacobian = casadi.Function("J", [symbol], [casadi.jacobian(function(symbol), symbol)])
    return np.array(jacobian(x).full(), dtype=np.float64)


def make_unknowns(robot: Robot, names: Sequence[str], base: FloatArray) -> Unknowns:
    """Unknowns for these entries of alpha; the others keep `base`, which is also the start."""
    alpha = robot.alpha
    positions = [alpha.index(name) for name in names]
    rest = tuple(
        name.startswith(REST) and STIFFNESS + name.removeprefix(REST) in names for name in names
    )
    x = casadi.SX.sym("x", len(names))
    values = casadi.SX(casadi.DM(base))
    start, lower, upper = base[positions].copy(), alpha.lower[positions], alpha.upper[positions]
    by_name = dict(zip(names, range(len(names)), strict=True))
    for k, position in enumerate(positions):
        if not rest[k]:
            values[position] = x[k]
    phi = robot.casadi("torque_coefficients")(values)
    at_zero = columns_of_joint_kind(robot, "spring.rest")
    for k, position in enumerate(positions):
        if not rest[k]:
            continue
        joint = names[k].removeprefix(REST)
        stiffness = x[by_name[STIFFNESS + joint]]
        values[position] = -x[k] / stiffness
        phi[at_zero[robot.joints.index(joint)]] = x[k]
        start[k] = -start[by_name[STIFFNESS + joint]] * base[position]
        lower[k], upper[k] = -np.inf, np.inf
    return Unknowns(
        tuple(names), rest, start, lower, upper,
        casadi.Function("alpha", [x], [values]), casadi.Function("phi", [x], [phi]),
    )  # fmt: skip
