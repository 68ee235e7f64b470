"""A spring at a joint that the recipe gives one."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot


class Spring(Missing):
    """Through the model's columns of its stiffness and of its torque at zero."""

    kind, word, says, units = "spring", "a spring", "it had {word} of {figure:.3g} {unit}", ("N·m/rad", "N/m")
    parameter, fitted_by = "spring", ("spring.stiffness.{joint}",)

    def name(self, robot: Robot, joint: str) -> str:
        return self.parameter

    def exists(self, robot: Robot, joint: str) -> bool:
        return joint in robot.manifest.recipe.springs

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        return [m.layout.at(kind, joint) for kind in ("spring.stiffness", "spring.rest")]
