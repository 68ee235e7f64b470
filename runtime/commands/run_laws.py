"""What the options of `diffpbd run` make of a run: its controller's settings, who owns gravity, limits."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import click
import numpy as np

from diffpbd.runtime.arms.attached import kind_of
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.base.files import read_json
from diffpbd.runtime.commands.locate import parse_state, words_of
from diffpbd.runtime.commands.mending_options import FollowWords
from diffpbd.runtime.commands.mpc import parse_weights
from diffpbd.runtime.commands.obstacle_options import ObstacleWords
from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.configuration import Configuration, has_spring, limits_of
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.run import SUPPRESS_PERIOD
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.clearance import least_distance
from diffpbd.runtime.model.obstacles import obstacles
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference_check import check_goal, read_reference

__all__ = ["PLANNED", "configured", "expect_used"]

PLANNED = ("delay", "disturbance", "clearance", "clearance_price", "clearance_hard")
"""What `MpcOptions` of a run are asked for: a tick's time is that of the arm."""

STIFF = ("impedance", "cartesian", "track")
PLANS = dict.fromkeys(("horizon", "weights", *(name for name in PLANNED if name != "clearance")), ("mpc",))
USED: Mapping[str, tuple[str, ...]] = {
    **PLANS, "goal": ("impedance", "mpc"), "speed": (*STIFF, "mpc"), "reference": ("mpc", "track"), "stiffness": STIFF,
    **dict.fromkeys(("profile", "acceleration", "jerk"), ("impedance", "cartesian", "mpc")), "damping": ("gravity", *STIFF),
    **dict.fromkeys(("net_torque_map", "scaling"), ("impedance",)), "program": ("program",),
    **dict.fromkeys(("tip_offset", "tip_stiffness"), ("cartesian",)),
}  # fmt: skip
"""The controllers that use an option, where not all do."""

TIP_STIFFNESS = (200.0, 200.0, 200.0, 5.0, 5.0, 5.0)  # N/m and N·m/rad
TIP_DAMPING = 0.7  # of critical
POSTURE = 0.2
"""Share of the joints' stiffness with which the cartesian controller holds what does not move the tip."""
PLANNED_RATE = 250.0
"""Hz, of the ticks of mpc where --rate does not say: a plan takes more than a millisecond."""
REPLY_SHARE = 0.5
"""Share of a period that a controller program may take for its reply."""
LEAD_DAMPING = 0.2
"""Share of the usual damping that the gravity controller keeps, so that a led arm does not coast."""


def expect_used(controller: str, told: Mapping[str, str]) -> None:
    """Refuses an option that `controller` does not use, of those that were told, words by name."""
    for name, word in told.items():
        if controller not in USED.get(name, (controller,)):
            *others, last = USED[name]
            one = f"{', '.join(others)} or {last}" if others else last
            raise click.UsageError(f"{word} is for --controller {one}, found --controller {controller}.")
    if "scaling" in told and "net_torque_map" not in told:
        raise click.UsageError("--scaling is a share of a map's torque; expected --net-torque-map FILE with it.")


def configured(
    robot: Robot, options: Mapping[str, Any], words: FollowWords, around: ObstacleWords | None = None
) -> Configuration:
    """The configuration of a run of the generated robot; `words` say how to read the log of --reference."""
    placed = {} if around is None else around.placed()
    if placed:
        obstacles(robot, **placed)  # refuses more or others than the robot was generated for
    for record, names in ((Approach, [field.name for field in fields(Approach)]), (MpcOptions, PLANNED)):
        record(**{name: options[name] for name in names})  # refuses numbers out of range
    alpha = robot.alpha.vector(options["params"])
    kind = kind_of(robot, options)
    rate = options["rate"] or (PLANNED_RATE if options["controller"] == "mpc" else kind.rate)
    model = options["gravity"] == "model"
    mode = Mode.POSITION if options["controller"] == "hold" else Mode.TORQUE
    if not kind.suppresses:  # where a pose is held, the arm's own servo carries the model's gravity
        owner = GravityOwner.MODEL if model and mode is Mode.TORQUE else GravityOwner.ROBOT
    else:
        owner = check_gravity(GravitySettings(
            mode=mode, add_model_gravity=model, suppress_robot=model,
            suppress_rate=1.0 / SUPPRESS_PERIOD if model else 0.0, spring_in_model=has_spring(robot, alpha),
            without_spring_confirmed=options["without_spring"],
        ))  # fmt: skip
    stiffnesses, dampings = kind.gains(robot, alpha)
    damping = _gains(robot, options["damping"], "--damping", dampings)
    controller: dict[str, Any] = {"name": options["controller"]}
    if options["controller"] == "gravity":
        share = LEAD_DAMPING if options["damping"] is None else 1.0
        controller["damping"] = (share * damping).tolist()
    elif options["controller"] == "impedance":
        stiffness = _gains(robot, options["stiffness"], "--stiffness", stiffnesses)
        controller |= {
            "stiffness": stiffness.tolist(), "damping": damping.tolist(),
            "goal": _goal(robot, options["goal"]), "goal_speed": options["speed"], **_profile(options),
        }  # fmt: skip
        controller |= _net_torque(options)
    elif options["controller"] == "cartesian":
        posture = _gains(robot, options["stiffness"], "--stiffness", stiffnesses)
        controller |= _cartesian(options, posture.tolist(), damping.tolist())
    elif options["controller"] == "track":
        stiffness = _gains(robot, options["stiffness"], "--stiffness", stiffnesses)
        controller |= {"stiffness": stiffness.tolist(), "damping": damping.tolist(), **_track(robot, options, words)}
    elif options["controller"] == "mpc":
        controller |= _mpc(robot, options, words)
    elif options["controller"] == "program":
        if not options["program"]:
            raise click.UsageError("--controller program needs --program COMMAND.")
        controller |= {"command": shlex.split(options["program"]), "timeout": REPLY_SHARE / rate}
    gives = options["after_contact"] == "yield"
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, controller, owner, alpha,
        limits_of(robot, torque_share=options["torque_share"]),
        Settings(1.0 / rate, ramp=options["ramp"], reflexes=ReflexSettings(contact=options["contact"], yielding=gives)),
        robot.manifest.recipe.table if options["table"] is None else options["table"],
        robot.instructions,
        least_distance(robot, options["clearance"], placed=placed), placed,
    )  # fmt: skip


def _mpc(robot: Robot, options: Mapping[str, Any], words: FollowWords) -> dict[str, Any]:
    """Settings of the mpc controller."""
    if options["reference"] and options["goal"]:
        raise click.UsageError("--reference and --goal are two references; expected one.")
    settings: dict[str, Any] = {
        "horizon": options["horizon"], "goal_speed": options["speed"], **_profile(options),
        "weights": None if options["weights"] is None else parse_weights(options["weights"]),
        "goal": None if options["reference"] else _goal(robot, options["goal"]), "reference": None,
        **{name: options[name] for name in PLANNED},
    }  # fmt: skip
    return settings | (_reference(robot, options, words) if options["reference"] else {})


def _profile(options: Mapping[str, Any]) -> dict[str, Any]:
    """How a goal is approached."""
    return {f"goal_{name}": options[name] for name in ("profile", "acceleration", "jerk")}


def _reference(robot: Robot, options: Mapping[str, Any], words: FollowWords) -> dict[str, Any]:
    """The samples of --reference, and how far from the first one the arm may start."""
    found, notes = read_reference(
        options["reference"], robot, words.reading(), Approach(options["speed"]), bridge=words.bridge_jumps
    )
    for note in notes:
        click.echo(note)
    samples = {name: getattr(found, name).tolist() for name in ("time", "q", "dq")}
    return {"reference": samples, "reach": None if np.isinf(found.reach) else found.reach}


def _track(robot: Robot, options: Mapping[str, Any], words: FollowWords) -> dict[str, Any]:
    """Settings of the track controller beside its gains."""
    if not options["reference"]:
        raise click.UsageError("--controller track needs --reference LOG, such as the motion of `diffpbd excite`.")
    return {"goal_speed": options["speed"], **_reference(robot, options, words)}


def _gains(robot: Robot, text: str | None, option: str, default: FloatArray) -> FloatArray:
    return default if text is None else np.array(parse_state(text, option, robot.joints), dtype=np.float64)


def _goal(robot: Robot, text: str | None) -> list[float | None]:
    """The goals by joint; None for a joint that stays at its start pose."""
    if text is None:
        return [None] * robot.n
    goal = parse_state(text, "--goal", robot.joints, np.nan)
    check_goal(robot, np.array(goal))
    return [None if np.isnan(value) else value for value in goal]


def _net_torque(options: Mapping[str, Any]) -> dict[str, Any]:
    """The map in the file of --net-torque-map and its scaling; nothing without one."""
    if not options["net_torque_map"]:
        return {}
    table = NetTorqueMap.from_json(read_json(options["net_torque_map"]), options["net_torque_map"])
    return {"net_torque": table.to_json(), "scaling": options["scaling"]}


def _cartesian(options: Mapping[str, Any], stiffness: Sequence[float], damping: Sequence[float]) -> dict[str, Any]:
    """Settings of the cartesian controller; `stiffness` [N·m/rad] and `damping` [N·m·s/rad] a joint."""
    return {
        "stiffness": _numbers(options["tip_stiffness"], "--tip-stiffness", TIP_STIFFNESS),
        "offset": _numbers(options["tip_offset"], "--tip-offset", (0.0, 0.0, 0.0)),
        "damping_ratio": TIP_DAMPING, "speed": options["speed"], "damping": list(damping),
        "posture": [POSTURE * value for value in stiffness], **_profile(options),
    }  # fmt: skip


def _numbers(text: str | None, option: str, default: tuple[float, ...]) -> list[float]:
    """A JSON list of as many numbers as the default has."""
    data = list(default) if text is None else words_of(text, option)
    if not (
        isinstance(data, list) and len(data) == len(default) and all(type(value) in (int, float) for value in data)
    ):
        raise ArgumentError(f"{option}: expected a list of {len(default)} numbers, found {data!r}.")
    return [float(value) for value in data]
