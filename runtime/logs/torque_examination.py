"""Checks measured torques against the robot's description: signs, exchanged joints, units, time shift.

What a sensor reads is, joint by joint, a gain times the rigid body's torque, Coulomb and viscous friction, a spring where the
recipe lists one, and an offset; gain, friction and stiffness are at least zero. This model is fitted by bounded least
squares, and its residual decides between the hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.motion_examination import examine_motions, exchange
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.logs.thresholds import ADVANTAGE, EXPLAINED, GAIN, MOVING, SHARE, SHIFT
from diffpbd.runtime.logs.torque_clock import Clock, clock_of
from diffpbd.runtime.model.closed import motor_torque
from diffpbd.runtime.model.robot import Robot

__all__ = ["Explained", "examine_torques", "explained"]

FEWEST, MOST = 50, 1500  # samples of a recording: of fewer no torque is judged, of more some are looked at
SLIP = 0.02  # rad/s or m/s over which Coulomb friction turns its sign
FARTHEST, FINEST = 0.3, 0.01  # s: shifts in time that are tried
EDGE = 0.03  # part of a recording at each end, where its filter settles
CLOCKED = 0.6  # residual with a torque's own clock over that with a shift
LONG_ENOUGH, HOLE = 5.0, 0.1  # s: a recording whose torque may have a clock, and steps between its samples
UNLIKELY_DROP = 0.85  # what is left unexplained at the best shift, as part of what is left without
ALIKE_GAINS = 1.05  # [1] largest over smallest gain of joints that one unit tells
UNITS = {1e3: "N·mm", 100.0: "N·cm", 10.197: "kgf·cm", 8.8507: "lbf·in", 141.61: "ozf·in", 0.73756: "lbf·ft"}
LEAST = 1e-3  # N·m or N; least variation of a checked torque


@dataclass(frozen=True)
class Explained:
    """`left` [1]: unexplained RMS of a torque about its mean, relative to its RMS; `gain` [1] of the rigid-body torque;
    `share` [1]: its part of the torque's deviation."""

    left: float
    gain: float
    share: float


@dataclass(frozen=True)
class _Signals:
    """Thinned samples: time (samples,) [s], q, dq, ddq, the rigid body's torque u and the measured tau (samples, n); `step`
    [s]."""

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    u: FloatArray
    tau: FloatArray
    step: float


def explained(tau: FloatArray, u: FloatArray, dq: FloatArray, spring: FloatArray | None) -> Explained:
    """Fits a torque (samples,) by a rigid body's, friction at these rates, and a spring's deflection if there is one."""
    y = tau - tau.mean()
    size = float(np.linalg.norm(y))
    if size == 0.0:
        return Explained(1.0, 0.0, 0.0)
    columns = [u, np.tanh(dq / SLIP), dq, *([] if spring is None else [spring])]
    A = np.column_stack([column - column.mean() for column in columns])
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = 1.0
    found, left = nnls(A / scale, y)
    return Explained(float(left) / size, float(found[0] / scale[0]), float(found[0]) / size)


def examine_torques(robot: Robot, parts: Sequence[Samples]) -> list[Finding]:
    """Findings about the torques of one recording, given as its filtered parts."""
    parts = [part for part in parts if not part.unread]
    if not parts:
        return []
    if sum(len(part) for part in parts) < FEWEST:
        return []
    s = _signals(robot, parts)
    moving = np.sqrt(np.mean(s.dq**2, axis=0)) > MOVING
    varied = (np.std(s.tau, axis=0) > LEAST) & (np.std(s.u, axis=0) > LEAST)
    judged = np.flatnonzero(moving & varied)
    springs = set(robot.manifest.recipe.springs)
    cross = {
        (i, j): explained(s.tau[:, i], s.u[:, j], s.dq[:, j], s.q[:, j] if robot.joints[j] in springs else None)
        for i in judged
        for j in judged
    }
    if found := examine_motions(robot, s, judged.tolist(), lambda *own: explained(*own).left):
        return found
    findings: list[Finding] = []
    clocks: dict[str, Clock] = {}
    exchanged: set[int] = set()
    for i, j in ((i, j) for i in judged for j in judged if i < j):
        straight, crossed = (cross[i, i].left, cross[j, j].left), (cross[i, j].left, cross[j, i].left)
        if all(c < ADVANTAGE * a for a, c in zip(straight, crossed, strict=True)) and max(crossed) < 1.0 - EXPLAINED:
            names = robot.joints[i], robot.joints[j]
            figure = (
                f"unexplained are {_percent(straight)} of the torques as they stand and {_percent(crossed)} exchanged"
            )
            message = f"its torque and that of {names[1]} look exchanged: {figure}"
            findings.append(Finding("swapped", names[0], message, exchange(("tau",), *names), grave=True))
            exchanged |= {int(i), int(j)}
    for i in judged:
        if i not in exchanged:
            findings += _of_joint(robot, s, int(i), cross[i, i], robot.joints[i] in springs, clocks)
    if clocks:
        return [*findings, *_of_clocks(clocks, _alike(clocks, len(judged)))]
    return _of_one_unit(robot, findings, {robot.joints[i]: cross[i, i].gain for i in judged})


def _of_one_unit(robot: Robot, findings: list[Finding], gains: Mapping[str, float]) -> list[Finding]:
    """If all wrong gains are wrong by the same factor, it is the unit of all torques."""
    off = [finding.joint for finding in findings if finding.kind == "gain"]
    told = [gains[joint] for joint in off]
    if len(off) < 2:
        return findings
    drives = f"{arg.drive_gain} {','.join(f'{j}={1.0 / gains[j]:.4g}' for j in off)}"
    others = [finding for finding in findings if finding.kind != "gain"]
    if max(told) > ALIKE_GAINS * min(told):
        rest = [joint for joint in robot.joints if joint not in off]
        more = f"; of {', '.join(rest)} by runs with a payload, see `diffpbd drive-gain`" if rest else ""
        message = (
            f"torques of {' and '.join(off)} are {' and '.join(f'{g:.3g}' for g in told)} times the description's: amperes, "
            "before gears, or masses far off?"
        )
        return [*others, Finding("gain", "", message, drives + (more or f"; or {arg.fit} …,sensor.gain"))]
    factor = float(np.exp(np.mean(np.log(told))))
    unit = next((f" ({word})" for own, word in UNITS.items() if 1.0 / ALIKE_GAINS < factor / own < ALIKE_GAINS), "")
    exact = next((own for own in UNITS if 1.0 / ALIKE_GAINS < factor / own < ALIKE_GAINS), factor)
    message = (
        f"torques of {' and '.join(off)} are {factor:.3g} times the description's{unit}, so probably all of this recording; "
        "or masses far off?"
    )
    return [*others, Finding("gain", "", message, f"{arg.scale} tau={1.0 / exact:.6g}; where currents, {drives}")]


def _signals(robot: Robot, parts: Sequence[Samples]) -> _Signals:
    thin = max(1, sum(len(part) for part in parts) // MOST)
    blocks = []
    for part in parts:
        edge = int(EDGE * len(part.time))
        rows = slice(edge, len(part.time) - edge, thin)
        q, dq, ddq, tau = (v[rows] for v in (part.q, part.dq, part.ddq, part.tau))
        u = motor_torque(robot, part.p[rows], dq, ddq, robot.alpha.defaults)
        blocks.append((part.time[rows], q, dq, ddq, np.reshape(u, q.shape), tau))
    time, q, dq, ddq, u, tau = (np.concatenate(values) for values in zip(*blocks, strict=True))
    return _Signals(time, q, dq, ddq, u, tau, thin / parts[0].rate)


def _alike(clocks: Mapping[str, Clock], joints: int) -> bool:
    """Whether all `joints` joints have the same clock."""
    slopes = [clock.factor - 1.0 for clock in clocks.values()]
    return 1 < len(slopes) == joints and np.ptp(slopes) < (ALIKE_GAINS - 1.0) * abs(np.mean(slopes))


def _of_clocks(clocks: Mapping[str, Clock], alike: bool) -> Iterator[Finding]:
    """Findings of torques with their own clock, by joint; a single one if all are `alike`."""
    for joint, clock in [("", next(iter(clocks.values())))] if alike else clocks.items():
        first, last = (
            f"{1e3 * abs(own):.0f} ms {'after' if own > 0.0 else 'before'}" for own in (clock.first, clock.last)
        )
        what = "its torque comes" if joint else "torques come"
        message = f"{what} {first} the motion at the start and {last} it at the end: a clock of its own?"
        mend = f"{arg.stretch} tau{joint and '_'}{joint}={clock.factor:.5g}"
        yield Finding("clock", joint, message, mend, grave=True)


def _of_joint(
    robot: Robot, s: _Signals, k: int, plain: Explained, sprung: bool, clocks: dict[str, Clock]
) -> list[Finding]:
    name = robot.joints[k]
    spring = s.q[:, k] if sprung else None
    turned = explained(-s.tau[:, k], s.u[:, k], s.dq[:, k], spring)
    if turned.left < ADVANTAGE * plain.left:
        figure = f"unexplained are {_percent((plain.left,))} of it as it stands and {_percent((turned.left,))} turned"
        return [Finding("sign", name, f"its torque has the wrong sign: {figure}", f"{arg.flip} {name}", grave=True)]
    found = []
    if plain.left < EXPLAINED and not sprung:
        shift, left = _shift(s, k)
        clock = _clock(s, k, shift)
        slope = 0.0 if clock is None else abs(clock.last - clock.first)
        if clock is not None and slope > SHIFT and clock.left < CLOCKED * min(left, plain.left):
            clocks[name] = clock
        elif abs(shift) > SHIFT and left < UNLIKELY_DROP * plain.left:
            way = "after" if shift > 0.0 else "before"
            mend = f"{arg.fit} …,sensor.delay.{name}"
            found.append(Finding("shift", name, f"its torque comes {1e3 * abs(shift):.0f} ms {way} the motion", mend))
        if plain.share > SHARE and not 1.0 / GAIN <= plain.gain <= GAIN:
            message = (
                f"its torque is {plain.gain:.3g} times the description's: amperes, before a gear, or masses far off?"
            )
            found.append(
                Finding(
                    "gain",
                    name,
                    message,
                    f"{arg.drive_gain} {name}={1.0 / plain.gain:.4g}, {arg.fit} …,sensor.gain.{name}",
                )
            )
    return found


def _clock(s: _Signals, k: int, middle: float) -> Clock | None:
    """The torque's clock, for a recording without gaps."""
    if np.diff(s.time).max() > HOLE or not LONG_ENOUGH < s.time[-1] - s.time[0]:
        return None

    def left(torque: FloatArray, rows: npt.NDArray[np.intp]) -> float:
        return explained(torque, s.u[rows, k], s.dq[rows, k], None).left

    return clock_of(s.time, s.tau[:, k], middle, left)


def _shift(s: _Signals, k: int) -> tuple[float, float]:
    """Delay of the torque after the motion [s], and the unexplained part then."""
    stride = max(1, round(FINEST / s.step))
    most = min(int(FARTHEST / s.step), len(s.tau) // 4)
    best = (0.0, 1.0)
    for shift in range(-(most // stride) * stride, most + 1, stride):
        rows = slice(most, len(s.tau) - most)
        late = slice(most + shift, len(s.tau) - most + shift)
        left = explained(s.tau[late, k], s.u[rows, k], s.dq[rows, k], None).left
        if left < best[1]:
            best = (shift * s.step, left)
    return best


def _percent(lefts: Sequence[float]) -> str:
    return " and ".join(f"{100.0 * left:.0f} %" for left in lefts)
