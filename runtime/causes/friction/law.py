"""A torque of one joint that its own position and rate make."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques


class Law(Missing):
    """It rejects a model and is not named by itself: what it stands for has no remedy in the log."""

    told: ClassVar[bool] = False

    def shapes(self, m: Motion, j: int) -> list[FloatArray]:
        """Torques (samples,) at joint j by a unit of each of its figures."""
        raise NotImplementedError

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        j, shapes = m.robot.joints.index(joint), m.smooth(np.column_stack(self.shapes(m, m.robot.joints.index(joint))))
        found = np.zeros((len(shapes), m.robot.n, shapes.shape[1]))
        found[:, j] = shapes
        return found

    @staticmethod
    def width(m: Motion, j: int) -> float:
        """Transition velocity [rad/s or m/s] of a joint's friction."""
        return float(m.alpha[m.robot.alpha.index(f"friction.transition_velocity.{m.robot.joints[j]}")])
