"""`diffpbd info ROBOT`."""

from __future__ import annotations

import click

from diffpbd.runtime.commands.locate import open_manifest
from diffpbd.runtime.commands.tables import number, table
from diffpbd.runtime.manifest import Argument, Function, Manifest

__all__ = ["command", "describe"]


@click.command("info")
@click.argument("robot")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def command(robot: str, as_json: bool) -> None:
    """Print joints, limits, parameters (alpha) and functions of the generated ROBOT."""
    folder, manifest = open_manifest(robot)
    click.echo(manifest.to_json() if as_json else f"{folder}\n{describe(manifest)}", nl=not as_json)


def describe(manifest: Manifest) -> str:
    """All that `info` prints, without the folder."""
    robot, recipe = manifest.robot, manifest.recipe
    joints = [
        [
            j.name,
            j.type,
            j.parent,
            j.child,
            number(j.lower),
            number(j.upper),
            number(j.velocity),
            number(j.effort),
        ]
        for j in robot.joints
    ]
    alpha = [[p.name, number(p.default), number(p.lower), number(p.upper), p.unit] for p in manifest.alpha]
    functions = [[f"{f.operations:>10}", f.name, signature(f)] for f in manifest.functions]
    return "\n\n".join(
        [
            f"{manifest.name}: {len(robot.joints)} joints from {robot.base} to {', '.join(robot.tips)}, "
            f"moving mass {robot.total_mass:.6g} kg; h = {recipe.h:g} s, {recipe.integrator}, "
            f"{recipe.solver}; "
            f"made by diffpbd {manifest.generator.diffpbd}",
            table(
                ["joint", "type", "parent", "child", "lower", "upper", "velocity", "effort"], joints, left=4
            ),
            table(["alpha", "default", "lower", "upper", "unit"], alpha),
            table(["operations", "function", "inputs -> outputs"], functions, left=3),
        ]
    )


def signature(function: Function) -> str:
    """`p[7], h -> xi[91]`; matrices as rows x columns, trajectories as rows x N."""

    def text(argument: Argument) -> str:
        if argument.cols == 1:
            return argument.name if argument.rows == 1 else f"{argument.name}[{argument.rows}]"
        return f"{argument.name}[{argument.rows}x{argument.cols}]"

    return f"{', '.join(map(text, function.inputs))} -> {', '.join(map(text, function.outputs))}"
