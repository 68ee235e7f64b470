"""Configuration of a run by the options of `diffpbd run`: its law, who owns gravity, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from typing import Any

import click
import numpy as np

from diffpbd.runtime.arms.attached import kind_of
from diffpbd.runtime.base.options import Option, options_of
from diffpbd.runtime.commands.options.derived import options as derived
from diffpbd.runtime.commands.options.mending import FollowWords
from diffpbd.runtime.commands.options.obstacles import ObstacleWords
from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.law import Given
from diffpbd.runtime.control.laws import LAWS
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.configuration import Configuration, has_spring, limits_of
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.run import SUPPRESS_PERIOD
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.clearance import least_distance
from diffpbd.runtime.model.obstacles import obstacles
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference_check import read_reference

__all__ = ["configured", "expect_used", "of_laws", "words_of_laws"]


def words_of_laws() -> dict[str, tuple[Field[Any], Option, tuple[str, ...]]]:
    """By name, every option that a law has: its field, what it is, and the laws that use it."""
    found: dict[str, tuple[Field[Any], Option, tuple[str, ...]]] = {}
    for law in LAWS.values():
        for field, own in options_of(law.words):
            users = found[field.name][2] if field.name in found else ()
            found[field.name] = field, own, (*users, law.name)
    return found


def of_laws(function: Any) -> Any:
    """The options that laws declare, each once."""
    left = set(words_of_laws())
    for law in reversed(tuple(LAWS.values())):
        own = [field.name for field, _ in options_of(law.words) if field.name in left]
        function = derived(law.words, own)(function)
        left -= set(own)
    return function


def expect_used(controller: str, told: Mapping[str, str]) -> None:
    """Refuses an option that `controller` does not use, of those that were told, words by name."""
    known = words_of_laws()
    for name, word in told.items():
        users = known[name][2] if name in known else (controller,)
        if controller not in users:
            *others, last = users
            one = f"{', '.join(others)} or {last}" if others else last
            raise click.UsageError(f"{word} is for --controller {one}, found --controller {controller}.")


def configured(
    robot: Robot, options: Mapping[str, Any], words: FollowWords, around: ObstacleWords | None = None
) -> Configuration:
    """The configuration of a run of the generated robot; `words` say how to read the log of --reference."""
    placed = {} if around is None else around.placed()
    if placed:
        obstacles(robot, **placed)  # refuses more or others than the robot was generated for
    law = LAWS[options["controller"]]
    alpha = robot.alpha.vector(options["params"])
    kind = kind_of(robot, options)
    rate = options["rate"] or law.rate or kind.rate
    model = options["gravity"] == "model"
    if not kind.suppresses:  # where a pose is held, the arm's own servo carries the model's gravity
        owner = GravityOwner.MODEL if model and law.mode is Mode.TORQUE else GravityOwner.ROBOT
    else:
        owner = check_gravity(GravitySettings(
            mode=law.mode, add_model_gravity=model, suppress_robot=model,
            suppress_rate=1.0 / SUPPRESS_PERIOD if model else 0.0, spring_in_model=has_spring(robot, alpha),
            without_spring_confirmed=options["without_spring"],
        ))  # fmt: skip
    given = Given(
        robot, *kind.gains(robot, alpha, rate), rate, options["clearance"],
        lambda path, speed: _motion(robot, path, speed, words),
    )  # fmt: skip
    told = law.words(**{field.name: options[field.name] for field, _ in options_of(law.words)})
    gives = options["after_contact"] == "yield"
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law.told(told, given).settings(), owner, alpha,
        limits_of(robot, torque_share=options["torque_share"]),
        Settings(1.0 / rate, ramp=options["ramp"], reflexes=ReflexSettings(contact=options["contact"], yielding=gives)),
        robot.manifest.recipe.table if options["table"] is None else options["table"],
        robot.instructions,
        least_distance(robot, options["clearance"], placed=placed), placed,
    )  # fmt: skip


def _motion(robot: Robot, path: str, speed: float, words: FollowWords) -> dict[str, Any]:
    """The samples of a log, and how far from the first one the arm may start."""
    found, notes = read_reference(path, robot, words.reading(), Approach(speed), bridge=words.bridge_jumps)
    for note in notes:
        click.echo(note)
    samples = {name: getattr(found, name).tolist() for name in ("time", "q", "dq")}
    return {"reference": samples, "reach": None if np.isinf(found.reach) else found.reach}
