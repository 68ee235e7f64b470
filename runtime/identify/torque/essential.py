"""Essential parameters: the base parameters without which the residual rises by more than chance (Gautier and Khalil 1990;
the F-test after Janot, Vandanjon and Gautier 2014).

Backward elimination: the parameter with the largest relative deviation is dropped and the rest fitted again, as long as
neither the last one nor all that were dropped together matter. For independent residuals dropping k parameters moves the
estimates by d, and F = dᵀHd/(k s²). Residuals are alike in time and position, so s² is the long-run variance of the gradient
along d divided by dᵀHd (`covariance.py`); for one parameter F is then the square of its value over its deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import f as fisher

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.identify.columns.base import Combination
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.result.result import Essential, Estimate
from diffpbd.runtime.identify.torque.fitting import Fitted
from diffpbd.runtime.identify.torque.linear import Linear
from diffpbd.runtime.identify.torque.torque_statistics import deviations_of
from diffpbd.runtime.model.sensors import unit_of

__all__ = ["essential"]

LEVEL: Final = 0.05
"""[1] Significance level of single parameters and of all together."""


@dataclass(frozen=True)
class _Base:
    """Weighted condensed rows `X` (rows, p) and `y` of the base parameters, their `names` and `units`, what coefficients φ
    each moves (`effect`), and φ without any of them (`origin`)."""

    fitted: Fitted
    X: FloatArray
    y: FloatArray
    names: list[str]
    units: list[str]
    effect: FloatArray
    origin: FloatArray

    @staticmethod
    def of(fitted: Fitted, x: FloatArray) -> _Base:
        """At a solution x."""
        problem, unknowns = fitted.problem, fitted.unknowns
        c = Linear(problem, x, ())
        labels, units = [unknowns.labels[k] for k in c.plain], _units(fitted)
        found = c.combinations([units[label] for label in labels])
        if not found:
            raise InputError(
                f"{arg.essential}: a body is fitted in part, so there are no base parameters. Fit inertials whole."
            )
        own = [_first(b, len(labels)) for b in found]
        phi, values = unknowns.phi_at(x), c.coefficients(x, unknowns.phi_at(x))
        effect = c.effect[:, own] / c.scale[own]
        origin = phi - effect @ np.array([b.row @ values for b in found])
        rows = problem.core.rows
        y = problem.core.rights - rows @ origin[problem.core.columns]
        torques = {
            f"spring.rest.{label.rpartition('.')[2]}" for label in labels if label.startswith("spring.stiffness.")
        }
        names = [f"torque at zero of {b.name}" if b.name in torques else b.name for b in found]
        return _Base(fitted, rows @ effect[problem.core.columns], y, names, [b.unit for b in found], effect, origin)

    def fit(self, kept: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Values (p,), zero of what is not kept, and the inverse normal matrix of those that are."""
        X = self.X[:, list(kept)]
        size = np.linalg.norm(X, axis=0)
        values = np.zeros(len(self.names))
        values[list(kept)] = np.linalg.lstsq(X / size, self.y, rcond=None)[0] / size
        inverse = np.linalg.pinv(X / size)
        return values, np.asarray(inverse @ inverse.T / np.outer(size, size), dtype=np.float64)

    def phi(self, values: FloatArray) -> FloatArray:
        """Coefficients of torque terms."""
        return np.asarray(self.origin + self.effect @ values, dtype=np.float64)

    def spread(self, values: FloatArray, moves: FloatArray) -> FloatArray:
        """Long-run deviations (k,) at these values of what moves (p, k) with the gradient."""
        own = self.fitted
        return deviations_of(own.problem, self.phi(values), self.effect @ moves, own.designs)[0]


def _units(fitted: Fitted) -> dict[str, str]:
    alpha = fitted.question.robot.alpha
    units = dict(zip(alpha.names, alpha.units, strict=True))
    stiffness = {label.rpartition(".")[2] for label in fitted.unknowns.labels if label.startswith("spring.stiffness.")}
    units |= {f"spring.rest.{joint}": "N·m" for joint in stiffness}
    return {
        label: units[label] if label in units else unit_of(label) for label in fitted.unknowns.labels if label in units
    }


def _first(b: Combination, plain: int) -> int:
    """The coordinate that a combination is named by: what is lumped into it comes after, plain unknowns after bodies."""
    own = np.flatnonzero(b.row)
    return int(own[own >= plain][0] if own[-1] >= plain else own[0])


def essential(fitted: Fitted, x: FloatArray, held: Sequence[Design], say: Callable[[str], None]) -> Essential:
    """Of the recordings of a fit, and its errors on those that are `held`, or else on each recording left out."""
    base = _Base.of(fitted, x)
    say(f"Seeking the essential ones of {len(base.names)} parameters")
    every = list(range(len(base.names)))
    whole, inverse = base.fit(every)
    H, count = base.X.T @ base.X, sum(len(d.targets) for d in fitted.designs) * len(base.fitted.question.robot.joints)
    inflation = base.spread(whole, inverse) / np.sqrt(np.diag(inverse))
    kept, dropped, statistic, limit = every, list[int](), 0.0, 0.0
    while len(kept) > 1:
        values, inverse = base.fit(kept)
        relative = np.abs(values[kept]) / (inflation[kept] * np.sqrt(np.diag(inverse)))
        least = kept[int(relative.argmin())]
        if relative.min() ** 2 > fisher.isf(LEVEL, 1, count - len(every)):
            break
        trial = [k for k in kept if k != least]
        step = whole - base.fit(trial)[0]
        rise, k = float(step @ H @ step), len(dropped) + 1
        F = rise**2 / float(base.spread(whole, step[:, None])[0]) ** 2 / k
        allowed = float(fisher.isf(LEVEL, k, count - len(every)))
        if F > allowed:
            break
        kept, dropped, statistic, limit = trial, [*dropped, least], F, allowed
    values, inverse = base.fit(kept)
    moves = np.zeros((len(every), len(kept)))
    moves[kept] = inverse
    stds = base.spread(values, moves)
    errors, what = _errors(base, whole, kept, held)
    return Essential(
        tuple(Estimate(base.names[k], float(values[k]), float(s), base.units[k]) for k, s in zip(kept, stds, strict=True)),
        tuple(base.names[k] for k in dropped), statistic, limit, errors, what,
    )  # fmt: skip


def _errors(
    base: _Base, whole: FloatArray, kept: Sequence[int], held: Sequence[Design]
) -> tuple[dict[str, tuple[float, float]], str]:
    """RMSE by joint with all and with the kept parameters, and on what."""
    joints, designs = base.fitted.question.robot.joints, base.fitted.designs
    few = base.fit(kept)[0]
    if held:
        left, what = [[d.residual(base.phi(own)) for d in held] for own in (whole, few)], "validation"
    elif len(designs) > 1:
        left, what = [_left_out(base, own) for own in (range(len(whole)), kept)], "each recording left out"
    else:
        left, what = [[d.residual(base.phi(own)) for d in designs] for own in (whole, few)], "training"
    rms = [np.sqrt((np.vstack(parts) ** 2).mean(axis=0)).tolist() for parts in left]
    return {joint: (a, b) for joint, a, b in zip(joints, *rms, strict=True)}, what


def _left_out(base: _Base, kept: Sequence[int]) -> list[FloatArray]:
    """Residuals of each recording with the kept parameters fitted to all others."""
    effect, weight = base.effect[:, list(kept)], base.fitted.problem.weight
    squares, rights = [], []
    for d in base.fitted.designs:
        own, right = np.zeros((effect.shape[1],) * 2), np.zeros(effect.shape[1])
        origin = d.residual(base.origin)
        for j, (columns, matrix) in enumerate(zip(d.columns, d.matrices, strict=True)):
            A = weight[j] * (matrix @ effect[columns])
            scale = np.ones((len(A), 1)) if d.weights is None else d.weights[:, j : j + 1]
            own, right = own + (scale * A).T @ A, right + (scale * A).T @ (weight[j] * origin[:, j])
        squares.append(own)
        rights.append(right)
    found = []
    for k, d in enumerate(base.fitted.designs):
        H, g = sum(squares) - squares[k], sum(rights) - rights[k]
        size = np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
        values = np.linalg.lstsq(H / np.outer(size, size), g / size, rcond=None)[0] / size
        found.append(d.residual(base.origin + effect @ values))
    return found
