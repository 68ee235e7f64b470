"""The NLP of the torque form: unknowns of order one, a triangular least-squares core, a prior, bounds and equalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns.bodies import BARRIER
from diffpbd.runtime.identify.columns.design import Condensed
from diffpbd.runtime.identify.result.statistics import by_rows, on_bounds
from diffpbd.runtime.identify.torque.unknowns import Unknowns, jacobian_of

__all__ = ["AT_BOUND", "Problem"]

AT_BOUND = 1e-4
"""[1] Distance from a bound, as the change of the residual in its own RMS, that counts as on it: invisible, and above the
distance that an interior-point method keeps (the square root of its tolerance, 1e-5)."""
BODY_OPTIONS: Mapping[str, Any] = {"tol": 1e-9, "acceptable_tol": 1e-7, "acceptable_iter": 5}
"""Optimality where inertias or springs on chosen joints are unknown: directions that cancel in the torque leave a
gradient of up to 1e-8 by rounding."""
WEAKEST = 1e-3
"""[1] Coordinates of a body are scaled as if they had at least this part of the strongest one's effect on the torque."""


@dataclass(frozen=True)
class Core:
    """Rows (rows, columns) and rights of the weighted, condensed residual over the coefficients `columns` of φ.

    Half its square plus `rest` is half the sum over joints of the mean square of the weighted residual.
    """

    columns: npt.NDArray[np.intp]
    rows: FloatArray
    rights: FloatArray
    rest: float


def core(condensed: Condensed, sigma: FloatArray) -> Core:
    """All joints in one triangular system, joint j weighted with 1/σ_j [N·m or N]."""
    columns = np.unique(np.concatenate(condensed.columns))
    weight = 1.0 / (sigma * np.sqrt(condensed.count))
    blocks = []
    for w, own, rows, rights in zip(weight, condensed.columns, condensed.factors, condensed.rights, strict=True):
        block = np.zeros((len(rows), columns.size + 1))
        block[:, np.searchsorted(columns, own)] = w * rows
        block[:, -1] = w * rights
        blocks.append(block)
    triangle = np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"), dtype=np.float64)
    k = columns.size
    rest = float(((weight * condensed.rho) ** 2).sum()) + float((triangle[k:, k] ** 2).sum())
    return Core(columns, triangle[:k, :k], triangle[:k, k], 0.5 * rest)


class Problem:
    """For given weights: minimise half the weighted mean square plus `prior` times the divergence of the bodies.

    Unknowns in `pinned` (with the reason) stay at the start.
    """

    def __init__(
        self,
        unknowns: Unknowns,
        condensed: Condensed,
        sigma: FloatArray,
        pinned: Mapping[int, str],
        prior: float,
    ) -> None:
        self.unknowns, self.condensed, self.sigma, self.prior = unknowns, condensed, sigma, prior
        self.pinned = dict(pinned)
        self.weight = 1.0 / (sigma * np.sqrt(condensed.count))
        self.core = core(condensed, sigma)
        lengths = np.linalg.norm(self.jacobian(unknowns.start), axis=0)
        in_body = np.zeros(len(lengths), dtype=np.bool_)
        for body in unknowns.bodies:
            in_body[body.span] = True
        summed = np.isin(unknowns.labels, unknowns.total.entries if unknowns.total else ())
        for k in np.flatnonzero((lengths == 0.0) & ~in_body & ~summed):
            self.pinned.setdefault(int(k), "its effect on the torque is zero in these recordings")
        least = max(float(np.sqrt(prior)), WEAKEST * float(lengths.max(initial=0.0)))
        lengths = np.hypot(lengths, np.where(in_body, least, 0.0))
        self.scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        self.free = np.array([k not in self.pinned for k in range(len(lengths))])
        self.undetermined = self._undetermined(self.free & ~in_body)

    def _undetermined(self, plain: npt.NDArray[np.bool_]) -> FloatArray:
        """Directions (unknowns, k), scaled, of the plain unknowns alone that change no residual."""
        result = np.zeros((len(plain), 0))
        if plain.any():
            rows = self.jacobian(self.unknowns.start)
            if self.unknowns.total:  # what a scale says of a mass determines it too
                rows = np.vstack([rows, jacobian_of(self.unknowns.equal)(self.unknowns.start).full()])
            own = by_rows((rows * self.scale)[:, plain]).undetermined
            result = np.zeros((len(plain), own.shape[1]))
            result[plain] = own
        return result

    def bounds(self, x: FloatArray) -> dict[int, str]:
        """Free unknowns on a bound: which one."""
        found = on_bounds(x, self.unknowns.lower, self.unknowns.upper, AT_BOUND * self.scale)
        return {k: side for k, side in found.items() if self.free[k]}

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Weighted condensed residual rows by unknowns."""
        return np.asarray(self.core.rows @ self.unknowns.phi_jacobian(x)[self.core.columns], dtype=np.float64)

    def rms(self, x: FloatArray) -> FloatArray:
        """Root mean square (n,) of every joint's residual [N·m or N]."""
        phi, c = self.unknowns.phi_at(x), self.condensed
        squares = [
            float(((rows @ phi[own] - rights) ** 2).sum())
            for own, rows, rights in zip(c.columns, c.factors, c.rights, strict=True)
        ]
        return np.asarray(np.sqrt((np.array(squares) + c.rho**2) / c.count), dtype=np.float64)

    def objective(self, scaled: Any) -> Any:
        """Half the weighted mean square of what depends on the scaled unknowns, plus the prior."""
        u = self.unknowns
        x = scaled * self.scale
        phi = u.phi(x)[self.core.columns.tolist()]
        value = casadi.sumsqr(casadi.mtimes(casadi.DM(self.core.rows), phi) - casadi.DM(self.core.rights)) / 2
        if u.bodies:
            value += self.prior * (u.prior(x) + BARRIER * u.barrier(x))
        if self.undetermined.size:
            from_start = casadi.mtimes(casadi.DM(self.undetermined.T), scaled - u.start / self.scale)
            value += casadi.sumsqr(from_start) / 2
        return value

    def solve(self, start: FloatArray | None = None, options: Mapping[str, Any] | None = None) -> ipopt.Solution:
        """The optimum in physical units; plain directions that the data do not determine stay at the start."""
        u = self.unknowns
        if options is None and (u.bodies or u.curved):
            options = BODY_OPTIONS
        scaled = casadi.MX.sym("x", len(u.start))
        problem = {"x": scaled, "f": self.objective(scaled)}
        if u.equal.size1_out(0):
            problem["g"] = u.equal(scaled * self.scale)
        origin = u.start / self.scale
        lower = np.where(self.free, u.lower / self.scale, origin)
        upper = np.where(self.free, u.upper / self.scale, origin)
        begin = origin if start is None else start / self.scale
        found = ipopt.solve("Identification", problem, begin, lower, upper, options=options)
        return ipopt.Solution(
            found.x * self.scale, found.objective, found.status, found.iterations, found.bound_multipliers
        )
