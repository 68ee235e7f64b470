"""What a solved identification is worth: determined directions, standard deviations, correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.names import listing
from diffpbd.runtime.solve import covariance
from diffpbd.runtime.solve.design import Design
from diffpbd.runtime.solve.problem import AT_BOUND, RANK, Problem
from diffpbd.runtime.solve.result import Correlation, Lost

__all__ = ["Statistics", "evaluate", "on_bounds"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

INVOLVED = 1e-3
"""[1] Part of a parameter's reach that lies in undetermined directions from which it is named as lost."""
CORRELATED = 0.95
"""[1] Correlation from which a pair of parameters is named: either alone is then three times worse than both together."""
MOST_CORRELATIONS = 10
"""[1] Pairs that are named at most, the strongest first."""

MOST_PARTNERS = 4
"""[1] Parameters that are named as determined together; more are counted."""


@dataclass(frozen=True)
class Statistics:
    """By name of alpha: standard deviations; what is lost and why; strong correlations.

    `rank` of the fitted unknowns that are free, `condition` of the normalised columns in the determined directions,
    `window` [samples] the longest correlation allowed for.
    """

    deviations: dict[str, float]
    lost: tuple[Lost, ...]
    correlations: tuple[Correlation, ...]
    rank: int
    unknowns: int
    condition: float
    window: int


def on_bounds(problem: Problem, x: FloatArray) -> dict[int, str]:
    """Free unknowns on a bound: which one."""
    bounds = {}
    u = problem.unknowns
    for k, (low, high) in enumerate(zip(u.lower, u.upper, strict=True)):
        near = AT_BOUND * problem.scale[k]
        if problem.free[k] and x[k] - low <= near:
            bounds[k] = "lower"
        elif problem.free[k] and high - x[k] <= near:
            bounds[k] = "upper"
    return bounds


def evaluate(problem: Problem, x: FloatArray, bounds: dict[int, str], designs: Sequence[Design]) -> Statistics:
    """Statistics of the solution x from the recordings alone, whatever prior helped to find it.

    A parameter on a bound gets the deviation that it would have if the bound were not there, the others theirs with the
    bound active.
    """
    u = problem.unknowns
    J = problem.jacobian(x)
    lengths = np.linalg.norm(J, axis=0)
    scale = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), problem.scale)
    J, D = J * scale, u.alpha_jacobian(x) * scale
    equal = np.array(u.equal.factory("J", ["x"], ["jac:y:x"])(x).full()).reshape(-1, len(x)) * scale
    held = [k for k in range(len(x)) if k in problem.pinned]
    tangent = _Tangent(J, _null(equal, [*held, *bounds]))
    by_bound = {k: _Tangent(J, _null(equal, [*held, *(b for b in bounds if b != k)])) for k in bounds}
    whole = _Tangent(J, _null(equal, held))
    lost = _lost(problem, D, whole)
    names = {item.name for item in lost}
    rows, wanted = [], []
    for position, name in enumerate(u.names):
        if name in names:
            continue
        own = next((k for k in by_bound if u.labels[k] == name), None)
        rows.append(D[position] @ (tangent if own is None else by_bound[own]).inverse)
        wanted.append(name)
    found, windows = np.zeros(0), np.zeros(1, dtype=np.intp)
    if rows:
        sensitivity = np.array(rows).T
        found, windows = covariance.deviations(
            [scores @ sensitivity for scores in _scores(problem, x, scale, designs)]
        )
    free = [k for k in range(len(x)) if k not in problem.pinned]
    return Statistics(
        deviations=dict(zip(wanted, found.tolist(), strict=True)),
        lost=tuple(lost),
        correlations=tuple(_correlations(wanted, np.array(rows), J)) if rows else (),
        rank=whole.rank,
        unknowns=len(free) - len(equal),
        condition=whole.condition,
        window=int(windows.max()),
    )


def _null(equal: FloatArray, held: Sequence[int]) -> FloatArray:
    """Basis (unknowns, k) of the moves that keep equalities and held unknowns."""
    n = equal.shape[1]
    rows = np.vstack([equal, np.eye(n)[list(held)]])
    if not len(rows):
        return np.eye(n)
    _, singular, right = np.linalg.svd(rows, full_matrices=True)
    rank = int((singular > RANK * singular[0]).sum())
    return np.asarray(right[rank:].T, dtype=np.float64)


class _Tangent:
    """Least squares restricted to a basis Z of moves: rank, condition, undetermined moves, Z (ZᵀJᵀJZ)⁺ Zᵀ."""

    def __init__(self, J: FloatArray, Z: FloatArray) -> None:
        self.Z = Z
        if not Z.shape[1]:
            self.rank, self.condition = 0, 1.0
            self.undetermined, self.inverse = np.zeros((J.shape[1], 0)), np.zeros((J.shape[1],) * 2)
            return
        _, singular, right = np.linalg.svd(J @ Z, full_matrices=True)
        self.rank = int((singular > RANK * max(singular[0], np.finfo(float).tiny)).sum())
        self.condition = float(singular[0] / singular[self.rank - 1]) if self.rank else 1.0
        self.undetermined = Z @ right[self.rank :].T
        half = Z @ (right[: self.rank].T / singular[: self.rank])
        self.inverse = half @ half.T


def _lost(problem: Problem, D: FloatArray, tangent: _Tangent) -> list[Lost]:
    u = problem.unknowns
    lost = []
    into = D @ tangent.undetermined
    reach = np.linalg.norm(D @ tangent.Z, axis=1)
    mixed = np.linalg.norm(into, axis=1) > INVOLVED * reach
    for position, name in enumerate(u.names):
        held = [problem.pinned[k] for k in problem.pinned if D[position, k] != 0.0 or u.labels[k] == name]
        if held:
            lost.append(Lost(name, held[0]))
        elif mixed[position]:
            size = np.linalg.norm(into, axis=1) * np.linalg.norm(into[position])
            alike = mixed & (np.abs(into @ into[position]) > INVOLVED * size)
            partners = [other for k, other in enumerate(u.names) if alike[k] and k != position]
            named = listing(partners) if len(partners) <= MOST_PARTNERS else f"{len(partners)} others"
            lost.append(Lost(name, f"determined only in combination with {named}"))
    return lost


def _scores(problem: Problem, x: FloatArray, scale: FloatArray, designs: Sequence[Design]) -> Iterator[FloatArray]:
    """Weighted columns times residual (samples, unknowns), scaled, recording by recording."""
    phi = problem.unknowns.phi_at(x)
    effect = problem.unknowns.phi_jacobian(x) * scale
    weight = problem.weight**2
    for d in designs:
        r = d.residual(phi)
        g = np.zeros((len(r), effect.shape[1]))
        for j, (columns, matrix) in enumerate(zip(d.columns, d.matrices, strict=True)):
            g += (matrix * (weight[j] * r[:, j : j + 1])) @ effect[columns]
        yield g


def _correlations(names: Sequence[str], rows: FloatArray, J: FloatArray) -> list[Correlation]:
    """Pairs of parameters that the data hardly tell apart."""
    moves = rows @ J.T
    lengths = np.linalg.norm(moves, axis=1)
    usable = np.flatnonzero(lengths > 0.0)
    unit = moves[usable] / lengths[usable, None]
    matrix = unit @ unit.T
    pairs = [
        Correlation(names[usable[a]], names[usable[b]], float(np.clip(matrix[a, b], -1.0, 1.0)))
        for a in range(len(usable))
        for b in range(a)
        if abs(matrix[a, b]) > CORRELATED
    ]
    return sorted(pairs, key=lambda pair: -abs(pair.value))[:MOST_CORRELATIONS]
