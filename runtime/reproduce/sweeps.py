"""What the number of sweeps does to the paper's gravity compensation: the error of every pose over sweeps, by solver.

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
from diffpbd.runtime.reproduce.gravity_compensation import PAPER, WEIGHTS, shown_joints
from diffpbd.runtime.reproduce.one_step import least, omega_of
from diffpbd.runtime.reproduce.poses import Poses

__all__ = ["COUNTS", "Errors", "Sweeping", "by_setting", "error", "errors", "plot", "summary", "write_table"]

COUNTS = (5, 10, 20, 30, 60, 120, 240)
"""[1] Sweeps."""
STILL = 1e-5
"""[1] Relative correction of a torque at which its search ends: hundredths of the errors that are shown."""
Graphs = Iterable[tuple[int, Any]]
"""Sweeps, and the graph (xi, u, h, alpha) → (xi_next, jac_u)."""


@dataclass(frozen=True, kw_only=True)
class Sweeping(Poses):
    """What may be chosen: `counts` of sweeps, and whether other settings are tried."""

    count: int = option("How many.", 8, flag="--poses", span=(1, 10000))
    counts: tuple[int, ...] = option(
        "How many, may be given again (default: 5 to 240).", (), flag="--sweeps", many=True, span=(1, 1000)
    )
    settings: bool = option("Also what else the step may have been.", True, flag="--settings/--no-settings")


@dataclass(frozen=True)
class Errors:
    """Mean absolute error (counts, n) [N·m] over the poses after so many sweeps."""

    counts: tuple[int, ...]
    mae: FloatArray


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


def errors(
    robot: Robot, poses: FloatArray, alpha: FloatArray, graphs: Graphs, say: Callable[[str], None] | None = None
) -> Errors:
    """The error of the torque that holds `poses` (k, n) by each graph, against the generated gravity torque."""
    counts, found = [], []
    for count, graph in graphs:
        if say is not None:
            say(f"{count} sweeps")
        counts.append(count)
        found.append(error(robot, poses, alpha, graph, robot.fk)[0])
    return Errors(tuple(counts), np.array(found))


def error(robot: Robot, poses: FloatArray, alpha: FloatArray, graph: Any, ahead: Any) -> tuple[FloatArray, int]:
    """Mean absolute error (n,) [N·m], and of how many poses the search did not settle."""
    reference = np.asarray(robot.gravity(poses, alpha))  # the optimum does not depend on it as a start; it is near
    wanted = np.concatenate([poses, np.zeros((len(poses), 3 * len(robot.links)))], axis=1)
    weights = np.concatenate([np.full(robot.n, WEIGHTS[0]), np.full(3 * len(robot.links), WEIGHTS[1])])
    ends = _GraphEnds(robot, graph, poses, robot.h, alpha, ahead)
    found = least(ends, wanted, weights, reference, still=STILL)
    return np.abs(found.u - reference).mean(axis=0), found.unsettled


def by_setting(
    robot: Robot, sets: Mapping[str, FloatArray], alpha: FloatArray, graphs: Iterable[tuple[Any, Any, Any]],
    say: Callable[[str], None],
) -> tuple[list[str], list[list[str]]]:  # fmt: skip
    """Head and rows: the error of the paper's joints [N·m] by setting and set of poses (k, n)."""
    shown = shown_joints(robot.joints)
    names = " ".join(robot.joints[j] for j in shown)
    rows = [["paper", *[" ".join(number(x, 3) for x in PAPER["MAE"])] * len(sets)]]
    for setting, graph, ahead in graphs:
        say(setting.name)
        cells = []
        for poses in sets.values():
            mae, unsettled = error(robot, poses, alpha, graph, ahead)
            cells.append(
                " ".join(number(float(mae[j]), 3) for j in shown) + (f" ({unsettled} open)" if unsettled else "")
            )
        rows.append([setting.name, *cells])
    return ["setting", *(f"{name}: {names}" for name in sets)], rows


def summary(robot: Robot, found: Mapping[str, Errors]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: the error of the paper's joints by sweeps and solver [N·m]."""
    shown = shown_joints(robot.joints)
    rows = [["paper", *[" ".join(number(x, 3) for x in PAPER["MAE"])] * len(found)]]
    for k, count in enumerate(next(iter(found.values())).counts):
        cells = [" ".join(number(float(one.mae[k, j]), 3) for j in shown) for one in found.values()]
        rows.append([str(count), *cells])
    return ["sweeps", *(f"{name}: {' '.join(robot.joints[j] for j in shown)}" for name in found)], rows


def plot(path: str | Path, robot: Robot, found: Mapping[str, Errors]) -> None:
    """PNG: the error over sweeps, one panel a joint of the paper, one curve a solver."""
    shown = shown_joints(robot.joints)
    figure = new_figure(3.6 * len(shown), 3.8)
    for k, (axes, j) in enumerate(zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True)):
        panel(axes, robot.joints[j], "sweeps", "MAE of the holding torque [N·m]")
        for style, (name, one) in zip(("C0o-", "C1s--", "C2^:", "C3v-", "C4D--"), found.items(), strict=False):
            axes.loglog(one.counts, one.mae[:, j], style, markersize=4, label=name)
        axes.axhline(PAPER["MAE"][k], color="0.4", linestyle="-.", linewidth=1, label="the paper, 30 sweeps")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(path, figure)


def write_table(path: str | Path, joints: Sequence[str], found: Mapping[str, Errors]) -> None:
    """CSV: one row a solver and count of sweeps."""
    rows = ([name, count, *mae] for name, one in found.items() for count, mae in zip(one.counts, one.mae, strict=True))
    write_rows(path, ["solver", "sweeps", *(f"mae_{joint}" for joint in joints)], rows)
