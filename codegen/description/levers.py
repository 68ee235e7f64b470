"""Joints that lever springs act on, by name."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.codegen.description.robot import JointType, Robot
from diffpbd.runtime.errors import InputError


def lever_joints(robot: Robot, names: Sequence[str]) -> tuple[int, ...]:
    """The hinges of these names, in order; a name that no hinge has is refused, and one given twice."""
    hinges = {j.name: k for k, j in enumerate(robot.joints) if j.type is not JointType.PRISMATIC}
    for name in names:
        if name not in hinges:
            slide = any(j.name == name for j in robot.joints)
            why = f'joint "{name}" slides, and levers turn' if slide else f'{robot.name} has no moving joint "{name}"'
            raise InputError(f"lever spring: {why}. A lever spring can act on {', '.join(hinges) or 'no joint here'}.")
        if names.count(name) > 1:
            raise InputError(f'lever spring: "{name}" is named {names.count(name)} times; its parameters exist once.')
    return tuple(hinges[name] for name in names)
