"""Impedance of the tip, with a task inertia that stays bounded where the arm is straight.

The inverse of A = J M⁻¹ Jᵀ is taken on its eigenvalues: exactly as long as they are above a share of the largest,
damped below it and zero at zero. So the law equals the textbook's away from a singular pose, is continuous through
it, and is zero in directions in which the tip cannot move.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray, common_factor
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import parse_numbers
from diffpbd.runtime.control.common import DAMPING, GOAL_SPEED, OLDER_WAY, STIFFNESS, GainWords, WayWords, gains, way
from diffpbd.runtime.control.law import Given, Law, PerJoint, Range, Setup, bounded
from diffpbd.runtime.interface.controller import Away, Mode
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.profile import PROFILE
from diffpbd.runtime.mpc.reference import GoalReference, way_to

__all__ = ["Cartesian", "CartesianController", "SINGULAR_SHARE", "TaskImpedance", "rotation_error", "task_inertia"]

TIP_STIFFNESS = (200.0, 200.0, 200.0, 5.0, 5.0, 5.0)  # N/m and N·m/rad
TIP_DAMPING = 0.7  # of critical
POSTURE = 0.2
"""Share of the joints' stiffness that holds what does not move the tip."""
TIP_STIFFEST = (3000.0, 3000.0, 3000.0, 300.0, 300.0, 300.0)
"""N/m and N·m/rad; the range of libfranka's own Cartesian impedance."""
FURTHEST, FASTEST = 2.0, 2.0
"""m and m/s; beyond the reach and speed of the supported arms."""
DAMPEST = 2.0
"""Damping ratio."""
SINGULAR_SHARE = 0.02
"""Share of the largest eigenvalue of J M⁻¹ Jᵀ below which the inverse is damped: the tip then takes fifty times
the force in that direction for the same acceleration."""


POSTURE_FLOOR = 0.01
"""Singular value of J [m or 1] at which half of a posture spring's torque passes in a direction that moves the tip."""


def _bounded_inverse(values: FloatArray) -> FloatArray:
    """1/s above the threshold s₀, s/(s² + (s₀ − s)²) below: continuous, at most 1.21/s₀, zero at zero."""
    values = np.maximum(values, 0.0)  # rounding leaves eigenvalues of a singular A slightly negative
    threshold = SINGULAR_SHARE * values.max(initial=0.0)
    if threshold == 0.0:
        return np.zeros_like(values)
    gap = np.maximum(threshold - values, 0.0)
    inverse: FloatArray = values / (values**2 + gap**2)
    return inverse


def task_inertia(jacobian: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The task inertia Λ (m, m) and its symmetric square root, from J (m, n) and the mass matrix (n, n)."""
    values, vectors = np.linalg.eigh(jacobian @ np.linalg.solve(mass, jacobian.T))
    inverse = _bounded_inverse(values)
    return (vectors * inverse) @ vectors.T, (vectors * np.sqrt(inverse)) @ vectors.T


@dataclass(frozen=True, eq=False)
class TaskImpedance:
    """Springs and dampers on the m task directions; `stiffness` (m,) > 0 [N/m or N·m/rad].

    Damping is ζ (√Λ √K + √K √Λ): the ratio ζ to critical for the task inertia, not for a unit mass.
    """

    stiffness: FloatArray
    damping_ratio: float
    effort: FloatArray
    """Limits of the joints' torques [N·m], (n,)."""

    def __post_init__(self) -> None:
        if not ((self.stiffness > 0).all() and self.damping_ratio >= 0 and (self.effort > 0).all()):
            raise InputError("Task impedance: stiffness and effort must be above 0, the damping ratio at least 0.")

    def torque(
        self,
        jacobian: FloatArray,
        mass: FloatArray,
        error: npt.ArrayLike,
        error_rate: npt.ArrayLike,
        acceleration: npt.ArrayLike,
    ) -> FloatArray:
        """Joint torque [N·m], gravity left out, for error and its rate (wanted − is) and wanted acceleration.

        Beyond an effort all joints are scaled by one factor, so that the force on the tip keeps its direction."""
        inertia, root = task_inertia(jacobian, mass)
        spring = np.sqrt(self.stiffness)
        damping = self.damping_ratio * (root * spring + spring[:, None] * root)
        force = inertia @ np.asarray(acceleration) + self.stiffness * np.asarray(error)
        torque: FloatArray = jacobian.T @ (force + damping @ np.asarray(error_rate))
        return common_factor(torque, self.effort) * torque


def rotation_error(wanted: FloatArray, found: FloatArray) -> FloatArray:
    """The rotation vector (3,) [rad], world axes, that turns `found` (3, 3) into `wanted`; at most half a turn long."""
    between = wanted @ found.T
    axis = 0.5 * np.array([
        between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]
    ])  # fmt: skip
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(between)) - 1.0)
    turn: FloatArray = axis if sine == 0.0 else math.atan2(sine, cosine) / sine * axis
    return turn


def _without_tip(jacobian: FloatArray, torque: FloatArray) -> FloatArray:
    """The part of a joint torque (n,) that no force on the tip could balance, fading in where the tip loses a direction."""
    _, values, rows = np.linalg.svd(jacobian, full_matrices=False)
    share = values**2 / (values**2 + POSTURE_FLOOR**2)
    rest: FloatArray = torque - rows.T @ (share * (rows @ torque))
    return rest


class CartesianController:
    """Impedance of the tip: springs of six directions between it and a goal, dampers by the task inertias.

    The goal starts at the tip's pose and moves by `offset` (3,) [m], world axes, at `speed` [m/s] by a profile
    (`GoalReference`); its orientation stays. In the null space of the tip a spring to the start pose and a damper
    act.
    """

    name = "cartesian"
    mode = Mode.TORQUE

    def __init__(
        self,
        robot: Robot,
        alpha: FloatArray,
        *,
        stiffness: Sequence[float],
        damping_ratio: float,
        offset: Sequence[float],
        speed: float,
        posture: Sequence[float],
        damping: Sequence[float],
        effort: FloatArray,
        **way: Any,
    ) -> None:
        """`stiffness` 3 [N/m] and 3 [N·m/rad]; `posture` [N·m/rad] and `damping` [N·m·s/rad] per joint, in the null space;
        `way` to the goal as of `GoalReference`, in metres: profile, acceleration, jerk."""
        for name, values, count in (
            ("tip stiffness", stiffness, 6), ("tip offset", offset, 3), ("posture", posture, robot.n),
            ("damping", damping, robot.n),
        ):  # fmt: skip
            if len(values) != count or not np.isfinite(values).all():
                raise InputError(f"Cartesian impedance: {name} needs {count} finite numbers, found {list(values)}.")
        if min(*posture, *damping) < 0:
            raise InputError("Cartesian impedance: posture and damping must be at least 0.")
        springs = np.array(stiffness, dtype=np.float64)
        # Separate, because one task inertia of metres and radians has eigenvalues too far apart to bound by a share.
        self._moved, self._turned = (TaskImpedance(part, damping_ratio, effort) for part in (springs[:3], springs[3:]))
        self._pose, self._jacobian = robot.function("tip_pose"), robot.function("tip_jacobian")
        self._mass, self._alpha = robot.function("mass_matrix"), alpha
        self._offset = np.array(offset, dtype=np.float64)
        self._posture = np.array(posture, dtype=np.float64)
        self._damping = np.array(damping, dtype=np.float64)
        self._way = GoalReference(np.array([np.linalg.norm(self._offset)]), speed, **way)
        self._along = self._offset / (self._way.goal[0] or 1.0)
        self._start: tuple[FloatArray, FloatArray, FloatArray] = (np.empty(0), np.empty(0), np.empty(0))

    def start(self, q: FloatArray) -> None:
        """Set the springs' zero to the tip's pose."""
        position, rotation = self._pose(q, self._alpha)
        self._start = q.copy(), position, rotation
        self._way.start(np.zeros(1))

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The law's torque [N·m]."""
        posture, position, rotation = self._start
        gone, speed = (values.item() for values in self._way.at(np.array([time])))
        at, turned = self._pose(q, self._alpha)
        jacobian, mass = self._jacobian(q, self._alpha), self._mass(q, self._alpha)
        error = np.concatenate([position + gone * self._along - at, rotation_error(rotation, turned)])
        rate = -jacobian @ dq
        rate[:3] += speed * self._along
        task = self._moved.torque(jacobian[:3], mass, error[:3], rate[:3], np.zeros(3))
        task = task + self._turned.torque(jacobian[3:], mass, error[3:], rate[3:], np.zeros(3))
        rest = _without_tip(jacobian, self._posture * (posture - q) - self._damping * dq)
        torque = task + rest
        return common_factor(torque, self._moved.effort) * torque

    def away(self, time: float, q: FloatArray) -> Away:
        """The tip, from its goal."""
        goal = self._start[1] + self._offset
        return Away(None, float(np.linalg.norm(self._pose(q, self._alpha)[0] - goal)), "m", "its goal")


@dataclass(frozen=True)
class _Words(GainWords, WayWords):
    tip_offset: str | None = option("Cartesian: way of the tip from its start [m], world axes.", None, metavar="JSON")
    tip_stiffness: str | None = option("Cartesian: three [N/m], three [N·m/rad], world axes.", None, metavar="JSON")


@dataclass(frozen=True, kw_only=True, eq=False)
class Cartesian(Law):
    """`stiffness` (6,) [N/m, N·m/rad] of the tip, its way `offset` (3,) [m] at `speed` [m/s], and `posture` [N·m/rad] and
    `damping` [N·m·s/rad] a joint of what does not move the tip."""

    name: ClassVar[str] = "cartesian"
    words: ClassVar[type[_Words]] = _Words
    older: ClassVar[Mapping[str, Any]] = OLDER_WAY
    stiffness: Sequence[float] = bounded(
        Range("--tip-stiffness", 0.0, TIP_STIFFEST, "N/m and N·m/rad", "a tip is not held stiffer", open=True)
    )
    offset: Sequence[float] = bounded(Range("--tip-offset", -FURTHEST, FURTHEST, "m", "an arm reaches no further"))
    damping_ratio: float = bounded(Range("damping_ratio", 0.0, DAMPEST, "of critical", "more only makes it late"))
    speed: float = bounded(replace(GOAL_SPEED, upper=FASTEST, unit="m/s", why="no tip is faster"))
    damping: PerJoint = bounded(DAMPING)
    posture: PerJoint = bounded(STIFFNESS)
    goal_profile: str = PROFILE
    goal_acceleration: float | None = None
    goal_jerk: float | None = None

    @classmethod
    def told(cls, words: _Words, given: Given) -> Cartesian:
        """The tip's springs and way; the joints' springs hold the posture with a share of their stiffness."""
        joints = gains(words, given, "stiffness", "damping")
        return cls(
            stiffness=parse_numbers(words.tip_stiffness, "--tip-stiffness", TIP_STIFFNESS),
            offset=parse_numbers(words.tip_offset, "--tip-offset", (0.0, 0.0, 0.0)), damping_ratio=TIP_DAMPING,
            speed=words.speed, damping=joints["damping"], posture=[POSTURE * k for k in joints["stiffness"]], **way(words),
        )  # fmt: skip

    def make(self, setup: Setup) -> CartesianController:
        """The controller."""
        own = {key: value for key, value in vars(self).items() if not key.startswith("goal_")}
        return CartesianController(setup.robot, setup.alpha, effort=setup.limits.effort, **own, **way_to(vars(self)))
