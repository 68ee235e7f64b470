"""Contacts of an arm with planes."""

from __future__ import annotations

from pathlib import Path

from support.mechanisms import Mechanism
from support.touching import reaching_arm

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.robot.robot import Robot


def shaped(*shapes: str) -> Mechanism:
    """An arm whose forearm has these shapes, and no contacts but what is taken of them."""
    mechanism = reaching_arm()
    geometry = "".join(
        f'<collision><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/><geometry>{shape}</geometry></collision>'
        for shape in shapes
    )
    mechanism.links[2] = mechanism.links[2].replace("</link>", f"{geometry}</link>")
    mechanism.planes, mechanism.contacts = mechanism.planes[:1], []
    return mechanism


def taken(mechanism: Mechanism, folder: Path, *words: str) -> Robot:
    return read_robot(with_options(load_recipe(mechanism.write(folder, "made")), contact_from_collision=words))
