"""`diffpbd ik ROBOT`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.commands.locate import open_robot, parse_state, words_of
from diffpbd.runtime.commands.numbers import COUNT, Real
from diffpbd.runtime.commands.results import json_option, result
from diffpbd.runtime.model.clearance import NEAREST
from diffpbd.runtime.model.inverse_kinematics import STARTS, Ik, goal_of, not_reached, solve
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import table

__all__ = ["command"]


@click.command("ik", context_settings={"show_default": True})
@click.argument("robot")
@click.option(
    "--frame", metavar="LINK", help="Of those that the robot was generated with (--frames); default: the tip."
)
@click.option("--position", metavar="[X,Y,Z]", help="Position of the frame's origin in the world [m].")
@click.option(
    "--rotation", metavar="JSON", help="Orientation of the frame: a unit quaternion [w,x,y,z], or a matrix by rows."
)
@click.option("--rpy", metavar="[R,P,Y]", help="The same as roll, pitch, yaw about fixed axes [rad].")
@click.option(
    "--q0", metavar="JSON", help="Start of the search: a list, an object of joint names, or a file; default: zero."
)
@click.option("--starts", type=COUNT, default=STARTS, help="Number of start positions, q0 the first.")
@click.option("--held", metavar="JOINT", multiple=True, help="Joint that stays at its value in q0; repeatable.")
@click.option(
    "--clearance", type=Real(-NEAREST, NEAREST), metavar="M",
    help="Smallest distance between links [m], for a ROBOT generated with --clearance.",
)  # fmt: skip
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@json_option
def command(robot: str, frame: str | None, q0: str | None, **options: Any) -> None:
    """Find joint positions of the generated ROBOT that bring a frame to a pose, within the joint limits.

    Exits with 1 if no start reaches it, and prints the remaining error of the nearest position.
    """
    position, rotation = _numbers("--position", options["position"]), _rotation(options)
    loaded = open_robot(robot)
    goal = goal_of(loaded, frame, position, rotation, "--frame")
    goal = replace(goal, clearance=options["clearance"])
    start = loaded.neutral if q0 is None else np.array(parse_state(q0, "--q0", loaded.positions, loaded.neutral))
    found = solve(
        loaded, goal, start, starts=options["starts"], held=(*loaded.manifest.robot.base_freedoms, *options["held"]),
        alpha=loaded.alpha.vector(options["params"]),
    )  # fmt: skip
    if not found.reached:
        raise not_reached(loaded, found)
    result(_words(loaded, found), {
        "robot": loaded.name, "frame": found.frame, "positions": dict(zip(loaded.positions, found.q.tolist(), strict=True)),
        "position_miss": found.position_miss, "rotation_miss": found.rotation_miss, "start": found.start,
        "steps": found.steps, **({} if goal.clearance is None else {"clearance": found.clearance}),
    })  # fmt: skip


def _words(robot: Robot, found: Ik) -> str:
    rows = [[name, f"{value:.9g}"] for name, value in zip(robot.positions, found.q.tolist(), strict=True)]
    return f"{found.words}\n\n{table(['joint', 'position'], rows)}"


def _numbers(option: str, text: str | None) -> FloatArray | None:
    """An array of finite numbers, None without the option."""
    if text is None:
        return None
    try:
        found = np.asarray(words_of(text, option), dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{option}: expected numbers in a list, found {text}.") from None
    if not np.isfinite(found).all():
        raise ArgumentError(f"{option}: expected finite numbers, found {text}.")
    return found


def _rotation(options: dict[str, Any]) -> FloatArray | None:
    """Of --rotation or --rpy."""
    turned = _numbers("--rpy", options["rpy"])
    if turned is None:
        return _numbers("--rotation", options["rotation"])
    if options["rotation"] is not None:
        raise ArgumentError("--rpy: --rotation is given too; expected one of them.")
    if turned.shape != (3,):
        raise ArgumentError(f"--rpy: expected three angles [rad], found {options['rpy']}.")
    (a, b), (c, d), (e, f) = ((math.cos(angle), math.sin(angle)) for angle in turned.tolist())
    return np.array([
        [e * c, e * d * b - f * a, e * d * a + f * b], [f * c, f * d * b + e * a, f * d * a - e * b], [-d, c * b, c * a]
    ])  # fmt: skip
