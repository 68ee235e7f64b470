"""Statistics at the optimum of a trajectory form: deviations, correlations, undetermined parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns.bodies import DECIDED, MOVES, WEAKER, decided_by_prior
from diffpbd.runtime.identify.motion.coordinates import QUIET, UNFELT, Coordinates
from diffpbd.runtime.identify.motion.trajectory import Path
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.result.result import Lost, Solved
from diffpbd.runtime.identify.result.statistics import by_information, correlations, on_bounds

__all__ = ["End", "conclude"]

MEMBER = 0.1
"""[1] Least component of a parameter in an undetermined direction to be listed with it."""
INVOLVED = 1e-5
"""[1] `MEMBER` for an entry of a body, which its other entries can compensate in many ways."""
ON_BOUND = 1e-5
"""[N·m, N·m·s/rad, …] Distance that counts as on a bound: an interior-point method stays about that far off."""


@dataclass(frozen=True)
class End:
    """Where a solve ended: unknowns `x` of `coordinates`, `information` (entries, entries) of the recordings for residuals of
    mean square one, the weighted `mean_square` of all `residuals` (their number), the weight `pull` of the prior beside half of
    it, and the solver's words. `paths` are of every recording, where torques were unknown.

    `influence` gives that of the residuals, as a series of samples every `sample` seconds, on what moves by a matrix
    (entries, k) with the gradient of half the square of all residuals; without it they count as independent."""

    coordinates: Coordinates
    x: FloatArray
    information: FloatArray
    mean_square: float
    residuals: int
    pull: float
    status: str
    iterations: int
    notes: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    influence: Callable[[FloatArray], Influence] | None = None
    sample: float = 0.0

    @property
    def theta(self) -> FloatArray:
        """The fitted entries of alpha."""
        return self.coordinates.entries(self.x)


def conclude(end: End) -> Solved:
    """Standard deviations from the weighted residuals, which are correlated in time and position."""
    coordinates = end.coordinates
    parameters, bodies = coordinates.parameters, coordinates.bodies
    names, theta = parameters.names, end.theta
    inside = np.array([any(name in body.entries for body in bodies) for name in names], dtype=np.bool_)
    scale, found = by_information(end.information, UNFELT)
    covariance = found.inverse * np.outer(scale, scale)
    gone = np.abs(found.undetermined).max(axis=1, initial=0.0) > np.where(inside, INVOLVED, MEMBER)
    reason = "the recorded motion does not depend on it, or only in combination with others"
    lost = [Lost(name, reason) for name, is_gone in zip(names, gone, strict=True) if is_gone]
    curved = end.information
    bounds = on_bounds(theta, parameters.lower, parameters.upper, ON_BOUND * np.maximum(1.0, np.abs(theta)))
    if end.pull:
        slope, curvature = coordinates.prior_by_entries(end.x)
        weight = end.residuals * end.pull
        curved = end.information + weight * curvature
        alone, moves = np.diag(covariance), _inverse(curved)
        covariance = moves @ end.information @ moves
        moved = _inverse(end.information + weight / WEAKER * curvature) @ slope * weight * (1.0 - 1.0 / WEAKER)
        lost += _by_prior(end, moved, alone, np.diag(covariance), gone)
    deviations, window = _deviations(end, curved, np.diag(covariance), bounds)
    sides = {"lower": parameters.lower, "upper": parameters.upper}
    values = [float(sides[bounds[k]][k]) if k in bounds else float(value) for k, value in enumerate(theta)]
    kept = [k for k, name in enumerate(names) if name not in {item.name for item in lost}]
    covariance = covariance * end.mean_square
    return Solved(
        values=dict(zip(names, values, strict=True)),
        deviations={names[k]: float(deviations[k]) for k in kept},
        bounds={names[k]: side for k, side in bounds.items()},
        lost=tuple(lost),
        correlations=correlations([names[k] for k in kept], covariance[np.ix_(kept, kept)]),
        rank=len(names) - found.undetermined.shape[1],
        unknowns=len(names),
        condition=found.condition,
        window=window,
        status=end.status,
        iterations=end.iterations,
        notes=(*end.notes, *(body.limit(end.x) for body in bodies if body.limited(end.x))),
    )


def _by_prior(
    end: End, moved: FloatArray, alone: FloatArray, variances: FloatArray, gone: npt.NDArray[np.bool_]
) -> Iterable[Lost]:
    """Parameters that only the prior determines: they move with it, or have far larger deviations without it.

    `alone` and `variances` (entries,) are by the recordings alone and with the prior, for residuals of mean square one.
    """
    if end.mean_square <= QUIET:
        return
    before, after = (np.sqrt(np.maximum(part, 0.0) * end.mean_square) for part in (alone, variances))
    for k in np.flatnonzero(~gone).tolist():
        name = end.coordinates.parameters.names[k]
        if abs(moved[k]) > MOVES * after[k]:
            yield Lost(
                name,
                f"it follows the prior: moves by about {abs(moved[k]):.2g} ({abs(moved[k]) / after[k]:.1f} standard "
                f"deviations) when that is {WEAKER:g} times weaker",
            )
        elif before[k] > DECIDED * after[k]:
            yield Lost(name, decided_by_prior(before[k]))


def _deviations(
    end: End, curved: FloatArray, variances: FloatArray, bounds: Mapping[int, str]
) -> tuple[FloatArray, float]:
    """Standard deviations (entries,), and the window [s] within which residuals count as correlated.

    `curved` (entries, entries) are the second derivatives, prior included. An entry on a bound is held for the others; its
    own deviation ignores the bound.
    """
    if end.influence is None or not len(variances):
        return np.sqrt(np.maximum(variances, 0.0) * end.mean_square), 0.0
    rows = np.zeros_like(curved)
    for own in [None, *bounds]:
        free = [k for k in range(len(curved)) if k not in bounds or k == own]
        within = np.zeros_like(curved)
        within[np.ix_(free, free)] = _inverse(curved[np.ix_(free, free)])
        taken = free if own is None else [own]
        rows[taken] = within[taken]
    found, windows = end.influence(rows.T).deviations()
    return found, float(windows.max()) * end.sample


def _inverse(information: FloatArray) -> FloatArray:
    """How the optimum moves with the gradient; zero where neither recordings nor prior determine it."""
    scale, found = by_information(information, UNFELT)
    return np.asarray(found.inverse * np.outer(scale, scale), dtype=np.float64)
