"""ROBOT on the command line, opened, and its files."""

from __future__ import annotations

from pathlib import Path

from diffpbd.runtime.base.files import Named
from diffpbd.runtime.folder.locate import locate
from diffpbd.runtime.folder.manifest import Manifest, read_manifest
from diffpbd.runtime.model.robot import Robot, load

__all__ = ["files_in", "open_manifest", "open_robot", "robot_files"]


def open_manifest(robot: str) -> tuple[Path, Manifest]:
    """Folder and manifest of ROBOT; the library is not opened."""
    folder = locate(robot)
    return folder, read_manifest(folder)


def robot_files(robot: str) -> list[Named]:
    """The files of ROBOT's folder, which no output may overwrite."""
    return files_in("ROBOT", locate(robot))


def files_in(name: str, folder: str | Path | None) -> list[Named]:
    """The file that option `name` gives, or those of a folder, which no output may overwrite."""
    if folder is None:
        return []
    return [(name, path) for path in (Path(folder), *sorted(Path(folder).rglob("*"))) if path.is_file()]


def open_robot(robot: str) -> Robot:
    """ROBOT, loaded and verified."""
    return load(locate(robot))
