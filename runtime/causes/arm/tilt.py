"""A base that is tilted."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.model.robot import Robot


class Tilt(Missing):
    """By a part of gravity 1 m/s² larger along each axis: the torque is linear in it."""

    kind, word, says = "tilt", "a tilted base", "its base were tilted, or gravity another"
    parameter, fitted_by, of_joint, rank, of_bodies = "gravity_direction", ("gravity*",), False, 2, True

    def exists(self, robot: Robot, joint: str) -> bool:
        return not robot.manifest.robot.loops and not robot.manifest.robot.base_freedoms

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        axes = [m.robot.alpha.index(f"gravity.{axis}") for axis in "xyz"]
        heavier = [m.torque(alpha=m.alpha + np.eye(len(m.alpha))[k]) for k in axes]
        return np.stack([m.smooth(torque - m.plain) for torque in heavier], axis=-1)
