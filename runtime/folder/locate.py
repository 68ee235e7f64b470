"""Finds generated robots: by folder, or by name in the folders of robots.

These are the folders in the environment variable DIFFPBD_ROBOTS, separated as in PATH, then ./generated. `generate` writes to
the first.
"""

from __future__ import annotations

import importlib.resources
import os
from pathlib import Path

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.folder.manifest import MANIFEST_NAME

__all__ = [
    "GENERATED",
    "ROBOTS",
    "find_description",
    "generated_names",
    "locate",
    "robot_folders",
    "shipped_descriptions",
]

ROBOTS = "DIFFPBD_ROBOTS"
"""The environment variable."""
GENERATED = Path("generated")
"""The folder without it."""


def robot_folders() -> tuple[Path, ...]:
    """The folders that are searched for robots, in order."""
    return (*(Path(folder) for folder in os.environ.get(ROBOTS, "").split(os.pathsep) if folder), GENERATED)


def locate(robot: str | Path) -> Path:
    """The generated folder of ROBOT."""
    if not str(robot):
        raise InputError("ROBOT: expected a generated robot's name or folder, found an empty string.")
    try:
        return _locate(robot)
    except OSError as error:  # such as a name longer than the file system allows
        raise InputError(f"ROBOT {robot}: {error.strerror or error}.") from None


def _locate(robot: str | Path) -> Path:
    path = Path(robot)
    named = path.name == str(robot)
    for folder in robot_folders() if named else ():
        if (folder / path / MANIFEST_NAME).is_file():
            return folder / path
    if (path / MANIFEST_NAME).is_file():
        return path
    if path.is_file() and path.name == MANIFEST_NAME:
        return path.parent
    if path.is_file():
        raise InputError(
            f"{robot} is a robot description and not yet generated. Run `diffpbd generate {robot}` "
            f"and name the folder it writes, such as {robot_folders()[0] / path.stem}."
        )
    if path.is_dir():
        raise InputError(f"{robot} is not a generated folder: it has no {MANIFEST_NAME}.")
    if not named:
        raise InputError(
            f"There is no folder {robot}. Expected one that `diffpbd generate` wrote, or a robot's name in "
            f"{_places()}. {_there(path.name)}"
        )
    shipped = shipped_descriptions()
    how = (
        f"It is shipped: `diffpbd generate {robot}` makes it."
        if str(robot) in shipped
        else f"Make one with `diffpbd generate FILE.urdf`, or of a shipped description ({', '.join(shipped)}), or name a "
        f"generated folder, or set {ROBOTS} to the folder of robots (`--robots DIR` on the command line)."
    )
    raise InputError(f"There is no generated robot {str(robot)!r} in {_places()}. {how} {_there(str(robot))}")


def generated_names() -> set[str]:
    """Names of the generated robots in these folders; one that is being written begins with a dot."""
    return {p.parent.name for folder in robot_folders() for p in folder.glob(f"[!.]*/{MANIFEST_NAME}")}


def _places() -> str:
    return " or ".join(str(folder.resolve()) for folder in robot_folders())


def _there(name: str) -> str:
    """The generated robots, nearest name first."""
    there = sorted(generated_names())
    near = hint(name, there)
    if not there:
        return "No robot was generated there yet."
    return near if near.startswith("Did") else f"Generated are {listing(there)}."


def _descriptions() -> Path:
    return Path(str(importlib.resources.files("diffpbd.codegen"))) / "robots"


def shipped_descriptions() -> tuple[str, ...]:
    """Names of the descriptions that come with diffpbd."""
    return tuple(sorted(path.stem for path in _descriptions().glob("*.urdf")))


def find_description(robot: str | Path) -> Path:
    """The URDF that ROBOT names: a shipped description or a file."""
    if Path(robot).is_file():
        return Path(robot)
    shipped = _descriptions() / f"{robot}.urdf"
    if not shipped.is_file():
        raise InputError(
            f"{robot} is neither a URDF file nor a shipped description ({', '.join(shipped_descriptions())})."
        )
    return shipped
