"""Joint impedance: a spring and a damper a joint, and optionally a model's net torque."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.net_torque import NetTorque, ReachNetTorque
from diffpbd.runtime.interface.controller import Mode

__all__ = ["ImpedanceController"]


class ImpedanceController:
    """u = K (goal − q) + D (0 − dq) + scaling·net(goal, q, dq) [N·m], gravity left out (its owner adds it).

    This is the paper's impedance equation; without a net torque, its reference at rest. The goal starts at the
    measured pose and moves to the wanted one at `goal_speed` [rad/s], so that the first torque is zero. A joint
    without a goal holds the pose it started at.
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
        if self._net is not None:
            self._net.start(q)

    def expected(self, time: float) -> FloatArray:
        """The springs' zero at `time` [s]: from the start pose to the goal at constant speed."""
        way = self.goal - self._from
        return self._from + within(way, -self._speed * time, self._speed * time)

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
        """Gains, goal and speed, and the map of a net torque that has one."""
        settings: dict[str, object] = {
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "goal": [None if np.isnan(angle) else float(angle) for angle in self._wanted],
            "goal_speed": self._speed,
        }
        if isinstance(self._net, ReachNetTorque):
            settings |= {"scaling": self._scaling, "net_torque": self._net.table.to_json()}
        return settings
