"""A PNG of a simulation: joint positions, torques, energy and, where there are any, joint gaps over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import Target, beside, curve, new_figure, reached_limits, save, stroke
from diffpbd.runtime.simulate.simulation import Run

__all__ = ["plot_run"]

PANEL_HEIGHT_INCH = 2.8
WIDTH_INCH = 10.0
DOTS_PER_INCH = 120
ROUNDING = 1e-11  # m or 1; joint gaps below are those of a closed form, and no picture


def plot_run(run: Run, path: Target, *, title: str, robot: Robot) -> None:
    """Draw `run` of the robot; a limit is drawn where a joint comes near it. Panels without content are left out."""
    joints = robot.manifest.robot.joints
    torques = bool(np.abs(run.tau).max(initial=0.0) > 0.0)
    energy = run.kinetic is not None and run.potential is not None
    gaps = run.gap is not None and bool(run.gap.max(initial=0.0) > ROUNDING)
    count = 1 + torques + energy + gaps
    figure = new_figure(WIDTH_INCH, count * PANEL_HEIGHT_INCH)
    panels = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    figure.suptitle(title)
    positions = panels.pop(0)
    _joints(positions, run.time, run.q, run.positions, "position", _units(robot))
    limits = {joint.name: (joint.lower, joint.upper) for joint in joints}
    for k, name in enumerate(run.positions):
        reached_limits(positions, run.q[:, k], *limits.get(name, (None, None)), stroke(k)["color"])
    if torques:
        efforts = tuple(joint.effort_unit for joint in joints)
        _joints(panels.pop(0), run.time, run.tau, run.joints, "torque", efforts)
    if energy:
        _energy(panels.pop(0), run)
    if gaps:
        assert run.gap is not None
        panels[0].semilogy(run.time, np.maximum(run.gap, ROUNDING), color="0.2")
        panels[0].set_ylabel("largest joint gap [m or 1]")
        panels[0].grid(alpha=0.3)
    figure.axes[-1].set_xlabel("time [s]")
    save(path, figure, DOTS_PER_INCH)


def _units(robot: Robot) -> tuple[str, ...]:
    """Units of the numbers of a position."""
    units = [joint.unit for joint in robot.manifest.robot.joints]
    if robot.manifest.robot.floating:
        units[3:6] = ["1"] * 4
    return tuple(units)


def _joints(panel: Any, time: Any, values: Any, names: Sequence[str], what: str, units: Sequence[str]) -> None:
    """A curve a joint, named at its end."""
    for k in range(len(names)):
        curve(panel, time, values[:, k], **stroke(k))
    beside(panel, names, values[-1], [stroke(k)["color"] for k in range(len(names))])
    panel.set_ylabel(f"{what} [{' or '.join(dict.fromkeys(units))}]")
    panel.grid(alpha=0.3)


def _energy(panel: Any, run: Run) -> None:
    assert run.kinetic is not None and run.potential is not None
    potential = run.potential - run.potential[0]
    curves = {"kinetic": run.kinetic, "potential, 0 at the start": potential, "sum": run.kinetic + potential}
    for k, values in enumerate(curves.values()):
        curve(panel, run.time, values, **(stroke(k) if k < 2 else {"color": "0.2", "linestyle": "--"}))
    colours = [stroke(0)["color"], stroke(1)["color"], "0.2"]
    beside(panel, list(curves), np.array([values[-1] for values in curves.values()]), colours)
    panel.set_ylabel("energy [J]")
    panel.grid(alpha=0.3)
