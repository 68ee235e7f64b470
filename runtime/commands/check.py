"""`diffpbd check FILE.urdf`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diffpbd.runtime.errors import InputError

__all__ = ["command"]


@click.command("check")
@click.argument("file", metavar="FILE.urdf")
@click.option("--base", metavar="LINK", help="Base link (default: the root).")
@click.option("--tip", metavar="LINK", multiple=True, help="Tip link, may be given more than once.")
@click.option("--hold", metavar="JOINT", multiple=True, help="Weld this joint at zero, may be given more than once.")
@click.option("--strict", is_flag=True, help="Exit with 1 on doubts too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    file: str, base: str | None, tip: tuple[str, ...], hold: tuple[str, ...], strict: bool, as_json: bool
) -> None:
    """List every fault and doubt of a description (or of a shipped robot), by name."""
    from diffpbd.codegen.description.resolve import find_recipe, shipped_robots
    from diffpbd.codegen.description.validate import check

    if not file:
        raise InputError("FILE.urdf: expected the name of a file, found an empty string.")
    if file in shipped_robots() or Path(file).suffix == ".toml":
        recipe = find_recipe(file, base=base, tip=tip or None, hold=hold or None)
        report = check(recipe.urdf, base=recipe.base, tip=recipe.tip, hold=recipe.hold)
    else:
        report = check(file, base=base, tip=tip or None, hold=hold)
    click.echo(report.json() if as_json else report.text(), nl=False)
    if not report.passed(strict=strict):
        sys.exit(1)
