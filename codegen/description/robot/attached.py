"""Attachments of a robot by name: frames of external wrenches, joints of springs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Robot, Tip
from diffpbd.runtime.base.errors import InputError, arg

T = TypeVar("T")


def wrench_frames(robot: Robot, names: Sequence[str]) -> tuple[Tip, ...]:
    """The frames of these names, in order; a name that no moving link and no tip has is refused, and one given twice."""
    hidden = {j.name for j in robot.joints if j.part}  # links in front of the slides of screws have their names
    frames = {k.name: Tip(k.name, i, IDENTITY, ZERO) for i, k in enumerate(robot.links) if k.name not in hidden}
    frames |= {tip.name: tip for tip in robot.tips}
    return _chosen("wrench", frames, names, lambda name: _no_frame(robot, name))


def spring_joints(robot: Robot, element: str, on: str, names: Sequence[str]) -> tuple[int, ...]:
    """The joints of these names for springs of an element, which fit a "hinge", a "slide" or "any" joint, in order; a name
    that no such joint has is refused, and one given twice."""
    known = {j.name: k for k, j in enumerate(robot.joints) if on in ("any", "slide" if j.type.slides else "hinge")}
    return _chosen(element.replace("_", " "), known, names, lambda name: _no_joint(robot, name))


def _chosen(what: str, known: Mapping[str, T], names: Sequence[str], why: Callable[[str], str]) -> tuple[T, ...]:
    for name in names:
        if name not in known:
            raise InputError(f"{what}: {why(name)}. A {what} can act on {', '.join(known) or 'no joint here'}.")
        if names.count(name) > 1:
            raise InputError(f'{what}: "{name}" is named {names.count(name)} times; its parameters exist once.')
    return tuple(known[name] for name in names)


def _no_joint(robot: Robot, name: str) -> str:
    for joint in robot.joints:
        if joint.name == name:
            return f'joint "{name}" {"slides" if joint.type.slides else "turns"}'
    return f'{robot.name} has no moving joint "{name}"'


def _no_frame(robot: Robot, name: str) -> str:
    if name == robot.base:
        return f'link "{name}" does not move'
    for link in robot.links:
        if name in link.merged:
            return f'link "{name}" is rigidly part of link "{link.name}"; name that, or make it a tip too ({arg.tip})'
    return f'{robot.name} has no moving link or tip "{name}"'
