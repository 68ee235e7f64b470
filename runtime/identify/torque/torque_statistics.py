"""Statistics of a solution of the torque form: standard deviations, undetermined parameters and why, base parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.columns.lever_springs import combinations as lever_combinations
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.result.result import COMBINATION, Correlation, Estimate, Lost
from diffpbd.runtime.identify.result.statistics import by_rows, correlations
from diffpbd.runtime.identify.torque.linear import Linear, inverse_within, null
from diffpbd.runtime.identify.torque.problem import Problem
from diffpbd.runtime.identify.torque.unknowns import Body

__all__ = ["INVOLVED", "Freedoms", "Statistics", "deviations_of", "evaluate", "freedoms", "pulled"]

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

    `base` are the combinations of inertial parameters, and of a lever spring's numbers, that are determined, with deviations by
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
    c = Linear(problem, x, limited)
    held = c.places(problem.pinned)
    Z = null(c.equal, held)
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
        every, windows = deviations_of(problem, phi, moving, designs)
        biased = _bias([sum(map(partial(pulled, problem, phi), own)) @ moving for own in disturbed])
        slopes = [c.D[u.names.index(name)] for name in wanted] * 2 + [b.row * c.scale for b in combined]
        slopes += [lever.gradient @ c.D for lever in levers]
        weighing = np.array(slopes) @ c.by_total([*held, *c.places(bounds)])
        every = np.sqrt(every**2 + biased**2 + weighing**2)
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
    c = Linear(problem, x, ())
    Z = null(c.equal, [*c.places(problem.pinned), *c.places(bounds)])
    lost = by_rows(c.J @ Z).undetermined
    V = Z @ (by_rows(lost.T).undetermined if lost.size else np.eye(Z.shape[1]))
    combined = np.array([(b.row * c.scale) @ V for b in c.combinations()]).reshape(-1, V.shape[1])
    own = range(c.plain.size)
    return Freedoms(c.effect @ V, c.D @ V, combined, c.plain, c.scale[own, None] * V[own])


def _moves(
    problem: Problem, c: Linear, bounds: Mapping[int, str], held: Sequence[int], wanted: Sequence[str]
) -> list[FloatArray]:
    """How each parameter moves with the gradient; one on a bound as if it were not."""
    u, curved = problem.unknowns, c.J.T @ c.J + c.prior
    moves = inverse_within(curved, null(c.equal, [*held, *c.places(bounds)]))
    rows = []
    for name in wanted:
        own = next((k for k in bounds if u.labels[k] == name), None)
        inverse = moves
        if own is not None:
            inverse = inverse_within(curved, null(c.equal, [*held, *c.places([b for b in bounds if b != own])]))
        rows.append(c.D[u.names.index(name)] @ inverse)
    return rows


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


def deviations_of(
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


def pulled(problem: Problem, phi: FloatArray, design: Design) -> FloatArray:
    """Weighted columns times residual (φ,) of a recording, summed over its samples."""
    pull, total = _weighted(problem, phi, design), np.zeros(len(phi))
    for j, (columns, matrix) in enumerate(zip(design.columns, design.matrices, strict=True)):
        total[columns] += matrix.T @ pull[:, j]
    return total


def _weighted(problem: Problem, phi: FloatArray, design: Design) -> FloatArray:
    """The residual (samples, n), weighted as squares are."""
    r = design.residual(phi)
    return np.asarray(problem.weight**2 * (r if design.weights is None else r * design.weights), dtype=np.float64)
