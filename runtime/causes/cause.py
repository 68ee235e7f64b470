"""A cause: something that may be wrong with a recording, or missing in a model, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import sensed

__all__ = ["Candidate", "Cause", "Found", "Missing"]


class Cause:
    """Something that may be wrong, by its name `kind`. A subclass in a file below this folder is in the catalogue."""

    kind: ClassVar[str]


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

    def unit(self, hinge: str, slide: str) -> str:
        """The unit of a hinge's quantity or of a slide's."""
        return hinge if self.turns else slide


class Missing(Cause):
    """A cause that adds a torque to the model's, linear in a figure: it can be fitted beside the model, and compared."""

    word: ClassVar[str]
    """Noun for it: 'a sensor gain'."""
    lacking: ClassVar[str] = ""
    """Noun for it after 'the model lacks', where that is another."""
    parameter: ClassVar[str] = ""
    """What --fit calls it, without the joint."""
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
    """Whether it is named with a remedy; otherwise it only rejects a model."""

    def exists(self, robot: Robot, joint: str) -> bool:
        """Whether the robot can have it."""
        return True

    def name(self, robot: Robot, joint: str) -> str:
        """The parameter to give to --fit, or nothing."""
        return f"{self.parameter}.{joint}" if self.parameter and joint else self.parameter

    def already_fitted(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        """Whether the fit of these parameters has it."""
        return bool(name) and name in fitted

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        """Filtered torques (samples, n, k) [N·m or N] by a unit of each of its figures; none by itself."""
        return np.zeros((*m.predicted.shape, 0))

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
        """What the robot or joint looks as if, after 'reads as if'."""
        return f"it had {self.word}"

    def remedy(self, found: Found) -> str:
        """What mends it."""
        return f"Try {found.candidate.parameter} in {arg.fit}"

    def places(self, robot: Robot) -> list[str]:
        """Joints that may have it, or an empty name for the robot."""
        return [joint for joint in (sensed(robot) if self.of_joint else ("",)) if self.exists(robot, joint)]
