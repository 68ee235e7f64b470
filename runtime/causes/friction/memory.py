"""Friction that turns gradually after a reversal."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.functions.friction import turned


class Memory(Missing):
    """By Dahl's law, over ways [rad or m] that published fits of it find."""

    kind, word, of_friction, sizes = "memory", "friction with memory", True, (0.005, 0.02, 0.08)
    says, units = "its friction turned over {size:g} {unit} after a reversal", ("rad", "m")
    cure = "No parameter of friction describes this; expect torque errors after reversals"

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        state = turned(m.samples.q[:, m.robot.joints.index(joint)], (size,))
        return m.smooth(state * m.alone(joint))[..., None]
