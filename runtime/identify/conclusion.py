"""From the unknowns at a solution to what a form that follows a trajectory found: covariance, what is not determined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.identify.bodies import MOVES, WEAKER
from diffpbd.runtime.identify.coordinates import QUIET, Coordinates
from diffpbd.runtime.identify.result import Lost
from diffpbd.runtime.identify.trajectory import UNSEEN, Found, Path, covariance_of, undetermined_directions

__all__ = ["conclude"]

MEMBER = 0.1
"""[1] Component of a parameter in a direction that is not determined from which it counts as part of it."""
INVOLVED = 1e-5
"""[1] The same for an entry of a body, whose other entries can make up for it in many ways."""


def conclude(
    coordinates: Coordinates,
    x: FloatArray,
    information: FloatArray,
    mean_square: float,
    residuals: int,
    pull: float,
    status: str,
    iterations: int,
    notes: Sequence[str] = (),
    paths: Sequence[Path] = (),
) -> Found:
    """At the unknowns x; `information` (entries, entries) is that of the recordings for residuals of mean square one, `pull`
    the weight of the prior beside half the mean square of all `residuals`."""
    names, bodies = coordinates.parameters.names, coordinates.bodies
    inside = np.array([any(name in body.entries for body in bodies) for name in names], dtype=np.bool_)
    covariance, undetermined, condition = covariance_of(information)
    gone = np.abs(undetermined).max(axis=1, initial=0.0) > np.where(inside, INVOLVED, MEMBER)
    reason = "the recorded motion does not depend on it, or only in combination with others"
    lost = [Lost(name, reason) for name, is_gone in zip(names, gone, strict=True) if is_gone]
    if pull:
        slope, curvature = coordinates.prior_by_entries(x)
        weight = residuals * pull
        moves = _inverse(information, weight * curvature)
        covariance = moves @ information @ moves
        moved = _inverse(information, weight / WEAKER * curvature) @ slope * weight * (1.0 - 1.0 / WEAKER)
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0) * mean_square)
        follows = ~gone & (np.abs(moved) > MOVES * deviations) & (mean_square > QUIET)
        for k in np.flatnonzero(follows).tolist():
            text = (
                f"it follows the prior: moves by about {abs(moved[k]):.2g} ({abs(moved[k]) / deviations[k]:.1f} standard "
                f"deviations) when that is {WEAKER:g} times weaker"
            )
            lost.append(Lost(names[k], text))
    limits = [body.limit(x) for body in bodies if body.limited(x)]
    return Found(
        coordinates.entries(x), covariance, mean_square, undetermined.shape[1], tuple(lost), condition, status, iterations,
        (*notes, *limits), tuple(paths),
    )  # fmt: skip


def _inverse(information: FloatArray, prior: FloatArray) -> FloatArray:
    """How the optimum moves with the gradient; not at all where neither recordings nor prior hold it."""
    scale, *_ = undetermined_directions(information + prior)
    size = np.outer(scale, scale)
    return np.asarray(
        np.linalg.pinv((information + prior) * size, rcond=UNSEEN**2, hermitian=True) * size, dtype=np.float64
    )
