"""Figure and table of the spring estimation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import legend_below, new_figure, panel, save, stroke
from experiments.design.spring import Lever, Measurements, Scheme

__all__ = ["falling", "plot", "write_table"]

SIZE = (11.0, 4.2)
FLOOR = 1e-12
"""[1] Part of the first loss below which all are drawn as this."""
MARKERS = "os^v"


def plot(path: str | Path, robot: Robot, measured: Measurements, truth: Lever, schemes: Sequence[Scheme]) -> None:
    """PNG: losses over evaluations, each as part of its first; the spring's torque over the angle."""
    figure = new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    panel(
        left,
        "loss over its first; updated: the lengths, then k from its start;\nthin: ADAM on k, measured lengths",
        f"evaluations, up to the least loss, or iterations of ADAM (at {FLOOR:g}: less)",
        "loss / first loss [1]",
    )
    panel(right, "torque of the spring", "joint angle [rad]", "torque on the joint [N·m]")
    angle = np.sort(measured.poses[:, measured.joint])
    exact = np.asarray(robot.lever_spring_torque(angle, *truth.numbers()))
    right.plot(angle, exact, "k.", markersize=5)
    for k, scheme in enumerate(schemes):
        label = f"{scheme.name}, {scheme.lengths} lengths: k = {scheme.lever.stiffness:.0f} N/m"
        left.semilogy(
            falling(scheme.history),
            **stroke(k),
            marker=MARKERS[k],
            linewidth=1,
            markersize=4,
            clip_on=False,
        )
        if scheme.descent is not None:
            left.semilogy(
                np.maximum(scheme.descent / scheme.descent[0], FLOOR), color=stroke(k)["color"], linewidth=0.8
            )
        torque = robot.lever_spring_torque(angle, *scheme.lever.numbers())
        right.plot(angle, torque, **stroke(k), linewidth=1.2, label=label)
        left.plot([], [], **stroke(k), marker=MARKERS[k], markersize=4, label=label)
    left.set_ylim(bottom=FLOOR)
    left.plot([], [], "k.", markersize=5, label="wanted torque")
    legend_below(figure, left, columns=2)
    save(path, figure)


def falling(history: Sequence[float]) -> FloatArray:
    """Losses as parts of the first, none below `FLOOR`, without the flat end within a thousandth of the least."""
    parts = np.maximum(np.array(history) / history[0], FLOOR)
    above = np.flatnonzero(parts > (1.0 + 1e-3) * parts.min())
    return parts[: int(above[-1]) + 2 if len(above) else 1]


def write_table(path: str | Path, blocks: Mapping[tuple[str, str], Sequence[Scheme]]) -> None:
    """CSV: one row a step, measurement and scheme."""
    header = [
        "step",
        "measurement",
        "scheme",
        "lengths",
        "loss",
        "torque_rms_Nm",
        "k_N_per_m",
        "l1_m",
        "l2_m",
        "alpha_rad",
        "rest_m",
    ]
    rows = [
        [step, block, s.name, s.lengths, s.loss, s.rms, *s.lever.numbers()]
        for (step, block), schemes in blocks.items()
        for s in schemes
    ]
    write_rows(path, header, rows)
