"""Carries the state of friction with memory, which is in alpha (`friction.deflection`), from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.functions.friction import DEFLECTION
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.simulate.orders import Gradient

__all__ = ["Motion", "Remembering", "carried"]


def carried(robot: Robot, alpha: FloatArray, pd_next: FloatArray, h: float) -> FloatArray:
    """alpha with the deflections [1] at the end of a `joint_step` of h [s] that started with those of alpha and ended with
    these rates (n,) [rad/s or m/s]; alpha itself if the robot's friction has no memory."""
    if "deflection_next" not in robot.functions:
        return alpha
    found = np.array(alpha, dtype=np.float64)
    found[list(robot.alpha.indices(DEFLECTION))] = robot.function("deflection_next")(pd_next, h, alpha)
    return found


class Motion(NamedTuple):
    """Nodes of a rollout, start first: positions (steps + 1, n) [rad or m], rates, and deflections (steps + 1, joints) [1]."""

    P: FloatArray
    PD: FloatArray
    Z: FloatArray


@dataclass(frozen=True)
class Remembering:
    """Rollouts of a robot whose friction has memory, and their exact gradient. Default h [s] is the recipe's, default alpha
    the robot's; the first deflection is alpha's.

    Raises InputError for a robot without such friction (use its own `rollout`); SolverError as `joint_step`."""

    robot: Robot

    def __post_init__(self) -> None:
        if "deflection_next" not in self.robot.functions:
            raise InputError(f"{self.robot.name} has no friction with memory; its own rollout serves.")

    def rollout(
        self,
        p0: npt.ArrayLike,
        pd0: npt.ArrayLike,
        U: npt.ArrayLike,
        h: float | None = None,
        alpha: FloatArray | None = None,
    ) -> Motion:
        """Steps under torques U (steps, n) [N·m or N], each held during its step."""
        h, alpha, at = self._given(h, alpha)
        step, P, PD, Z = (
            self.robot.function("joint_step"),
            [np.asarray(p0, float)],
            [np.asarray(pd0, float)],
            [alpha[at]],
        )
        for u in np.asarray(U, float):
            p, pd = step(P[-1], PD[-1], u, h, alpha)
            alpha = carried(self.robot, alpha, pd, h)
            P.append(p)
            PD.append(pd)
            Z.append(alpha[at])
        return Motion(np.array(P), np.array(PD), np.array(Z))

    def vjp_rollout(
        self, motion: Motion, U: npt.ArrayLike, bars: Motion, h: float | None = None, alpha: FloatArray | None = None
    ) -> Gradient:
        """Gradient of a loss along a `rollout`'s motion, whose derivatives by P, PD and Z are `bars`; `alpha_bar` includes the
        one by the first deflection."""
        h, alpha, at = self._given(h, alpha)
        step, turned = self.robot.function("vjp_joint_step"), self.robot.function("vjp_deflection_next")
        torques = np.asarray(U, float)
        p_bar, pd_bar, z_bar = (np.asarray(x[-1], float) for x in bars)
        total, h_bar, U_bar = np.zeros(len(alpha)), 0.0, np.zeros_like(torques)
        for k in reversed(range(len(torques))):
            here = alpha.copy()
            here[at] = motion.Z[k]
            memory = turned(motion.PD[k + 1], h, here, z_bar)
            back = step(motion.P[k], motion.PD[k], torques[k], h, here, p_bar, pd_bar + memory.pd_next_bar)
            both = back.alpha_bar + memory.alpha_bar
            z_bar = both[at] + bars.Z[k]
            both[at] = 0.0
            total += both
            h_bar += float(back.h_bar + memory.h_bar)
            U_bar[k], p_bar, pd_bar = back.u_bar, back.p_bar + bars.P[k], back.pd_bar + bars.PD[k]
        total[at] = z_bar
        return Gradient(p_bar, pd_bar, U_bar, h_bar, total)

    def _given(self, h: float | None, alpha: FloatArray | None) -> tuple[float, FloatArray, list[int]]:
        values = self.robot.alpha.defaults if alpha is None else np.array(alpha, dtype=np.float64)
        return self.robot.h if h is None else h, values, list(self.robot.alpha.indices(DEFLECTION))
