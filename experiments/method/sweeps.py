"""Effect of the number of sweeps on the paper's gravity compensation: the error of every pose over sweeps, by solver.

The torque is that of least loss over one step, as in `gravity_compensation`, whatever the number of sweeps: what is left is the
step's, not the optimiser's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import new_figure, panel, save
from diffpbd.runtime.report.tables import number
from experiments.design.gravity_compensation import PAPER, WEIGHTS, is_papers, shown_joints
from experiments.one_step import least, omega_of
from experiments.poses import draw_loaded

__all__ = ["COUNTS", "Errors", "Sweeping", "by_setting", "errors", "plot", "summary", "write_table"]

PAPER_SWEEPS = 30
"""[1] Of section V A."""
COUNTS = (5, 10, 20, 30, 50, 60, 120)
"""[1] Sweeps."""
STILL = 1e-5
"""[1] Relative correction of a torque at which its search ends: hundredths of the errors that are shown."""
Graphs = Iterable[tuple[int, Any]]
"""Sweeps, and the graph (xi, u, h, alpha) → (xi_next, jac_u)."""


@dataclass(frozen=True, kw_only=True)
class Sweeping:
    """Options: `draws` sets of `count` poses loaded like the paper's; `counts` of sweeps; whether other settings are tried."""

    draws: int = option("Sets of poses; the spread of their means is printed.", 8, span=(1, 1000))
    count: int = option("Poses a set.", 8, flag="--poses", span=(1, 1000))
    seed: int = option("Of the first set; the others take the next ones.", 1, span=(0, 2**31))
    counts: tuple[int, ...] = option(
        "How many, may be given again (default: 5 to 120).", (), flag="--sweeps", many=True, span=(1, 1000)
    )
    settings: bool = option("Also what else the step may have been.", True, flag="--settings/--no-settings")

    def of(self, robot: Robot, alpha: FloatArray) -> FloatArray:
        """Poses (draws, count, n) [rad], whose gravity torques lie within the paper's where the robot has its joints."""
        shown = shown_joints(robot.joints)
        low, high = (PAPER["min"], PAPER["max"]) if is_papers(robot.joints) else ([-np.inf] * 3, [np.inf] * 3)
        seeds = range(self.seed, self.seed + self.draws)
        return np.array([draw_loaded(robot, self.count, seed, alpha, shown, low, high) for seed in seeds])


@dataclass(frozen=True, eq=False)
class Errors:
    """Absolute errors (draws, poses, n) [N·m] of the holding torques, and how many of their searches did not settle."""

    absolute: FloatArray
    unsettled: int

    @property
    def mae(self) -> FloatArray:
        """(n,) Mean over all poses."""
        return np.asarray(self.absolute.mean(axis=(0, 1)))

    @property
    def spread(self) -> tuple[FloatArray, FloatArray]:
        """(n,) Least and largest mean of a draw."""
        means = self.absolute.mean(axis=1)
        return means.min(axis=0), means.max(axis=0)

    def words(self, joints: Sequence[int]) -> str:
        """Mean and, in brackets, the spread at some joints."""
        low, high = self.spread
        cells = [f"{number(self.mae[j], 3)} ({number(low[j], 2)} to {number(high[j], 2)})" for j in joints]
        return ", ".join(cells) + (f"; {self.unsettled} open" if self.unsettled else "")


@dataclass(frozen=True, eq=False)
class _GraphEnds:
    """`Ends` of one graph: p by `joint_state`, ω from the state itself; `ahead` makes the state of a pose."""

    robot: Robot
    graph: Any
    poses: FloatArray
    h: float
    alpha: FloatArray
    ahead: Any

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        rest = np.zeros(self.robot.n)
        ends, slopes = [], []
        for p, torque in zip(self.poses, u, strict=True):
            xi, by_u = (np.array(x) for x in self.graph(self.ahead(p, rest, self.alpha), torque, self.h, self.alpha))
            at = self.robot.joint_state(xi.ravel(), self.alpha, p).p
            seeds = np.eye(len(p))
            many = [np.repeat(x[None], len(p), axis=0) for x in (xi.ravel(), p)]
            back = self.robot.vjp_joint_state(many[0], self.alpha, many[1], p_bar=seeds, pd_bar=0.0 * seeds).xi_bar
            ends.append(np.concatenate([at, omega_of(xi.ravel()[None])[0]]))
            spin = omega_of(by_u.T).T
            slopes.append(np.concatenate([back @ by_u, spin]))
        return np.array(ends), np.array(slopes)


def errors(robot: Robot, poses: FloatArray, alpha: FloatArray, graph: Any, ahead: Any) -> Errors:
    """Errors of the torques that hold `poses` (draws, k, n) by `graph`, against the generated gravity torque.

    Every pose is searched for itself: one whose search does not settle costs no other an evaluation.
    """
    weights = np.concatenate([np.full(robot.n, WEIGHTS[0]), np.full(3 * len(robot.links), WEIGHTS[1])])
    off, unsettled = np.empty_like(poses), 0
    for place in np.ndindex(poses.shape[:2]):
        pose = poses[place][None]
        reference = np.asarray(robot.gravity(pose, alpha))  # the optimum does not depend on it as a start; it is near
        wanted = np.concatenate([pose, np.zeros((1, 3 * len(robot.links)))], axis=1)
        found = least(_GraphEnds(robot, graph, pose, robot.h, alpha, ahead), wanted, weights, reference, still=STILL)
        off[place] = np.abs(found.u - reference)[0]
        unsettled += found.unsettled
    return Errors(off, unsettled)


def by_setting(
    robot: Robot,
    poses: FloatArray,
    alpha: FloatArray,
    graphs: Iterable[tuple[Any, Any, Any]],
    say: Callable[[str], None],
) -> tuple[list[str], list[list[str]]]:
    """Head and rows: the errors at the paper's joints [N·m] by setting, on `poses` (draws, k, n)."""
    shown = shown_joints(robot.joints)
    rows = [_paper(1)]
    for setting, graph, ahead in graphs:
        say(setting.name)
        rows.append([setting.name, errors(robot, poses, alpha, graph, ahead).words(shown)])
    return ["setting", ", ".join(robot.joints[j] for j in shown)], rows


def summary(robot: Robot, found: Mapping[str, Mapping[int, Errors]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: the errors at the paper's joints by sweeps and solver [N·m]."""
    shown = shown_joints(robot.joints)
    rows = [_paper(len(found))]
    for count in next(iter(found.values())):
        rows.append([str(count), *(one[count].words(shown) for one in found.values())])
    return ["sweeps", *found], rows


def _paper(columns: int) -> list[str]:
    return ["paper", *[", ".join(number(x, 3) for x in PAPER["MAE"])] * columns]


def plot(path: str | Path, robot: Robot, found: Mapping[str, Mapping[int, Errors]]) -> None:
    """PNG: the error over sweeps, one panel a joint of the paper, one curve a solver with the spread of its draws as a band."""
    shown = shown_joints(robot.joints)
    figure = new_figure(3.6 * len(shown), 3.8)
    for k, (axes, j) in enumerate(zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True)):
        panel(axes, robot.joints[j], "sweeps", "MAE of the holding torque [N·m]")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for style, (name, one) in zip(("C0o-", "C1s-", "C2^--", "C3v--"), found.items(), strict=False):
            counts = list(one)
            low, high = np.array([one[count].spread for count in counts])[..., j].T
            axes.plot(counts, [one[count].mae[j] for count in counts], style, markersize=4, label=name)
            axes.fill_between(counts, low, high, color=style[:2], alpha=0.15, linewidth=0)
        axes.axhline(PAPER["MAE"][k], color="0.4", linestyle="-.", linewidth=1, label="the paper, 30 sweeps")
        axes.axvline(PAPER_SWEEPS, color="0.4", linestyle=":", linewidth=1)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(path, figure)


def write_table(path: str | Path, joints: Sequence[str], found: Mapping[str, Mapping[int, Errors]]) -> None:
    """CSV: one row a solver, count of sweeps and pose, its set beside it."""
    rows = (
        [name, count, draw, *off]
        for name, one in found.items()
        for count, made in one.items()
        for draw, poses in enumerate(made.absolute)
        for off in poses
    )
    write_rows(path, ["solver", "sweeps", "draw", *(f"error_{joint}" for joint in joints)], rows)
