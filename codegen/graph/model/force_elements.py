"""Force elements that a recipe asks for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.attached import spring_joints
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.laws import elements
from diffpbd.codegen.program.tree import Attached
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Element


def with_own(robot: Robot, recipe: Recipe) -> Recipe:
    """The recipe with its `element` files read: each word is KEY, or KEY=JOINT of a spring on one joint."""
    words: list[str] = []
    for word in recipe.element:
        file, _, joint = word.partition("=")
        key = elements.know(Path(file))
        if not elements.is_spring(key):
            if joint:
                raise InputError(f"--element {word}: friction is on every joint; leave ={joint} out.")
            words.append(key)
            continue
        fits = elements.spring(key).fits
        every = [j.name for j in robot.joints if not j.part and fits(j.type.slides)][len(robot.base_freedoms) :]
        words += [f"{key}={name}" for name in ((joint,) if joint else every)]
    return dataclasses.replace(recipe, element=tuple(words))


def friction_laws(recipe: Recipe) -> tuple[str, ...]:
    """Keys of the parts of the friction law beyond the plain one, in the order of alpha."""
    return (
        *(law.name for law in elements.FRICTION if law.name in recipe.friction_law),
        *(word for word in recipe.element if "=" not in word),
    )


def element_facts(recipe: Recipe) -> tuple[Element, ...]:
    """The springs on chosen joints as the manifest has them."""
    found = []
    for key in dict.fromkeys(element for element, _ in recipe.attached):
        spring = elements.spring(key)
        names, scales = zip(*((number.name, number.scale) for number in spring.numbers), strict=True)
        joints = tuple(joint for element, joint in recipe.attached if element == key)
        found.append(Element(spring.name, spring.words, names, spring.linear, scales, joints, spring.zero))
    return tuple(found)


def attached_springs(robot: Robot, recipe: Recipe) -> tuple[Attached, ...]:
    """Every spring on a chosen joint, element by element; a joint that an element does not fit is refused."""
    found: list[Attached] = []
    for element in dict.fromkeys(element for element, _ in recipe.attached):
        spring = elements.spring(element)
        names = [joint for one, joint in recipe.attached if one == element]
        joints = spring_joints(robot, spring.name, spring.on, names)
        found += [Attached(element, joint, len(spring.numbers)) for joint in joints]
    return tuple(found)
