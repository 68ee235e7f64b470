"""Results of `diffpbd mpc`: in words, and for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.quaternions import difference, without_turn
from diffpbd.runtime.model.closed import driven
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.reference import GoalReference, Reference
from diffpbd.runtime.mpc.simulation import ClosedLoop
from diffpbd.runtime.report.tables import table

__all__ = ["ending", "facts", "summary", "tip_away"]

MS = 1e3  # milliseconds a second


def ending(robot: Robot, run: ClosedLoop, bounds: FloatArray, reference: Reference) -> str:
    """How far the end is from where it should be, and which joints were at a bound of the plan, and for how long."""
    what, wanted = _aimed(robot, run, reference)
    floating = robot.manifest.robot.floating
    away = np.abs(difference(floating, run.q[-1], wanted))
    k = int(np.argmax(np.where(_led(robot, reference), away, -1.0)))
    unit = robot.manifest.robot.joints[k].unit
    lines = [f"at the end {robot.joints[k]} is {away[k]:.4g} {unit} from {what}"]
    lines += run.remarks
    places = without_turn(floating, run.q)
    slack = 1e-3 * np.maximum(1.0, np.abs(bounds))
    held = (
        ("torque", run.tau[:-1] >= bounds[1] - slack[1], run.tau[:-1] <= bounds[0] + slack[0]),
        ("position", places >= bounds[4] - slack[4], places <= bounds[3] + slack[3]),
        ("speed", run.dq >= bounds[5] - slack[5], run.dq <= -bounds[5] + slack[5]),
    )
    for kind, above, below in held:
        for j, count in enumerate((above | below).sum(axis=0).tolist()):
            if count:
                lines.append(
                    f"{robot.joints[j]} was at its {kind} bound for {count * run.h:.3g} s of {run.time[-1]:.3g} s"
                )
    return "\n".join(lines)


def _aimed(robot: Robot, run: ClosedLoop, reference: Reference) -> tuple[str, FloatArray]:
    """Where the end should be, and what says so: joints without a motor have no goal and follow."""
    if not isinstance(reference, GoalReference):
        return "its reference", np.asarray(run.reference[-1])
    if robot.manifest.robot.floating:
        return "the goal", reference.target
    return "the goal", np.where(_led(robot, reference), reference.target, run.reference[-1])


def _led(robot: Robot, reference: Reference) -> Any:
    """Which freedoms (n,) a reference speaks of: all of a log; of a goal the motors, and of a base what has one."""
    if not isinstance(reference, GoalReference):
        return np.ones(robot.n, dtype=np.bool_)
    base = np.arange(robot.n) < len(robot.manifest.robot.base_freedoms)
    return driven(robot) | (base & reference.asked)


def facts(robot: Robot, run: ClosedLoop, reference: Reference) -> dict[str, Any]:
    """The same for programs."""
    joints, times = robot.manifest.robot.joints, MS * run.seconds
    away = np.abs(difference(robot.manifest.robot.floating, run.q[-1], _aimed(robot, run, reference)[1]))
    place = dict(zip(run.positions, run.q[-1], strict=True))
    return {
        "robot": robot.name, "h": run.h, "ticks": len(run.seconds), "duration": run.time[-1],
        "sources": {source.value: count for source, count in run.sources.items() if count},
        "statuses": {status.name.lower(): count for status, count in run.statuses.items()},
        "tick_ms": {"median": np.median(times), "p99": np.quantile(times, 0.99), "longest": times.max()},
        "violation": run.violation,
        "joints": {
            joint.name: {
                "unit": joint.unit, "rms": run.rms[k], "away": away[k],
                **({"end": place[joint.name]} if joint.name in place else {}),
                "largest_torque": np.abs(run.tau[:, k]).max(), "disturbance": run.disturbance[-1, k],
            }
            for k, joint in enumerate(joints)
        },
        "positions": place,
    }  # fmt: skip


def tip_away(robot: Robot, run: ClosedLoop, goal: FloatArray, alpha: FloatArray) -> dict[str, float]:
    """How far [m] the tip of the plan's model is from its goal (3,) at the end of a run."""
    return {"tip_away": float(np.linalg.norm(robot.function("tip_pose")(run.q[-1], alpha).position - goal))}


def summary(robot: Robot, run: ClosedLoop) -> str:
    """Tick times, tracking error, sources and statuses of the ticks."""
    times = MS * run.seconds
    sources = ", ".join(f"{run.sources[source]} {source.value}" for source in PlanSource if run.sources[source])
    statuses = ", ".join(
        f"{count} {status.name.lower().replace('_', ' ')}" for status, count in sorted(run.statuses.items())
    )
    solver = MS * run.solver[np.isfinite(run.solver)]
    own = "solver alone: no time known"
    if solver.size:
        bounded = (
            f"at most {run.iterations.max():.0f} iterations of a program (active-set rounds or interior point), none in "
            f"{100.0 * (run.iterations == 0).mean():.0f} % of the ticks, where no bound was active"
            if run.iterations.any()
            else "no bound was active"
        )
        own = (
            f"solver alone: median {np.median(solver):.3f} ms, p99 {np.quantile(solver, 0.99):.3f} ms, longest "
            f"{solver.max():.3f} ms; {bounded}"
        )
    excess = f"exceeded by at most {run.violation:.3g}" if run.violation > 0.0 else "kept"
    lines = [
        f"{robot.name}: {len(run.seconds)} ticks of {run.h:g} s: {sources}; solver: {statuses}",
        f"tick: median {np.median(times):.3f} ms, p99 {np.quantile(times, 0.99):.3f} ms, longest {times.max():.3f} ms",
        own,
        f"tracking: RMS {run.rms.max():.3g} at the worst joint; position and speed limits {excess}",
        "",
    ]
    if run.disturbance.any():
        found = ", ".join(f"{j} {x:.3g}" for j, x in zip(robot.joints, run.disturbance[-1], strict=True))
        lines.insert(-1, f"disturbance estimated at the end [N·m, N for slides]: {found}")
    place = dict(zip(run.positions, run.q[-1], strict=True))
    known = robot.manifest.robot.joints
    rows = [
        [
            joint,
            f"{run.rms[k]:.3e}",
            f"{place[joint]:.6f}" if joint in place else "-",
            known[k].unit,
            f"{abs(run.tau[:, k]).max():.3f}",
            known[k].effort_unit,
        ]
        for k, joint in enumerate(robot.joints)
    ]
    if len(run.positions) > len(run.joints):
        x, y, z, *q = (f"{value:.6f}" for value in run.q[-1, :7])
        lines.insert(-1, f"base at the end: {x} {y} {z} m, quaternion wxyz {' '.join(q)}")
    return "\n".join([*lines, table(["joint", "RMS error", "q at the end", "unit", "largest tau", "unit"], rows)])
