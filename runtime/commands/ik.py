"""`diffpbd ik ROBOT`."""

from __future__ import annotations

from dataclasses import replace

import click

from diffpbd.runtime.base.states import parse_state
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot
from diffpbd.runtime.commands.options.obstacles import ObstacleWords
from diffpbd.runtime.commands.results.results import json_option, result
from diffpbd.runtime.model.inverse_kinematics import Ik, Sought, solve
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import table

__all__ = ["command"]


@click.command("ik", context_settings={"show_default": True})
@click.argument("robot")
@job("sought", Sought)
@job("around", ObstacleWords)
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@json_option
def command(robot: str, sought: Sought, around: ObstacleWords, params: str | None) -> None:
    """Find joint positions of the generated ROBOT that bring a frame to a pose, within the joint limits.

    Exits with 1 if no start reaches it, and prints the remaining error of the nearest position.
    """
    loaded = open_robot(robot)
    start = None if sought.q0 is None else parse_state(str(sought.q0), "--q0", loaded.positions, loaded.neutral)
    held = (*loaded.manifest.robot.base_freedoms, *(sought.held or ()))
    asked = replace(sought, q0=start, held=held, obstacles=around.placed())
    found = solve(loaded, asked, loaded.alpha.vector(params), strict=True)
    result(_words(loaded, found), {
        "robot": loaded.name, "frame": found.frame, "positions": dict(zip(loaded.positions, found.q.tolist(), strict=True)),
        "position_miss": found.position_miss, "rotation_miss": found.rotation_miss, "start": found.start,
        "steps": found.steps, **({} if asked.least is None else {"clearance": found.clearance}),
    })  # fmt: skip


def _words(robot: Robot, found: Ik) -> str:
    rows = [[name, f"{value:.9g}"] for name, value in zip(robot.positions, found.q.tolist(), strict=True)]
    return f"{found.words}\n\n{table(['joint', 'position'], rows)}"
