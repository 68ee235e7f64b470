"""`diffpbd export ROBOT`."""

from __future__ import annotations

from typing import Any

import click

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.runtime.api.robots import exported
from diffpbd.runtime.base.files import distinct, write_atomic
from diffpbd.runtime.commands.options.derived import options
from diffpbd.runtime.commands.results.results import json_option, result

__all__ = ["command"]


@click.command("export")
@click.argument("robot")
@options(Recipe, ("base", "tip", "hold"), unset=True)
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--out", required=True, metavar="FILE.urdf", help="The URDF to write.")
@json_option
def command(robot: str, params: str | None, out: str, **chosen: Any) -> None:
    """Write ROBOT (a shipped name, a recipe, a URDF or MJCF file) as a URDF of its moving links, with the values of --params.

    The file reads back to the same torques. What a URDF cannot hold is printed.
    """
    from diffpbd.codegen.description.front.resolve import find_recipe

    described_by = find_recipe(robot, **chosen).urdf
    distinct([("--out", out)], [("ROBOT", robot), ("ROBOT's description", described_by), ("--params", params)])
    made, described = exported(robot, params, **chosen)
    write_atomic(out, made.text)
    before, mass = described.total_mass, made.robot.total_mass
    words = [f"{described.name}: {described.n} joints, {mass:.6g} kg (before: {before:.6g} kg)"]
    data = {
        "robot": described.name,
        "joints": described.n,
        "mass": mass,
        "mass_before": before,
        "notices": made.notices,
    }
    result("\n".join([*words, *(f"  {notice}" for notice in made.notices)]), data, out)
