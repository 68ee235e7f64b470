"""An encoder whose zero is off."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Found, Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import ZERO, sensor_names

TURN = 0.05
"""[rad or m] Step of the differences by a position: of central ones of a sine, right to 4e-4."""
SHIFT = "{arg.shift} q_{joint}={figure:.4g} corrects the log"


class Zero(Missing):
    """By the torque's slope and bend in a position; farther off than 1 rad or m, the differences do not tell it."""

    kind, word, lacking, parameter = "zero", "an encoder's zero", "another encoder's zero", ZERO
    says, units, least, most = "its encoder's zero were off by {figure:.3g} {unit}", ("rad", "m"), -1.0, 1.0

    def name(self, robot: Robot, joint: str) -> str:
        name = super().name(robot, joint)
        return name if name in sensor_names(robot) else ""

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        return m.differences(lambda way: m.torque(m.samples.q + way * m.alone(joint)), TURN)

    def remedy(self, found: Found) -> str:
        return found.said(f"{self.cure}, or {SHIFT}" if found.candidate.parameter else SHIFT)
