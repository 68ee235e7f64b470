"""`diffpbd check FILE…`."""

from __future__ import annotations

import json
import sys

import click

from diffpbd.runtime.api.robots import examined
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.numbers import HEIGHT

__all__ = ["command"]


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="LINK", help="Base link (default: the root).")
@click.option("--tip", metavar="LINK", multiple=True, help="Tip link; repeatable.")
@click.option("--hold", metavar="JOINT", multiple=True, help="Fix this joint at zero; repeatable.")
@click.option(
    "--contact-from-collision",
    "collision",
    metavar="LINK[=PLANE|LINK]",
    multiple=True,
    help="Contacts of this link's <collision> against a plane of the recipe or another link's; may be given more than once.",
)
@click.option(
    "--base-joint",
    type=click.Choice(["fixed", "planar", "floor", "floating"]),
    help="How the base moves (default: fixed).",
)
@click.option(
    "--ground",
    type=HEIGHT,
    metavar="Z",
    help="A plane called ground across z at this height [m], for --contact-from-collision; of a floating base in the world.",
)
@click.option(
    "--close",
    metavar="LINK=LINK[:TYPE]",
    multiple=True,
    help="Close a loop: the frames of both links stay together, by a ball (default), a hinge about z, or a weld; repeatable.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: an object, of several files a list of them.")
def command(
    files: tuple[str, ...],
    base: str | None,
    tip: tuple[str, ...],
    hold: tuple[str, ...],
    collision: tuple[str, ...],
    base_joint: str | None,
    ground: float | None,
    close: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    """List all errors and warnings about descriptions (URDF, MJCF, recipes or shipped robots), by name."""
    options = {
        "base": base, "tip": tip or None, "hold": hold or None, "base_joint": base_joint,
        "contact_from_collision": collision or None, "ground": ground, "close": close or None,
    }  # fmt: skip
    reports = []
    for file in files:
        try:
            reports.append(examined(file, **options))
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
