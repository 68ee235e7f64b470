"""Predictive control of robots with closed loops, joints without a motor or moving bases: weights and bounds of motors only,
references on the closed loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.fitting import expect
from diffpbd.runtime.base.quaternions import PLACE
from diffpbd.runtime.model.closed import Closed, driven
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.problem import NONE, Bounds, Weights, finite_array
from diffpbd.runtime.mpc.reference import GoalReference, Reference

__all__ = [
    "OnLoops", "arrived", "bounds_of_motors", "closed_start", "expect_moments", "expect_motors", "expect_observable",
    "measured_state", "torque_bounds", "weights_of_motors",
]  # fmt: skip

NEARLY = 1e-2
"""[1] Tolerance of the length of a measured quaternion, for noise and rounding."""
TORQUES = ("u_lower", "u_upper", "du")


def weights_of_motors(robot: Robot, weights: Weights) -> Weights:
    """The weights, zero for torques of joints without a motor; given ones for such a joint are refused. A single number does
    not apply to the freedoms of a base, which motors do not control directly; weights per freedom do."""
    motors = driven(robot)
    if motors.all():
        return weights
    joints = np.arange(robot.n) >= len(robot.manifest.robot.base_freedoms)

    def of(name: str) -> FloatArray:
        value = np.asarray(getattr(weights, name), dtype=np.float64)
        if value.shape == (robot.n,) and value[~motors].any():
            raise _of_no_motor(robot, f"MPC weight {name}", value != 0.0)
        return np.where(motors, value, 0.0) if value.shape in ((), (robot.n,)) else value

    def of_joints(name: str) -> FloatArray:
        value = np.asarray(getattr(weights, name), dtype=np.float64)
        return np.where(joints, value, 0.0) if value.shape == () else value

    return replace(weights, p=of_joints("p"), pd=of_joints("pd"), u=of("u"), du=of("du"))


def bounds_of_motors(robot: Robot, bounds: Bounds) -> Bounds:
    """The bounds, unchanged; one on the torque of a joint without a motor is refused."""
    motors = driven(robot)
    for name in TORQUES:
        value = np.broadcast_to(np.asarray(getattr(bounds, name), dtype=np.float64), (robot.n,))
        if np.isfinite(value[~motors]).any():
            raise _of_no_motor(robot, f"MPC bound {name}", np.isfinite(value))
    return bounds


def _of_no_motor(robot: Robot, what: str, given: FloatArray) -> InputError:
    joints = [j for j, own, motor in zip(robot.joints, given, driven(robot), strict=True) if own and not motor]
    return InputError(f"{what}: given for {', '.join(joints)}, which has no motor; its torque is zero.")


def expect_observable(robot: Robot) -> None:
    """Refuses a disturbance observer if the robot's disturbance torques are not observable."""
    facts = robot.manifest.robot
    if facts.loops or facts.passive:
        what = "a base that moves" if facts.base_freedoms else "closed loops or joints without a motor"
        raise InputError(
            f"MPC: {robot.name} has {what}; torques beside the motors' cannot be told apart there, so there is no observer of "
            "disturbances."
        )


def expect_moments(time: float, stamp: float | None) -> float:
    """The `time` of a tick; refuses times that are no numbers."""
    for name, moment in (("time", time), ("stamp", 0.0 if stamp is None else stamp)):
        if not isinstance(moment, float):  # the usual case
            expect(f"Mpc.tick: {name}", moment, "float")
    return float(time)


def torque_bounds(robot: Robot, lower: npt.ArrayLike, upper: npt.ArrayLike) -> FloatArray:
    """Rows (2, n) [N·m] of two (n,), infinite ones as NONE; those that leave a joint no torque are refused by its name."""
    rows = [finite_array(name, x, (robot.n,), finite=False) for name, x in (("lower", lower), ("upper", upper))]
    for joint, low, high in zip(robot.joints, *rows, strict=True):
        if not low < high:
            raise InputError(
                f"MPC: torque bounds of {joint}: expected a lower one below the upper one, found {low:g} and {high:g} N·m."
            )
    return np.clip(np.array(rows), -NONE, NONE)


def measured_state(
    robot: Robot, closed: Closed | None, p: npt.ArrayLike, pd: npt.ArrayLike, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A measured state with a normalised base quaternion (length within NEARLY of 1), projected onto the closed loops;
    NaN if the loops do not close or the quaternion is invalid."""
    place = finite_array("p", p, (robot.n_p,), finite=False).copy()
    rates = finite_array("pd", pd, (robot.n,), finite=False)
    if robot.manifest.robot.floating and np.isfinite(place).all():
        size = np.linalg.norm(place[PLACE])
        place[PLACE] = place[PLACE] / size if abs(size - 1.0) <= NEARLY else np.nan
    if closed is None or not closed.looped or not (np.isfinite(place).all() and np.isfinite(rates).all()):
        return place, rates
    try:
        place = np.asarray(robot.close_loops(place, np.zeros(robot.n), alpha), dtype=np.float64)
        return place, np.asarray(robot.close_rates(place, rates, alpha), dtype=np.float64)
    except SolverError:
        return np.full_like(place, np.nan), rates


def closed_start(robot: Robot, start: FloatArray | None, alpha: FloatArray) -> FloatArray:
    """The pose [rad or m] (n_p,) to begin at, zero without one; with loops the closed pose in which the motors are where they
    are given, or nearest to zero."""
    pose = robot.neutral if start is None else start
    if not robot.manifest.robot.loops:
        return pose
    few = int(driven(robot).sum()) <= robot.manifest.robot.mobility
    fixed = np.where(driven(robot), 1.0, 0.0) if start is not None and few else np.zeros(robot.n)
    try:
        return np.asarray(robot.close_loops(pose, fixed, alpha), dtype=np.float64)
    except SolverError as error:
        raise InputError(f"The start pose does not close the loops: {error} Give one that does by {arg.q0}.") from None


def expect_motors(robot: Robot, goal: FloatArray) -> None:
    """Refuses a goal (n_p,; NaN: none) for a joint without a motor; a goal of a base is allowed."""
    base = len(robot.manifest.robot.base_freedoms)
    asked = ~np.isnan(goal[robot.n_p - robot.n :]) & ~driven(robot)
    asked[:base] = False
    if asked.any():
        names = ", ".join(j for j, own in zip(robot.joints, asked, strict=True) if own)
        raise InputError(f"{arg.goal}: {names} without a motor; give an object of goals of joints that have one.")


def arrived(robot: Robot, reference: GoalReference, within: float) -> Callable[[float, FloatArray, FloatArray], bool]:
    """A function of time and state: whether motors and other joints with a goal rest `within` [rad or m] of it; a base
    without a goal may move."""
    base = np.arange(robot.n) < len(robot.manifest.robot.base_freedoms)
    led, free = driven(robot) | (base & reference.asked), base & ~reference.asked
    return lambda _time, q, dq: reference.reached(q, np.where(free, 0.0, dq), within, led)


class OnLoops:
    """A reference of the motors, from the start pose on; joints without a motor follow by the closed loops."""

    def __init__(self, reference: Reference, closed: Closed) -> None:
        """For a robot with loops. With more motors than freedoms the nearest closed pose is taken."""
        self.reference, self._closed = reference, closed
        few = int(closed.motors.sum()) <= closed.mobility
        self._led = closed.motors if few else np.ones_like(closed.motors)

    def start(self, q: FloatArray) -> None:
        """Begin at the measured pose."""
        self.reference.start(q)
        self._last = q.copy()

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Closed positions, and rates that the loops allow."""
        q, dq = (np.array(values) for values in self.reference.at(time))
        q[0, ~self._led] = self._last[~self._led]
        q = self._closed.followed(q, self._led)
        self._last = q[0]
        q, dq, _ = self._closed.completed(q, dq, np.zeros_like(dq), self._led)
        return q, dq
