"""Whether a fitted model is the recordings': a test on recordings left out, and what its failure does to deviations.

A standard deviation means what it says where the model is right. Every cause and law that may be missing is fitted beside the
model without one fold in turn. On that fold the sum of e·Δ, the model's residual times what the cause would add to the torque,
is zero but for chance where the model is right, and positive where the cause explains (Clark and West 2007, whose statistic for
nested models this is; one-sided). Its deviation is that of (e − Δ)·Δ, what is left with the cause, summed over alike residuals
(`covariance.py`); the level is divided by the number of causes. The best is added to the model, and the others are tested
beside it, until none is rejected.

What is rejected so is not yet wrong by much: a cause has moved an estimate by the influence of the torque that it explains.
Where that is more than `APART` of its deviation, of any cause that explains nearly as much as the best, the deviation is
withheld. An interval of 95 % holds the truth in 92 % of cases where the mean is off by half a deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.causes import Cause
from diffpbd.runtime.identify.competition import Grams, pieces
from diffpbd.runtime.identify.covariance import Influence
from diffpbd.runtime.identify.evidence import Evidence

__all__ = ["REJECTED", "Verdict", "judged", "statistics"]

LEVEL: Final = 0.01
"""[1] How often a right model is rejected, over all causes together."""
APART: Final = 0.5
"""[1] Move of an estimate, in its deviations, from which its deviation is withheld."""
ROUNDS: Final = 8
"""[1] Causes at most, each beside those before."""
RIVAL: Final = 0.5
"""[1] What a cause explains, as part of what the best does, from which it may be the right one."""
TOLD: Final = 3
"""[1] Of these a sentence names."""
IntArray: TypeAlias = npt.NDArray[np.intp]

REJECTED: Final = "the model is rejected"
WORDS: Final = {
    "slow": "friction that is another at low rates", "direction": "friction that differs by direction",
    "drag": "drag with the square of the rate", "position": "a torque that goes with the position", "gain": "a gain",
    "delay": "a delay", "offset": "an offset", "rotor": "a rotor", "spring": "a spring", "zero": "another encoder's zero",
    "memory": "friction with memory", "clock": "another clock", "load": "a load at the tip",
    "masses": "other masses and inertias", "friction": "friction",
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """By name of a parameter why its deviation is withheld, and sentences on the causes that reject the model."""

    withheld: Mapping[str, str]
    notes: tuple[str, ...]


def judged(evidence: Evidence, weight: FloatArray, moves: FloatArray, deviations: Mapping[str, float]) -> Verdict:
    """Of estimates that move by `moves` (φ, k) with the gradient of half the squares weighted by `weight` (n,)², in the order
    of `deviations`."""
    fitted = evidence.grams.fitted
    causes = [_told(own) for own in (*evidence.causes, *evidence.laws)]
    tried = [own for own in causes if set(own.columns) - set(fitted.tolist())]
    if not tried or not deviations:
        return Verdict({}, ())
    least = float(norm.ppf(1.0 - LEVEL / len(tried)))
    names, stds = list(deviations), np.array(list(deviations.values()))
    size = np.where(stds > 0.0, stds, np.inf)
    columns, chosen, withheld = fitted, [], dict[str, str]()
    for _ in range(ROUNDS):
        found = statistics(evidence, columns, tried)
        if not tried or found.max() <= least:
            break
        tried = [own for own, t in zip(tried, found.tolist(), strict=True) if t > least]
        found = found[found > least]
        wider = [np.union1d(columns, own.columns) for own in tried]
        gains = _left(evidence, columns) - np.array([_left(evidence, own) for own in wider])
        for own, t, gain, more in zip(tried, found.tolist(), gains.tolist(), wider, strict=True):
            apart = np.abs(_shift(evidence, more, weight, moves)) / size
            for k in np.flatnonzero(apart > APART).tolist() if gain >= RIVAL * gains.max() else ():
                withheld.setdefault(names[k], f"{_called(own, t)} would move it by {apart[k]:.2g} deviations")
        best = int(gains.argmax())
        columns = wider[best]
        chosen.append((tried[best], float(found[best])))
        tried = [own for own in tried if set(own.columns) - set(columns.tolist())]
    return Verdict(withheld, _said(chosen, withheld, least))


def _told(own: Cause) -> Cause:
    """What noise of the motion cannot look like. It is in the prediction, so also, with the other sign, in the residual: the
    prediction's second derivative is correlated with it where the model is right, its first one is not."""
    return replace(own, columns=own.columns[:1]) if own.kind == "delay" else own


def _left(evidence: Evidence, columns: IntArray) -> float:
    """Weighted squares that are left on what is left out in turn."""
    grams = evidence.grams
    return float((grams.left(columns) * grams.counts).sum(axis=0) @ grams.weight)


def statistics(evidence: Evidence, fitted: IntArray, tried: Sequence[Cause]) -> FloatArray:
    """Of each cause (k,) the sum of e·Δ on what is left out, over its deviation, beside the columns that are fitted."""
    grams = evidence.grams
    explained = np.zeros(len(tried))
    noise = [np.zeros((len(t.residual), t.residual.shape[1], len(tried))) for t in evidence.tables]
    more: dict[int, tuple[FloatArray, FloatArray]] = {}
    for fold, at, part in pieces(evidence.tables):
        if fold not in more:
            more[fold] = _added(grams, fold, fitted, tried)
        null, added = more[fold]
        table = evidence.tables[at]
        e = table.residual[part] - table.columns[part][..., fitted] @ null
        extra, scale = table.columns[part] @ added, (table.weights[part] * grams.weight)[..., None]
        explained += (scale * e[..., None] * extra).sum(axis=(0, 1))
        noise[at][part] = scale * (e[..., None] - extra) * extra
    q = [t.samples.trimmed(t.samples.q) for t in evidence.tables]
    low, high = (edge([edge(own, axis=0) for own in q], axis=0) for edge in (np.min, np.max))
    influence, mean = Influence(low, high), np.concatenate(noise).mean(axis=0)
    for own, values in zip(noise, q, strict=True):
        influence.add(values, list(np.moveaxis(own - mean, 1, 0)))
    deviation = influence.deviations()[0]
    return np.asarray(explained / np.where(deviation > 0.0, deviation, np.inf), dtype=np.float64)


def _added(grams: Grams, fold: int, fitted: IntArray, tried: Sequence[Cause]) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the fitted columns without a fold, and by how much those of all (columns, k) change with a cause."""
    others = grams.total - grams.squares[fold]
    null = grams.solved(others, fitted)
    found = np.zeros((grams.squares.shape[-1] - 1, len(tried)))
    for k, own in enumerate(tried):
        columns = np.union1d(fitted, own.columns)
        found[columns, k] = grams.solved(others, columns)
        found[fitted, k] -= null
    return null, found


def _shift(evidence: Evidence, columns: IntArray, weight: FloatArray, moves: FloatArray) -> FloatArray:
    """By how much (k,) the torque that columns which are not fitted explain has moved the estimates."""
    grams = evidence.grams
    more = np.setdiff1d(columns, grams.fitted)
    figures = grams.coefficients(columns)[np.searchsorted(columns, more)]
    thin = evidence.count / max(sum(len(t.residual) for t in evidence.tables), 1)
    together = np.tensordot(weight**2, grams.total, axes=1)
    pull = together[: len(moves)][:, more] @ figures
    for own in evidence.causes:
        if own.kind == "gain" and own.columns[0] in more:  # friction and offsets are read through it too
            j, figure = evidence.joints.index(own.joint), float(figures[np.searchsorted(more, own.columns[0])])
            read = grams.fitted[grams.fitted >= evidence.bodies]
            square = grams.total[j][: len(moves)][:, read] * weight[j] ** 2
            pull = pull + square @ evidence.phi[read] * figure / (1.0 + figure)
    return np.asarray(thin * moves.T @ pull, dtype=np.float64)


def _called(own: Cause, t: float) -> str:
    word = WORDS[own.kind.split()[0]]
    return f"{word}{f' of {own.joint}' if own.joint else ''} (t = {t:.3g})"


def _said(chosen: Sequence[tuple[Cause, float]], withheld: Mapping[str, str], least: float) -> tuple[str, ...]:
    if not withheld:
        return ()
    more = f" and {len(chosen) - TOLD} more" if len(chosen) > TOLD else ""
    return (
        f"{REJECTED} in cross-validation (t above {least:.2g}): it lacks {listing([_called(*own) for own in chosen[:TOLD]])}"
        f"{more}, or an effect like it. {len(withheld)} parameters have no standard deviation, because this shifts them by "
        f"more than {APART:g} of it",
    )
