"""`diffpbd identify --fit contact` of a free body: files of tosses, and what is fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.options.logs import LogWords
from diffpbd.runtime.identify import (
    Identification,
    Settings,
    Toss,
    fit_tosses,
    in_contact,
    parted,
    read_tosses,
    select,
    starting_point,
)
from diffpbd.runtime.model.robot import Robot

__all__ = ["identified", "of_tosses"]

DRAW = 0
"""Seed of --split: which tosses are drawn."""


def of_tosses(robot: Robot, fit: Sequence[str]) -> bool:
    """Whether a free body's contacts are fitted, from poses alone."""
    return robot.manifest.robot.floating and in_contact(fit)


def identified(
    robot: Robot, logs: Sequence[str], validate: Sequence[str], split: float | None, fit: Sequence[str],
    fixed: Mapping[str, float], params: str | None, words: LogWords, settings: Settings, say: Callable[[str], None],
) -> Identification:  # fmt: skip
    """From files of tosses; with `split` this share of them, drawn at random, is fitted and the rest tested on."""
    _check(words, settings)
    columns = words.columns()

    def read(paths: Sequence[str]) -> list[Toss]:
        return [toss for path in paths for toss in read_tosses(path, columns, words.rate)]

    train, held = read(logs), read(validate)
    if split is not None:
        train, rest = parted(train, split, DRAW)
        held = rest + held
    base = starting_point(robot, robot, fit, params, fixed)
    return fit_tosses(robot, train, held, select(robot, fit, fixed), base, say)


def _check(words: LogWords, settings: Settings) -> None:
    """Options that poses of a free body have no use for."""
    told = {
        "--form simultaneous": settings.form == "simultaneous",
        "--loss huber": settings.loss == "huber",
        "--starts": settings.starts != 1,
        "--leave-one-out": settings.cross_validate,
        "--continuity": settings.continuity,
        "--unknown-torque": settings.torques is not None,
        "--trim": words.trim != 0.0,
        "--bridge": words.bridge != 0.0,
        "--torque": words.torque is not None,
        "--topic": words.topic is not None,
    }
    strange = [option for option, given in told.items() if given]
    if strange:
        raise InputError(
            f"--fit contact of a free body takes poses as they are: {', '.join(strange)} has no meaning there; leave it out."
        )
