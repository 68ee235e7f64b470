"""The arm's physics: pinocchio's exact rigid-body dynamics, friction, S1 spring, quantised sensors.

Semi-implicit Euler at 1 ms with viscous friction implicit and Coulomb friction as bounded impulses, so the
arm can stand still. Independent of the generated code on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.simulate.plant import BAXTER_COULOMB, BAXTER_SPRING, BAXTER_VISCOUS, ENCODER_STEP

__all__ = ["ENCODER_STEP", "STEP", "Plant", "PlantSettings"]

STEP = 1e-3  # s
FRICTION_SWEEPS = 3  # of projected Gauss-Seidel; the masses couple weakly, so few are enough
TORQUE_STEP = 4e-3  # N·m; as in recordings of a physical Baxter
ORDER = ("s0", "s1", "e0", "e1", "w0", "w1", "w2")


@dataclass(frozen=True)
class PlantSettings:
    """Friction a joint, s0 to w2: Coulomb [N·m] and viscous [N·m·s/rad]; the S1 spring [N·m/rad], [rad].

    The figures are those of `diffpbd.runtime.simulate.plant`.
    """

    coulomb: tuple[float, ...] = tuple(BAXTER_COULOMB[joint] for joint in ORDER)
    viscous: tuple[float, ...] = tuple(BAXTER_VISCOUS[joint] for joint in ORDER)
    spring_stiffness: float = BAXTER_SPRING["s1"][0]
    spring_rest: float = BAXTER_SPRING["s1"][1]
    quantised: bool = True


class Plant:
    """A seven-joint arm; q [rad], dq [rad/s] in the order of the description's joints."""

    def __init__(self, urdf: str | Path, settings: PlantSettings | None = None) -> None:
        """`urdf`: a description with the arm's seven joints and no other moving ones, gravity along −z."""
        import pinocchio

        self._pin = pinocchio
        self.settings = settings or PlantSettings()
        try:
            self._model = pinocchio.buildModelFromUrdf(str(urdf))
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{urdf}: no description that can be simulated: {error}") from error
        self._data = self._model.createData()
        self.joints: tuple[str, ...] = tuple(self._model.names[1:])
        if tuple(name.split("_")[-1] for name in self.joints) != ORDER:
            found = ", ".join(self.joints) or "none"
            raise InputError(
                f"{urdf}: the simulated Baxter is one arm with the joints {', '.join(ORDER)}, by the ends of their names; "
                f"moving joints of the description are {found}."
            )
        self.n = int(self._model.nv)
        self.spring_joint = next(k for k, name in enumerate(self.joints) if name.endswith("_s1"))
        self.effort = np.array(self._model.effortLimit, dtype=np.float64)
        self.lower = np.array(self._model.lowerPositionLimit, dtype=np.float64)
        self.upper = np.array(self._model.upperPositionLimit, dtype=np.float64)
        self._coulomb = [STEP * value for value in self.settings.coulomb]
        self._viscous = np.diag(self.settings.viscous)
        self.q = np.zeros(self.n)
        self.dq = np.zeros(self.n)

    def spring(self, q: FloatArray) -> FloatArray:
        """The springs' torque on the joints [N·m]."""
        torque = np.zeros(self.n)
        k = self.spring_joint
        torque[k] = -self.settings.spring_stiffness * (q[k] - self.settings.spring_rest)
        return torque

    def compensation(self, q: FloatArray) -> FloatArray:
        """Torque that holds the arm against gravity and spring [N·m]."""
        gravity = self._pin.computeGeneralizedGravity(self._model, self._data, q)
        return np.asarray(gravity - self.spring(q), dtype=np.float64)

    def endpoint(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Motion of the last link in the root's frame: position [m], rotation (3, 3), velocity [m/s], rate [rad/s]."""
        pin, frame = self._pin, self._model.nframes - 1
        pin.forwardKinematics(self._model, self._data, self.q, self.dq)
        pin.updateFramePlacements(self._model, self._data)
        pose = self._data.oMf[frame]
        moves = pin.getFrameVelocity(self._model, self._data, frame, pin.LOCAL_WORLD_ALIGNED)
        return (
            np.array(pose.translation), np.array(pose.rotation), np.array(moves.linear), np.array(moves.angular)
        )  # fmt: skip

    def mass_and_bias(self) -> tuple[FloatArray, FloatArray]:
        """Mass matrix and gravity plus Coriolis torque [N·m] at the present state."""
        mass = self._pin.crba(self._model, self._data, self.q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        return mass, self._pin.nonLinearEffects(self._model, self._data, self.q, self.dq)

    def advance(self, torque: FloatArray, mass: FloatArray, bias: FloatArray, brake: float = 0.0) -> None:
        """One step of STEP [s] with joint torque [N·m]; `brake` [N·m·s/rad] is more viscous friction."""
        damped = mass + STEP * (self._viscous + brake * np.eye(self.n))
        inverse = np.linalg.inv(damped)
        free = inverse @ (mass @ self.dq + STEP * (torque + self.spring(self.q) - bias))
        impulse = np.zeros(self.n)
        for _ in range(FRICTION_SWEEPS):
            for k, bound in enumerate(self._coulomb):
                wanted = impulse[k] - free[k] / inverse[k, k]
                change = min(max(wanted, -bound), bound) - impulse[k]
                impulse[k] += change
                free = free + inverse[:, k] * change
        self.dq = free
        self.q = self.q + STEP * free
        outside = (self.q < self.lower) | (self.q > self.upper)
        if outside.any():
            self.q = np.clip(self.q, self.lower, self.upper)
            self.dq = np.where(outside, 0.0, self.dq)

    def measured(self, torque: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sensor readings: q [rad], dq [rad/s], torque [N·m]."""
        if not self.settings.quantised:
            return self.q.copy(), self.dq.copy(), torque.copy()
        return (
            ENCODER_STEP * np.round(self.q / ENCODER_STEP),
            self.dq.copy(),
            TORQUE_STEP * np.round(torque / TORQUE_STEP),
        )
