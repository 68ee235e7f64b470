"""Whether a fitted model is the recordings': a test on recordings left out, and what its failure does to deviations.

A standard deviation means what it says where the model is right. Every cause and law that may be missing is fitted beside the
model without one fold in turn. On that fold the sum of e·Δ, the model's residual times what the cause would add to the torque,
is zero but for chance where the model is right, and positive where the cause explains (Clark and West 2007, whose statistic for
nested models this is; one-sided). Its deviation is that of (e − Δ)·Δ, what is left with the cause, summed over alike residuals
(`covariance.py`); the level is divided by the number of causes. Its critical value is Student's, of as many degrees as the sum
has like blocks: a sum over few reversals has the tails of few. The best is added to the model, and the others are tested beside
it, until none is rejected. Where parts left out are short, a model that fits the whole may be far off on them, and whatever
bends less looks like what it lacks: so a cause must also explain more than chance of what the fit to all recordings leaves.

Noise of the motion is in the columns too, and what it does there is explained by a clock, a rotor or a gain though none is
missing. So the sum is taken again with as much noise added once more, and what that changes widens its deviation.

What is rejected so is not yet wrong by much: a cause has moved an estimate by the influence of the torque that it explains.
Where that is more than `APART` of its deviation, of any cause that explains nearly as much as the best, the deviation is
withheld. An interval of 95 % holds the truth in 92 % of cases where the mean is off by half a deviation.

No column has the shape of friction that the filter smears at reversals; a delay and friction with memory look like it in part,
and show little of what it moves. Where a joint's friction is another than the law, no friction has a deviation: it is the law
of the other joints, too, and what shows at one may hide at another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, norm
from scipy.stats import t as student

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.identify.causes.competition import Grams, pieces
from diffpbd.runtime.identify.causes.evidence import Evidence
from diffpbd.runtime.identify.result.covariance import Influence

__all__ = ["REJECTED", "Verdict", "judged", "statistics"]

LEVEL: Final = 0.01
"""[1] How often a right model is rejected, over all causes together."""
APART: Final = 0.5
"""[1] Move of an estimate, in its deviations, from which its deviation is withheld."""
ROUNDS: Final = 8
"""[1] Causes at most, each beside those before."""
RIVAL: Final = 0.5
"""[1] What a cause explains, as part of what the best does, from which it may be the right one."""
FEWEST: Final = 3.0
"""[1] Degrees of freedom at least: Student's value of fewer would be beyond everything."""
TOLD: Final = 3
"""[1] Of these a sentence names."""
IntArray: TypeAlias = npt.NDArray[np.intp]

REJECTED: Final = "the model is rejected"


@dataclass(frozen=True)
class Verdict:
    """By name of a parameter why its deviation is withheld, and sentences on the causes that reject the model."""

    withheld: Mapping[str, str]
    notes: tuple[str, ...]


def judged(
    evidence: Evidence, noisier: Sequence[Evidence], weight: FloatArray, moves: FloatArray, deviations: Mapping[str, float]
) -> Verdict:  # fmt: skip
    """By the recordings, and by the same with noise added to the motion: of estimates that move by `moves` (φ, k) with the
    gradient of half the squares weighted by `weight` (n,)², in the order of `deviations`."""
    fitted = evidence.grams.fitted
    tried = [own for own in evidence.candidates if set(own.columns) - set(fitted.tolist())]
    if not tried or not deviations:
        return Verdict({}, ())
    level = LEVEL / len(tried)
    least = float(norm.ppf(1.0 - level))
    names, stds = list(deviations), np.array(list(deviations.values()))
    size = np.where(stds > 0.0, stds, np.inf)
    columns, chosen, withheld = fitted, list[str](), dict[str, str]()

    def called(own: Candidate, t: float) -> str:
        return _called(own, t, evidence.possible(own, evidence.grams.figure(own, columns)))

    doubted = dict[str, str]()
    for _ in range(ROUNDS):
        found = statistics(evidence, noisier, columns, tried, level)
        stands = found > least
        tried, found = [own for own, stand in zip(tried, stands, strict=True) if stand], found[stands]
        if tried:
            stands = _within(evidence, columns, tried, level)
            tried, found = [own for own, stand in zip(tried, stands, strict=True) if stand], found[stands]
        if not tried:
            break
        wider = [np.union1d(columns, own.columns) for own in tried]
        gains = _left(evidence, columns) - np.array([_left(evidence, own) for own in wider])
        best = int(gains.argmax())  # an offset looks like asymmetry
        for own, t, gain, more in zip(tried, found.tolist(), gains.tolist(), wider, strict=True):
            apart = np.abs(_shift(evidence, more, weight, moves)) / size
            for k in np.flatnonzero(apart > APART).tolist() if gain >= RIVAL * gains.max() else ():
                withheld.setdefault(names[k], f"{called(own, t)} would move it by {apart[k]:.2g} deviations")
            if gain >= RIVAL * gains.max() and own.cause.of_friction and not tried[best].cause.like_asymmetry:
                doubted.setdefault(own.joint, f"its friction may have another law: {called(own, t)}")
        chosen.append(called(tried[best], float(found[best])))
        columns = wider[best]
        tried = [own for own in tried if set(own.columns) - set(columns.tolist())]
    for name in names if doubted else ():
        if name.startswith("friction."):
            elsewhere = f"the law of friction fails at {listing(list(doubted))}, and may fail here"
            withheld.setdefault(name, doubted.get(name.rpartition(".")[2], elsewhere))
    return Verdict(withheld, _said(chosen, withheld, least))


def _left(evidence: Evidence, columns: IntArray) -> float:
    """Weighted squares that are left on what is left out in turn."""
    grams = evidence.grams
    return float((grams.left(columns) * grams.counts).sum(axis=0) @ grams.weight)


def statistics(
    evidence: Evidence, noisier: Sequence[Evidence], fitted: IntArray, tried: Sequence[Candidate], level: float
) -> FloatArray:
    """Of each cause (k,) the sum of e·Δ on what is left out, over its deviation, beside the columns that are fitted; in units
    of a normal variable that is beyond as seldom at `level`."""
    explained, series = _explained(evidence, fitted, tried)
    influence = _influence(evidence, series)
    deviation, windows = influence.deviations()
    if noisier:
        moved = np.mean([_explained(own, fitted, tried)[0] for own in noisier], axis=0) - explained
        deviation = np.hypot(deviation, moved)
    degrees = _blocks(influence.by_time, windows)
    tails = student.isf(level, degrees) / norm.isf(level)
    return np.asarray(explained / np.where(deviation > 0.0, deviation * tails, np.inf), dtype=np.float64)


def _within(evidence: Evidence, fitted: IntArray, tried: Sequence[Candidate], level: float) -> npt.NDArray[np.bool_]:
    """Whether each cause (k,) explains more than chance of what the fit to all recordings leaves: of so many columns more, that
    is the root of a χ² variable."""
    explained, series = _explained(evidence, fitted, tried, whole=True)
    deviation, _ = _influence(evidence, series).deviations()
    more = [len(np.setdiff1d(own.columns, fitted)) for own in tried]
    return np.asarray(explained > np.sqrt(chi2.isf(level, more)) * deviation)


def _influence(evidence: Evidence, series: Sequence[FloatArray]) -> Influence:
    """Of every table's series (samples, n, k), less their mean."""
    q = [t.samples.trimmed(t.samples.q) for t in evidence.tables]
    low, high = (edge([edge(own, axis=0) for own in q], axis=0) for edge in (np.min, np.max))
    influence, mean = Influence(low, high), np.concatenate(series).mean(axis=0)
    for own, values in zip(series, q, strict=True):
        influence.add(values, list(np.moveaxis(own - mean, 1, 0)))
    return influence


def _blocks(series: Sequence[FloatArray], windows: IntArray) -> FloatArray:
    """Count (k,) of normal variables whose sum of squares is as uncertain as that of a window's blocks b: 3 (Σb²)² / Σb⁴."""
    found = np.ones(len(windows))
    for k, w in enumerate(windows.tolist()):
        b = np.concatenate([np.add.reduceat(s[:, k], np.arange(0, len(s), w)) for s in series]) ** 2
        fourth = float(b @ b)
        found[k] = max(3.0 * float(b.sum()) ** 2 / fourth, FEWEST) if fourth > 0.0 else np.inf
    return found


def _explained(
    evidence: Evidence, fitted: IntArray, tried: Sequence[Candidate], whole: bool = False
) -> tuple[FloatArray, list[FloatArray]]:
    """The sum of e·Δ of each cause (k,), and of every table (e − Δ)·Δ (samples, n, k); of the `whole` with coefficients of all
    recordings."""
    grams = evidence.grams
    explained = np.zeros(len(tried))
    series = [np.zeros((len(t.residual), t.residual.shape[1], len(tried))) for t in evidence.tables]
    more: dict[int, tuple[FloatArray, FloatArray]] = {}
    for fold, at, part in pieces(evidence.tables):
        if fold not in more:
            others = grams.total if whole else grams.total - grams.squares[fold]
            more[fold] = _added(grams, others, fitted, tried)
        null, added = more[fold]
        table = evidence.tables[at]
        e = table.residual[part] - table.columns[part][..., fitted] @ null
        extra, scale = table.columns[part] @ added, (table.weights[part] * grams.weight)[..., None]
        explained += (scale * e[..., None] * extra).sum(axis=(0, 1))
        series[at][part] = scale * (e[..., None] - extra) * extra
    return explained, series


def _added(
    grams: Grams, others: FloatArray, fitted: IntArray, tried: Sequence[Candidate]
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the fitted columns by the squares of `others`, and by how much those of all (columns, k) change with a
    cause."""
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
    for own in evidence.candidates:
        if own.cause.of_reading and own.columns[0] in more:  # friction and offsets are read through it too
            j, figure = evidence.joints.index(own.joint), float(figures[np.searchsorted(more, own.columns[0])])
            read = grams.fitted[grams.fitted >= evidence.bodies]
            square = grams.total[j][: len(moves)][:, read] * weight[j] ** 2
            pull = pull + square @ evidence.phi[read] * figure / (1.0 + figure)
    return np.asarray(thin * moves.T @ pull, dtype=np.float64)


def _called(own: Candidate, t: float, can_be: bool) -> str:
    word = (own.cause.lacking or own.cause.word) + own.at()
    if not can_be:
        return f"something that looks like {word}, with an impossible figure (t = {t:.3g})"
    way = f", {own.parameter} in {arg.fit}" if own.parameter else ""
    return f"{word} (t = {t:.3g}{way})"


def _said(chosen: Sequence[str], withheld: Mapping[str, str], least: float) -> tuple[str, ...]:
    if not withheld:
        return ()
    more = f" and {len(chosen) - TOLD} more" if len(chosen) > TOLD else ""
    return (
        f"{REJECTED} in cross-validation (t above {least:.2g}): it lacks {listing(chosen[:TOLD])}"
        f"{more}, or an effect like it. {len(withheld)} parameters are printed without a standard deviation: the missing "
        f"effect shifts them by more than {APART:g} of it, or it is another law of their friction",
    )
