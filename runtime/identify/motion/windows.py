"""Recordings cut into windows of `joint_step`, each from an initial state of its own: residuals and exact sensitivities.

The residuals are those of positions and rates at every sample; their Jacobian is carried along with `jac_joint_step` and
`jac_alpha_joint_step`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.motion.trajectory import POSITION, RATE, Motion, Parameters
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.model.robot import Robot

__all__ = ["Condensed", "Residuals", "Windows"]

BATCH = 4000
"""[1] Steps whose Jacobians are held at a time: about 40 MB with seven joints and a hundred entries of alpha."""


@dataclass(frozen=True)
class _Group:
    """Windows of equal length and step: recorded q, dq (windows, steps + 1, n) and readings (windows, steps, n); `first`
    counts the windows before them. `begins` (windows,) tells which are the first of a recording."""

    h: float
    q: FloatArray
    dq: FloatArray
    tau: FloatArray
    first: int
    begins: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Condensed:
    """At parameters and initial states, for the mean square of all weighted residuals: half of it, its gradient by
    parameters (m,) and by states (windows, 2 n), and Jᵀ J (windows, m + 2 n, m + 2 n) of every window and their sum (`total`).
    Final states `ends` (windows, 2 n) and their derivatives `by_start` (windows, 2 n, m + 2 n). `by_joint` (windows, n,
    m + 2 n) are the gradients of every joint's deviations alone."""

    value: float
    by_theta: FloatArray
    by_states: FloatArray
    blocks: FloatArray
    total: FloatArray
    ends: FloatArray
    by_start: FloatArray
    by_joint: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))


class Residuals(Protocol):
    """What the parameters are found from: residuals whose derivatives are condensed, with `count` states of their own."""

    @property
    def robot(self) -> Robot:
        """Whose alpha is fitted."""

    @property
    def count(self) -> int:
        """States."""

    @property
    def ties(self) -> npt.NDArray[np.intp]:
        """Pairs of states (k, 2) that have to meet."""

    @property
    def states(self) -> FloatArray:
        """States (count, 2 n) to start from."""

    def condense(self, theta: FloatArray, states: FloatArray) -> Condensed:
        """At parameters and states."""

    def half_mean_square(self, theta: FloatArray, states: FloatArray) -> float:
        """The value of `condense` alone."""

    def information(self, found: Condensed) -> FloatArray:
        """Of the parameters alone (m, m)."""


class Windows:
    """All recordings cut into windows, their residuals and sensitivities.

    `ties` (k, 2) are pairs of windows that follow one another in a recording. Where windows are `tied`, the state between two
    is compared with its sample once, as the end of the first. `motions` names the windows of every recording in order.
    `every` steps go from sample to sample. `weight` (2, 2 n) is one over the deviations of positions and rates, of the sample
    that a window begins with and of the others; what is zero is not compared.
    """

    def __init__(
        self, robot: Robot, motions: Sequence[Motion], parameters: Parameters, window: float, *, tied: bool = False,
        every: int = 1, weight: FloatArray | None = None,
    ) -> None:  # fmt: skip
        self.robot, self.parameters, self.tied, self.every = robot, parameters, tied, every
        usual = np.repeat([1.0 / POSITION, 1.0 / RATE], robot.n)
        self.weight = np.stack([usual, usual]) if weight is None else weight
        self.groups, self.motions = _groups(motions, window)
        self.count = sum(len(group.q) for group in self.groups)
        first, others = np.count_nonzero(self.weight, axis=1).tolist()
        self.residuals = self.count * first + sum(group.tau[..., 0].size for group in self.groups) * others
        pairs = [pair for run in self.motions for pair in zip(run, run[1:], strict=False)]
        self.ties = np.array(pairs if tied else [], dtype=np.intp).reshape(-1, 2)
        self.residuals -= 2 * robot.n * len(self.ties)
        self.states = np.concatenate([np.hstack([g.q[:, 0], g.dq[:, 0]]) for g in self.groups])

    def condense(self, theta: FloatArray, states: FloatArray) -> Condensed:
        """Residuals and sensitivities at parameters (entries of alpha) and initial states (windows, 2 n)."""
        m, n = len(theta), self.robot.n
        value, by_theta, by_states = 0.0, np.zeros(m), np.zeros_like(states)
        blocks = np.zeros((self.count, m + 2 * n, m + 2 * n))
        ends, by_start = np.zeros_like(states), np.zeros((self.count, 2 * n, m + 2 * n))
        by_joint = np.zeros((self.count, n, m + 2 * n))
        for group in self.groups:
            batch = max(1, BATCH // (self.every * group.tau.shape[1]))
            for a in range(0, len(group.q), batch):
                part = slice(a, min(a + batch, len(group.q)))
                at = slice(group.first + part.start, group.first + part.stop)
                half, by_joint[at], blocks[at], ends[at], by_start[at] = self._batch(group, part, theta, states[at])
                value, gradient = value + half, by_joint[at].sum(axis=1)
                by_theta += gradient[:, :m].sum(axis=0)
                by_states[at] = gradient[:, m:]
        mean = 1.0 / self.residuals
        total = mean * blocks.sum(axis=0)
        return Condensed(
            mean * value, mean * by_theta, mean * by_states, mean * blocks, total, ends, by_start, mean * by_joint
        )

    def half_mean_square(self, theta: FloatArray, states: FloatArray) -> float:
        """The value of `condense` alone."""
        total = 0.0
        for group in self.groups:
            at = states[group.first : group.first + len(group.q)]
            P, PD, _ = self._rolled(group, slice(None), theta, at)
            off = self._off(group, slice(None), P, PD)
            total += float((off**2).sum())
        return float(total / (2.0 * self.residuals))

    def _rolled(
        self, group: _Group, part: slice, theta: FloatArray, states: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions and rates at every step of these windows, and the torques of every step."""
        p, n = self.parameters, self.robot.n
        U = np.repeat(p.torque(group.tau[part], theta), self.every, axis=1)
        P, PD = self.robot.rollout(states[:, :n], states[:, n:], U, group.h / self.every, p.alpha(theta))
        return P, PD, U

    def _off(self, group: _Group, part: slice, P: FloatArray, PD: FloatArray) -> FloatArray:
        """Weighted deviations (windows, samples, 2 n)."""
        P, PD = P[:, :: self.every], PD[:, :: self.every]
        off = np.concatenate([P - group.q[part], PD - group.dq[part]], axis=2)
        off[:, 0] *= self.weight[0]
        off[:, 1:] *= self.weight[1]
        if self.tied:
            off[~group.begins[part], 0] = 0.0
        return off

    def _batch(
        self, group: _Group, part: slice, theta: FloatArray, states: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]:
        n, m = self.robot.n, len(theta)
        P, PD, U = self._rolled(group, part, theta, states)
        off = self._off(group, part, P, PD)
        by_joint, block = np.zeros((len(U), n, m + 2 * n)), np.zeros((len(U), m + 2 * n, m + 2 * n))
        S = np.zeros(0)
        for k, S in enumerate(self._slopes(group, theta, P, PD, U)):
            weighted = S * self.weight[min(k, 1)][:, None]
            if self.tied and not k:
                weighted[~group.begins[part]] = 0.0
            by_joint += (off[:, k, :, None] * weighted).reshape(len(U), 2, n, -1).sum(axis=1)
            block += weighted.swapaxes(1, 2) @ weighted
        ends = np.concatenate([P[:, -1], PD[:, -1]], axis=1)
        return float((off**2).sum()) / 2, by_joint, block, ends, S

    def _slopes(
        self, group: _Group, theta: FloatArray, P: FloatArray, PD: FloatArray, U: FloatArray
    ) -> Iterator[FloatArray]:
        """Derivatives (windows, 2 n, m + 2 n) of the states at every sample by parameters and initial states."""
        n, m, steps = self.robot.n, len(theta), U.shape[1]
        flat = (P[:, :-1].reshape(-1, n), PD[:, :-1].reshape(-1, n), U.reshape(-1, n))
        by_state, _, by_theta = self.parameters.sensitivities(self.robot, theta, *flat, group.h / self.every)
        by_state, by_theta = by_state.reshape(len(U), steps, 2 * n, 2 * n), by_theta.reshape(len(U), steps, 2 * n, m)
        S = np.zeros((len(U), 2 * n, m + 2 * n))
        S[:, :, m:] = np.eye(2 * n)
        yield S
        for k in range(steps):
            S = by_state[:, k] @ S
            S[:, :, :m] += by_theta[:, k]
            if (k + 1) % self.every == 0:
                yield S

    def paths(self, theta: FloatArray, states: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Of every recording: positions and rates (steps + 1, n) of the windows' rollouts joined, true torques (steps, n)."""
        pieces: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for group in self.groups:
            P, PD, U = self._rolled(group, slice(None), theta, states[group.first : group.first + len(group.q)])
            pieces += zip(P, PD, U, strict=True)
        found = []
        for run in self.motions:
            own = [pieces[k] for k in run]
            P, PD = (np.concatenate([piece[kind][:-1] for piece in own] + [own[-1][kind][-1:]]) for kind in (0, 1))
            found.append((P, PD, np.concatenate([piece[2] for piece in own])))
        return found

    def information(self, found: Condensed) -> FloatArray:
        """Information (m, m) of the parameters alone, the initial states eliminated; of windows that are not tied."""
        m = len(self.parameters.names)
        own, cross, states = found.blocks[:, :m, :m], found.blocks[:, m:, :m], found.blocks[:, m:, m:]
        return np.asarray((own - cross.swapaxes(1, 2) @ np.linalg.solve(states, cross)).sum(axis=0), dtype=np.float64)

    def influence(self, found: Condensed, moves: FloatArray) -> Influence:
        """Of every joint's deviations, a window as a sample, on what moves by `moves` (m, k) with the gradient of half the
        square of all; the initial states are eliminated. A window counts at its mean position; what as many parameters take
        from the scatter of so few is given back."""
        m, series = len(self.parameters.names), self.count * self.robot.n
        after = np.linalg.solve(found.blocks[:, m:, m:], found.blocks[:, m:, :m])
        effect = (found.by_joint[:, :, :m] - found.by_joint[:, :, m:] @ after) @ moves * self.residuals
        effect *= np.sqrt(series / max(series - m, 1))
        q = np.concatenate([group.q.mean(axis=1) for group in self.groups])
        result = Influence(q.min(axis=0), q.max(axis=0))
        for run in self.motions:
            result.add(q[run], effect[run].swapaxes(0, 1))
        return result

    def influence_by_sample(
        self, found: Condensed, theta: FloatArray, states: FloatArray, moves: FloatArray
    ) -> Influence:
        """The same with every sample for itself, of windows that are not tied: for recordings of few windows."""
        m, n = len(self.parameters.names), self.robot.n
        after = np.linalg.solve(found.blocks[:, m:, m:], found.blocks[:, m:, :m])
        spare = np.sqrt(self.residuals / max(self.residuals - m - states.size, 1))
        pieces: list[tuple[FloatArray, FloatArray]] = []
        for group in self.groups:
            own = slice(group.first, group.first + len(group.q))
            P, PD, U = self._rolled(group, slice(None), theta, states[own])
            off = self._off(group, slice(None), P, PD)
            effects = []
            for k, S in enumerate(self._slopes(group, theta, P, PD, U)):
                rows = (off[:, k] * self.weight[min(k, 1)])[:, :, None] * (S[:, :, :m] - S[:, :, m:] @ after[own])
                effects.append(rows.reshape(len(U), 2, n, m).sum(axis=1))
            pieces += zip(group.q, np.stack(effects, axis=1) @ moves * spare, strict=True)
        q = np.concatenate([own for own, _ in pieces])
        result = Influence(q.min(axis=0), q.max(axis=0))
        for run in self.motions:
            effect = np.concatenate([pieces[k][1] for k in run])
            result.add(np.concatenate([pieces[k][0] for k in run]), effect.swapaxes(0, 1))
        return result

    def step(self, run: Sequence[int]) -> float:
        """[s] Of the windows of a recording."""
        own = next(group for group in self.groups if group.first <= run[0] < group.first + len(group.q))
        return float(own.h / self.every)

    def misses(self, theta: FloatArray, states: FloatArray) -> FloatArray:
        """Root mean square (n,) of what positions are off [rad or m]."""
        total, count = np.zeros(self.robot.n), 0
        for group in self.groups:
            at = states[group.first : group.first + len(group.q)]
            off = self._rolled(group, slice(None), theta, at)[0][:, :: self.every] - group.q
            total, count = total + (off**2).sum(axis=(0, 1)), count + off[..., 0].size
        return np.asarray(np.sqrt(total / count), dtype=np.float64)


def _groups(motions: Sequence[Motion], window: float) -> tuple[list[_Group], list[list[int]]]:
    """Windows by length and step, and the places of those of every recording."""
    pieces: dict[tuple[float, int], list[tuple[FloatArray, FloatArray, FloatArray]]] = {}
    runs: list[list[tuple[tuple[float, int], int]]] = []
    begins: dict[tuple[float, int], list[bool]] = {}
    for motion in motions:
        length = max(1, round(window / motion.h))
        count = max(1, -(-motion.steps // length))
        edges = np.linspace(0, motion.steps, count + 1).round().astype(int)
        runs.append([])
        for a, b in zip(edges, edges[1:], strict=False):
            key = (motion.h, int(b - a))
            own = pieces.setdefault(key, [])
            begins.setdefault(key, []).append(bool(a == 0))
            runs[-1].append((key, len(own)))
            own.append((motion.q[a : b + 1], motion.dq[a : b + 1], motion.tau[a:b]))
    groups: list[_Group] = []
    first: dict[tuple[float, int], int] = {}
    for key, cuts in pieces.items():
        q, dq, tau = (np.stack([cut[k] for cut in cuts]) for k in range(3))
        first[key] = sum(len(group.q) for group in groups)
        groups.append(_Group(key[0], q, dq, tau, first[key], np.array(begins[key])))
    return groups, [[first[key] + place for key, place in run] for run in runs]
