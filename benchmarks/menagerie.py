"""Every robot of MuJoCo Menagerie: read, checked, compared with MuJoCo, as one table.

    python -m benchmarks.menagerie [NAME…]       print the table of the robots whose name holds one of the words
    python -m benchmarks.menagerie --update      the same of all, and write menagerie.csv

The files come with PyPI's `mujoco-menagerie`, which fetches a robot when it is first asked for it; MENAGERIE_ROOT names a
checkout instead. Of each robot its own model is read (`default_model`, not the scene). A robot whose files are not to be had
or lack meshes that it takes inertia from is left out.

Columns: `joints` are coordinates without those of the base, `mimics` joints folded into them, `passive` those without a motor,
`base` how it moves; `loops` counts closed ones, `rank` their rows that are kept, `mobility` what they leave with the base.
`error` is the largest difference from MuJoCo's mass matrix, inverse dynamics and tip over random states, relative to the
largest entry, with the base held and balls as three hinges. `reason` lists the codes of the faults of a refused robot, or what
MuJoCo says of the file.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco

from benchmarks.mujoco_twin import Functions, Judge, differences, hinged
from diffpbd.codegen.description.check.validate import examine
from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.read.mjcf.document import stripped
from diffpbd.codegen.description.recipe.recipe import Recipe, default_recipe
from diffpbd.codegen.description.report import Report
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.loops.build import chosen_rows

TABLE = Path(__file__).with_name("menagerie.csv")
BAR = 1e-9
"""[1] Largest difference from MuJoCo that counts as agreement."""

MISSING = "Error opening file"
"""What MuJoCo says of a file without its meshes."""

OUTCOME = ("robot", "outcome", "joints", "mimics", "passive", "base", "loops", "rank", "mobility", "reason", "agrees")
"""Columns that do not depend on the machine."""


@dataclass(frozen=True)
class Row:
    """Outcome of one robot; numbers are 0 and `agrees` is empty where it was refused."""

    robot: str
    outcome: str
    joints: int = 0
    mimics: int = 0
    passive: int = 0
    base: str = ""
    loops: int = 0
    rank: int = 0
    mobility: int = 0
    mass: str = ""
    doubts: int = 0
    reason: str = ""
    agrees: str = ""
    error: str = ""
    seconds: str = ""


COLUMNS = tuple(field.name for field in dataclasses.fields(Row))


def names() -> list[str]:
    """Every robot of the package's registry."""
    import mujoco_menagerie

    return list(mujoco_menagerie.names())


def file_of(name: str) -> Path:
    """The model of a robot, fetched where it is not there; LookupError says why not."""
    try:
        import mujoco_menagerie
    except ImportError:
        raise LookupError("robots of Menagerie come with the package mujoco-menagerie") from None
    robot = mujoco_menagerie.get(name)
    try:
        return Path(robot.xml(robot.default_model))
    except mujoco_menagerie.MenagerieError as error:
        raise LookupError(f"{name} is not to be had: {error}") from error


def files(words: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Name and file of every robot to be had whose name holds one of the words; others are said on the way."""
    for name in names():
        if not words or any(word in name for word in words):
            try:
                yield name, file_of(name)
            except LookupError as error:
                print(f"left out: {error}")


def read(file: Path) -> tuple[Recipe, Report, Robot | None]:
    """Recipe, report and robot of a file as `diffpbd check` sees it."""
    recipe = default_recipe(file)
    return recipe, *examine(file)


def survey(name: str, file: Path) -> Row:
    """Read and compare one robot."""
    started = time.perf_counter()
    recipe, report, robot = read(file)
    if robot is None:
        codes = sorted({_reason(fault.code, fault.message) for fault in report.faults})
        if any(MISSING in code for code in codes):
            raise LookupError(f"{name} is not whole: {'; '.join(codes)}")
        return Row(name, "refused", doubts=len(report.doubts), reason="; ".join(codes))
    chosen = chosen_rows(robot, recipe) if robot.loops else None
    if chosen is not None and chosen.faults:
        codes = sorted({fault.code for fault in chosen.faults})
        return Row(name, "refused", loops=len(robot.loops), reason="; ".join(codes))
    rank = sum(map(len, chosen.kept)) if chosen is not None else 0
    seconds = time.perf_counter() - started
    error = difference(file)
    of_base = (
        robot.n - sum(not joint.name.startswith("base_") for joint in robot.joints)
        if robot.base_joint != "fixed"
        else 0
    )
    return Row(
        robot=name, outcome="read", joints=len(robot.independent) - of_base, mimics=robot.n - len(robot.independent),
        passive=len(robot.passive) - of_base, base=robot.base_joint, loops=len(robot.loops), rank=rank,
        mobility=len(robot.independent) - rank, mass=f"{robot.total_mass:.6g}", doubts=len(report.doubts),
        agrees="yes" if error <= BAR else "no", error=f"{error:.1e}", seconds=f"{seconds:.2f}",
    )  # fmt: skip


def _reason(code: str, message: str) -> str:
    """The code, or what MuJoCo says of a file that it does not compile."""
    return message.split(": ", 1)[1] if code == "source" else code


def difference(file: Path) -> float:
    """The largest difference from MuJoCo, see the module's words."""
    spec = mujoco.MjSpec.from_file(str(file))
    free = tuple(
        joint.name or f"{body.name}_joint"
        for body in spec.bodies
        for joint in body.joints
        if joint.type == mujoco.mjtJoint.mjJNT_FREE
    )
    try:
        model = hinged(spec).compile()
    except ValueError:  # a picture's file is missing
        model = hinged(stripped(mujoco.MjSpec.from_file(str(file)))).compile()
    recipe = dataclasses.replace(default_recipe(file), hold=free)
    robot = dataclasses.replace(read_robot(recipe), loops=())
    return max(differences(Judge(model, robot), Functions(robot, recipe), 2).values())


def outcome(row: Row | dict[str, str]) -> tuple[str, ...]:
    """The columns of `OUTCOME` as text."""
    known = row if isinstance(row, dict) else {k: str(v) for k, v in dataclasses.asdict(row).items()}
    return tuple(known[column] for column in OUTCOME)


def recorded() -> dict[str, tuple[str, ...]]:
    """The outcome of every robot in menagerie.csv."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return {line["robot"]: outcome(line) for line in csv.DictReader(stream)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.menagerie")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true", help="write menagerie.csv")
    options = parser.parse_args()
    if options.update and options.names:
        parser.error("--update is of the whole table; give no names")
    rows = []
    print("joints mimics passive     base loops rank mobility seconds    error  robot")
    for name, file in files(options.names):
        try:
            row = survey(name, file)
        except LookupError as error:
            print(f"left out: {error}")
            continue
        rows.append(row)
        end = row.robot if row.outcome == "read" else f"{row.robot}: refused, {row.reason}"
        numbers = (
            f"{row.joints:6} {row.mimics:6} {row.passive:7} {row.base:>8} {row.loops:5} {row.rank:4} {row.mobility:8}"
        )
        print(f"{numbers} {row.seconds or '-':>7} {row.error or '-':>8}  {end}", flush=True)
    print(f"{len(rows)} robots, {sum(row.outcome == 'read' for row in rows)} read")
    if options.update:
        with TABLE.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(dataclasses.asdict(row) for row in rows)


if __name__ == "__main__":
    main()
