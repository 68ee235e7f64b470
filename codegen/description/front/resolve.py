"""ROBOT of the commands: a shipped name, a recipe, a URDF or MJCF file."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any, Final

from diffpbd.codegen.description.check.validate import examine
from diffpbd.codegen.description.read.srdf import beside, disabled
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import Recipe, default_recipe, with_options
from diffpbd.codegen.description.report import DescriptionError, Finding
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint

ROBOTS: Final = Path(__file__).resolve().parents[2] / "robots"
"""Folder of the shipped descriptions and their recipes."""


def shipped_robots() -> tuple[str, ...]:
    """Names of the shipped robots."""
    return tuple(sorted(path.stem for path in ROBOTS.glob("*.toml")))


def find_recipe(robot: str, **options: Any) -> Recipe:
    """The recipe of a shipped name, a TOML recipe or a bare URDF or MJCF file, with options as `with_options` takes them."""
    if not robot:
        raise InputError(
            "ROBOT: expected a shipped name, a recipe (.toml), a URDF or MJCF file, found an empty string."
        )
    try:
        os.stat(robot)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # such as a name longer than the file system allows
        raise InputError(f"ROBOT {robot}: {error.strerror or error}.") from None
    if robot in shipped_robots():
        return with_options(load_recipe(ROBOTS / f"{robot}.toml"), **options)
    path = Path(robot)
    if path.suffix == ".toml" and path.is_file():
        return with_options(load_recipe(path), **options)
    if path.is_file():
        return with_options(default_recipe(path), **options)
    what = "a folder" if path.is_dir() else "not a file"
    near = hint(robot, shipped_robots())
    raise InputError(
        f"ROBOT {robot} is {what}; a shipped name ({', '.join(shipped_robots())}),"
        f" a recipe (.toml), a URDF or MJCF file is expected.{f' {near}' if near.startswith('Did') else ''}"
    )


def read_robot(recipe: Recipe) -> Robot:
    """The robot of a recipe, under the recipe's name."""
    return read_doubted(recipe)[0]


def read_doubted(recipe: Recipe) -> tuple[Robot, tuple[Finding, ...]]:
    """Reads a robot and returns it with all warnings about its description."""
    report, robot = examine(
        recipe.urdf, base=recipe.base, tip=recipe.tip, hold=recipe.hold, loops=recipe.loops, passive=recipe.passive,
        base_joint=recipe.base_joint, touch=recipe.touching, shaping=recipe.shaping, frames=recipe.frames,
    )  # fmt: skip
    if robot is None:
        raise DescriptionError(report)
    return dataclasses.replace(robot, name=recipe.name, apart=_apart(recipe)), report.doubts


def _apart(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    """Pairs of links that an SRDF leaves out: the recipe's, or the one beside the description."""
    if not recipe.clearance:
        return ()
    path = beside(recipe.urdf) if recipe.srdf is None else recipe.srdf
    return () if path is None else disabled(path)


def resolve(robot: str, **options: Any) -> tuple[Recipe, Robot]:
    """Recipe and robot of ROBOT; base and tip are filled in where they were left to the description."""
    recipe = find_recipe(robot, **options)
    found = read_robot(recipe)
    tips = tuple(tip.name for tip in found.tips)
    return dataclasses.replace(recipe, base=found.base, tip=tips), found
