"""The pictures of the torque table: torques, their errors, joint angles and the tip's path, by scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.options import option
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.torque_plots import plot_curves, plot_groups, plot_paths, plot_violins
from diffpbd.runtime.torques.settings import Settings
from experiments.torques.torque_table import PAPER, WINDOW, Cell

__all__ = ["IDENTIFIED", "WHOLE", "Files", "draw"]

IDENTIFIED, WHOLE = "identified", "whole recording"
"""Models of the cells; the second is the first, over the whole recording."""
DRAWN_JOINTS, VIOLIN_JOINTS = 6, 4
"""s0 … w1 and s0 … e1, as in the paper."""
OURS = "ours"
"""Label of `joint_step` among the steps."""
ASTRAY = 0.1
"""[1] Part of its range by which a joint's angle may be off and follow."""
PAPER_RMSE = {
    joint: {
        f"descent, {f'windows of {horizon}' if horizon > 1 else loss}, from {start}": errors[k]
        for (start, loss, horizon), errors in PAPER.items()
    }
    for k, joint in enumerate(("s1", "e0", "e1"))
}
"""[N·m] The paper's errors by the end of a joint's name and the label of a scheme."""
DRAWN_SECONDS = 6.0
"""[s] Of the recording in the pictures, but for curves over the whole of it."""


@dataclass(frozen=True)
class Files:
    """Files to write: table; torques over seconds and over the whole recording, errors, joint angles, the tip's path."""

    out: str = option("Every number.", "torque_table.csv", metavar="FILE.csv")
    plot: str = option("Torques by scheme over time.", "torque_joints.png", metavar="FILE.png")
    whole: str = option("The descent over the whole recording.", "torque_whole.png", metavar="FILE.png")
    violin: str = option("Torque errors by scheme.", "torque_violin.png", metavar="FILE.png")
    angles: str = option("Joint angles under the torques.", "torque_angles.png", metavar="FILE.png")
    path: str = option("The tip under windows of three steps.", "torque_path.png", metavar="FILE.png")


def draw(robot: Robot, test: Samples, cells: Sequence[Cell], files: Files) -> None:
    """All pictures: every scheme of the last descent (as printed, if there is one), optima and converged schemes."""
    descent = next((c.method for c in reversed(cells) if c.model == IDENTIFIED and c.method.startswith("adam")), "")
    shown = [c for c in cells if c.estimate is not None and c.model in (IDENTIFIED, WHOLE) and _is_drawn(c, descent)]
    end = test.time[0] + DRAWN_SECONDS
    recorded = {"recorded, filtered": (test.time, test.tau)}
    torques: dict[str, dict[str, tuple[FloatArray, FloatArray]]] = {}
    angles, errors, tips = {"recorded": (test.time, test.q)}, {}, {"recorded": _tip(robot, test.q[test.time <= end])}
    whole = dict(recorded)
    for c in shown:
        assert c.estimate is not None  # chosen above
        label, found = _label(c), c.estimate
        at = (found.time + (0.5 * found.h if found.held else 0.0), found.reading)
        if c.model == WHOLE:
            whole[label] = at
            continue
        if c.method == descent or c.settings.loss != "angle":  # optima of angles alone leave the recording's range
            column, name = _place(c)
            torques.setdefault(column, {})[name] = at
        errors[label] = found.reading - found.measured(test.tau[: c.samples + (1 if found.held else 2)])
        if c.settings.carry:
            if _follows(c):
                angles[label] = (found.time, found.q)
            if c.settings.horizon > 1:
                tips[label] = _tip(robot, found.q[found.time <= end])
    title, six = f"{robot.name}, {test.name}", range(min(DRAWN_JOINTS, robot.n))

    def cut(curves: dict[str, tuple[FloatArray, FloatArray]]) -> dict[str, tuple[FloatArray, FloatArray]]:
        return {label: (t[t <= end], values[t <= end]) for label, (t, values) in curves.items()}

    groups = {column: cut(curves) for column, curves in torques.items()}
    drawn = cut(recorded)["recorded, filtered"]
    what = f"published descent: {descent.removeprefix('adam, ')}"
    plot_groups(files.plot, robot, six, drawn, groups, f"{title}: joint torques with the identified model; {what}")
    if len(whole) > 1:
        plot_curves(files.whole, robot, six, whole, f"{title}: joint torques of the published descent")
    plot_violins(
        files.violin, robot, range(min(VIOLIN_JOINTS, robot.n)), errors, f"{title}: torque errors; {what}", PAPER_RMSE
    )
    plot_curves(files.angles, robot, six, cut(angles), f"{title}: joint angles under the torques{_astray(robot, six, angles)}",
                what="angle")  # fmt: skip
    plot_paths(files.path, tips, f"{title}: the tip under windows of {WINDOW.horizon} steps")


def _tip(robot: Robot, q: FloatArray) -> FloatArray:
    """Positions (samples, 3) [m] of the tip; of the last link's mass centre where there is no single tip."""
    if len(robot.manifest.robot.tips) == 1:
        return np.asarray(robot.tip_pose(q).position)
    return np.asarray(robot.fk(q, np.zeros_like(q))).reshape(len(q), -1, 13)[:, -1, :3]


def _astray(robot: Robot, joints: Sequence[int], curves: Mapping[str, tuple[FloatArray, FloatArray]]) -> str:
    """Which joints do not follow the first of the curves: most of the longest others leave it by `ASTRAY` of its range."""
    (time, recorded), *others = curves.values()
    longest = max((t[-1] for t, _ in others), default=0.0)
    others = [(t, values) for t, values in others if t[-1] > 0.9 * longest]
    words = []
    for j in joints:
        reach = max(float(np.ptp(recorded[:, j])), 1e-9)
        off = [
            np.sqrt(np.mean((values[:, j] - np.interp(t, time, recorded[:, j])) ** 2)) / reach for t, values in others
        ]
        if off and float(np.median(off)) > ASTRAY:
            words.append(f"{robot.joints[j]} ({100 * float(np.median(off)):.0f} %)")
    return f"\ndo not follow (error over the recording's range): {', '.join(words)}" if words else ""


def _is_drawn(cell: Cell, descent: str) -> bool:
    """Every scheme of `descent`; one curve of an optimum or a converged loss, whose starts give the same."""
    s = cell.settings
    if cell.model == WHOLE:
        return True
    if cell.method.startswith("adam"):
        return cell.method == descent
    if cell.method.startswith("optimum"):
        return s.loss == WINDOW.loss and s.start == "zero"
    return s.loss == "nodes" or (not s.carry and s.start == "zero") or s.horizon > 1


def _follows(cell: Cell) -> bool:
    """Whether its joint angles are drawn: the descents from gravity and in windows, the optimum of our step, what converged."""
    s = cell.settings
    if cell.method.startswith("adam"):
        return s.start == "gravity" or s.horizon > 1
    return not cell.method.startswith("optimum") or cell.method == f"optimum, {OURS}"


def _place(cell: Cell) -> tuple[str, str]:
    """The column of the torques that a scheme stands in, and its name there: what the column does not say."""
    s = cell.settings
    if cell.method.startswith("adam"):
        return f"descent from {s.start}", _loss(s)
    if cell.method.startswith("optimum"):
        return "each step's optimum", cell.method.removeprefix("optimum, ")
    return "converged over the recording", f"{_loss(s)}{', carried' if s.carry else ''}"


def _loss(settings: Settings) -> str:
    return f"windows of {settings.horizon}" if settings.horizon > 1 else settings.loss


def _label(cell: Cell) -> str:
    s = cell.settings
    if cell.method.startswith("adam"):
        return f"descent, {_loss(s)}, from {s.start}"
    if cell.method.startswith("optimum"):
        return cell.method
    return f"{_loss(s)}{', carried' if s.carry else ''}"
