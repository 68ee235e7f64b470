"""References over time for predictive control: to a goal at bounded speed, or along a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.quaternions import PLACE, difference, of_rotation, product, rotation_vector, turn_between
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.profile import ACCELERATION, JERK, PROFILE, Along, Approach, along

__all__ = ["GoalReference", "LogReference", "Reference", "goal_reference", "way_of", "way_to"]


NO_WAY = 1e-6
"""[s] A path that takes no longer at full speed counts as no motion."""
REST = 0.1
"""[s] A joint rests at a goal if at its speed it stays near it for that long."""


class Reference(Protocol):
    """Where the arm should be."""

    def start(self, q: FloatArray) -> None:
        """Begin at the measured pose [rad] (n,)."""

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions [rad] and rates [rad/s] (times, n) at times [s] since the start."""


@dataclass(eq=False)
class GoalReference:
    """From the start pose to `goal` [rad] (n_p,) at `speed` [rad/s]; NaN: that joint stays where it starts. The turn of a
    `floating` base goes about one axis, the shortest way.

    With the profile "ramp" every joint moves at that speed until it arrives; with others (`PROFILES`) all arrive together, none
    faster than its entry of `fastest` (n,) [rad/s], with at most `acceleration` [rad/s²] and `jerk` [rad/s³] (by default
    `ACCELERATION` and `JERK` times the speed).
    """

    goal: FloatArray
    speed: float
    floating: bool = False
    profile: str = PROFILE
    acceleration: float | None = None
    jerk: float | None = None
    fastest: FloatArray | None = None

    def __post_init__(self) -> None:
        Approach(self.speed, self.profile, self.acceleration, self.jerk)  # refuses invalid ones
        self._along = along(self.profile, np.inf, 1.0, 1.0)
        self._from = np.where(np.isnan(self.goal), 0.0, self.goal)

    def start(self, q: FloatArray) -> None:
        """From this pose."""
        self._from = q.copy()
        if self.profile != "ramp":
            self._along = self._profile(q)

    def _profile(self, q: FloatArray) -> Along:
        """Profile of the whole path from a pose; the slowest joint sets the time."""
        far = self._farthest(self.way(q))
        fastest = self.speed if self.fastest is None else np.minimum(self.speed, self.fastest)
        least = float((far / fastest).max())
        if least < NO_WAY:
            return along(self.profile, np.inf, 1.0, 1.0)
        acceleration = ACCELERATION * self.speed if self.acceleration is None else self.acceleration
        jerk = JERK * self.speed if self.jerk is None else self.jerk
        return along(self.profile, 1.0 / least, acceleration / float(far.max()), jerk / float(far.max()))

    @property
    def target(self) -> FloatArray:
        """The final pose (n_p,) [rad]: the goal, and the start pose of joints without one."""
        return np.where(np.isnan(self.goal), self._from, self.goal)

    @property
    def asked(self) -> npt.NDArray[np.bool_]:
        """Which freedoms (n,) have a goal of their own."""
        given = ~np.isnan(self.goal)
        return np.concatenate([given[:3], np.repeat(given[3], 3), given[7:]]) if self.floating else given

    def takes(self, q: FloatArray) -> float:
        """Duration [s] from this pose to the goal."""
        if self.profile != "ramp":
            return self._profile(q).takes
        return float(self._farthest(self.way(q)).max() / self.speed)

    def way(self, q: FloatArray) -> FloatArray:
        """Displacement from a pose to the goal (n,); rotation vector for a base."""
        goal = np.where(np.isnan(self.goal), q, self.goal)
        way = difference(self.floating, goal, q)
        if self.floating:
            way[3:6] = rotation_vector(turn_between(q[PLACE], goal[PLACE]))
        return way

    def _farthest(self, way: FloatArray) -> FloatArray:
        """Distances (n,); for a base's rotation the angle."""
        size = np.abs(way)
        if self.floating:
            size[3:6] = np.linalg.norm(way[3:6])
        return size

    def reached(
        self, q: FloatArray, dq: FloatArray, within: float, joints: npt.NDArray[np.bool_] | None = None
    ) -> bool:
        """Whether every one of these joints (n,) is `within` [rad] of the goal, and all so slow that they stay there for a
        tenth of a second."""
        away = np.abs(difference(self.floating, q, self.target)) <= within
        return bool((away if joints is None else away[joints]).all() and (np.abs(dq) * REST <= within).all())

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Along the profile, then at the goal."""
        way = self.way(self._from)
        if self.profile != "ramp":
            return self._together(np.maximum(time, 0.0), way)
        gone = np.maximum(time, 0.0)[:, None] * self.speed
        along, rates = np.clip(way, -gone, gone), np.where(np.abs(way) > gone, np.sign(way) * self.speed, 0.0)
        if not self.floating:
            return self._from + along, rates
        turn, angle = way[3:6], float(np.linalg.norm(way[3:6]))
        rates[:, 3:6] = np.where(angle > gone, turn / (angle or 1.0) * self.speed, 0.0)
        q = product(of_rotation(np.minimum(1.0, gone / (angle or 1.0)) * turn), self._from[PLACE])
        return np.hstack([self._from[:3] + along[:, :3], q, self._from[7:] + along[:, 6:]]), rates

    def _together(self, time: FloatArray, way: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All joints along a straight path, a base's rotation about a fixed axis."""
        share, rate = self._along.at(time)
        rates, gone = rate[:, None] * way, share[:, None] * way
        if not self.floating:
            return self._from + gone, rates
        q = product(of_rotation(gone[:, 3:6]), self._from[PLACE])
        return np.hstack([self._from[:3] + gone[:, :3], q, self._from[7:] + gone[:, 6:]]), rates


@dataclass(eq=False)
class LogReference:
    """Along samples q, dq (samples, n) at `time` (samples,) [s]. The offset of the start pose from the first sample vanishes
    meanwhile, as `approach` says. After the last sample its pose, at rest.

    A start farther than `reach` [rad or m] from the first sample is refused by the name of the joint. Joints without ends
    (`endless`, one flag each) are followed in the turn in which they start.
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    approach: Approach
    reach: float = np.inf
    joints: tuple[str, ...] = ()
    endless: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if len(self.time) < 2 or not (np.diff(self.time) > 0).all():
            raise InputError("MPC: a reference needs at least two samples at increasing times.")
        self._turns = np.zeros(self.q.shape[1])
        self._offset = GoalReference(self._turns, **vars(self.approach))

    def start(self, q: FloatArray) -> None:
        """From this pose."""
        offset = q - self.q[0]
        turning = np.array(self.endless or [False] * len(offset))
        self._turns = np.where(turning, 2.0 * np.pi * np.round(offset / (2.0 * np.pi)), 0.0)
        offset -= self._turns
        self._offset.start(offset)
        k = int(np.argmax(np.abs(offset)))
        if abs(offset[k]) > self.reach:
            name = self.joints[k] if self.joints else f"joint {k + 1}"
            raise InputError(
                f"{name}: at 0 s the reference is at {self.q[0, k]:.4g}, {abs(offset[k]):.4g} away from the start pose's "
                f"{q[k]:.4g}; expected at most {self.reach:g}. Start nearer, or let {arg.bridge_jumps} go there at "
                f"{arg.goal_speed}."
            )

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Linear interpolation of positions and rates."""
        since = self.time[0] + np.maximum(time, 0.0)
        left, back = self._offset.at(time)
        P = np.column_stack([np.interp(since, self.time, column) for column in self.q.T]) + left + self._turns
        PD = np.column_stack([np.interp(since, self.time, column, right=0.0) for column in self.dq.T])
        return P, PD + back


def goal_reference(robot: Robot, goal: FloatArray, approach: Approach) -> GoalReference:
    """The reference to a goal (n_p,) of a robot, within the speeds of its description."""
    return GoalReference(goal, floating=robot.manifest.robot.floating, fastest=robot.limits.speed, **vars(approach))


def way_to(options: Mapping[str, Any]) -> dict[str, Any]:
    """`goal_profile`, `goal_acceleration` and `goal_jerk` as keywords of `GoalReference`."""
    return {
        "profile": options.get("goal_profile") or PROFILE, "acceleration": options.get("goal_acceleration"),
        "jerk": options.get("goal_jerk"),
    }  # fmt: skip


def way_of(
    robot: Robot, time: FloatArray, q: FloatArray, dq: FloatArray, approach: Approach, reach: float = np.inf
) -> LogReference:
    """The reference of a robot along samples; continuous joints take the shortest way."""
    endless = tuple(j.endless for j in robot.manifest.robot.joints)
    return LogReference(time, q, dq, approach, reach, robot.joints, endless)
