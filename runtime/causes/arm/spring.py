"""A spring at a joint that the recipe gives one."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot


class Spring(Missing):
    """Through the model's columns of its stiffness and of its torque at zero."""

    kind, word, parameter = "spring", "a spring", "spring"

    def name(self, robot: Robot, joint: str) -> str:
        return self.parameter

    def exists(self, robot: Robot, joint: str) -> bool:
        return joint in robot.manifest.recipe.springs

    def already_fitted(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        return f"spring.stiffness.{joint}" in fitted

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        return [m.layout.at(kind, joint) for kind in ("spring.stiffness", "spring.rest")]

    def sentence(self, found: Found) -> str:
        return f"it had {self.word} of {found.figure:.3g} {found.unit('N·m/rad', 'N/m')}"
