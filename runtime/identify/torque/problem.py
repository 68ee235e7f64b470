"""The NLP of the torque form: unknowns of order one, a triangular least-squares core, a prior, bounds and equalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True, eq=False)
class Problem:
    """For given weights 1/`sigma` (n,): minimise half the weighted mean square plus `prior` times the divergence of the bodies.

    Unknowns in `held` (with the reason) stay at the start.
    """

    unknowns: Unknowns
    condensed: Condensed
    sigma: FloatArray
    held: Mapping[int, str]
    prior: float

    @cached_property
    def weight(self) -> FloatArray:
        """Of joints (n,), over all samples."""
        return np.asarray(1.0 / (self.sigma * np.sqrt(self.condensed.count)))

    @cached_property
    def core(self) -> Core:
        """All joints in one triangular system."""
        return core(self.condensed, self.sigma)

    @cached_property
    def _in_body(self) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self.unknowns.start), dtype=np.bool_)
        for body in self.unknowns.bodies:
            found[body.span] = True
        return found

    @cached_property
    def _lengths(self) -> FloatArray:
        """Effect (unknowns,) of a unit of each unknown on the weighted residual, at the start."""
        return np.asarray(np.linalg.norm(self.jacobian(self.unknowns.start), axis=0))

    @cached_property
    def pinned(self) -> dict[int, str]:
        """Unknowns that stay at the start, with the reason: those that are held, and those without an effect."""
        summed = np.isin(self.unknowns.labels, self.unknowns.total.entries if self.unknowns.total else ())
        idle = np.flatnonzero((self._lengths == 0.0) & ~self._in_body & ~summed)
        why = "its effect on the torque is zero in these recordings"
        return {**self.held, **{int(k): why for k in idle if int(k) not in self.held}}

    @cached_property
    def scale(self) -> FloatArray:
        """Units (unknowns,) in which the residual changes by about one."""
        least = max(float(np.sqrt(self.prior)), WEAKEST * float(self._lengths.max(initial=0.0)))
        lengths = np.hypot(self._lengths, np.where(self._in_body, least, 0.0))
        return 1.0 / np.where(lengths > 0.0, lengths, 1.0)

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """Unknowns that are not pinned."""
        return np.array([k not in self.pinned for k in range(len(self.unknowns.start))])

    @cached_property
    def undetermined(self) -> FloatArray:
        """Directions (unknowns, k), scaled, of the unknowns outside of bodies alone that change no residual."""
        plain = self.free & ~self._in_body
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
