"""`diffpbd generate ROBOT`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.runtime.api.robots import default_folder
from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.commands.options.derived import options
from diffpbd.runtime.commands.results.progress import staged
from diffpbd.runtime.commands.results.results import as_json, finish, json_option, note, said
from diffpbd.runtime.folder.finish import begin, complete, is_quick
from diffpbd.runtime.report.tables import number, table

__all__ = ["command"]


@click.command("generate")
@click.argument("robot")
@options(Recipe, unset=True)
@click.option("--printed-order", is_flag=True, help="As --sweep-order printed.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder (default: generated/NAME).")
@click.option(
    "--order",
    type=click.Choice(["2", "4", "6"]),
    default="2",
    help="4, 6: also generate steps of fourth and sixth order with derivatives, as --functions default,sixth_order_step.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Compile fully at once, for a control PC or timing (default: quickly first, then fully in the background).",
)
@json_option
def command(
    robot: str, out: Path | None, order: str, everything: bool, printed_order: bool, **chosen: Any
) -> None:  # fmt: skip
    """Derive, emit and compile the dynamics of ROBOT: a shipped name, a recipe (.toml), a URDF or MJCF file."""
    from diffpbd.codegen.generate import generate

    if order != "2":
        chosen["functions"] = [*(chosen["functions"] or ["default"]), "sixth_order_step"]
    if printed_order and chosen["sweep_order"] == "joints":
        raise ArgumentError("--printed-order and --sweep-order joints: expected one of them.")
    chosen["sweep_order"] = "printed" if printed_order else chosen["sweep_order"]
    out = default_folder(robot) if out is None else out
    with staged() as say:
        made = generate(robot, out=out, progress=say, quick=not everything, **chosen)
        if everything:
            complete(made.folder, made.manifest.library, say)
    if is_quick(made.folder, made.manifest.library) and begin(made.folder, made.manifest.library):
        note("compiled quickly; the optimised library follows in the background (--all waits for it)")
    branches = made.manifest.robot.left_out
    if branches:
        note(
            f"left out: {sum(branch.mass for branch in branches):.6g} kg beyond the tip, which no torque will hold; "
            f"{' '.join(f'--hold {branch.joint}' for branch in branches)} keeps it"
        )
    rows = [[row.name, str(row.operations), number(row.seconds or None, 3), str(row.bytes or "-")] for row in made.rows]
    words = table(["function", "operations", "seconds", "bytes of C"], rows) + (
        "\n- : part of a file counted above."
        f"\n{made.folder}: generated in {made.seconds:.1f} s, with compilers running for {made.compile_seconds:.1f} s "
        "in parallel."
    )
    if made.unchanged:
        words = f"{made.folder} is up to date ({made.seconds:.1f} s); nothing was regenerated."
    said(words)
    if as_json():
        left_out = [{"joint": branch.joint, "mass": branch.mass} for branch in branches]
        functions = {row.name: {"operations": row.operations, "bytes": row.bytes} for row in made.rows}
        finish({
            "robot": made.manifest.name, "folder": str(made.folder), "unchanged": made.unchanged, "seconds": made.seconds,
            "joints": [joint.name for joint in made.manifest.robot.joints], "left_out": left_out, "functions": functions,
        }, None if made.unchanged else str(made.folder))  # fmt: skip
