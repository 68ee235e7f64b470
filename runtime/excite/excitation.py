"""Exciting motions: minimises the condition number of the base regressor within the limits.

The stacked rigid-body regressor of an arm is rank deficient; the columns that do not depend on those before them, found once by
a QR over random states, are those of the base parameters (Gautier 1991). Over Fourier motions (Swevers et al. 1997) log κ of
the columns is minimised, or log det of their information maximised, by sequential quadratic programming (SLSQP, Kraft 1988)
with exact singular-value derivatives, via power means of the singular values with growing powers, because the extreme ones
come in groups; each limit's smooth minimum of slacks over the samples is one constraint. The result is checked
sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.live import Share
from diffpbd.runtime.excite.columns import IntArray, base_columns
from diffpbd.runtime.excite.envelope import Envelope, Motion
from diffpbd.runtime.excite.fourier import Fourier
from diffpbd.runtime.excite.wishes import CRITERIA, Wishes, accelerations
from diffpbd.runtime.model.robot import Robot

__all__ = ["Excitation", "base_columns", "excite"]

SEARCHED_A_HARMONIC = 12
"""[1] Samples per period in the search: peaks between them are at most 3.5 % higher, and the result is checked densely."""
STARTS, SCOUT = 5, 45
"""[1] Short searches from different motions, and their iterations: κ has several optima and is then within a fifth of one."""
SEARCH = 60
"""[1] Most iterations of each search from the best of them, one per power; later ones change κ by a percent."""
POWERS = (5.0, 10.0, 25.0, 60.0)
"""[1] κ is approximated by the product of the power means of the singular values and of their inverses, with these powers
in turn: at an optimum many singular values coincide with an extreme one, and κ itself is not differentiable."""
TELL = 10
"""[1] Iterations between two lines of progress."""
STEP = 1e-5
"""[rad, rad/s, … or m] Step of the central differences of the regressor: its error is that squared."""
SHRINK = 0.99
"""[1] Factor on the amplitudes as long as the densely sampled motion violates a limit."""
SHRINKS = 200
"""[1] Most such reductions: an eighth of the amplitude is left, no better than the start."""
FIRST = 0.5
"""[1] Part of the free range for the first motion's start."""


@dataclass(frozen=True)
class Excitation:
    """The sampled motion; condition numbers of the base regressor before and after the search; `whole`, that of all
    columns over the directions that they determine, independent of the choice of base columns."""

    motion: Motion
    before: float
    after: float
    whole: float
    base_parameters: int
    envelope: Envelope
    notes: tuple[str, ...]


def excite(
    robot: Robot, wishes: Wishes, alpha: FloatArray | None = None, progress: Callable[[str], None] | None = None
) -> Excitation:
    """The best motion found (deterministic). InputError if none keeps the limits."""
    say = progress or (lambda _line: None)
    missing = [f for f in ("regressor", "tip_pose", "jac_tip_pose", "jac_inverse_dynamics") if f not in robot.functions]
    if missing:
        why = robot.manifest.why_not(missing[0]) or "Generate it again."
        raise InputError(f"{robot.name} has no {', '.join(missing)}, which excitation needs. {why}")
    acceleration = accelerations(robot, wishes.acceleration)
    envelope = Envelope.of(robot, wishes.margin, wishes.least_height, alpha, acceleration, wishes.table)
    envelope = replace(envelope, clearance=wishes.clearance)
    pose = envelope.best_pose()
    columns = base_columns(robot, envelope)
    series = Fourier(wishes.duration, wishes.harmonics)
    count = SEARCHED_A_HARMONIC * wishes.harmonics
    matrices = series.matrices(np.arange(count) * wishes.duration / count)
    search = _Search(envelope.tightened(), columns, matrices, wishes.criterion)
    time = np.arange(round(wishes.duration * wishes.rate) + 1) / wishes.rate
    first = [_first(search, pose, series, k) for k in range(STARTS)]
    scouts = [
        search.minimise(x, SCOUT, partial(_tell, say, search, f"start {k + 1} of {STARTS}"))
        for k, x in enumerate(first)
    ]
    followed, best = min(scouts, key=search.measure), None
    for power in POWERS[1:]:
        search.power = power
        tell = partial(_tell, say, search, f"power {power:g}")
        followed = search.minimise(followed, SEARCH, tell)
        inside = _inside(series, followed, pose, envelope, time)
        if inside is None:
            continue
        say(f"within all limits, condition number {search.condition(inside):.4g}")
        if best is None or search.measure(inside) < search.measure(best):
            best = inside
        if search.logdet:
            break
    if best is None:
        raise SolverError(
            f"Excitation: no search ended within the limits; nothing was written. Widen {arg.margin} or {arg.duration}."
        )
    q, dq, ddq = series.motion(best, time)
    motion = envelope.evaluate(time, q, dq, ddq)
    return Excitation(
        motion,
        search.condition(first[0]),
        search.condition(best),
        search.whole(best),
        len(columns),
        envelope,
        (*envelope.notes, *(() if search.logdet else envelope.idle(motion))),
    )


def _tell(say: Callable[[str], None], search: _Search, which: str, what: str) -> None:
    say(Share(f"{which}: {what}", search.done / search.most))


def _first(search: _Search, pose: FloatArray, series: Fourier, seed: int) -> FloatArray:
    """A random motion about the pose, as large as the limits allow."""
    shape = np.random.default_rng(seed).normal(size=(len(pose), series.size))
    shape[:, 0] = 0.0
    x = FIRST * shape * (search.envelope.upper - search.envelope.lower)[:, None]
    for _ in range(SHRINKS):
        moved = x.copy()
        centre = (search.matrices[0] @ x.T).mean(axis=0)
        moved[:, 0] = pose - centre
        if search.envelope.slack(search.motion(moved)) > 0.0:
            return np.asarray(moved, dtype=np.float64)
        x = x * np.sqrt(FIRST)
    return np.hstack([pose[:, None], np.zeros_like(shape[:, 1:])])


def _inside(
    series: Fourier, x: FloatArray, pose: FloatArray, envelope: Envelope, time: FloatArray
) -> FloatArray | None:
    """The motion, its amplitude reduced until dense samples keep the limits."""
    still = np.hstack([pose[:, None], np.zeros_like(x[:, 1:])])
    for k in range(SHRINKS):
        tried = still + SHRINK**k * (x - still)
        held = envelope.slack(envelope.evaluate(time, *series.motion(tried, time))) >= 0.0
        if held and envelope.keeps_apart(time, partial(series.state, tried), series.most_acceleration(tried)):
            return tried
    return None


class _Search:
    """Objective, limits and their gradients over the coordinates of the Fourier motions."""

    def __init__(
        self,
        envelope: Envelope,
        columns: IntArray,
        matrices: tuple[FloatArray, FloatArray, FloatArray],
        criterion: str = CRITERIA[0],
    ) -> None:
        self.robot, self.envelope, self.columns, self.matrices = envelope.robot, envelope, columns, matrices
        self.logdet, self.power = criterion == CRITERIA[1], POWERS[0]
        self.done, self.most = 0, STARTS * SCOUT + (1 if self.logdet else len(POWERS) - 1) * SEARCH

    def motion(self, x: FloatArray) -> Motion:
        """The coarsely sampled motion."""
        q, dq, ddq = (m @ x.T for m in self.matrices)
        return self.envelope.evaluate(np.zeros(len(q)), q, dq, ddq)

    def regressor(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Base columns (samples, n, base parameters)."""
        return np.asarray(self.robot.regressor(q, dq, ddq, self.envelope.alpha)[:, :, self.columns], dtype=np.float64)

    def _decomposed(self, state: list[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Singular values and vectors of the base columns; no value is quite zero."""
        W = self.regressor(*state)
        U, singular, right = np.linalg.svd(W.reshape(-1, len(self.columns)), full_matrices=False)
        return U, np.maximum(singular, np.finfo(float).tiny), right

    def condition(self, x: FloatArray) -> float:
        """κ of the base regressor."""
        _, singular, _ = self._decomposed([m @ x.T for m in self.matrices])
        return float(singular[0] / singular[-1])

    def whole(self, x: FloatArray) -> float:
        """κ of all columns, in SI units, over as many singular values as there are base parameters."""
        q, dq, ddq = (m @ x.T for m in self.matrices)
        Y = self.robot.regressor(q, dq, ddq, self.envelope.alpha)
        singular = np.linalg.svd(Y.reshape(-1, Y.shape[-1]), compute_uv=False)
        return float(singular[0] / singular[len(self.columns) - 1])

    def measure(self, x: FloatArray) -> float:
        """The criterion: log κ, or minus the mean logarithm of the singular values."""
        singular = self._decomposed([m @ x.T for m in self.matrices])[1]
        return float(-np.log(singular).mean() if self.logdet else np.log(singular[0] / singular[-1]))

    def _smooth(self, singular: FloatArray) -> tuple[float, FloatArray]:
        """The smooth objective and its derivatives by singular values: the criterion, or log κ by power means (an upper
        bound)."""
        if self.logdet:
            return float(-np.log(singular).mean()), -1.0 / (singular * len(singular))
        large, small = (singular / singular[0]) ** self.power, (singular[-1] / singular) ** self.power
        value = np.log(singular[0] / singular[-1]) + np.log(large.sum() * small.sum()) / self.power
        return float(value), (large / large.sum() - small / small.sum()) / singular

    def value(self, flat: FloatArray, scale: FloatArray) -> tuple[float, FloatArray]:
        """The objective and its gradient by the scaled coordinates."""
        x = flat.reshape(scale.shape) * scale
        state = [m @ x.T for m in self.matrices]
        U, singular, right = self._decomposed(state)
        value, slopes = self._smooth(singular)
        by_state = self._by_state(state, ((U * slopes) @ right).reshape(len(state[0]), self.robot.n, -1))
        gradient = sum(own.T @ m for m, own in zip(self.matrices, by_state, strict=True))
        return value, np.asarray(gradient * scale).ravel()

    def _by_state(self, state: list[FloatArray], G: FloatArray) -> list[FloatArray]:
        """Derivatives (samples, n) of Σ G∘W by q, dq and ddq."""
        found = []
        for k in range(3):
            gradient = np.zeros_like(state[k])
            for j in range(self.robot.n):
                sides = []
                for sign in (1.0, -1.0):
                    moved = [values.copy() if i == k else values for i, values in enumerate(state)]
                    moved[k][:, j] += sign * STEP
                    sides.append(np.einsum("sij,sij->s", G, self.regressor(*moved)))
                gradient[:, j] = (sides[0] - sides[1]) / (2.0 * STEP)
            found.append(gradient)
        return found

    def minimise(self, first: FloatArray, iterations: int, say: Callable[[str], None]) -> FloatArray:
        """The coordinates after a search that begins within the limits."""
        from scipy.optimize import minimize

        scale = np.tile(0.5 * (self.envelope.upper - self.envelope.lower)[:, None], (1, first.shape[1]))

        def motion(flat: FloatArray) -> Motion:
            return self.motion(flat.reshape(scale.shape) * scale)

        def slopes(flat: FloatArray) -> FloatArray:
            found = self.envelope.least_slopes(motion(flat), self.matrices) * scale
            return np.asarray(found.reshape(len(found), -1), dtype=np.float64)

        def tell(flat: FloatArray) -> None:
            self.done += 1
            if self.done % TELL == 0:
                say(f"iteration {self.done}, condition {self.condition(flat.reshape(scale.shape) * scale):.4g}")

        limits = {"type": "ineq", "fun": lambda flat: self.envelope.least(motion(flat)), "jac": slopes}
        how: dict[str, Any] = {
            "method": "SLSQP",
            "constraints": limits,
            "options": {"maxiter": iterations, "ftol": 1e-5},
        }
        how |= {"args": (scale,), "jac": True, "callback": tell}
        found = minimize(self.value, (first / scale).ravel(), **how)
        return np.asarray(found.x.reshape(scale.shape) * scale, dtype=np.float64)
