"""The code paths that a machine can run."""

from __future__ import annotations

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.library import PATHS, PORTABLE


def paths(robot: Robot) -> list[str]:
    """Those that can be had here; portable first."""
    found = []
    for name in PATHS:
        try:
            robot.choose_instructions(name)
            found.append(name)
        except InputError:
            pass
    robot.choose_instructions(PORTABLE)
    return found
