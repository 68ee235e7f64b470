"""Frames by name: which of a description's links the generated code knows the poses of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from diffpbd.codegen.description.robot.robot import Robot, Tip
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint

EVERY: Final = "all"
"""As a name: every link of the chosen part."""


def chosen_frames(robot: Robot, names: Sequence[str]) -> tuple[Tip, ...]:
    """The tips, then the links of these names, each once; InputError for a name that no link has."""
    known = {frame.name: frame for frame in robot.frames}
    moved = {joint.name: robot.links[k].name for k, joint in enumerate(robot.joints)}
    found = {tip.name: tip for tip in robot.tips}
    for name in names:
        if name == EVERY and EVERY not in known:
            found |= {link: frame for link, frame in known.items() if link not in found}
        elif name in known:
            found.setdefault(name, known[name])
        elif name in moved:
            raise InputError(f'frames: "{name}" is a joint of {robot.name}; the link that it moves is "{moved[name]}".')
        else:
            raise InputError(
                f'frames: no link of {robot.name} between base and tips is called "{name}". {hint(name, known)}'
            )
    return tuple(found.values())
