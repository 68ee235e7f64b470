"""The paper's gravity compensation: the torque that holds a pose, found by optimisation over one generated step.

The arm is put at a pose at rest and stepped once, by any of the generated steps. Gauss-Newton with the step's exact Jacobian
looks for the torque that leaves it there: least λ₁ ‖p − p̂‖² + λ₂ Σ ‖ω‖² over the links. The reference is the Euler-Lagrange
equation at rest: the gradient of the potential energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import new_figure, panel, save
from diffpbd.runtime.report.tables import number
from diffpbd.runtime.torques.adam import RATE_FROM_ZERO
from experiments.descent import descend
from experiments.one_step import JOINT, ends_of, least, omega_of

__all__ = [
    "ASSUMPTIONS",
    "PAPER",
    "PAPER_JOINTS",
    "Compensation",
    "holding_torques",
    "is_papers",
    "plot",
    "potential_gradient",
    "reach",
    "shown_joints",
    "summary",
    "write_table",
]

WEIGHTS = (1.0, 0.02)
"""λ₁ [1/rad²], λ₂ [s²/rad²] of the paper."""
MARKERS = "osv^DXP"
PAPER_JOINTS = ("s1", "e1", "w1")
PAPER = {
    "mean": (-29.0, -10.8, -1.20),
    "max": (-11.6, -3.99, -0.5096),
    "min": (-39.1, -14.2, -1.56),
    "MAE": (0.669, 0.431, 0.698),
}
"""N·m, for `PAPER_JOINTS`."""
ASSUMPTIONS = (
    "the paper's 30 poses are not published: ours differ, and so do mean, max and min; the MAE compares methods",
    "gravity 9.8 m/s², one step of 10 ms from rest, λ₁ = 1, λ₂ = 0.02, started from zero torque, as the paper has it",
    "Gauss-Newton with exact Jacobians instead of ADAM, to convergence: a column is its step's optimum but for the poses that "
    "are said not to have settled",
    "the reference is the gradient of the potential energy, that is Euler-Lagrange at rest; springs are left out on both sides",
)


@dataclass(frozen=True)
class Compensation:
    """Poses (k, n) [rad], estimated and reference torque (k, n) [N·m], largest loss at the end, iterations, poses that did not
    settle."""

    joints: tuple[str, ...]
    poses: FloatArray
    estimate: FloatArray
    reference: FloatArray
    loss: float
    iterations: int
    unsettled: int = 0
    descent: FloatArray | None = None
    """(iterations + 1,) Mean loss of the poses over ADAM's iterations from zero torque, if it was asked for."""
    optimum: float = 0.0
    """Mean loss at the end of Gauss-Newton."""

    @property
    def statistics(self) -> dict[str, FloatArray]:
        """Mean, largest and smallest estimate and the mean absolute error, (n,) each [N·m]."""
        error = np.abs(self.estimate - self.reference).mean(axis=0)
        u = self.estimate
        return {"mean": u.mean(axis=0), "max": u.max(axis=0), "min": u.min(axis=0), "MAE": error}


def holding_torques(
    robot: Robot, poses: FloatArray, alpha: FloatArray, step: str = JOINT, adam: bool = False
) -> Compensation:
    """The torque (k, n) that leaves each pose (k, n) still over one `step`, from zero torque, by Gauss-Newton; with `adam` also
    the curve of the paper's optimiser."""
    rest = np.zeros_like(poses)
    ends = ends_of(robot, step, poses, rest, robot.h, alpha)
    turns = omega_of(np.asarray(robot.fk(poses, rest, alpha)))
    weights = np.concatenate([np.full(robot.n, WEIGHTS[0]), np.full(turns.shape[1], WEIGHTS[1])])
    wanted = np.concatenate([poses, np.zeros_like(turns)], axis=1)
    found = least(ends, wanted, weights, rest)
    if found.unsettled and step == JOINT:
        raise SolverError(f"The torque that holds the poses has not converged after {found.iterations} iterations.")
    reference = potential_gradient(robot, poses, alpha)
    descent = None
    if adam:

        def loss(u: FloatArray) -> tuple[FloatArray, FloatArray]:
            values, slopes = ends(u)
            off = values - wanted
            return (weights * off**2).sum(axis=1), 2.0 * np.einsum("kij,ki->kj", slopes, weights * off)

        descent = np.asarray(descend(loss, rest, RATE_FROM_ZERO).losses.mean(axis=1))
    return Compensation(
        robot.joints, poses, found.u, reference, float(found.loss.max()), found.iterations, found.unsettled, descent,
        float(found.loss.mean()),
    )  # fmt: skip


def potential_gradient(robot: Robot, poses: FloatArray, alpha: FloatArray) -> FloatArray:
    """∂V/∂p (k, n) of the generated potential energy (springs included, as far as alpha has any)."""
    gradient = robot.casadi("energy").factory("gradient", ["p", "pd", "alpha"], ["grad:potential:p"])
    zero = np.zeros(robot.n)
    return np.array([np.array(gradient(p, zero, alpha)).ravel() for p in poses])


TRIED = 20_000
"""[1] Random poses from whose worst the largest gravity torque is searched."""
LEAST_LOSS = 1e-12
"""[rad²] Mean losses below are drawn as this."""
FLOOR = 1e-6
"""[N·m] Errors below are all drawn as this."""


def plot(path: str | Path, found: Mapping[str, Compensation]) -> None:
    """PNG: estimates against the reference, and the error of every pose, by step, for the paper's joints (or three)."""
    first = next(iter(found.values()))
    shown = shown_joints(first.joints)
    figure = new_figure(3.6 * len(shown), 9.4)
    grid = figure.add_gridspec(3, len(shown))
    above, below = ([figure.add_subplot(grid[row, k]) for k in range(len(shown))] for row in range(2))
    for axes, error, j in zip(above, below, shown, strict=True):
        truth = first.reference[:, j]
        panel(axes, first.joints[j], "Euler–Lagrange [N·m]", "one-step estimate [N·m]")
        panel(error, "", f"pose (at {FLOOR:g}: less)", "|error| [N·m]")
        axes.plot([truth.min(), truth.max()], [truth.min(), truth.max()], "0.7", linewidth=1, label="equal")
        for k, (label, one) in enumerate(found.items()):
            axes.plot(truth, one.estimate[:, j], f"C{k}{MARKERS[k]}", markersize=4, label=label)
            off = np.maximum(np.abs(one.estimate[:, j] - truth), FLOOR)
            error.semilogy(off, f"C{k}{MARKERS[k]}", markersize=4, clip_on=False)
        error.set_ylim(bottom=FLOOR)
        name = next((k for k, joint in enumerate(PAPER_JOINTS) if first.joints[j].endswith(joint)), None)
        if name is not None:
            error.axhline(PAPER["MAE"][name], color="0.4", linestyle="--", linewidth=1, label="the paper's MAE")
    handles, labels = above[0].get_legend_handles_labels()
    more, words = below[0].get_legend_handles_labels()
    _descents(figure.add_subplot(grid[2, :]), found)
    figure.legend(handles + more, labels + words, loc="outside lower center", ncols=4, frameon=False)
    save(path, figure)


def _descents(axes: Any, found: Mapping[str, Compensation]) -> None:
    """Losses of ADAM over its iterations, and where Gauss-Newton ended."""
    panel(
        axes, "mean loss: ADAM from zero torque (solid), where Gauss–Newton ended (dotted)", "iteration", "loss [rad²]"
    )
    for k, one in enumerate(found.values()):
        if one.descent is not None:
            axes.semilogy(one.descent, color=f"C{k}")
            axes.axhline(max(one.optimum, LEAST_LOSS), color=f"C{k}", linestyle=":", linewidth=1.2)


def reach(robot: Robot, alpha: FloatArray) -> list[str]:
    """Sentences on what gravity can ask of the paper's joints at all, where the printed smallest torque is beyond it.

    Searched from the worst of `TRIED` random poses within the joint limits.
    """
    if not is_papers(robot.joints):
        return []
    from scipy.optimize import minimize

    limits = [(joint.lower, joint.upper) for joint in robot.manifest.robot.joints]
    low, high = (np.array([-np.pi if x is None else x for x in ends]) for ends in zip(*limits, strict=True))
    poses = low + (high - low) * np.random.default_rng(0).random((TRIED, robot.n))
    torque = np.asarray(robot.gravity(poses, alpha))
    said = []
    for k, j in enumerate(shown_joints(robot.joints)):
        start = poses[int(np.abs(torque[:, j]).argmax())]

        def spared(p: FloatArray, j: int = j) -> float:
            return -abs(float(robot.gravity(p, alpha)[j]))

        found = minimize(spared, start, bounds=list(zip(low, high, strict=True)))
        most = -float(found.fun)
        if most < abs(PAPER["min"][k]):
            said.append(
                f"{robot.joints[j]}: gravity asks at most {most:.3f} N·m of it at any pose; the paper's estimates reach "
                f"{PAPER['min'][k]:g} N·m."
            )
    return said


def is_papers(joints: tuple[str, ...]) -> bool:
    """Whether all joints of the paper's table are there."""
    return all(any(joint.endswith(f"_{name}") for joint in joints) for name in PAPER_JOINTS)


def shown_joints(joints: tuple[str, ...]) -> list[int]:
    """Indices of the paper's joints; of the first three on a robot without them."""
    named = [k for name in PAPER_JOINTS for k, joint in enumerate(joints) if joint.endswith(f"_{name}")]
    return named if len(named) == len(PAPER_JOINTS) else list(range(min(3, len(joints))))


def write_table(path: str | Path, found: Mapping[str, Compensation]) -> None:
    """CSV: one row a step and pose: positions, estimates, references."""
    joints = next(iter(found.values())).joints
    header = ["step", *(f"{what}_{joint}" for what in ("q", "estimate", "reference") for joint in joints)]
    rows = (
        [step, *p, *u, *g]
        for step, one in found.items()
        for p, u, g in zip(one.poses, one.estimate, one.reference, strict=True)
    )
    write_rows(path, header, rows)


def summary(found: Mapping[str, Compensation]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: every statistic of the shown joints as printed in the paper, and by each step [N·m]."""
    first = next(iter(found.values()))
    shown = shown_joints(first.joints)
    paper = len(shown) == len(PAPER_JOINTS) and first.joints[shown[0]].endswith(PAPER_JOINTS[0])
    statistics = {label: one.statistics for label, one in found.items()}
    rows = []
    for k, j in enumerate(shown):
        for key, printed in PAPER.items():
            ours = [number(float(values[key][j]), 3) for values in statistics.values()]
            rows.append([first.joints[j], key, number(printed[k], 3) if paper else "-", *ours])
    return ["joint", "[N·m]", "paper", *found], rows
