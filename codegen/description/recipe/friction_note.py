"""Note of `generate` and `check` on friction that a file has and that is not used."""

from __future__ import annotations

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.report import listed
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.runtime.base.errors import arg

FROM_FILE = "urdf"
"""Value of a recipe's `friction` by which the file's values are the defaults of alpha."""


def friction_notes(robot: Robot, recipe: Recipe) -> tuple[str, ...]:
    """One line where chosen joints have damping or friction in the file and the recipe does not take them over."""
    joints = [joint.name for joint in robot.joints if joint.damping != 0.0 or joint.friction != 0.0]
    if not joints or recipe.friction == FROM_FILE:
        return ()
    of = "joint" if len(joints) == 1 else "joints"
    return (
        f"damping and friction of {of} {listed(joints)} in the file are not used, friction is zero by default: "
        f"generate with {arg.friction(FROM_FILE)} takes them over",
    )
