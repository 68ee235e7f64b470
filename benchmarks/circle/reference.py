"""A circle of the tip as a joint trajectory: exact positions and rates by inverse kinematics on the generated functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.model.robot import Robot

__all__ = ["Reference", "circle"]

SOLVED = 1e-11  # m and rad
ITERATIONS = 30  # of Newton's method; three are usual from the sample before
LARGEST_STEP = 0.2  # rad that one iteration may turn a joint


@dataclass(frozen=True, eq=False)
class Reference:
    """Samples `period` [s] apart: p, pd, pdd (samples, n) [rad …], tip (samples, 3) [m], world frame."""

    period: float
    p: FloatArray
    pd: FloatArray
    pdd: FloatArray
    tip: FloatArray

    def __len__(self) -> int:
        return len(self.p)

    @property
    def time(self) -> FloatArray:
        """Instants of the samples [s]."""
        time: FloatArray = self.period * np.arange(len(self), dtype=np.float64)
        return time

    def at(self, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sample k, or the last one held at rest."""
        if k < len(self):
            return self.p[k], self.pd[k], self.pdd[k]
        zero = np.zeros_like(self.p[-1])
        return self.p[-1], zero, zero


def circle(
    robot: Robot,
    start: npt.ArrayLike,
    *,
    diameter: float = 0.3,
    lap: float = 4.0,
    laps: int = 1,
    ramp: float = 1.0,
    period: float = 0.01,
    axes: Sequence[int] = (1, 2),
) -> Reference:
    """The tip of `robot` on a circle of `diameter` [m] through where it is at `start` (n,) [rad], turned never.

    The circle lies in the world axes `axes`, its centre half a diameter along the negative first one. It takes
    `lap` [s] a round, and before and after that `ramp` [s] to reach and leave this speed from rest (half a ramp's way
    each). Of seven joints the third stays, so that six are left to decide.
    """
    p = np.array(start, dtype=np.float64)
    if robot.n not in (6, 7) or p.shape != (robot.n,):
        raise InputError(f"circle: {robot.name} has {robot.n} joints; expected an arm of 6 or 7 and a pose for each.")
    moving = [k for k in range(robot.n) if robot.n == 6 or k != 2]
    position, rotation = robot.tip_pose(p)
    first, second = axes
    total = laps * lap + 2.0 * ramp
    time: FloatArray = period * np.arange(math.floor(total / period + 1.5), dtype=np.float64)
    angle, rate = _angle(time, total, ramp, 2.0 * math.pi / lap)
    radius = 0.5 * diameter
    tip, velocity = np.tile(position, (len(time), 1)), np.zeros((len(time), 3))
    tip[:, first] += radius * (np.cos(angle) - 1.0)
    tip[:, second] += radius * np.sin(angle)
    velocity[:, first] = -radius * np.sin(angle) * rate
    velocity[:, second] = radius * np.cos(angle) * rate
    P, PD = np.empty((len(time), robot.n)), np.zeros((len(time), robot.n))
    for k, (place, speed) in enumerate(zip(tip, velocity, strict=True)):
        p = _inverse(robot, p, place, rotation, moving, time[k])
        P[k] = p
        PD[k, moving] = np.linalg.solve(robot.tip_jacobian(p)[:, moving], np.concatenate([speed, np.zeros(3)]))
    _check_limits(robot, P, PD, time)
    PDD: FloatArray = np.asarray(np.gradient(PD, period, axis=0, edge_order=2))
    return Reference(period, P, PD, PDD, tip)


def _angle(time: FloatArray, total: float, ramp: float, speed: float) -> tuple[FloatArray, FloatArray]:
    """Angle [rad] and its rate [rad/s]: the rate rises and falls as a raised cosine."""
    if ramp <= 0.0:
        return speed * time, np.full_like(time, speed)

    def risen(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = np.clip(t, 0.0, ramp)
        rate = 0.5 * speed * (1.0 - np.cos(math.pi * inside / ramp))
        way = 0.5 * speed * (inside - ramp / math.pi * np.sin(math.pi * inside / ramp))
        return way + speed * np.maximum(t - ramp, 0.0), rate

    up, up_rate = risen(time)
    left = total - time
    down, down_rate = risen(left)
    end = speed * (total - ramp)
    before = time <= 0.5 * total
    return np.where(before, up, end - down), np.where(before, up_rate, down_rate)


def _inverse(
    robot: Robot, p: FloatArray, place: FloatArray, rotation: FloatArray, moving: list[int], time: float
) -> FloatArray:
    """The pose near p whose tip is at `place` (3,) [m] with `rotation` (3, 3)."""
    p = p.copy()
    for _ in range(ITERATIONS):
        at, turned = robot.tip_pose(p)
        between = rotation @ turned.T
        turn = 0.5 * np.array(
            [between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]
        )
        error = np.concatenate([place - at, turn])
        if np.abs(error).max() < SOLVED:
            return p
        change = np.linalg.lstsq(robot.tip_jacobian(p)[:, moving], error, rcond=None)[0]
        p[moving] += change * min(1.0, LARGEST_STEP / max(float(np.abs(change).max()), LARGEST_STEP))
    raise SolverError(
        f"circle: the tip does not reach {np.round(place, 3).tolist()} m at {time:g} s; a smaller one may do."
    )


def _check_limits(robot: Robot, P: FloatArray, PD: FloatArray, time: FloatArray) -> None:
    for k, joint in enumerate(robot.manifest.robot.joints):
        low, high = robot.limits.lower[k], robot.limits.upper[k]
        if P[:, k].min() < low or P[:, k].max() > high:
            raise InputError(
                f"circle: {joint.name} would move from {P[:, k].min():.3f} to {P[:, k].max():.3f} rad, its limits are "
                f"{low:g} and {high:g}; start elsewhere or take a smaller one."
            )
        fastest = float(np.abs(PD[:, k]).max())
        if joint.velocity is not None and fastest > joint.velocity:
            raise InputError(
                f"circle: {joint.name} would reach {fastest:.2f} rad/s at {time[np.abs(PD[:, k]).argmax()]:.2f} s, its "
                f"limit is {joint.velocity:g}; take longer for a lap."
            )
