"""Causes that a fit can miss: torques that the model lacks, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import sensed

__all__ = ["Candidate", "Found", "Missing"]


@dataclass(frozen=True)
class Candidate:
    """A cause at a `joint` (none: the whole robot), the `parameter` to give to --fit, and its `columns` in a table; the first
    has the figure that is told. `size`: one of the cause's."""

    cause: Missing
    joint: str
    parameter: str
    columns: tuple[int, ...]
    size: float = 0.0

    def same(self, other: Candidate) -> bool:
        """Whether two are one cause, in several sizes."""
        return self.cause is other.cause and self.joint == other.joint

    def at(self) -> str:
        """The joint as the end of a sentence's noun."""
        return f" of {self.joint}" if self.joint else ""


@dataclass(frozen=True)
class Found:
    """A candidate that was found, with its `figure`; `turns`: at a hinge; `step` [s] of the recording."""

    candidate: Candidate
    figure: float
    turns: bool
    step: float

    def said(self, text: str) -> str:
        """A text of the cause with the names and figures that it leaves open."""
        own = self.candidate
        return text.format(
            arg=arg, joint=own.joint, parameter=own.parameter, size=own.size, figure=self.figure, ratio=1.0 + self.figure,
            unit=own.cause.units[0 if self.turns else 1], word=own.cause.word,
        )  # fmt: skip


class Missing(Cause):
    """A cause that adds a torque to the model's, linear in a figure: it can be fitted beside the model, and compared.

    Texts leave open what `Found.said` knows:
    {joint}, {figure}, {ratio} (1 + figure), {unit}, {size}, {parameter}, {word}, {arg}.
    """

    word: ClassVar[str]
    """Noun for it: 'a sensor gain'."""
    lacking: ClassVar[str] = ""
    """Noun for it after 'the model lacks', where that is another."""
    says: ClassVar[str] = "it had {word}"
    """What the robot or joint looks as if, after 'reads as if'."""
    units: ClassVar[tuple[str, str]] = ("", "")
    """Of its figure or size, at a hinge and at a slide."""
    cure: ClassVar[str] = "Try {parameter} in {arg.fit}"
    """What mends it."""
    parameter: ClassVar[str] = ""
    """What --fit calls it, without the joint."""
    fitted_by: ClassVar[Sequence[str]] = ()
    """Patterns of parameters whose fit has it, besides its own."""
    entries: ClassVar[Sequence[str]] = ()
    """Entries of alpha, without the joint, whose effects are its columns."""
    of_joint: ClassVar[bool] = True
    """Whether each joint has it; otherwise the robot."""
    rank: ClassVar[int] = 0
    """A cause has to explain more than those of a lower rank: it has more columns, or resembles them."""
    least: ClassVar[float] = -math.inf
    most: ClassVar[float] = math.inf
    """Bounds of what its figure can be: beyond, something else looks like it, and following it would mend nothing."""
    sizes: ClassVar[Sequence[float]] = (0.0,)
    """Sizes that are tried, in which the torque is not linear."""
    first_alone: ClassVar[bool] = False
    """Whether its figure is that of its first column without the others."""
    of_bodies: ClassVar[bool] = False
    """Whether its columns need all positions to be told apart."""
    of_friction: ClassVar[bool] = False
    """Whether it says, or looks like, that friction has another law."""
    like_asymmetry: ClassVar[bool] = False
    """Whether friction that differs by direction looks like it."""
    of_reading: ClassVar[bool] = False
    """Whether all that is read at the joint, friction and offsets too, is read through it."""
    told: ClassVar[bool] = True
    """Whether it is named with a cure; otherwise it only rejects a model."""

    def exists(self, robot: Robot, joint: str) -> bool:
        """Whether the robot can have it."""
        return True

    def name(self, robot: Robot, joint: str) -> str:
        """The parameter to give to --fit, or nothing."""
        return f"{self.parameter}.{joint}" if self.parameter and joint else self.parameter

    def places(self, robot: Robot, fitted: Sequence[str]) -> list[tuple[str, str]]:
        """Joints that may have it, or an empty name for the robot, with the parameter, where it is not fitted."""
        joints = sensed(robot) if self.of_joint else ("",)
        named = [(joint, self.name(robot, joint)) for joint in joints if self.exists(robot, joint)]
        return [(joint, name) for joint, name in named if not self._already(fitted, joint, name)]

    def _already(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        patterns = [name, *(own.format(joint=joint) for own in self.fitted_by)]
        return any(fnmatchcase(own, pattern) for own in fitted for pattern in patterns)

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        """Filtered torques (samples, n, k) [N·m or N] by a unit of each of its figures."""
        names = [f"{entry}.{joint}" if joint else entry for entry in self.entries]
        return np.stack([m.by_parameter(name) for name in names], axis=-1) if names else m.nothing(0)

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        """Columns of the model's own coefficients that it acts through, besides."""
        return ()

    def possible(self, figure: float, carried: float) -> bool:
        """Whether a figure can be, where rigid bodies make the part `carried` of a joint's torque."""
        return self.least < figure < self.most

    def nameable(self, carried: float) -> bool:
        """Whether it can win, not only be a rival of others."""
        return True

    def sentence(self, found: Found) -> str:
        """What the robot or joint looks as if."""
        return found.said(self.says)

    def remedy(self, found: Found) -> str:
        """What mends it."""
        return found.said(self.cure)
