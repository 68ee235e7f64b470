"""Declaration of a control law: its settings with their ranges, its words on the command line, and the controller it makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, ClassVar

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.interface.controller import Controller, Mode
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.robot import Robot

__all__ = ["Given", "Law", "PerJoint", "Range", "Setup", "Words", "bounded"]

PerJoint = Sequence[float]
"""A number a joint, in the robot's order."""


@dataclass(frozen=True)
class Range:
    """Where a setting's numbers may lie: both ends, unit, and why it ends there; `option` is what a message calls it."""

    option: str
    lower: float
    upper: float | Sequence[float] | Callable[[Limits], FloatArray | float]
    """A function of the robot's limits where these set the end."""
    unit: str
    why: str
    open: bool = False
    """Whether the lower end itself is refused."""


def bounded(range_: Range, default: Any = MISSING) -> Any:
    """A field of a law whose numbers lie in a range."""
    return field(default=default, metadata={"range": range_})


@dataclass(frozen=True)
class Words:
    """Options of the command line; those of a law are a subclass. Laws that share an option share its class."""


@dataclass(frozen=True)
class Given:
    """Facts that a law is given beside its words: the arm's usual `stiffness` [N·m/rad] and `damping` [N·m·s/rad] (n,), the
    `rate` [Hz] of the ticks, the least distance of links [m], and `motion`, which reads a log to be followed at a speed."""

    robot: Robot
    stiffness: FloatArray
    damping: FloatArray
    rate: float
    clearance: float | None
    motion: Callable[[str, float], Mapping[str, Any]]


@dataclass(frozen=True)
class Setup:
    """The plant that a law is made for: robot, alpha, limits, the tick's period h [s], and obstacles, rows by kind."""

    robot: Robot
    alpha: FloatArray
    limits: Limits
    h: float
    obstacles: Mapping[str, list[list[float]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Law:
    """Settings of a law as plain data; subclasses in `control/laws/` are found by themselves."""

    name: ClassVar[str]
    mode: ClassVar[Mode] = Mode.TORQUE
    """Kind of the output: torques [N·m] without gravity, or positions [rad]; the columns `command` of a log."""
    rate: ClassVar[float | None] = None
    """Hz; ticks where no option says it and the arm's own rate leaves too little time."""
    plans_around: ClassVar[bool] = False
    """Whether obstacles are kept away from, not only stopped at."""
    older: ClassVar[Mapping[str, Any]] = {}
    """Settings of a run whose log says no `goal_profile`."""
    words: ClassVar[type[Words]] = Words

    @classmethod
    def told(cls, words: Any, given: Given) -> Law:
        """The law of words, an instance of `cls.words`."""
        return cls()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Law:
        """The law of plain data; an InputError names what is missing or strange."""
        fields = dataclasses.fields(cls)
        missing = [f.name for f in fields if f.default is MISSING and f.name not in settings]
        strange = sorted(set(settings) - {"name", *(f.name for f in fields)})
        if missing or strange:
            wrong = [*(f"{name} is missing" for name in missing), *(f"there is no {name}" for name in strange)]
            expected = ", ".join(f.name for f in fields) or "none"
            raise InputError(f"Settings of the controller {cls.name}: {'; '.join(wrong)}. Expected: {expected}.")
        return cls(**{key: value for key, value in settings.items() if key != "name"})

    def settings(self) -> dict[str, Any]:
        """Plain data that make the same law again."""
        return {"name": self.name, **vars(self)}

    def make(self, setup: Setup) -> Controller:
        """The controller."""
        raise NotImplementedError
