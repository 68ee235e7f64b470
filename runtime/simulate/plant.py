"""A MuJoCo arm with friction, spring, quantised encoders, torque limits and a step of delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint

__all__ = ["BAXTER_COULOMB", "BAXTER_VISCOUS", "Measurement", "MujocoPlant", "PlantFacts"]

ENCODER_STEP = 3.835e-4  # rad; as in recordings of a physical Baxter
HARD = 0.9999  # of 1; MuJoCo's own 0.9 lets a wrist under half its Coulomb friction creep at 0.1 rad/s
POINT_INERTIA = 1e-6  # kg·m²; of a payload, which MuJoCo does not accept as a point mass
BAXTER_COULOMB: Mapping[str, float] = {"s0": 0.8, "s1": 0.8, "e0": 0.6, "e1": 0.6, "w0": 0.2, "w1": 0.2, "w2": 0.15}
"""N·m by the end of a joint's name; approximate fit of recordings of a physical arm."""
BAXTER_VISCOUS: Mapping[str, float] = {"s0": 0.7, "s1": 0.7, "e0": 0.5, "e1": 0.5, "w0": 0.1, "w1": 0.1, "w2": 0.1}
"""N·m·s/rad, likewise."""
BAXTER_SPRING: Mapping[str, tuple[float, float]] = {"s1": (24.0, -1.514)}
"""N·m/rad and rad, likewise."""


class Measurement(NamedTuple):
    """Joint positions [rad] and rates [rad/s], (n,) each."""

    p: FloatArray
    pd: FloatArray


@dataclass(frozen=True)
class PlantFacts:
    """Properties of the arm beyond its description, by joint or by the end of its name (`s1` for `left_s1`).

    `coulomb` [N·m], `viscous` [N·m·s/rad], `spring` (stiffness [N·m/rad], rest [rad]); `encoder` [rad] is the step of
    the measured positions (0: exact), `delay` counts control steps between a command and its effect. Control period
    and physics step [s]; the first is a multiple of the second. `compensated`: the robot adds gravity and spring torque
    of the description, without the payload, to its commands.
    """

    coulomb: Mapping[str, float] = field(default_factory=lambda: BAXTER_COULOMB)
    viscous: Mapping[str, float] = field(default_factory=lambda: BAXTER_VISCOUS)
    spring: Mapping[str, tuple[float, float]] = field(default_factory=lambda: BAXTER_SPRING)
    encoder: float = ENCODER_STEP
    delay: int = 1
    period: float = 0.01
    physics: float = 0.001
    compensated: bool = False

    def __post_init__(self) -> None:
        substeps = self.period / self.physics
        if not (self.physics > 0 and round(substeps) >= 1 and abs(substeps - round(substeps)) < 1e-6):
            raise InputError(
                f"Plant: the control period must be a multiple of the physics step, found {self.period} and "
                f"{self.physics} s."
            )
        if not (self.encoder >= 0 and self.delay >= 0):
            raise InputError("Plant: encoder step and delay must be at least 0.")


class MujocoPlant:
    """An arm in MuJoCo, semi-implicit Euler; `step(u)` is one control period.

    `position` and `velocity` (n,) are the true state in the order of `joints`, `fastest` (n,) [rad/s] the largest speeds within
    the last period; world is the description's root link.
    """

    def __init__(self, urdf: str | Path, tip: str, facts: PlantFacts | None = None, *, payload: float = 0.0) -> None:
        """`urdf` of the arm, with the link `tip`, whose frame pushes and payload [kg] act at."""
        import mujoco

        self._mujoco: Any = mujoco
        self.facts = facts or PlantFacts()
        self._urdf, self._tip = str(urdf), tip
        self._build(payload)
        self.effort = self._limits_of_effort()
        self._own: Any = self._model_of(0.0)
        self._own_data = mujoco.MjData(self._own)
        self._coulomb, self._viscous = (
            self._by_joint(values, 0.0) for values in (self.facts.coulomb, self.facts.viscous)
        )
        springs = [self._find(self.facts.spring, joint, (0.0, 0.0)) for joint in self.joints]
        self._stiffness, self._rest = np.array(springs, dtype=np.float64).T
        self._apply_friction()
        self._queue: list[FloatArray] = []
        self._push = (np.zeros(3), 0.0)
        self.time = 0.0
        self.reset(np.zeros(self.n))

    # Interface of a controller

    def reset(
        self, p: npt.ArrayLike, pd: npt.ArrayLike | None = None, *, held: npt.ArrayLike | None = None
    ) -> Measurement:
        """Start at p [rad], pd [rad/s]; until a delayed first command acts, the torque is `held` [N·m]."""
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:] = np.asarray(p, dtype=np.float64)
        self._data.qvel[:] = 0.0 if pd is None else np.asarray(pd, dtype=np.float64)
        first = np.zeros(self.n) if held is None else np.array(held, dtype=np.float64)
        self._queue = [first] * self.facts.delay
        self._push = (np.zeros(3), 0.0)
        self.time = 0.0
        self.fastest = np.abs(self.velocity)
        return self.measured()

    def step(self, u: npt.ArrayLike) -> Measurement:
        """Command u (n,) [N·m] for one control period, and measure at its end."""
        command = np.array(u, dtype=np.float64)
        if command.shape != (self.n,) or not np.isfinite(command).all():
            raise InputError(f"Plant: expected {self.n} finite torques, found {command.tolist()}.")
        self._queue.append(np.clip(command, -self.effort, self.effort))
        torque = self._queue.pop(0)
        mujoco, model, data = self._mujoco, self._model, self._data
        force, until = self._push
        self.fastest = np.abs(data.qvel)
        for _ in range(round(self.facts.period / self.facts.physics)):
            data.qfrc_applied[:] = torque + self._spring(data.qpos)
            if self.facts.compensated:
                data.qfrc_applied[:] += self.compensation(data.qpos)
            if self.time < until - 0.5 * self.facts.physics:
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                point, body = data.site_xpos[self._site], model.site_bodyid[self._site]
                mujoco.mj_applyFT(model, data, force, np.zeros(3), point, body, data.qfrc_applied)
            mujoco.mj_step(model, data)
            np.maximum(self.fastest, np.abs(data.qvel), out=self.fastest)
            self.time += self.facts.physics
        return self.measured()

    def measured(self) -> Measurement:
        """Quantised positions; rates are exact, because a robot's own are smooth."""
        p, pd = self.position, self.velocity
        quantum = self.facts.encoder
        return Measurement(quantum * np.round(p / quantum) if quantum > 0 else p, pd)

    def push(self, force: npt.ArrayLike, duration: float) -> None:
        """A force (3,) [N], world axes, on the tip from now on for `duration` [s]."""
        self._push = (np.array(force, dtype=np.float64), self.time + duration)

    def payload(self, mass: float) -> None:
        """Attach a point mass [kg] at the tip frame's origin; the motion continues."""
        p, pd = self.position, self.velocity
        self._build(mass)
        self._apply_friction()
        self._data.qpos[:], self._data.qvel[:] = p, pd

    @property
    def position(self) -> FloatArray:
        """True positions [rad]."""
        return np.array(self._data.qpos)

    @property
    def velocity(self) -> FloatArray:
        """True rates [rad/s]."""
        return np.array(self._data.qvel)

    @property
    def tip(self) -> FloatArray:
        """True position of the tip (3,) [m]."""
        self._mujoco.mj_kinematics(self._model, self._data)
        return np.array(self._data.site_xpos[self._site])

    def compensation(self, p: FloatArray) -> FloatArray:
        """Gravity of the description, payload left out, less the springs' torque [N·m]."""
        self._own_data.qpos[:], self._own_data.qvel[:] = p, 0.0
        self._mujoco.mj_forward(self._own, self._own_data)
        return np.array(self._own_data.qfrc_bias) - self._spring(p)

    # The model

    def _spring(self, p: FloatArray) -> FloatArray:
        torque: FloatArray = -self._stiffness * (np.asarray(p) - self._rest)
        return torque

    def _model_of(self, payload: float) -> Any:
        mujoco = self._mujoco
        spec = mujoco.MjSpec.from_file(self._urdf)
        body = spec.body(self._tip)
        if body is None:
            raise InputError(
                f"{self._urdf} has no link {self._tip!r}. {hint(self._tip, [b.name for b in spec.bodies])}"
            )
        body.add_site(name="tip")
        if payload > 0.0:
            small = [POINT_INERTIA] * 3
            body.add_body(name="payload", mass=payload, inertia=small, explicitinertial=True)
        model = spec.compile()
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.opt.timestep = self.facts.physics
        model.dof_damping[:] = model.dof_frictionloss[:] = model.dof_armature[:] = 0.0
        return model

    def _build(self, payload: float) -> None:
        if not (np.isfinite(payload) and payload >= 0.0):
            raise InputError(f"Plant: a payload is at least 0 kg, found {payload}.")
        mujoco = self._mujoco
        self._model = self._model_of(payload)
        self._data = mujoco.MjData(self._model)
        self._site = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_SITE, "tip")
        self.n = int(self._model.nv)
        names = (mujoco.mj_id2name(self._model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(self._model.njnt))
        self.joints: tuple[str, ...] = tuple(names)
        self.lower, self.upper = np.array(self._model.jnt_range, dtype=np.float64).T

    def _limits_of_effort(self) -> FloatArray:
        """A URDF's effort limits [N·m], infinite where it has none."""
        limits = np.array(self._model.jnt_actfrcrange, dtype=np.float64)[:, 1]
        return np.where(np.array(self._model.jnt_actfrclimited, dtype=bool), limits, np.inf)

    def _apply_friction(self) -> None:
        self._model.dof_damping[:] = self._viscous
        self._model.dof_frictionloss[:] = self._coulomb
        self._model.dof_solref[:] = (2.0 * self.facts.physics, 1.0)  # the stiffest that MuJoCo takes
        self._model.dof_solimp[:, :2] = HARD

    @staticmethod
    def _find(values: Mapping[str, Any], joint: str, default: Any) -> Any:
        return values.get(joint, values.get(joint.split("_")[-1], default))

    def _by_joint(self, values: Mapping[str, float], default: float) -> FloatArray:
        return np.array([self._find(values, joint, default) for joint in self.joints], dtype=np.float64)
