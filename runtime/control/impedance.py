"""Joint impedance: a spring and a damper per joint, and optionally a model's net torque."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.net_torque import NetTorque, ReachNetTorque
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.mpc.reference import GoalReference

__all__ = ["ImpedanceController"]


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
        for name, gains in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not (np.isfinite(gains).all() and (gains >= 0).all()):
                raise InputError(f"Impedance: {name} must be finite and at least 0, found {gains.tolist()}.")
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

    def settings(self) -> dict[str, object]:
        """Gains, goal, the way to it, and the net torque's map if there is one."""
        settings: dict[str, object] = {
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "goal": [None if np.isnan(angle) else float(angle) for angle in self._wanted],
            "goal_speed": self._reference.speed, "goal_profile": self._reference.profile,
            "goal_acceleration": self._reference.acceleration, "goal_jerk": self._reference.jerk,
        }  # fmt: skip
        if isinstance(self._net, ReachNetTorque):
            settings |= {"scaling": self._scaling, "net_torque": self._net.table.to_json()}
        return settings
