"""One joint under an impedance law and pushes, in steps of the generated dynamics: traces, figures of merit, table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.model.robot import Robot

__all__ = [
    "BAND",
    "Merit",
    "MotionNetTorque",
    "Trace",
    "merits",
    "motor_limit",
    "over_time",
    "simulate",
    "write_traces",
]

BAND = 0.01  # rad about the final angle within which the joint counts as settled
FINAL = 2.0  # s at the end of a phase whose mean is its final angle
DIVERGED = 10.0  # rad; further away than any joint gets, a run is called off


@dataclass(frozen=True, eq=False)
class Trace:
    """A run, (ticks,) each: time [s], angle [rad], rate [rad/s], and torques [N·m]: sent to the motor, its spring and
    damper part, its net part, external."""

    name: str
    time: FloatArray
    angle: FloatArray
    rate: FloatArray
    motor: FloatArray
    spring: FloatArray
    net: FloatArray
    external: FloatArray


class MotionNetTorque:
    """The net torque of the motion seen in the last tick: with it the arm feels lighter by the scaling factor."""

    def __init__(self, table: NetTorqueMap) -> None:
        """`table` is of the only joint."""
        self.table = table
        self._before: tuple[float, float] | None = None

    def start(self, q: FloatArray) -> None:
        """Forget the past."""
        self._before = None

    def torque(self, reference: FloatArray, q: FloatArray, dq: FloatArray) -> FloatArray:
        """[N·m] that the map gives for the step from the tick before to this one."""
        before, self._before = self._before, (float(q[0]), float(dq[0]))
        if before is None:
            return np.zeros_like(q)
        return np.array([self.table(float(q[0]) - before[0], before[1])])


def motor_limit(robot: Robot) -> float:
    """[N·m] The effort limit of the one joint."""
    effort = robot.manifest.robot.joints[0].effort
    if effort is None:
        raise InputError(f"{robot.joints[0]} has no effort limit, which the motor needs.")
    return effort


def simulate(
    name: str,
    robot: Robot,
    controller: ImpedanceController,
    *,
    start: float,
    duration: float,
    external: Callable[[float, float, float], float],
    alpha: FloatArray,
    effort: float,
) -> Trace:
    """A one-joint `robot` from rest at `start` [rad], a tick a step of its h; `external` [N·m] of time, angle, rate.

    The motor torque is limited to `effort` [N·m] and held for a step. A run that leaves every bound ends there.
    """
    if robot.n != 1:
        raise InputError(f"{robot.name} has {robot.n} joints: expected one, the others held (--hold of generate).")
    q, dq = np.array([start]), np.zeros(1)
    controller.start(q)
    rows = []
    for k in range(round(duration / robot.h)):
        time = k * robot.h
        spring, net = controller.parts(time, q, dq)
        motor = float(np.clip(spring[0] + net[0], -effort, effort))
        outside = external(time, float(q[0]), float(dq[0]))
        rows.append((time, q[0], dq[0], motor, spring[0], net[0], outside))
        if abs(q[0]) > DIVERGED:
            break
        after = robot.joint_step(q, dq, np.array([motor + outside]), alpha=alpha)
        q, dq = after.p_next, after.pd_next
    return Trace(name, *np.array(rows).T)


@dataclass(frozen=True)
class Merit:
    """Merit of one phase: `offset` [rad] of the final angle from the goal, `overshoot` [rad] beyond the final angle,
    `settling` [s] until within the band for good (None: not within the phase)."""

    phase: str
    offset: float
    overshoot: float
    settling: float | None


def merits(trace: Trace, goal: float, phases: Sequence[tuple[str, float, float]]) -> list[Merit]:
    """Figures of merit of the phases (name, begin [s], end [s]) that the trace covers."""
    found = []
    for name, begin, end in phases:
        chosen = (trace.time >= begin) & (trace.time < end)
        if trace.time[-1] < end - FINAL:
            continue
        time, angle = trace.time[chosen], trace.angle[chosen]
        final = float(angle[time >= end - FINAL].mean())
        away = np.abs(angle - final) > BAND
        last = float(time[np.flatnonzero(away)[-1]]) if away.any() else begin
        way = np.sign(final - angle[0])
        overshoot = max(0.0, float((way * (angle - final)).max()))
        settled = None if last >= end - FINAL else last - begin
        found.append(Merit(name, final - goal, overshoot, settled))
    return found


def over_time(panels: Mapping[str, Any], headroom: float) -> None:
    """Finishes panels above each other, by the labels of their values; part `headroom` of a panel's height is its legend's."""
    for label, panel in panels.items():
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small", frameon=False, ncols=4, loc="upper center")
        low, high = panel.get_ylim()
        panel.set_ylim(low, high + headroom * (high - low))  # the legend is clear of the curves
    panel.set_xlabel("time [s]")


def write_traces(path: str | Path, traces: Sequence[Trace]) -> None:
    """CSV: one row a run and tick."""
    columns = ("time", "angle", "rate", "motor", "spring", "net", "external")
    units = ("s", "rad", "rad_s", "Nm", "Nm", "Nm", "Nm")
    header = ["run", *(f"{column}_{unit}" for column, unit in zip(columns, units, strict=True))]
    rows = (
        [trace.name, *row]
        for trace in traces
        for row in zip(*(getattr(trace, column) for column in columns), strict=True)
    )
    write_rows(path, header, rows, digits=9)
