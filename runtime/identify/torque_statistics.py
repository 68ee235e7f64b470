"""What a solution of the torque form is worth: standard deviations, what is lost and why, base parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.base import COLUMN_NAMES, COLUMN_UNITS, Combination, combinations
from diffpbd.runtime.identify.bodies import BARRIER
from diffpbd.runtime.identify.covariance import Influence
from diffpbd.runtime.identify.design import LINK_COLUMNS, Design
from diffpbd.runtime.identify.lever_springs import combinations as lever_combinations
from diffpbd.runtime.identify.problem import Problem
from diffpbd.runtime.identify.result import COMBINATION, Correlation, Estimate, Lost
from diffpbd.runtime.identify.statistics import RANK, by_information, by_rows, correlations
from diffpbd.runtime.identify.unknowns import Body

__all__ = ["Freedoms", "Statistics", "evaluate", "freedoms"]

ROUNDING = 1e-13
"""[1] A column this much shorter than the longest is rounding error: its parameter has no effect on the torques."""
INVOLVED = 1e-3
"""[1] Part of a parameter's reach that lies in undetermined directions from which it is named as lost."""
MOST_PARTNERS = 4
"""[1] Parameters that are named as determined together; more are counted."""
HELD = 10_000_000
"""[1] Influences of samples that are held at once (80 MB): of long recordings on few parameters at a time."""


@dataclass(frozen=True)
class Statistics:
    """By name of alpha: standard deviations, and those by the recordings alone, as if there were no prior; what is lost
    and why; strong correlations.

    `base` are the combinations of inertial parameters, and of lever springs' numbers, that are determined, with deviations by
    the recordings alone.
    `rank` of the fitted unknowns that are free, `condition` of the normalised columns in the determined directions,
    `window` [samples] the longest correlation allowed for.
    """

    deviations: dict[str, float]
    alone: dict[str, float]
    lost: tuple[Lost, ...]
    correlations: tuple[Correlation, ...]
    rank: int
    unknowns: int
    condition: float
    window: int
    base: tuple[Estimate, ...]
    moves: FloatArray
    """How what has a deviation, then `base`, moves (φ, k) with the gradient."""


def evaluate(
    problem: Problem, x: FloatArray, bounds: Mapping[int, str], designs: Sequence[Design],
    disturbed: Iterable[Iterable[Design]] = (), limited: Sequence[Body] = (),
) -> Statistics:  # fmt: skip
    """Statistics of the solution x. Of the designs `disturbed` one is held at a time.

    Rank, condition and what is lost come from the recordings alone; deviations are those of the estimate, prior included.
    A parameter on a bound, and one of a body in `limited` that a physical limit holds, gets the deviation that it would
    have without the limit, the others theirs with the limit active.
    """
    u = problem.unknowns
    c = _Coordinates(problem, x, limited)
    held = c.places(problem.pinned)
    Z = _null(c.equal, held)
    whole = by_rows(c.J @ Z)
    by_recordings = Z @ whole.inverse @ Z.T
    lost = _lost(problem, c.D, Z, Z @ whole.undetermined, held)
    names = {item.name for item in lost}
    wanted = [name for name in u.names if name not in names]
    rows = _moves(problem, c, bounds, held, wanted)
    found, windows, alone, phi = np.zeros(0), np.zeros(1, dtype=np.intp), np.zeros(0), u.phi_at(x)
    combined = c.combinations()
    levers = lever_combinations(u.names, u.values_at(x))
    estimates: list[Estimate] = []
    moves = np.zeros((len(phi), 0))
    if rows or combined or levers:
        free = [c.D[u.names.index(name)] @ by_recordings for name in wanted]
        lumped = [(b.row * c.scale) @ by_recordings for b in combined]
        lumped += [(lever.gradient @ c.D) @ by_recordings for lever in levers]
        sensitivity = np.array([*rows, *free, *lumped]).T
        moving = c.effect @ sensitivity
        moves = np.delete(moving, range(len(rows), 2 * len(rows)), axis=1)
        every, windows = _deviations(problem, phi, moving, designs)
        biased = _bias([sum(map(partial(_pull, problem, phi), own)) @ moving for own in disturbed])
        every = np.hypot(every, biased)
        found, alone = every[: len(rows)], every[len(rows) : 2 * len(rows)]
        y = c.coefficients(x, phi)
        known = [(b.name, float(b.row @ y), b.unit) for b in combined] + [(v.name, v.value, v.unit) for v in levers]
        for (name, value, unit), std in zip(known, every[2 * len(rows) :].tolist(), strict=True):
            estimates.append(Estimate(name, value, std, unit))
    return Statistics(
        deviations=dict(zip(wanted, found.tolist(), strict=True)),
        alone=dict(zip(wanted, alone.tolist(), strict=True)),
        lost=tuple(lost),
        correlations=correlations(wanted, np.array(rows) @ c.J.T @ c.J @ np.array(rows).T) if rows else (),
        rank=whole.rank,
        unknowns=Z.shape[1],
        condition=whole.condition,
        window=int(windows.max()),
        base=tuple(estimates),
        moves=moves,
    )


@dataclass(frozen=True)
class Freedoms:
    """Directions that the recordings determine: their `effect` (φ, directions), what they move of the `entries` of alpha
    (names, directions), of the combinations that `Statistics.base` lists (k, directions), and of the `plain` unknowns."""

    effect: FloatArray
    entries: FloatArray
    combined: FloatArray
    plain: npt.NDArray[np.intp]
    unknowns: FloatArray


def freedoms(problem: Problem, x: FloatArray, bounds: Mapping[int, str]) -> Freedoms:
    """At x; what is pinned or on a bound does not move."""
    c = _Coordinates(problem, x, ())
    Z = _null(c.equal, [*c.places(problem.pinned), *c.places(bounds)])
    lost = by_rows(c.J @ Z).undetermined
    V = Z @ (by_rows(lost.T).undetermined if lost.size else np.eye(Z.shape[1]))
    combined = np.array([(b.row * c.scale) @ V for b in c.combinations()]).reshape(-1, V.shape[1])
    own = range(c.plain.size)
    return Freedoms(c.effect @ V, c.D @ V, combined, c.plain, c.scale[own, None] * V[own])


def _moves(
    problem: Problem, c: _Coordinates, bounds: Mapping[int, str], held: Sequence[int], wanted: Sequence[str]
) -> list[FloatArray]:
    """How each parameter moves with the gradient; one on a bound as if it were not."""
    u, curved = problem.unknowns, c.J.T @ c.J + c.prior
    moves = _inverse(curved, _null(c.equal, [*held, *c.places(bounds)]))
    rows = []
    for name in wanted:
        own = next((k for k in bounds if u.labels[k] == name), None)
        inverse = moves
        if own is not None:
            inverse = _inverse(curved, _null(c.equal, [*held, *c.places([b for b in bounds if b != own])]))
        rows.append(c.D[u.names.index(name)] @ inverse)
    return rows


class _Coordinates:
    """Coordinates in which the residual is (nearly) linear: the plain unknowns, and the ten coefficients of each body.

    `effect` dφ/dy, J weighted residual rows by y, D derivatives of the fitted entries of alpha by y, `equal` those of the
    entries of a body that are given, `prior` its second derivatives; all scaled so that J has columns of length one.
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
        prior, equal = np.zeros((count, count)), []
        effect[:, : self.plain.size], D[:, : self.plain.size] = phi[:, self.plain], alpha[:, self.plain]
        for k, body in enumerate(u.bodies):
            own = slice(self.plain.size + LINK_COLUMNS * k, self.plain.size + LINK_COLUMNS * (k + 1))
            effect[body.columns, own] = np.eye(LINK_COLUMNS)
            entries = np.linalg.inv(u.body_effect(body, x))
            for entry, row in zip(body.entries, entries, strict=True):
                if entry in u.names:
                    D[u.names.index(entry), own] = row
                else:
                    equal.append(np.zeros(count))
                    equal[-1][own] = row
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
        self.equal = np.array(equal).reshape(-1, count) * scale
        self.prior = prior * np.outer(scale, scale)

    def combinations(self) -> list[Combination]:
        """Base parameters of bodies whose every entry is fitted; none where some are given."""
        if not self.bodies or len(self.equal):
            return []
        first = self.plain.size
        order = np.r_[first : len(self.scale), :first]  # so that a rotor is lumped into its link, and not the other way
        labels = [*(f"{name} {body.name}" for body in self.bodies for name in COLUMN_NAMES), *self.labels]
        units = COLUMN_UNITS * len(self.bodies)
        found = combinations(self.J[:, order], self.scale[order], labels, units)
        back = np.argsort(order)
        return [Combination(b.name, b.unit, b.row[back]) for b in found]

    def coefficients(self, x: FloatArray, phi: FloatArray) -> FloatArray:
        """The coordinates' values: plain unknowns, then each body's block of φ."""
        return np.concatenate([x[self.plain], *(phi[body.columns] for body in self.bodies)])

    def places(self, unknowns: Iterable[int]) -> list[int]:
        """Coordinates of plain unknowns."""
        return [int(np.flatnonzero(self.plain == k)[0]) for k in unknowns]


def _null(equal: FloatArray, held: Sequence[int]) -> FloatArray:
    """Basis (unknowns, k) of the moves that keep equalities and held unknowns."""
    n = equal.shape[1]
    rows = np.vstack([equal, np.eye(n)[list(held)]])
    return by_rows(rows).undetermined if len(rows) else np.eye(n)


def _inverse(H: FloatArray, Z: FloatArray) -> FloatArray:
    """Z (Zᵀ H Z)⁻¹ Zᵀ: how the optimum moves with the gradient, within the moves Z."""
    scale, found = by_information(Z.T @ H @ Z, least=RANK)
    half = Z * scale
    return np.asarray(half @ found.inverse @ half.T, dtype=np.float64)


def _lost(
    problem: Problem, D: FloatArray, Z: FloatArray, undetermined: FloatArray, places: Sequence[int]
) -> list[Lost]:
    u = problem.unknowns
    reasons = dict(zip(places, problem.pinned.values(), strict=True))
    labels = {u.labels[k]: reason for k, reason in problem.pinned.items()}
    lost = []
    into = D @ undetermined
    reach = np.linalg.norm(D @ Z, axis=1)
    mixed = np.linalg.norm(into, axis=1) > INVOLVED * reach
    for position, name in enumerate(u.names):
        held = [labels.get(name), *(reason for k, reason in reasons.items() if D[position, k] != 0.0)]
        if any(held):
            lost.append(Lost(name, next(filter(None, held))))
        elif mixed[position]:
            size = np.linalg.norm(into, axis=1) * np.linalg.norm(into[position])
            alike = mixed & (np.abs(into @ into[position]) > INVOLVED * size)
            partners = [other for k, other in enumerate(u.names) if alike[k] and k != position]
            if not partners:
                lost.append(Lost(name, "the torques do not depend on it"))
                continue
            named = listing(partners) if len(partners) <= MOST_PARTNERS else f"{len(partners)} others"
            lost.append(Lost(name, f"{COMBINATION} with {named}"))
    return lost


def _bias(moved: Sequence[FloatArray]) -> FloatArray:
    """Size of the mean of what noise added to the motions several times moves, less what chance makes of it."""
    if len(moved) < 2:
        return np.zeros(1)
    together = np.array(moved)
    mean, chance = together.mean(axis=0), together.var(axis=0, ddof=1) / len(together)
    return np.asarray(np.sqrt(np.maximum(mean**2 - chance, 0.0)), dtype=np.float64)


def _deviations(
    problem: Problem, phi: FloatArray, moves: FloatArray, designs: Sequence[Design]
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Of what moves by `moves` (φ, k) times weighted columns times residual: deviations (k,), windows (k,) [samples]."""
    pulls = [_weighted(problem, phi, d) for d in designs]
    low, high = (edge([edge(d.samples.q, axis=0) for d in designs], axis=0) for edge in (np.min, np.max))
    few = max(1, HELD // sum(map(len, pulls)))
    found = []
    for a in range(0, moves.shape[1], few):
        some, influence = moves[:, a : a + few], Influence(low, high)
        for d, pull in zip(designs, pulls, strict=True):
            parts = (
                (matrix * pull[:, j : j + 1]) @ some[columns]
                for j, (columns, matrix) in enumerate(zip(d.columns, d.matrices, strict=True))
            )
            influence.add(d.samples.trimmed(d.samples.q), parts)
        found.append(influence.deviations())
    return np.concatenate([own for own, _ in found]), np.concatenate([windows for _, windows in found])


def _pull(problem: Problem, phi: FloatArray, design: Design) -> FloatArray:
    """Weighted columns times residual (φ,) of a recording, summed over its samples."""
    pull, total = _weighted(problem, phi, design), np.zeros(len(phi))
    for j, (columns, matrix) in enumerate(zip(design.columns, design.matrices, strict=True)):
        total[columns] += matrix.T @ pull[:, j]
    return total


def _weighted(problem: Problem, phi: FloatArray, design: Design) -> FloatArray:
    """The residual (samples, n), weighted as squares are."""
    r = design.residual(phi)
    return np.asarray(problem.weight**2 * (r if design.weights is None else r * design.weights), dtype=np.float64)
