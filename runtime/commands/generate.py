"""`diffpbd generate ROBOT`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from diffpbd.runtime.commands.numbers import COUNT
from diffpbd.runtime.report.tables import number, table

__all__ = ["command"]


def _relaxation(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | Literal["averaging"] | None:
    """A number, or the word `averaging`."""
    if text is None or text == "averaging":
        return text  # type: ignore[return-value]  # the word is what the type says
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.0 < factor < 2.0:
        raise click.BadParameter(f"{text} is neither a factor between 0 and 2 nor `averaging`.")
    return factor


@click.command("generate")
@click.argument("robot")
@click.option("--base", metavar="LINK", help="Base link (default: the recipe's, or the root).")
@click.option("--tip", metavar="LINK", multiple=True, help="Tip link, may be given more than once.")
@click.option("--hold", metavar="JOINT", multiple=True, help="Weld this joint at zero, may be given more than once.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder (default: generated/NAME).")
@click.option("--integrator", type=click.Choice(["variational", "paper"]), help="Integrator of `step`.")
@click.option("--solver", type=click.Choice(["direct", "gauss_seidel", "jacobi"]), help="Projection of `step`.")
@click.option("--sweeps", type=COUNT, metavar="N", help="Sweeps or Newton iterations of `step`.")
@click.option(
    "--relaxation",
    callback=_relaxation,
    metavar="FACTOR",
    help="What Jacobi sweeps make of their corrections: a factor between 0 and 2 (default: 1.8 over the most joints that meet "
    "at a link, at most 1), or `averaging`, which loses momentum.",
)
@click.option(
    "--symbolic",
    metavar="LIST",
    default="",
    callback=lambda _ctx, _param, text: [name.strip() for name in text.split(",") if name.strip()],
    help="Symbolic quantities out of mass,com,inertia,origin, by commas.",
)
@click.option("--friction", type=click.Choice(["none", "urdf"]), help="Default friction: none, or the file's.")
@click.option("--limits/--no-limits", default=None, help="Whether joints stop at their limits in `step`.")
@click.option(
    "--wrench",
    metavar="LINK",
    multiple=True,
    help="Parameters of a force [N] and torque [N·m] on this link or tip, may be given more than once.",
)
@click.option(
    "--lever-spring",
    "lever_springs",
    metavar="JOINT",
    multiple=True,
    help="Parameters of a spring between two lever arms about this hinge (stiffness [N/m], arms and rest length [m], angle "
    "[rad]), may be given more than once.",
)
def command(robot: str, out: Path | None, **options: Any) -> None:
    """Derive, emit and compile the dynamics of ROBOT: a shipped name, a recipe (.toml) or a URDF file."""
    from diffpbd.codegen.generate import generate

    result = generate(robot, out=out, progress=lambda line: click.echo(line, err=True), **options)
    if result.unchanged:
        click.echo(f"{result.folder} is up to date ({result.seconds:.1f} s); nothing was regenerated.")
        return
    rows = [[row.name, str(row.operations), number(row.seconds, 3), str(row.bytes)] for row in result.rows]
    click.echo(table(["function", "operations", "seconds", "bytes"], rows))
    click.echo(f"{result.folder}: generated in {result.seconds:.1f} s, compiling {result.compile_seconds:.1f} s of it.")
