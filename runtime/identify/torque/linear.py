"""Coordinates of a solution of the torque form in which its residual is linear, and moves within equalities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns.base import COLUMN_NAMES, COLUMN_UNITS, Combination, combinations
from diffpbd.runtime.identify.columns.bodies import BARRIER
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS
from diffpbd.runtime.identify.result.statistics import RANK, by_information, by_rows
from diffpbd.runtime.identify.torque.problem import Problem
from diffpbd.runtime.identify.torque.unknowns import Body

__all__ = ["Linear", "inverse_within", "null"]

ROUNDING = 1e-13
"""[1] A column this much shorter than the longest is rounding error: its parameter has no effect on the torques."""
NOTHING = 1e-9
"""[1, kg·m or kg·m²] A coefficient or a move below this is held at zero: the solver's tolerance."""


class Linear:
    """Coordinates in which the residual is (nearly) linear: the plain unknowns, and the ten coefficients of each body.

    `effect` dφ/dy, J weighted residual rows by y, D derivatives of the fitted entries of alpha by y, `given` those of the
    entries of a body that are not fitted, `masses` of the sum of masses that a total is known of, `equal` of both, `prior`
    its second derivatives; all scaled so that J has columns of length one. `symmetric` are coefficients of bodies that
    `given` hold at zero.
    """

    def __init__(self, problem: Problem, x: FloatArray, limited: Sequence[Body]) -> None:
        u = problem.unknowns
        in_body = np.zeros(len(x), dtype=np.bool_)
        for body in u.bodies:
            in_body[body.span] = True
        self.plain = np.flatnonzero(~in_body)
        count = self.plain.size + LINK_COLUMNS * len(u.bodies)
        phi, alpha = u.phi_jacobian(x), u.alpha_jacobian(x)
        effect, D = np.zeros((len(phi), count)), np.zeros((len(u.names), count))
        prior, given = np.zeros((count, count)), []
        effect[:, : self.plain.size], D[:, : self.plain.size] = phi[:, self.plain], alpha[:, self.plain]
        for k, body in enumerate(u.bodies):
            own = slice(self.plain.size + LINK_COLUMNS * k, self.plain.size + LINK_COLUMNS * (k + 1))
            effect[body.columns, own] = np.eye(LINK_COLUMNS)
            entries = np.linalg.inv(u.body_effect(body, x))
            for entry, row in zip(body.entries, entries, strict=True):
                if entry in u.names:
                    D[u.names.index(entry), own] = row
                else:
                    given.append(np.zeros(count))
                    given[-1][own] = row
            if body not in limited:
                weight = problem.prior * (1.0 if body.described else BARRIER)
                prior[own, own] = weight * body.curvature(x)
        J = problem.core.rows @ effect[problem.core.columns]
        lengths = np.linalg.norm(J, axis=0)
        nothing = lengths <= ROUNDING * lengths.max(initial=0.0)
        J[:, nothing] = 0.0
        scale = np.where(nothing, 1.0, 1.0 / np.where(nothing, 1.0, lengths))
        self.bodies, self.scale, self.labels = u.bodies, scale, [u.labels[k] for k in self.plain]
        self.J, self.D, self.effect = J * scale, D * scale, effect * scale
        self.given = np.array(given).reshape(-1, count) * scale
        self.total = u.total
        self.masses = (
            sum((self.D[u.names.index(name)] for name in u.total.entries), np.zeros(count)) if u.total else None
        )
        self.equal = self.given if self.masses is None else np.vstack([self.given, self.masses])
        values = np.concatenate([np.ones(self.plain.size), *(u.phi_at(x)[body.columns] for body in u.bodies)])
        still = np.linalg.norm(null(self.given, []), axis=1) < NOTHING if given else np.zeros(count, dtype=np.bool_)
        self.symmetric = np.flatnonzero(still & (np.abs(values) < NOTHING)).tolist()
        self.prior = prior * np.outer(scale, scale)

    def combinations(self, plain: Sequence[str] = ()) -> list[Combination]:
        """Base parameters of bodies whose every entry is fitted or zero by symmetry; none where others are given. With the
        units of `plain` unknowns, what is left of these too."""
        if not (self.bodies or plain) or len(self.symmetric) < len(self.given):
            return []
        first = self.plain.size
        order = np.r_[first : len(self.scale), :first]  # so that a rotor is lumped into its link, and not the other way
        labels = [*(f"{name} {body.name}" for body in self.bodies for name in COLUMN_NAMES), *self.labels]
        units = (*COLUMN_UNITS * len(self.bodies), *plain)
        J = self.J.copy()
        J[:, self.symmetric] = 0.0
        found = combinations(J[:, order], self.scale[order], labels, units)
        back = np.argsort(order)
        return [Combination(b.name, b.unit, b.row[back]) for b in found]

    def by_total(self, held: Sequence[int]) -> FloatArray:
        """How the coordinates (y,) move with a deviation of the total mass, but for those `held`; zero without one."""
        if self.total is None or self.masses is None or not self.total.spread:
            return np.zeros(len(self.scale))
        Z = null(self.given, held)
        scale, found = by_information(Z.T @ (self.J.T @ self.J + self.prior) @ Z, least=RANK)
        half = Z * scale
        own, free = half.T @ self.masses, found.undetermined
        if np.linalg.norm(free.T @ own) > RANK * np.linalg.norm(own):  # where nothing else holds them
            step = free @ (free.T @ own)
        else:
            step = found.inverse @ own
        return np.asarray(half @ step * (self.total.spread / float(own @ step)), dtype=np.float64)

    def coefficients(self, x: FloatArray, phi: FloatArray) -> FloatArray:
        """The coordinates' values: plain unknowns, then each body's block of φ."""
        return np.concatenate([x[self.plain], *(phi[body.columns] for body in self.bodies)])

    def places(self, unknowns: Iterable[int]) -> list[int]:
        """Coordinates of plain unknowns."""
        return [int(np.flatnonzero(self.plain == k)[0]) for k in unknowns]


def null(equal: FloatArray, held: Sequence[int]) -> FloatArray:
    """Basis (unknowns, k) of the moves that keep equalities and held unknowns."""
    n = equal.shape[1]
    rows = np.vstack([equal, np.eye(n)[list(held)]])
    return by_rows(rows).undetermined if len(rows) else np.eye(n)


def inverse_within(H: FloatArray, Z: FloatArray) -> FloatArray:
    """Z (Zᵀ H Z)⁻¹ Zᵀ: how the optimum moves with the gradient, within the moves Z."""
    scale, found = by_information(Z.T @ H @ Z, least=RANK)
    half = Z * scale
    return np.asarray(half @ found.inverse @ half.T, dtype=np.float64)
