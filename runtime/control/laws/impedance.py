"""Joint impedance: a spring and a damper per joint, and optionally a model's net torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.base.files import read_json
from diffpbd.runtime.base.options import option
from diffpbd.runtime.control.common import (
    DAMPING,
    GOAL_SPEED,
    OLDER_WAY,
    STIFFNESS,
    GainWords,
    GoalWords,
    angles,
    gains,
    goal,
    way,
)  # fmt: skip
from diffpbd.runtime.control.law import Given, Law, PerJoint, Range, Setup, bounded
from diffpbd.runtime.control.net_torque import NetTorque, NetTorqueMap, ReachNetTorque
from diffpbd.runtime.interface.controller import Away, Mode, farthest
from diffpbd.runtime.mpc.profile import PROFILE
from diffpbd.runtime.mpc.reference import GoalReference, way_to

__all__ = ["Impedance", "ImpedanceController"]

SCALING = 0.1
"""Share of a map's torque where no option says it."""


class ImpedanceController:
    """u = K (goal − q) + D (0 − dq) + scaling·net(goal, q, dq) [N·m], gravity left out (its owner adds it).

    This is the paper's impedance equation; without a net torque, its reference at rest. The goal starts at the
    measured pose and moves to the wanted one at `goal_speed` [rad/s] by a profile (`GoalReference`), so that the first
    torque is zero. A joint without a goal holds the pose it started at.
    """

    name = "impedance"
    mode = Mode.TORQUE

    def __init__(
        self,
        stiffness: npt.ArrayLike,
        damping: npt.ArrayLike,
        goal: npt.ArrayLike,
        *,
        goal_speed: float,
        net_torque: NetTorque | None = None,
        scaling: float = 1.0,
        **way: Any,
    ) -> None:
        """`stiffness` [N·m/rad] and `damping` [N·m·s/rad] at least 0; `goal` [rad], NaN: the start pose;
        `way` to it as in `GoalReference`: profile, acceleration, jerk, fastest."""
        self.stiffness = np.array(stiffness, dtype=np.float64)
        self.damping = np.array(damping, dtype=np.float64)
        self._wanted = np.array(goal, dtype=np.float64)
        if not self.stiffness.shape == self.damping.shape == self._wanted.shape:
            raise InputError(
                "Impedance: stiffness, damping and goal need one number a joint, found shapes "
                f"{self.stiffness.shape}, {self.damping.shape}, {self._wanted.shape}."
            )
        for name, values in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise InputError(f"Impedance: {name} must be finite and at least 0, found {values.tolist()}.")
        self._reference = GoalReference(self._wanted.copy(), goal_speed, **way)
        self.goal = self._wanted.copy()
        """Final zero of the springs [rad]; may be set between ticks."""
        self._net = net_torque
        self._scaling = scaling

    def start(self, q: FloatArray) -> None:
        """Set the springs' zero to the measured pose."""
        self.goal = self._reference.goal = np.where(np.isnan(self._wanted), q, self._wanted)
        self._reference.start(q)
        if self._net is not None:
            self._net.start(q)

    def expected(self, time: float) -> FloatArray:
        """The springs' zero at `time` [s], from the start pose to the goal; NaN: the joint keeps its start."""
        self._reference.goal = self.goal
        positions, _ = self._reference.at(np.array([time]))
        return np.asarray(np.where(np.isnan(self.goal), self.goal, positions[0]), dtype=np.float64)

    def away(self, time: float, q: FloatArray) -> Away | None:
        """From the goal, of the joints that have one."""
        return farthest(np.where(np.isnan(self._wanted), np.nan, self.goal), q, "the goal")

    def parts(self, time: float, q: FloatArray, dq: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Spring and damper, and the scaled net torque [N·m]."""
        reference = self.expected(time)
        spring: FloatArray = self.stiffness * (reference - q) - self.damping * dq
        net = np.zeros(len(q)) if self._net is None else self._scaling * self._net.torque(reference, q, dq)
        return spring, net

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Spring, damper and net torque [N·m]."""
        spring, net = self.parts(time, q, dq)
        return spring + net


@dataclass(frozen=True)
class _Words(GainWords, GoalWords):
    net_torque_map: str | None = option(
        "Impedance: a map of `diffpbd net-torque-map` (.json) to add.", None, metavar="FILE"
    )
    scaling: float | None = option(
        f"Impedance: share of the map's torque ({SCALING:g}).", None, span=(0.0, 1.0), metavar="SHARE"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Impedance(Law):
    """`stiffness` [N·m/rad] and `damping` [N·m·s/rad] a joint, `goal` [rad] (None: the start pose), the way to it, and a map of
    net torques with the share that is added."""

    name: ClassVar[str] = "impedance"
    words: ClassVar[type[_Words]] = _Words
    older: ClassVar[Mapping[str, Any]] = OLDER_WAY
    stiffness: PerJoint = bounded(STIFFNESS)
    damping: PerJoint = bounded(DAMPING)
    goal: Sequence[float | None]
    goal_speed: float = bounded(GOAL_SPEED)
    goal_profile: str = PROFILE
    goal_acceleration: float | None = None
    goal_jerk: float | None = None
    net_torque: Mapping[str, Any] | None = None
    scaling: float = bounded(Range("--scaling", 0.0, 1.0, "", "1 is the whole map"), 1.0)

    @classmethod
    def told(cls, words: _Words, given: Given) -> Impedance:
        """Goal, gains, and the map in a file."""
        if words.scaling is not None and words.net_torque_map is None:
            raise ArgumentError("--scaling is a share of a map's torque; expected --net-torque-map FILE with it.")
        table: dict[str, Any] = {}
        if words.net_torque_map is not None:
            found = NetTorqueMap.from_json(read_json(words.net_torque_map), words.net_torque_map)
            table = {"net_torque": found.to_json(), "scaling": SCALING if words.scaling is None else words.scaling}
        return cls(
            **gains(words, given, "stiffness", "damping"), goal=goal(given.robot, words.goal), goal_speed=words.speed,
            **way(words), **table,
        )  # fmt: skip

    def make(self, setup: Setup) -> ImpedanceController:
        """The controller."""
        table = self.net_torque
        net = None if table is None else ReachNetTorque(NetTorqueMap.from_json(table), setup.robot.joints)
        return ImpedanceController(
            self.stiffness, self.damping, angles(self.goal), goal_speed=self.goal_speed, net_torque=net,
            scaling=self.scaling, **way_to(vars(self)), fastest=setup.robot.limits.speed,
        )  # fmt: skip
