"""A description in MuJoCo, with the behaviour of a ros2_control controller.

Until the first command the arm is held. Then the last torque acts until the next one, or for `timeout` if given, after
which the arm is held again. Messages of another length or with values that are not finite are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError

__all__ = ["STEP", "Account", "SimulatedArm"]

STEP = 1e-3
"""s of physics."""
CATCH_UP = 0.25
"""s that one call makes up for; after a longer pause the rest is left out."""


@dataclass
class Account:
    """Account of the arm's commands and motion: all but `commands` and `fastest` must stay 0."""

    commands: int = 0
    not_finite: int = 0
    wrong_length: int = 0
    over_limit: int = 0
    """Torques beyond an effort limit."""
    fastest: float = 0.0
    """Largest speed, as a share of the joint's limit."""
    beyond: float = 0.0
    """rad by which a joint was outside its limits at the most."""


class SimulatedArm:
    """One arm. Times are those of one clock [s]; q [rad], dq [rad/s], torques [N·m] in the order of `joints`."""

    def __init__(
        self,
        urdf: str,
        now: float,
        *,
        compensated: bool,
        coulomb: Sequence[float] | None = None,
        viscous: Sequence[float] | None = None,
        timeout: float | None = None,
    ) -> None:
        """`urdf`: a description's text; `compensated`: gravity is added to what is commanded; frictions [N·m], [N·m·s/rad]."""
        import mujoco

        self._mujoco: Any = mujoco
        try:
            model = mujoco.MjSpec.from_string(urdf).compile()
        except ValueError as error:
            raise InputError(f"MuJoCo cannot simulate the description: {error}") from None
        model.opt.timestep = STEP
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._model = model
        self._data, self._own = mujoco.MjData(model), mujoco.MjData(model)
        names = (mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt))
        self.joints: tuple[str, ...] = tuple(names)
        for name, values in (("dof_frictionloss", coulomb), ("dof_damping", viscous)):
            getattr(model, name)[:] = 0.0 if values is None else values
        limited = np.array(model.jnt_actfrclimited, dtype=bool)
        self.effort = np.where(limited, np.array(model.jnt_actfrcrange)[:, 1], np.inf)
        limited = np.array(model.jnt_limited, dtype=bool)
        self.lower, self.upper = (
            np.where(limited, end, far) for end, far in zip(np.array(model.jnt_range).T, (-np.inf, np.inf), strict=True)
        )
        self.speed = np.full(len(self.joints), np.inf)
        self.compensated, self.timeout = compensated, timeout
        self.account = Account()
        self.torque = np.zeros(len(self.joints))
        self.held = True
        self.push = np.zeros(len(self.joints))
        """External torque [N·m]."""
        self._target = np.zeros(len(self.joints))
        self._told = float("-inf")
        self._time = now

    def place(self, q: Sequence[float] | FloatArray) -> None:
        """Put it there, at rest and held."""
        self._data.qpos[:], self._data.qvel[:] = q, 0.0
        self.held = True

    def command(self, values: FloatArray, now: float) -> None:
        """Torques that came at `now` [s]."""
        self.account.commands += 1
        if values.shape != self._target.shape:
            self.account.wrong_length += 1
        elif not np.isfinite(values).all():
            self.account.not_finite += 1
        else:
            self.account.over_limit += int((np.abs(values) > self.effort + 1e-9).any())
            self._target, self._told, self.held = values, now, False

    def compensation(self, q: FloatArray | None = None) -> FloatArray:
        """Torque that holds the arm against gravity [N·m], at q or where it is."""
        self._own.qpos[:], self._own.qvel[:] = self._data.qpos if q is None else q, 0.0
        self._mujoco.mj_forward(self._model, self._own)
        return np.array(self._own.qfrc_bias)

    def advance(self, now: float) -> None:
        """Simulate up to `now` [s]."""
        self._time = max(self._time, now - CATCH_UP)
        while self._time + STEP <= now:
            self._time += STEP
            self._step()

    def _step(self) -> None:
        if not self.held and self.timeout is not None and self._time - self._told > self.timeout:
            self.held = True
        own = self.compensation()
        if self.held:
            self._data.qvel[:] = 0.0
            self.torque = own
            return
        self.torque = np.clip(self._target + (own if self.compensated else 0.0), -self.effort, self.effort)
        self._data.qfrc_applied[:] = self.torque + self.push
        self._mujoco.mj_step(self._model, self._data)
        q, dq = np.array(self._data.qpos), np.abs(self._data.qvel)
        self.account.fastest = max(self.account.fastest, float((dq / self.speed).max()))
        self.account.beyond = max(self.account.beyond, float(np.maximum(self.lower - q, q - self.upper).max()))

    def measured(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, dq, and the motors' torque without the arm's own compensation."""
        told = self.torque - self.compensation() if self.compensated else self.torque
        return np.array(self._data.qpos), np.array(self._data.qvel), told
