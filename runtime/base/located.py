"""Where the mesh files lie that a description names."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["located", "tried"]

PACKAGES = "ROS_PACKAGE_PATH"
"""Environment variable: folders with packages, or packages themselves, by colons."""


def tried(name: str, description: Path) -> list[Path]:
    """Every place that a `package://`, `model://`, `file://` or relative name may stand for, in order: of a package in
    ROS_PACKAGE_PATH, then in the folders above the description."""
    plain = name.removeprefix("file://")
    for scheme in ("package://", "model://"):
        if plain.startswith(scheme):
            inside = plain.removeprefix(scheme)
            package, _, rest = inside.partition("/")
            folders = [Path(folder) for folder in os.environ.get(PACKAGES, "").split(":") if folder]
            found = [folder / rest if folder.name == package else folder / inside for folder in folders]
            for folder in description.resolve().parents:
                found += [folder / inside, folder / rest]
            return found
    return [description.parent / plain]


def located(name: str, description: Path) -> Path | None:
    """The first of these that is a file."""
    return next((path for path in tried(name, description) if path.is_file()), None)
