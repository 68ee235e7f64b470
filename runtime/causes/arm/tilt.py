"""A base that is tilted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot


class Tilt(Missing):
    """By a part of gravity 1 m/s² larger along each axis: the torque is linear in it."""

    kind, word, parameter, of_joint, rank, of_bodies = "tilt", "a tilted base", "gravity_direction", False, 2, True

    def exists(self, robot: Robot, joint: str) -> bool:
        return not robot.manifest.robot.loops and not robot.manifest.robot.base_freedoms

    def already_fitted(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        return any(own.startswith("gravity") for own in fitted)

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        axes = [m.robot.alpha.index(f"gravity.{axis}") for axis in "xyz"]
        heavier = [m.torque(alpha=m.alpha + np.eye(len(m.alpha))[k]) for k in axes]
        return np.stack([m.smooth(torque - m.plain) for torque in heavier], axis=-1)

    def sentence(self, found: Found) -> str:
        return "its base were tilted, or gravity another"
