"""Tosses cut into windows of the generated step, each from a state of its own: residuals of poses, exact sensitivities.

A state is a pose (7: place, quaternion) with its rates (6, world axes); derivatives are by the tangent (docs/bases.md).
Residuals are what place [m] and turn [rad] of the body are off at every sample, over their deviations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.quaternions import difference, moved, path_of
from diffpbd.runtime.identify.contact.toss_files import Toss
from diffpbd.runtime.identify.motion.trajectory import Parameters
from diffpbd.runtime.model.robot import Robot

__all__ = ["BODY", "Linear", "States", "TossWindows", "cut", "whole"]

BODY = 6
"""[1] Freedoms of a free body."""
STEP = 7e-3
"""[s] Longest step: an impact ends within its step."""
BATCH = 4000
"""[1] Steps whose Jacobians are held at a time."""
BEGINNING = 3
"""[1] Samples that the first guess of a window's rates is from."""

Cut = tuple[int, int, int]
"""Toss, first and last sample of a window."""


@dataclass(frozen=True)
class States:
    """Poses (windows, 7) and rates (windows, 6) that windows begin with."""

    p: FloatArray
    pd: FloatArray

    def moved(self, way: FloatArray) -> States:
        """Moved along tangents (windows, 12)."""
        return States(moved(True, self.p, way[:, :BODY]), self.pd + way[:, BODY:])

    def where(self, first: npt.NDArray[np.bool_], other: States) -> States:
        """These where `first` (windows,) holds, else the others."""
        return States(np.where(first[:, None], self.p, other.p), np.where(first[:, None], self.pd, other.pd))

    def __getitem__(self, at: npt.NDArray[np.intp]) -> States:
        return States(self.p[at], self.pd[at])


@dataclass(frozen=True)
class _Group:
    """Windows of one length and step: which of all they are, recorded poses (windows, samples, 7), samples compared."""

    h: float
    at: npt.NDArray[np.intp]
    p: FloatArray
    compared: FloatArray


@dataclass(frozen=True)
class Linear:
    """Of every window: the square of its residuals, their gradient (windows, m + 12) and JᵀJ (windows, m + 12, m + 12)."""

    squares: FloatArray
    gradient: FloatArray
    curvature: FloatArray


class TossWindows:
    """Windows of tosses, `cuts` in order of toss and time; `size` [m] makes a turn a length, `noise` [m] is a deviation's unit.

    The first sample of a window that begins in the middle of a toss is the last one of the window before, and compared there.
    """

    def __init__(self, robot: Robot, tosses: Sequence[Toss], cuts: Sequence[Cut], size: float, noise: float) -> None:
        self.robot, self.tosses, self.cuts = robot, tosses, list(cuts)
        self.count = len(self.cuts)
        self.toss = np.array([k for k, _, _ in self.cuts], dtype=np.intp)
        self.weight = np.repeat([1.0 / noise, size / noise], 3)
        places: dict[tuple[float, int], list[int]] = {}
        for at, (k, a, b) in enumerate(self.cuts):
            places.setdefault((tosses[k].h, b - a), []).append(at)
        self.groups = []
        compared = np.zeros(self.count)
        before = [-1, *(b if k == other else -1 for (k, _, b), (other, _, _) in zip(cuts, cuts[1:], strict=False))]
        for (h, _), own in places.items():
            p = np.stack([tosses[self.cuts[at][0]].p[self.cuts[at][1] : self.cuts[at][2] + 1] for at in own])
            seen = np.ones(p.shape[:2])
            seen[:, 0] = [float(self.cuts[at][1] != before[at]) for at in own]
            self.groups.append(_Group(h, np.array(own, dtype=np.intp), p, seen))
            compared[own] = BODY * seen.sum(axis=1)
        self.residuals = compared

    def begin(self) -> States:
        """Recorded states: rates by the first samples."""
        p, pd = np.zeros((self.count, 7)), np.zeros((self.count, BODY))
        for at, (k, a, b) in enumerate(self.cuts):
            own = self.tosses[k].p[a : min(b, a + BEGINNING) + 1]
            p[at] = own[0]
            way = np.hstack([own[:, :3], path_of(own[:, 3:])])
            pd[at] = np.polynomial.polynomial.polyfit(self.tosses[k].h * np.arange(len(own)), way, 1)[1]
        return States(p, pd)

    def squares(self, alpha: FloatArray, states: States) -> FloatArray:
        """Sum of the squares of every window's residuals; infinite where the step gives up."""
        total = np.zeros(self.count)
        for group in self.groups:
            P, _ = self._rolled(group, alpha, states[group.at])
            off = self._off(group, P)
            total[group.at] = np.where(np.isfinite(off).all(axis=(1, 2)), (off**2).sum(axis=(1, 2)), np.inf)
        return total

    def paths(self, alpha: FloatArray, states: States) -> list[FloatArray]:
        """Poses (samples, 7) of every window."""
        found: list[FloatArray] = [np.zeros((0, 7))] * self.count
        for group in self.groups:
            P, _ = self._rolled(group, alpha, states[group.at])
            for at, own in zip(group.at.tolist(), P[:, :: self._every(group)], strict=True):
                found[at] = own
        return found

    def linear(self, parameters: Parameters, theta: FloatArray, states: States) -> Linear:
        """Residuals and their Jacobian at parameters and states, condensed; nothing of windows in which the step gives up."""
        size = len(theta) + 2 * BODY
        found = Linear(np.zeros(self.count), np.zeros((self.count, size)), np.zeros((self.count, size, size)))
        for group in self.groups:
            batch = max(1, BATCH // (self._every(group) * (group.p.shape[1] - 1)))
            for a in range(0, len(group.at), batch):
                part = slice(a, a + batch)
                own = _Group(group.h, group.at[part], group.p[part], group.compared[part])
                self._condense(own, parameters, theta, states[own.at], found)
        return found

    def _condense(
        self, group: _Group, parameters: Parameters, theta: FloatArray, states: States, found: Linear
    ) -> None:
        P, PD = self._rolled(group, parameters.alpha(theta), states)
        there = np.isfinite(P).all(axis=(1, 2))
        group = _Group(group.h, group.at[there], group.p[there], group.compared[there])
        P, PD = P[there], PD[there]
        if not len(P):
            return
        off = self._off(group, P)
        found.squares[group.at] = (off**2).sum(axis=(1, 2))
        for k, S in enumerate(self._slopes(group, parameters, theta, P, PD)):
            rows = S[:, :BODY] * self.weight[:, None] * group.compared[:, k, None, None]
            found.gradient[group.at] += np.einsum("wr,wrj->wj", off[:, k], rows)
            found.curvature[group.at] += rows.swapaxes(1, 2) @ rows

    def _slopes(
        self, group: _Group, parameters: Parameters, theta: FloatArray, P: FloatArray, PD: FloatArray
    ) -> Iterator[FloatArray]:
        """Derivatives (windows, 12, m + 12) of the states at every sample by parameters and first states."""
        windows, steps, m, every = len(P), P.shape[1] - 1, len(theta), self._every(group)
        flat = (P[:, :-1].reshape(-1, 7), PD[:, :-1].reshape(-1, BODY), np.zeros((windows * steps, BODY)))
        by_state, _, by_theta = parameters.sensitivities(self.robot, theta, *flat, group.h / every)
        by_state = by_state.reshape(windows, steps, 2 * BODY, 2 * BODY)
        by_theta = by_theta.reshape(windows, steps, 2 * BODY, m)
        S = np.zeros((windows, 2 * BODY, m + 2 * BODY))
        S[:, :, m:] = np.eye(2 * BODY)
        yield S
        for k in range(steps):
            S = by_state[:, k] @ S
            S[:, :, :m] += by_theta[:, k]
            if (k + 1) % every == 0:
                yield S

    def _every(self, group: _Group) -> int:
        """Steps from sample to sample."""
        return max(1, int(np.ceil(group.h / STEP - 1e-9)))

    def _rolled(self, group: _Group, alpha: FloatArray, states: States) -> tuple[FloatArray, FloatArray]:
        """Poses and rates at every step; NaN where the step fails."""
        every = self._every(group)
        U, h = np.zeros((len(states.p), every * (group.p.shape[1] - 1), BODY)), group.h / every
        try:
            P, PD = self.robot.rollout(states.p, states.pd, U, h, alpha)
            return np.asarray(P), np.asarray(PD)
        except SolverError:
            one = [self._alone(states.p[k], states.pd[k], U[k], h, alpha) for k in range(len(U))]
            return np.stack([P for P, _ in one]), np.stack([PD for _, PD in one])

    def _alone(
        self, p: FloatArray, pd: FloatArray, U: FloatArray, h: float, alpha: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        try:
            P, PD = self.robot.rollout(p, pd, U, h, alpha)
            return np.asarray(P), np.asarray(PD)
        except SolverError:
            return np.full((len(U) + 1, 7), np.nan), np.full((len(U) + 1, BODY), np.nan)

    def _off(self, group: _Group, P: FloatArray) -> FloatArray:
        """Weighted deviations (windows, samples, 6)."""
        off = difference(True, P[:, :: self._every(group)], group.p) * self.weight
        return np.asarray(off * group.compared[..., None], dtype=np.float64)


def cut(tosses: Sequence[Toss], length: float, still: float) -> list[Cut]:
    """Windows of about `length` [s], without those in which nothing moves by `still` [m, and rad at 0.1 m]; of these each toss
    keeps the last."""
    cuts = []
    for k, toss in enumerate(tosses):
        count = max(1, round(toss.steps * toss.h / length))
        edges = np.linspace(0, toss.steps, count + 1).round().astype(int).tolist()
        for a, b in zip(edges, edges[1:], strict=False):
            way = np.abs(difference(True, toss.p[a : b + 1], toss.p[a])) * np.repeat([1.0, 0.1], 3)
            if b - a >= 2 and (way.max() > still or b == toss.steps):
                cuts.append((k, a, b))
    return cuts


def whole(tosses: Sequence[Toss], ends: Sequence[int] | None = None) -> list[Cut]:
    """A window a toss, to its end or to the sample in `ends`."""
    last = [toss.steps for toss in tosses] if ends is None else ends
    return [(k, 0, b) for k, b in enumerate(last)]
