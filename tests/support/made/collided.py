"""Shapes of collision elements that touch."""

from __future__ import annotations

from pathlib import Path

from support.small.shaped import shaped_arms

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.robot.robot import Robot

BALL, PILL, CRATE = '<sphere radius="0.05"/>', '<capsule radius="0.02" length="0.3"/>', '<box size="0.1 0.2 0.3"/>'


def collided(shapes: dict[str, list[str]], folder: Path, *words: str) -> Robot:
    """The arms with these shapes in `<collision>` of their links, at (0.1, 0, 0) and turned about x."""
    mechanism = shaped_arms()
    mechanism.contacts = []
    for k, link in enumerate(mechanism.links):
        own = next((shapes[name] for name in shapes if f'<link name="{name}">' in link), [])
        text = "".join(
            f'<collision><origin xyz="0.1 0 0" rpy="0.5 0 0"/><geometry>{x}</geometry></collision>' for x in own
        )
        mechanism.links[k] = link.replace("</link>", f"{text}</link>")
    recipe = load_recipe(mechanism.write(folder, "made"))
    return read_robot(with_options(recipe, contact_from_collision=words))
