"""Joint impedance: a spring and a damper a joint, and optionally a model's net torque."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.control.controllers import FloatArray, Mode, within
from diffpbd.runtime.errors import InputError

__all__ = ["ImpedanceController"]

NetTorque = Callable[[FloatArray, FloatArray], FloatArray]


class ImpedanceController:
    """u = K (goal − q) + D (0 − dq) + scaling·net(q, dq) [N·m], gravity left out (its owner adds it).

    This is the paper's impedance equation with a resting reference. The goal starts at the measured pose and
    moves to the wanted one at `goal_speed` [rad/s], so that the first torque is zero. A joint without a goal
    holds the pose it started at.
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
    ) -> None:
        """`stiffness` [N·m/rad] and `damping` [N·m·s/rad] at least 0; `goal` [rad], NaN: the start pose."""
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
        if not goal_speed > 0:
            raise InputError(f"Impedance: the goal's speed must be above 0 rad/s, found {goal_speed}.")
        self._speed = goal_speed
        self._net = net_torque
        self._scaling = scaling
        self._from = np.empty(0)
        self.goal = self._wanted.copy()
        """Where the springs' zero ends [rad]; may be set between ticks."""

    def start(self, q: FloatArray) -> None:
        """Put the springs' zero on the measured pose."""
        self._from = q.copy()
        self.goal = np.where(np.isnan(self._wanted), q, self._wanted)

    def reference(self, time: float) -> FloatArray:
        """The springs' zero at `time` [s]: from the start pose to the goal at constant speed."""
        way = self.goal - self._from
        return self._from + within(way, -self._speed * time, self._speed * time)

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Spring, damper and net torque [N·m]."""
        torque: FloatArray = self.stiffness * (self.reference(time) - q) - self.damping * dq
        if self._net is not None:
            torque = torque + self._scaling * self._net(q, dq)
        return torque

    def settings(self) -> dict[str, object]:
        """Gains, goal and speed; a net torque is code and cannot be written down."""
        return {
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "goal": [None if np.isnan(angle) else float(angle) for angle in self._wanted],
            "goal_speed": self._speed,
        }
