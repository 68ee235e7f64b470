"""Entries by which an arm is known to `diffpbd run`, and the list of the arms: one line each, the folder says the rest."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import options_of
from diffpbd.runtime.loop.arm import Arm
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.model.robot import Robot

__all__ = ["ARMS", "Attached", "Kind", "by_joint", "kind_of", "kinds", "simulator", "strange"]

ARMS = ("ros2", "franka", "baxter")
"""Folders of this room whose `run.py` has a `KIND`; the first whose arm is meant runs."""


@dataclass(frozen=True)
class Attached:
    """`configuration` with what the robot itself said, and the maker of its arm, which tells a recorder what comes in."""

    configuration: Configuration
    arm: Callable[[Recorder | None], Arm]


Words = Mapping[str, Any]
"""Options of `diffpbd run` by name."""


@dataclass(frozen=True)
class Kind:
    """An arm that `diffpbd run` can drive. `words` declares the options that not every arm has; `expect` refuses options, and
    may fill in what the environment says.

    `gains` are stiffness [N·m/rad] and damping [N·m·s/rad] by joint where no option says them, of a robot, alpha
    and a rate [Hz]; `rate` [Hz] of the ticks,
    where a law needs no longer than that; `hold` [s] of the pose before the law.
    `suppresses`: the arm's own gravity compensation can be told to stay away.
    """

    title: str
    words: type
    meant: Callable[[Robot, Words], bool]
    attach: Callable[[Robot, Configuration, Words], AbstractContextManager[Attached]]
    gains: Callable[[Robot, FloatArray, float], tuple[FloatArray, FloatArray]]
    expect: Callable[[dict[str, Any]], None] = lambda options: None
    rate: float = 250.0
    hold: float = 0.4
    suppresses: bool = True


def kinds() -> Iterator[Kind]:
    """Every arm."""
    for name in ARMS:
        yield importlib.import_module(f"diffpbd.runtime.arms.{name}.run").KIND


def kind_of(robot: Robot, words: Words) -> Kind:
    """The arm that is meant; an InputError where none is."""
    for kind in kinds():
        if kind.meant(robot, words):
            return kind
    known = ", ".join(kind.title for kind in kinds())
    raise InputError(
        f"{robot.name}: the joints {', '.join(robot.joints)} are of no arm that is known by them; expected one of {known}. "
        "An arm with an effort interface is driven with --ros2."
    )


def strange(kind: Kind, told: Collection[str]) -> dict[str, str]:
    """Options among those that were told which other arms have alone, each with that arm's name."""
    others = [other for other in kinds() if other is not kind]
    own = {field.name for field, _ in options_of(kind.words)}
    found = {field.name: other.title for other in others for field, _ in options_of(other.words)}
    return {name: title for name, title in found.items() if name in told and name not in own}


def by_joint(joints: Sequence[str], table: Mapping[str, float]) -> FloatArray:
    """A number a joint from a table by the end of its name."""
    return np.array([table[joint.split("_")[-1]] for joint in joints])


@contextmanager
def simulator(words: Sequence[str], begins: str) -> Iterator[str]:
    """A simulator of this program in a process of its own; what its first line says behind `begins`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "diffpbd.command", *words], stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith(begins):
            raise InputError("The simulated robot did not start; its message is above.")
        yield line.strip().removeprefix(begins)
    finally:
        process.terminate()
        process.wait(10.0)
        process.stdout.close()
