"""An encoder whose zero is off."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import ZERO, sensor_names

TURN = 0.05
"""[rad or m] Step of the differences by a position: of central ones of a sine, right to 4e-4."""


class Zero(Missing):
    """By the torque's slope and bend in a position; farther off than 1 rad or m, the differences do not tell it."""

    kind, word, lacking, parameter = "zero", "an encoder's zero", "another encoder's zero", ZERO
    least, most = -1.0, 1.0

    def name(self, robot: Robot, joint: str) -> str:
        name = super().name(robot, joint)
        return name if name in sensor_names(robot) else ""

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        if not m.open_tree:
            return np.stack([m.nothing] * 2, axis=-1)
        return m.differences(lambda way: m.torque(m.samples.q + way * m.alone(joint)), TURN)

    def sentence(self, found: Found) -> str:
        return f"its encoder's zero were off by {found.figure:.3g} {found.unit('rad', 'm')}"

    def remedy(self, found: Found) -> str:
        shift = f"{arg.shift} q_{found.candidate.joint}={found.figure:.4g} corrects the log"
        return f"{super().remedy(found)}, or {shift}" if found.candidate.parameter else shift
