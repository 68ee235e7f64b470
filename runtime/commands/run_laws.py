"""Settings of the laws of `diffpbd run` that need the model: a net torque map, cartesian impedance, predictive control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from diffpbd.runtime.commands.locate import parse_state
from diffpbd.runtime.commands.mpc import parse_weights
from diffpbd.runtime.control.disturbance import TIME_CONSTANT
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import parse_json, read_json
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.robot import Robot

__all__ = ["cartesian_settings", "joint_goal", "mpc_settings", "net_torque_settings"]

TIP_STIFFNESS = (200.0, 200.0, 200.0, 5.0, 5.0, 5.0)  # N/m and N·m/rad
TIP_DAMPING = 0.7  # of critical
POSTURE = 0.2
"""Share of the joints' stiffness with which the cartesian controller holds what does not move the tip."""


def net_torque_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The map in the file of --net-torque-map and its scaling; nothing without one."""
    if not options["net_torque_map"]:
        return {}
    table = NetTorqueMap.from_json(read_json(options["net_torque_map"]))
    return {"net_torque": table.to_json(), "scaling": options["scaling"]}


def cartesian_settings(options: Mapping[str, Any], stiffness: Sequence[float], damping: Sequence[float]) -> dict[str, Any]:
    """Settings of the cartesian controller; `stiffness` [N·m/rad] and `damping` [N·m·s/rad] a joint."""
    return {
        "stiffness": _numbers(options["tip_stiffness"], "--tip-stiffness", TIP_STIFFNESS),
        "offset": _numbers(options["tip_offset"], "--tip-offset", (0.0, 0.0, 0.0)),
        "damping_ratio": TIP_DAMPING, "speed": options["goal_speed"], "damping": list(damping),
        "posture": [POSTURE * value for value in stiffness],
    }  # fmt: skip


def mpc_settings(robot: Robot, options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the mpc controller."""
    if options["reference"] and options["goal"]:
        raise click.UsageError("--reference and --goal are two references; expected one.")
    settings: dict[str, Any] = {
        "horizon": options["horizon"], "delay": options["delay"], "goal_speed": options["goal_speed"],
        "weights": None if options["weights"] is None else parse_weights(options["weights"]),
        "goal": None if options["reference"] else joint_goal(robot, options["goal"]), "reference": None,
        "disturbance": TIME_CONSTANT if options["disturbance"] else None,
    }  # fmt: skip
    if options["reference"]:
        log = read_log(options["reference"]).select(robot.joints)
        settings["reference"] = {"time": log.time.tolist(), "q": log.q.tolist(), "dq": log.dq.tolist()}
    return settings


def joint_goal(robot: Robot, text: str | None) -> list[float | None]:
    """The goals by joint; None for a joint that stays at its start pose."""
    if text is None:
        return [None] * robot.n
    data = parse_json(text, "--goal") if text.lstrip().startswith(("[", "{")) else read_json(text)
    goal = parse_state(text, "--goal", robot.joints)
    if isinstance(data, dict):
        return [goal[k] if joint in data else None for k, joint in enumerate(robot.joints)]
    return list(goal)


def _numbers(text: str | None, option: str, default: tuple[float, ...]) -> list[float]:
    """A JSON list of as many numbers as the default has."""
    data = list(default) if text is None else parse_json(text, option)
    if not (
        isinstance(data, list) and len(data) == len(default) and all(type(value) in (int, float) for value in data)
    ):
        raise InputError(f"{option}: expected a list of {len(default)} numbers, found {data!r}.")
    return [float(value) for value in data]
