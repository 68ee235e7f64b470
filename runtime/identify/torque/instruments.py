"""Instrumental variables: estimates that noise of the motion does not bias, and a test whether it does.

Noise in rates and accelerations is in the columns of least squares, and biases what they multiply. An instrument is a column
that goes with the true one and not with that noise: here the same column at a motion that positions alone give, below a
frequency (Janot, Vandanjon and Gautier 2014 simulate the arm for it; under a controller that follows exactly that is this
motion). With columns A, instruments Z, residual r and weights W the estimate moves by (ZᵀWA)⁻¹ZᵀWr.

Where least squares is right both agree but for chance (Durbin, Wu and Hausman); the deviation of the difference is that of both
estimates' influences together, so it needs no independent residuals (`covariance.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.stats import norm

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import Argument, InputError, SolverError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.result.result import Solved
from diffpbd.runtime.identify.torque.fitting import Fitted
from diffpbd.runtime.identify.torque.torque_statistics import Freedoms, freedoms
from diffpbd.runtime.logs.processing import Samples

__all__ = ["applied", "by_positions", "refused"]

LEVEL: Final = 0.01
"""[1] How often a difference is told where there is none, over all parameters together."""
WEAK: Final = 1e6
"""[1] Condition of ZᵀWA, for columns of length one, from which instruments say nothing of some direction."""
TOLD: Final = 6
"""[1] Parameters that a sentence names."""


def refused(word: Argument, names: Sequence[str], outer: Sequence[str], huber: bool) -> None:
    """InputError beside the option `word` where the torque is not linear in what is fitted."""
    curved = [name for name in names if name in outer]
    if curved:
        raise InputError(
            f"{word}: the torque is not linear in {listing(curved)}; fit without, or hold them by {arg.fixed}."
        )
    if huber:
        raise InputError(f"{word} goes with {arg.loss('squares')}, found huber.")


def by_positions(s: Samples, cutoff: float) -> Samples:
    """The motion of a recording by its positions alone, below `cutoff` [Hz], without lag."""
    if not 0.0 < cutoff < s.rate / 4.0:
        raise InputError(
            f"{arg.instruments}: expected more than 0 and less than {s.rate / 4.0:g} Hz, found {cutoff:g}."
        )
    whole = replace(s, processing=replace(s.processing, cutoff=cutoff, trim=0.0), ends=(0, 0), turn=None)
    q = whole.smooth(s.q)
    dq = np.gradient(q, 1.0 / s.rate, axis=0)
    return replace(s, q=q, dq=dq, ddq=np.gradient(dq, 1.0 / s.rate, axis=0), read=None)


@dataclass(frozen=True)
class _Both:
    """Changes (k,) of what is told from the fit to least squares without prior and to instruments, deviations of the latter and
    of the difference, and the change (directions,) by instruments."""

    squares: FloatArray
    instruments: FloatArray
    deviations: FloatArray
    apart: FloatArray
    change: FloatArray


def applied(
    fitted: Fitted, x: FloatArray, solved: Solved, cutoff: float, say: Callable[[str], None]
) -> tuple[Solved, FloatArray]:
    """The result by instruments, and its unknowns. Whole bodies stay physical, so there base parameters alone are."""
    say(f"Estimating by instruments below {cutoff:g} Hz")
    problem, unknowns = fitted.problem, fitted.problem.unknowns
    free = freedoms(problem, x, problem.bounds(x))
    instruments = [
        _inside(z, 1.0 / cutoff) for z in fitted.held([by_positions(d.samples, cutoff) for d in fitted.designs])
    ]
    names = [name for name in unknowns.names if name in solved.deviations and not unknowns.bodies]
    base = list(solved.base)
    rows = np.array(
        [*(free.entries[unknowns.names.index(name)] for name in names), *free.combined[: len(base)]]
    ).reshape(-1, free.effect.shape[1])
    both = _compared(free, rows, unknowns.phi_at(x), fitted.designs, instruments, problem.weight)
    known = dict(zip([*names, *(e.name for e in base)], range(len(rows)), strict=True))
    values, deviations = dict(solved.values), dict(solved.deviations)
    if not unknowns.bodies:
        x = x.copy()
        x[free.plain] += free.unknowns @ both.change
        x = np.clip(x, unknowns.lower, unknowns.upper)
        values = unknowns.values_at(x)
        deviations |= {name: float(both.deviations[known[name]]) for name in names}
    told = tuple(
        replace(
            e,
            value=e.value + float(both.instruments[known[e.name]]),
            std=e.std and float(both.deviations[known[e.name]]),
        )
        for e in base
    )
    notes = (*solved.notes, _said(list(known), both, bool(unknowns.bodies)))
    return replace(solved, values=values, deviations=deviations, base=told, notes=notes), x


def _inside(z: Design, seconds: float) -> Design:
    """Without instruments where the filter sees an end of the recording: errors there are in both filters' columns."""
    time = z.samples.trimmed(z.samples.time)
    inner = (time >= z.samples.time[0] + seconds) & (time <= z.samples.time[-1] - seconds)
    return replace(z, matrices=tuple(matrix * inner[:, None] for matrix in z.matrices))


def _compared(
    free: Freedoms, rows: FloatArray, phi: FloatArray, designs: Sequence[Design], instruments: Sequence[Design],
    weight: FloatArray,
) -> _Both:  # fmt: skip
    count = free.effect.shape[1]
    H, M, g, h = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count), np.zeros(count)
    for d, z in zip(designs, instruments, strict=True):
        r = d.residual(phi)
        for j, w in enumerate((weight**2).tolist()):
            A, Z = (own.matrices[j] @ free.effect[own.columns[j]] for own in (d, z))
            scale = w if d.weights is None else w * d.weights[:, j : j + 1]
            H, M = H + (scale * A).T @ A, M + (scale * Z).T @ A
            g, h = g + (scale * A).T @ r[:, j], h + (scale * Z).T @ r[:, j]
    size = np.sqrt(np.diag(H))
    if np.linalg.cond(M / np.outer(size, size)) > WEAK:
        raise SolverError(
            f"{arg.instruments}: the motion below this frequency does not tell all that is fitted apart; nothing was written. "
            "Give a higher frequency, or fit less."
        )
    plain, change = np.linalg.solve(H, g), np.linalg.solve(M, h)
    own, other = np.linalg.solve(M.T, rows.T), np.linalg.solve(H, rows.T)
    low, high = (edge([edge(d.samples.q, axis=0) for d in designs], axis=0) for edge in (np.min, np.max))
    influence, series = Influence(low, high), []
    for d, z in zip(designs, instruments, strict=True):
        r, blocks = d.residual(phi), []
        for j, w in enumerate((weight**2).tolist()):
            A, Z = (part.matrices[j] @ free.effect[part.columns[j]] for part in (d, z))
            scale = np.full(len(r), w) if d.weights is None else w * d.weights[:, j]
            left = (scale * (r[:, j] - A @ change))[:, None]
            blocks.append(np.hstack([left * (Z @ own), left * (Z @ own - A @ other)]))
        series.append(np.array(blocks))
    mean = np.concatenate(series, axis=1).mean(axis=1, keepdims=True)  # that of A r is the bias itself
    for d, parts in zip(designs, series, strict=True):
        influence.add(d.samples.trimmed(d.samples.q), list(parts - mean))
    found = influence.deviations()[0]
    own_part, difference = found[: len(rows)], found[len(rows) :]
    return _Both(rows @ plain, rows @ change, own_part, difference, np.asarray(change, dtype=np.float64))


def _said(names: Sequence[str], both: _Both, bodies: bool) -> str:
    t = (both.instruments - both.squares) / np.where(both.apart > 0.0, both.apart, np.inf)
    least = float(norm.isf(LEVEL / 2.0 / max(len(names), 1)))
    apart = sorted(np.flatnonzero(np.abs(t) > least).tolist(), key=lambda k: -abs(t[k]))
    what = "base parameters are by instruments" if bodies else "estimates are by instruments"
    if not apart:
        largest = float(np.abs(t).max(initial=0.0))
        return f"{what}; least squares agrees within chance (Durbin, Wu, Hausman: |t| up to {largest:.2g}, {least:.2g} allowed)"
    more = f" and {len(apart) - TOLD} more" if len(apart) > TOLD else ""
    return (
        f"{what}; noise of the motion biases least squares (Durbin, Wu, Hausman: |t| above {least:.2g}) in "
        f"{listing([f'{names[k]} (t = {t[k]:.2g})' for k in apart[:TOLD]])}{more}"
    )
