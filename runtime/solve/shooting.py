"""Identification by multiple shooting: windows of `joint_step`, each from an initial state of its own.

Unknown are the entries of alpha and the state at the start of every window. The residuals are those of positions and rates at
every sample; their Jacobian is exact, carried along with `jac_joint_step` and `jac_alpha_joint_step`. Windows are not tied to
each other but by the recording: where one ends and the next begins both follow the same sample, so that errors of torque and
model do not add up over a long recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt

from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.least_squares import Condensation, Fit, minimise
from diffpbd.runtime.solve.trajectory import (
    POSITION,
    RATE,
    Found,
    Motion,
    Parameters,
    covariance_of,
    undetermined_directions,
)

__all__ = ["SHARES", "WINDOW", "Windows", "over_windows", "settled", "shoot"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

WINDOW = 0.5
"""[s] Length of a window: long enough for parameters to show, short enough for an arm without control not to run away."""
SHARES = (1 / 16, 1 / 4, 1.0)
"""[1] Windows are this part of the length in turn: over the first, a few steps, states depend nearly linearly on parameters
however wrong these are; each solve begins where the one before ended."""
BATCH = 4000
"""[1] Steps whose Jacobians are held at a time: about 40 MB with seven joints and a hundred entries of alpha."""
FINELY = {"tol": 1e-9, "acceptable_tol": 1e-6, "acceptable_iter": 3}
"""[1] Optimality, for an objective of one at the start: where residuals do not vanish, the rounding of their sum ends the
search at the second, far below what standard deviations are."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 2}
"""[1] The same for solves whose result is a start."""
NOTHING = 1e-2
"""[1] Mean square, in deviations, below which the objective is not magnified any more: rounding of the states would be too."""
STATE_SCALE = (POSITION, RATE)


@dataclass(frozen=True)
class _Group:
    """Windows of equal length and step: recorded q, dq (windows, steps + 1, n) and readings (windows, steps, n); `first`
    counts the windows before them."""

    h: float
    q: FloatArray
    dq: FloatArray
    tau: FloatArray
    first: int


class Windows:
    """All recordings cut into windows, their residuals and sensitivities."""

    def __init__(self, robot: Robot, motions: Sequence[Motion], parameters: Parameters, window: float = WINDOW) -> None:
        self.robot, self.parameters = robot, parameters
        self.groups = _groups(motions, window)
        self.count = sum(len(group.q) for group in self.groups)
        self.residuals = sum(group.q.size + group.dq.size for group in self.groups)
        self.states = np.concatenate([np.hstack([g.q[:, 0], g.dq[:, 0]]) for g in self.groups])

    def condense(self, theta: FloatArray, states: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]:
        """At parameters and initial states (windows, 2 n), for the mean square of all weighted residuals: half of it, its
        gradient by parameters and by states, and Jᵀ J (windows, m + 2 n, m + 2 n) of every window."""
        m, n = len(theta), self.robot.n
        value, by_theta, by_states = 0.0, np.zeros(m), np.zeros_like(states)
        blocks = np.zeros((self.count, m + 2 * n, m + 2 * n))
        for group in self.groups:
            batch = max(1, BATCH // group.tau.shape[1])
            for a in range(0, len(group.q), batch):
                part = slice(a, min(a + batch, len(group.q)))
                at = slice(group.first + part.start, group.first + part.stop)
                half, gradient, block = self._batch(group, part, theta, states[at])
                value += half
                by_theta += gradient[:, :m].sum(axis=0)
                by_states[at], blocks[at] = gradient[:, m:], block
        mean = 1.0 / self.residuals
        return mean * value, mean * by_theta, mean * by_states, mean * blocks, mean * blocks.sum(axis=0)

    def half_mean_square(self, theta: FloatArray, states: FloatArray) -> float:
        """The value of `condense` alone."""
        p, n, total = self.parameters, self.robot.n, 0.0
        for group in self.groups:
            at = states[group.first : group.first + len(group.q)]
            P, PD = self.robot.rollout(at[:, :n], at[:, n:], p.torque(group.tau, theta), group.h, p.alpha(theta))
            total += float((((P - group.q) / POSITION) ** 2).sum() + (((PD - group.dq) / RATE) ** 2).sum())
        return total / (2.0 * self.residuals)

    def _batch(self, group: _Group, part: slice, theta: FloatArray, states: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        p, n, m = self.parameters, self.robot.n, len(theta)
        alpha, h, steps = p.alpha(theta), group.h, group.tau.shape[1]
        U = p.torque(group.tau[part], theta)
        P, PD = self.robot.rollout(states[:, :n], states[:, n:], U, h, alpha)
        flat = (P[:, :-1].reshape(-1, n), PD[:, :-1].reshape(-1, n), U.reshape(-1, n))
        J = self.robot.jac_joint_step(*flat, h, alpha)
        J_alpha = self.robot.jac_alpha_joint_step(*flat, h, alpha)
        by_u = np.concatenate([J.dp_next_du, J.dpd_next_du], axis=1)
        by_state = np.concatenate(
            [np.concatenate([J.dp_next_dp, J.dp_next_dpd], axis=2), np.concatenate([J.dpd_next_dp, J.dpd_next_dpd], axis=2)],
            axis=1,
        ).reshape(len(U), steps, 2 * n, 2 * n)
        by_theta = np.concatenate([J_alpha.dp_next_dalpha, J_alpha.dpd_next_dalpha], axis=1)[:, :, p.positions]
        for k in np.flatnonzero(p.offsets >= 0).tolist():
            by_theta[:, :, k] -= by_u[:, :, p.offsets[k]]
        by_theta = by_theta.reshape(len(U), steps, 2 * n, m)
        weight = np.repeat([1.0 / POSITION, 1.0 / RATE], n)
        off = np.concatenate([P - group.q[part], PD - group.dq[part]], axis=2) * weight
        S = np.zeros((len(U), 2 * n, m + 2 * n))
        S[:, :, m:] = np.eye(2 * n)
        gradient, block = np.zeros((len(U), m + 2 * n)), np.zeros((len(U), m + 2 * n, m + 2 * n))
        for k in range(steps + 1):
            if k:
                S = by_state[:, k - 1] @ S
                S[:, :, :m] += by_theta[:, k - 1]
            weighted = S * weight[:, None]
            gradient += np.einsum("wi,wij->wj", off[:, k], weighted)
            block += weighted.swapaxes(1, 2) @ weighted
        return float((off**2).sum()) / 2, gradient, block

    def information(self, blocks: FloatArray) -> FloatArray:
        """Information (m, m) of the parameters alone, the initial states eliminated."""
        m = len(self.parameters.names)
        own, cross, states = blocks[:, :m, :m], blocks[:, m:, :m], blocks[:, m:, m:]
        return np.asarray((own - cross.swapaxes(1, 2) @ np.linalg.solve(states, cross)).sum(axis=0), dtype=np.float64)


def _groups(motions: Sequence[Motion], window: float) -> list[_Group]:
    pieces: dict[tuple[float, int], list[tuple[FloatArray, FloatArray, FloatArray]]] = {}
    for motion in motions:
        length = max(1, round(window / motion.h))
        count = max(1, -(-motion.steps // length))
        edges = np.linspace(0, motion.steps, count + 1).round().astype(int)
        for a, b in zip(edges, edges[1:], strict=False):
            cut = (motion.q[a : b + 1], motion.dq[a : b + 1], motion.tau[a:b])
            pieces.setdefault((motion.h, int(b - a)), []).append(cut)
    groups, first = [], 0
    for (h, _), cuts in pieces.items():
        q, dq, tau = (np.stack([cut[k] for cut in cuts]) for k in range(3))
        groups.append(_Group(h, q, dq, tau, first))
        first += len(cuts)
    return groups


def shoot(
    robot: Robot,
    motions: Sequence[Motion],
    parameters: Parameters,
    say: Callable[[str], None],
    window: float = WINDOW,
) -> Found:
    """Parameters and initial states of least mean square residual."""
    theta, iterations = parameters.start, 0
    for share in SHARES:
        windows = Windows(robot, motions, parameters, share * window)
        say(f"Shooting {windows.count} windows of up to {share * window:.3g} s, {len(theta)} parameters")
        fit, theta, states = over_windows(windows, theta, FINELY if share == SHARES[-1] else COARSELY)
        iterations += fit.solution.iterations
        if share != SHARES[-1]:
            theta = settled(windows, theta, states)
    value, *_, blocks, _ = windows.condense(theta, states)
    information = windows.information(blocks) * windows.residuals
    covariance, lost, condition = covariance_of(information)
    return Found(theta, covariance, 2.0 * value, lost, condition, fit.solution.status, iterations)


def over_windows(
    windows: Windows, start: FloatArray, options: Mapping[str, float] = COARSELY
) -> tuple[Fit, FloatArray, FloatArray]:
    """Least squares over parameters and initial states, from `start` and the recorded states."""
    parameters = windows.parameters
    m, n, count = len(start), windows.robot.n, windows.count
    first, *_, blocks, _ = windows.condense(start, windows.states)
    unit = max(first, NOTHING)
    scale, undetermined, _ = undetermined_directions(windows.information(blocks))
    state_scale = np.repeat(STATE_SCALE, n)
    origin = start / scale
    pattern, rows, columns = _arrow(m, 2 * n, count)
    keep = undetermined @ undetermined.T

    def split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x[:m] * scale, x[m:].reshape(count, 2 * n) * state_scale

    def condense(x: FloatArray) -> Condensation:
        value, by_theta, by_states, blocks, total = windows.condense(*split(x))
        away = keep @ (x[:m] - origin)
        gradient = np.concatenate([by_theta * scale + away, (by_states * state_scale).ravel()])
        factor = np.concatenate([scale, state_scale])
        scaled = blocks * np.outer(factor, factor)
        theta = total[:m, :m] * np.outer(scale, scale) + keep
        nonzeros = np.concatenate([theta[np.triu_indices(m)], scaled[:, rows, columns].ravel()])
        value += float((x[:m] - origin) @ away) / 2
        return Condensation(value / unit, gradient / unit, nonzeros[pattern.order] / unit)

    def value(x: FloatArray) -> float:
        away = x[:m] - origin
        return (windows.half_mean_square(*split(x)) + float(away @ keep @ away) / 2) / unit

    free = np.full(count * 2 * n, np.inf)
    fit = minimise(
        "Shooting",
        condense,
        np.concatenate([origin, (windows.states / state_scale).ravel()]),
        np.concatenate([parameters.lower / scale, -free]),
        np.concatenate([parameters.upper / scale, free]),
        options,
        pattern.sparsity,
        value,
    )
    return fit, *split(fit.solution.x)


def settled(windows: Windows, theta: FloatArray, states: FloatArray) -> FloatArray:
    """Parameters after a solve whose result is a start: back to theirs in directions that the motion found does not depend
    on, though the motions on the way may have."""
    parameters = windows.parameters
    *_, blocks, _ = windows.condense(theta, states)
    scale, lost, _ = undetermined_directions(windows.information(blocks))
    back = theta - scale * (lost @ (lost.T @ ((theta - parameters.start) / scale)))
    return np.asarray(np.clip(back, parameters.lower, parameters.upper), dtype=np.float64)


@dataclass(frozen=True)
class _Pattern:
    """A sparsity pattern, and where in the given nonzeros each of its nonzeros is."""

    sparsity: Any
    order: npt.NDArray[np.intp]


def _arrow(m: int, size: int, count: int) -> tuple[_Pattern, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Upper triangle of an arrow: m parameters that meet every block of `size`; and the rows and columns of a block's part."""
    r, c = np.triu_indices(m + size)
    own = c >= m
    r, c = r[own], c[own]
    top = np.triu_indices(m)
    shift = np.arange(count)[:, None] * size
    rows = np.concatenate([top[0], (r + np.where(r >= m, shift, 0)).ravel()])
    columns = np.concatenate([top[1], (c + shift).ravel()])
    order = np.lexsort((rows, columns))
    n = m + size * count
    sparsity = casadi.Sparsity.triplet(n, n, rows[order].tolist(), columns[order].tolist())
    return _Pattern(sparsity, order), r, c
