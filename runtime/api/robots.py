"""Robots: generated, opened, checked, and written back to URDF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.progress import terminal
from diffpbd.runtime.api.words import expect_options, in_python
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.folder.finish import complete
from diffpbd.runtime.folder.locate import GENERATED, locate, robot_folders
from diffpbd.runtime.functions.parameters import ParameterValues, ParameterVector, read_values
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.robot import load as open_folder

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.codegen.description.front.export import Export
    from diffpbd.codegen.description.report import Report
    from diffpbd.codegen.description.robot.robot import Robot as Described
    from diffpbd.runtime.api.keyword_types import GenerateOptions

__all__ = ["check", "default_folder", "examined", "export_urdf", "exported", "generate", "load"]


@in_python
def load(robot: str | Path) -> Robot:
    """A generated robot, by its folder or by its name in ./generated (or in a folder of the environment's DIFFPBD_ROBOTS).

    Needs numpy alone. InputError where there is none, or where its files are not those of its manifest.
    """
    return open_folder(locate(robot))


@in_python
def generate(
    robot: str | Path,
    *,
    out: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    all: bool = False,
    **options: Unpack[GenerateOptions],
) -> Robot:
    """The robot of a URDF or MJCF file, a recipe (.toml) or a shipped name: derived, emitted as C, compiled and loaded.

    Nothing is done where `out` (default: ./generated/NAME) already holds exactly this; else it takes 10 s to a minute.
    `progress` is called with progress messages, `print` for example; without it a terminal shows one line that changes.
    The library is compiled quickly at first and in full in the background, to the same results; `all=True` waits for that.
    Options, several names as a list or a string:

    - `base`, `tip`: link names; `hold`: joints welded at zero; `limits=True`: joints stop at their limits;
      `base_joint` "planar" (vertical), "floor" or "floating": the base moves
    - `symbolic`: what besides is a run-time parameter, of "mass", "com", "inertia", "origin"
    - `friction_law`: of "asymmetric", "stribeck", "dahl"; `springs`, `lever_springs`: joints with one; `wrench`: links
    - `close`: "LINK=LINK" or "LINK=LINK:hinge", loops; `passive`: joints without a motor
    - `contact_from_collision`: links that touch planes, or LINK=LINK each other; `ground`: height [m] of such a plane;
      `cone="exact"`: what sticks does not creep
    - `frames`: links beside the tips that `robot.frame_pose(p, "link")` and its like know, or "all"
    - `functions`: "default", "all", or names as `diffpbd info` lists them; `variants`: steps on maximal states
    - `cuda=True`: for an NVIDIA GPU too; `single=True`: C in single precision too
    - `h`: default step [s]; `gravity` [m/s²] (3); `table` [m]: height that `excite` and `mpc` keep the arm above

    Needs the extra `codegen` and a C compiler. InputError for whatever is wrong about the description or an option.
    """
    from diffpbd.codegen.generate import generate as make

    choices = _several("generate", options)
    folder = default_folder(str(robot)) if out is None else Path(out)
    with terminal(progress) as say:
        made = make(str(robot), out=folder, progress=say, quick=not all, **choices)
        if all:
            complete(made.folder, made.manifest.library, say)
    return open_folder(made.folder)


def default_folder(robot: str) -> Path | None:
    """Where `generate` writes unless it is told: into the first folder of the environment's DIFFPBD_ROBOTS, or (None)
    ./generated."""
    from diffpbd.codegen.description.front.resolve import find_recipe

    first = robot_folders()[0]
    return None if first == GENERATED else first / find_recipe(robot).name


def _several(where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `where`, known and of their types, numpy's as Python's; for names "a,b" is two, as on the command line."""
    known = keywords("GenerateOptions")
    expect_options(where, options, known, none=True)
    several = {name for name, kind in known.items() if "Sequence" in kind}
    plain = {n: v.tolist() if isinstance(v, (np.generic, np.ndarray)) else v for n, v in options.items()}
    return {n: v.split(",") if isinstance(v, str) and n in several else v for n, v in plain.items()}


@in_python
def check(urdf: str | Path, **options: Unpack[GenerateOptions]) -> Report:
    """All errors and warnings about a description (a URDF file, a recipe or a shipped name), by name, with both numbers.

    `print(check("arm.urdf").text())` shows them; `.faults` and `.doubts` hold them, `.passed()` says whether there is no fault.
    `options` are those of `generate`: base, tip, hold, base_joint.
    """
    return examined(str(urdf), **_several("check", options))


def examined(file: str, **options: Any) -> Report:
    """`check` for the command line."""
    from diffpbd.codegen.description.check.validate import examine
    from diffpbd.codegen.description.front.resolve import find_recipe, shipped_robots
    from diffpbd.codegen.description.recipe.friction_note import friction_notes
    from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
    from diffpbd.codegen.graph.functions.capabilities import groups_of

    if not file:
        raise InputError("FILE: expected the name of a file, found an empty string.")
    if file in shipped_robots() or Path(file).suffix == ".toml":
        recipe = find_recipe(file, **options)
    else:
        recipe = with_options(default_recipe(file), **options)
    groups_of(recipe.functions)  # refuses unknown names
    report, robot = examine(
        recipe.urdf, base=recipe.base, tip=recipe.tip, hold=recipe.hold, loops=recipe.loops, passive=recipe.passive,
        base_joint=recipe.base_joint, touch=recipe.touching, shaping=recipe.shaping,
    )  # fmt: skip
    if robot is None:
        return report
    report = replace(report, notes=friction_notes(robot, recipe))
    if not (robot.loops or robot.passive or robot.pairs):
        return report
    from diffpbd.codegen.graph.loops.report import with_loops  # which costs a second to import

    return with_loops(report, robot, recipe)


@in_python
def export_urdf(
    robot: str | Path, out: str | Path, params: ParameterValues = None, **options: Unpack[GenerateOptions]
) -> tuple[str, ...]:
    """Write a robot (a URDF file, a recipe or a shipped name) with parameters as a URDF; returns what a URDF cannot hold.

    `params` are values by name, such as `Identification.params`, or the file params.json of `identify`. `options` choose base,
    tip and held joints as for `generate`. The file reads back to the same torques.
    """
    written, _ = exported(str(robot), params, **_several("export_urdf", options))
    write_atomic(out, written.text)
    return written.notices


def exported(robot: str, params: ParameterValues, **options: Any) -> tuple[Export, Described]:
    """`export_urdf` for the command line: the text with its notices, and the robot before."""
    from diffpbd.codegen.description.front.export import export
    from diffpbd.codegen.description.front.resolve import resolve
    from diffpbd.codegen.description.recipe.recipe import SYMBOLIC, with_options
    from diffpbd.codegen.graph.model.force_elements import with_own
    from diffpbd.codegen.graph.model.parameters import alpha_entries

    recipe, described = resolve(robot, **options)
    recipe = with_own(described, recipe)
    layout = ParameterVector(alpha_entries(described, with_options(recipe, symbolic=SYMBOLIC)), recipe.name)
    given = read_values(params) if isinstance(params, (str, Path)) else dict(params or {})
    layout.vector(params)  # refuses unknown names and values out of bounds
    return export(described, given, layout.by_name(layout.defaults)), described
