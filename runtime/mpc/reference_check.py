"""Checks a recording against the robot's limits before it is followed; bridges jumps on request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import Argument, InputError, arg
from diffpbd.runtime.base.quaternions import PLACE, expect_unit, without_turn
from diffpbd.runtime.causes.checked import read_whole
from diffpbd.runtime.logs.recording import Reading, Recording
from diffpbd.runtime.model.closed import motor_torque
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import LogReference, way_of

__all__ = ["REACH", "check_goal", "read_reference"]

REACH = 0.2
"""[rad or m] Largest distance from the start pose to a recording's first sample: the motion between was not recorded."""
SPEED_WINDOW, ACCELERATION_WINDOW = 0.03, 0.1
"""[s] Windows for speeds and accelerations from positions: the quantisation of 4e-4 rad of an encoder then gives 0.01 rad/s
and 0.05 rad/s²."""
MOST_BRIDGED = 1_000_000
"""Largest number of samples across one jump."""
ROUNDING = 1.02
"""[1] Tolerated factor on a limit: the accuracy of speeds of a sampled motion."""


@dataclass(frozen=True)
class _Way:
    """Positions at times, and notes on them."""

    time: FloatArray
    q: FloatArray
    dq: FloatArray


def read_reference(
    path: str | Path,
    robot: Robot,
    reading: Reading,
    approach: Approach,
    *,
    bridge: bool = False,
    alpha: FloatArray | None = None,
) -> tuple[LogReference, tuple[str, ...]]:
    """A reference along a log, with notes on it; refused by joint and time where positions jump or are too quick.

    `approach` leads to the first sample; with `bridge` jumps are crossed at its speed, and the start pose may be anywhere.
    """
    recording = read_whole(path, robot, reading)
    notes = [note for note in recording.notes if " jumps " not in note]
    way, faults = _whole(robot, recording, approach.speed, bridge)
    if bridge and recording.breaks:
        notes.append(
            f"{len(recording.breaks)} jumps are bridged at {approach.speed:g} rad/s: the reference takes longer than the log"
        )
    if not faults:
        faults = _too_quick(robot, way) + _too_strong(robot, way, robot.alpha.defaults if alpha is None else alpha)
    if faults:
        raise InputError(f"{path} cannot be followed by {robot.name}:" + "".join(f"\n  {fault}" for fault in faults))
    return way_of(robot, way.time, way.q, way.dq, approach, math.inf if bridge else REACH), tuple(notes)


def check_goal(robot: Robot, goal: FloatArray, option: str | Argument = arg.goal) -> None:
    """Refuses a goal (n_p,) of `option` outside of a joint's limits; NaN: that joint stays."""
    floating = robot.manifest.robot.floating
    if floating:
        _check_turn(robot, goal, option)
    for joint, value in zip(robot.manifest.robot.joints, without_turn(floating, goal).tolist(), strict=True):
        low = -math.inf if joint.lower is None else joint.lower
        high = math.inf if joint.upper is None else joint.upper
        if value < low or value > high:
            raise InputError(
                f"{option}: joint {joint.name}: {value:g} {joint.unit} is outside of its limits {low:g} to {high:g}."
            )


def _check_turn(robot: Robot, goal: FloatArray, option: str | Argument) -> None:
    """Refuses an orientation of a base that is not a complete unit quaternion."""
    given, names = ~np.isnan(goal[PLACE]), robot.positions[PLACE]
    if given.all():
        expect_unit(str(option), "base", goal)
    elif given.any():
        lacking = ", ".join(name for name, own in zip(names, given, strict=True) if not own)
        raise InputError(
            f"{option}: the turn of the base is one quaternion; {lacking} is missing beside the rest of it."
        )


def _whole(robot: Robot, r: Recording, speed: float, bridge: bool) -> tuple[_Way, list[str]]:
    """The recording in one piece: jumps are refused, or bridged at `speed`."""
    assert r.dq is not None  # read_whole asks for them
    faults = []
    step = float(np.median(np.diff(r.time)))
    edges = [0, *r.breaks, len(r)]
    time, q, dq = [r.time[: edges[1]]], [r.q[: edges[1]]], [r.dq[: edges[1]]]
    late = 0.0
    for a, b in zip(edges[1:], edges[2:], strict=False):
        change = r.q[a] - r.q[a - 1]
        k = int(np.argmax(np.abs(change)))
        unit = robot.manifest.robot.joints[k].unit
        if not bridge:
            what = f"{robot.joints[k]} jumps by {change[k]:.4g} {unit} at {r.time[a]:.6g} s"
            faults.append(f"{what} ({arg.bridge_jumps} goes there at the goal's speed)")
        takes = float(np.abs(change).max()) / speed
        if takes > MOST_BRIDGED * step:
            raise InputError(
                f"{robot.joints[k]} jumps by {change[k]:.4g} {unit} at {r.time[a]:.6g} s, which takes {takes:.4g} s at "
                f"{arg.goal_speed} {speed:g}; expected at most {MOST_BRIDGED * step:.4g} s. Take a higher {arg.goal_speed}."
            )
        inner = (np.arange(1, max(2, math.ceil(takes / step))) / max(2, math.ceil(takes / step)))[:, None]
        time.append(r.time[a - 1] + late + takes * inner[:, 0])
        q.append(r.q[a - 1] + inner * change)
        dq.append(np.broadcast_to(change / takes, (len(inner), len(change))))
        late += takes - float(r.time[a] - r.time[a - 1])
        time.append(r.time[a:b] + late)
        q.append(r.q[a:b])
        dq.append(r.dq[a:b])
    if faults:
        return _Way(r.time, r.q, r.dq), faults
    return _Way(*(np.concatenate(values) for values in (time, q, dq))), faults


def _span(way: _Way, window: float) -> int:
    return max(2, round(window / float(np.median(np.diff(way.time)))))


def _too_quick(robot: Robot, way: _Way) -> list[str]:
    """Where positions or rates are beyond a joint's speed limit."""
    w = min(_span(way, SPEED_WINDOW), len(way.time) - 1)
    slope = np.abs(way.q[w:] - way.q[:-w]) / (way.time[w:] - way.time[:-w])[:, None]
    found = []
    for k, joint in enumerate(robot.manifest.robot.joints):
        if joint.velocity is None:
            continue
        for speeds, times, what in (
            (slope[:, k], way.time[w:], "positions move"),
            (np.abs(way.dq[:, k]), way.time, "dq is"),
        ):
            worst = int(np.argmax(speeds))
            if speeds[worst] > ROUNDING * joint.velocity:
                figure = f"{what} {speeds[worst]:.4g} {joint.unit}/s at {times[worst]:.6g} s"
                found.append(f"{joint.name}: {figure}, beyond its limit of {joint.velocity:g} (slow the log down)")
                break
    return found


def _too_strong(robot: Robot, way: _Way, alpha: FloatArray) -> list[str]:
    """Where accelerations ask for more torque than a joint has."""
    w = _span(way, ACCELERATION_WINDOW)
    if len(way.time) < 2 * w + 1:
        return []
    before, after = (way.time[w:-w] - way.time[: -2 * w])[:, None], (way.time[2 * w :] - way.time[w:-w])[:, None]
    come, go = (way.q[w:-w] - way.q[: -2 * w]) / before, (way.q[2 * w :] - way.q[w:-w]) / after
    acceleration = 2.0 * (go - come) / (before + after)
    u = np.abs(motor_torque(robot, way.q[w:-w], 0.5 * (come + go), acceleration, alpha))
    u = np.reshape(u, acceleration.shape)
    found = []
    for k, joint in enumerate(robot.manifest.robot.joints):
        worst = int(np.argmax(u[:, k]))
        if joint.effort is not None and u[worst, k] > ROUNDING * joint.effort:
            unit = joint.effort_unit
            figure = f"an acceleration of {acceleration[worst, k]:.4g} {joint.unit}/s² at {way.time[w + worst]:.6g} s"
            found.append(f"{joint.name}: {figure} takes {u[worst, k]:.4g} {unit}, beyond its limit of {joint.effort:g}")
    return found
