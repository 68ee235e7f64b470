"""`diffpbd check FILE…`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffpbd.runtime.errors import InputError

if TYPE_CHECKING:
    from diffpbd.codegen.description.report import Report

__all__ = ["command"]


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="LINK", help="Base link (default: the root).")
@click.option("--tip", metavar="LINK", multiple=True, help="Tip link, may be given more than once.")
@click.option("--hold", metavar="JOINT", multiple=True, help="Weld this joint at zero, may be given more than once.")
@click.option(
    "--contact-from-collision",
    "collision",
    metavar="LINK[=PLANE]",
    multiple=True,
    help="Contacts of this link's <collision> against a plane of the recipe, may be given more than once.",
)
@click.option(
    "--base-joint", type=click.Choice(["fixed", "planar", "floating"]), help="How the base moves (default: not)."
)
@click.option("--strict", is_flag=True, help="Exit with 1 on doubts too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: an object, of several files a list of them.")
def command(
    files: tuple[str, ...],
    base: str | None,
    tip: tuple[str, ...],
    hold: tuple[str, ...],
    collision: tuple[str, ...],
    base_joint: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """List every fault and doubt of descriptions (URDF, MJCF, recipes or shipped robots), by name."""
    options = {
        "base": base, "tip": tip or None, "hold": hold or None, "base_joint": base_joint,
        "contact_from_collision": collision or None,
    }  # fmt: skip
    reports = []
    for file in files:
        try:
            reports.append(_report(file, options))
        except InputError as error:
            if len(files) == 1:
                raise
            click.echo(f"Error: {error}", err=True)  # the other files are still looked at
            continue
        if not as_json:
            separator = "\n" if len(reports) > 1 else ""
            click.echo(separator + reports[-1].text(), nl=False)
    if as_json:
        texts = [report.json() for report in reports]
        together = json.dumps([json.loads(text) for text in texts], indent=1, ensure_ascii=False) + "\n"
        click.echo(texts[0] if len(files) == 1 else together, nl=False)
    if len(reports) < len(files) or not all(report.passed(strict=strict) for report in reports):
        sys.exit(1)


def _report(file: str, options: Mapping[str, Any]) -> Report:
    from diffpbd.codegen.description.recipe import default_recipe, with_options
    from diffpbd.codegen.description.resolve import find_recipe, shipped_robots
    from diffpbd.codegen.description.validate import examine

    if not file:
        raise InputError("FILE: expected the name of a file, found an empty string.")
    if file in shipped_robots() or Path(file).suffix == ".toml":
        recipe = find_recipe(file, **options)
    else:
        recipe = with_options(default_recipe(file), **options)
    report, robot = examine(
        recipe.urdf, base=recipe.base, tip=recipe.tip, hold=recipe.hold, loops=recipe.loop, passive=recipe.passive,
        base_joint=recipe.base_joint, touch=recipe.touching,
    )  # fmt: skip
    if robot is None or not (robot.loops or robot.passive or robot.pairs):
        return report
    from diffpbd.codegen.graph.loop_report import with_loops  # which costs a second to import

    return with_loops(report, robot, recipe)
