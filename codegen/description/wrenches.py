"""Frames that external wrenches act at: moving links and tips, by name."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.codegen.description.robot import IDENTITY, ZERO, Robot, Tip
from diffpbd.runtime.errors import InputError


def wrench_frames(robot: Robot, names: Sequence[str]) -> tuple[Tip, ...]:
    """The frames of these names, in order; a name that no moving link and no tip has is refused, and one given twice."""
    frames = {link.name: Tip(link.name, k, IDENTITY, ZERO) for k, link in enumerate(robot.links)}
    frames |= {tip.name: tip for tip in robot.tips}
    for name in names:
        if name not in frames:
            raise InputError(f"wrench: {_why(robot, name)}. A wrench can act on {', '.join(frames)}.")
        if names.count(name) > 1:
            raise InputError(f'wrench: "{name}" is named {names.count(name)} times; its parameters exist once.')
    return tuple(frames[name] for name in names)


def _why(robot: Robot, name: str) -> str:
    if name == robot.base or any(tip.name == name for tip in robot.tips):
        return f'link "{name}" does not move'
    for link in robot.links:
        if name in link.merged:
            return f'link "{name}" is rigidly part of link "{link.name}"; name that, or make it a tip too (--tip)'
    return f'{robot.name} has no moving link or tip "{name}"'
