"""`diffpbd check FILE…`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.runtime.api.robots import examined
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.options.derived import options

__all__ = ["command"]

READ = ("base", "tip", "hold", "contact_from_collision", "base_joint", "ground", "close")
"""Entries of a recipe that say how a description is read."""


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options(Recipe, READ, unset=True)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: an object, of several files a list of them.")
def command(files: tuple[str, ...], strict: bool, as_json: bool, **chosen: Any) -> None:
    """List all errors and warnings about descriptions (URDF, MJCF, recipes or shipped robots), by name."""
    reports = []
    for file in files:
        try:
            reports.append(examined(file, **chosen))
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
