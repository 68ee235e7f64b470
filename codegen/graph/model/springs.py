"""Springs on chosen joints that a recipe asks for."""

from __future__ import annotations

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.attached import spring_joints
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.laws import elements
from diffpbd.codegen.program.tree import Attached


def attached_springs(robot: Robot, recipe: Recipe) -> tuple[Attached, ...]:
    """Every spring on a chosen joint, element by element; a joint that an element does not fit is refused."""
    found: list[Attached] = []
    for element in dict.fromkeys(element for element, _ in recipe.attached):
        spring = elements.spring(element)
        names = [joint for one, joint in recipe.attached if one == element]
        joints = spring_joints(robot, spring.name, spring.on, names)
        found += [Attached(element, joint, len(spring.numbers)) for joint in joints]
    return tuple(found)
