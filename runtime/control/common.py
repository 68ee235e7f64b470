"""Settings and options that several laws have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.options import option, same
from diffpbd.runtime.base.states import parse_state
from diffpbd.runtime.control.law import Given, Range, Words
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.profile import FASTEST, Approach
from diffpbd.runtime.mpc.reference_check import check_goal

__all__ = [
    "DAMPING", "GOAL_SPEED", "OLDER_WAY", "STIFFNESS", "DampingWords", "GainWords", "GoalWords", "ReferenceWords",
    "SpeedWords", "WayWords", "angles", "gains", "goal", "way",
]  # fmt: skip

STIFFEST = 0.01
"""rad; least deflection at which a joint's spring may demand the full effort: a stiffer one would amplify encoder steps."""
THICKEST = 0.05
"""rad/s; least speed at which a joint's damper may demand the full effort: a stronger one would amplify speed noise."""

STIFFNESS = Range(
    "--stiffness",
    0.0,
    lambda limits: limits.effort / STIFFEST,
    "N·m/rad",
    f"that is the whole effort {STIFFEST:g} rad off",
)
DAMPING = Range(
    "--damping", 0.0, lambda limits: limits.effort / THICKEST, "N·m·s/rad",
    f"that is the whole effort at {THICKEST:g} rad/s, and less than nothing feeds the motion",
)  # fmt: skip
GOAL_SPEED = Range(
    "--goal-speed", 0.0, lambda limits: float(np.max(limits.speed)), "rad/s", "no joint is faster", open=True
)
OLDER_WAY = {"goal_profile": "ramp", "goal_acceleration": None, "goal_jerk": None}
"""The way to a goal in logs that do not say it."""


@dataclass(frozen=True)
class DampingWords(Words):
    """Dampers of the joints."""

    damping: str | None = option("Impedance and gravity: [N·m·s/rad], a list or by joint.", None, metavar="JSON")


@dataclass(frozen=True)
class GainWords(DampingWords):
    """Springs and dampers of the joints."""

    stiffness: str | None = option("Impedance: [N·m/rad], a list or by joint.", None, metavar="JSON")


@dataclass(frozen=True)
class SpeedWords(Words):
    """Speed towards a pose."""

    speed: float = option(
        "Speed towards the goal [rad/s], cartesian [m/s]; towards the first sample of LOG, and over its jumps.", 0.2,
        flag="--goal-speed", span=(0.0, FASTEST), open=True, unit="rad/s",
    )  # fmt: skip


@dataclass(frozen=True)
class WayWords(SpeedWords):
    """The way to a goal."""

    profile: str = same(Approach, "profile")
    acceleration: float | None = same(Approach, "acceleration")
    jerk: float | None = same(Approach, "jerk")

    def __post_init__(self) -> None:
        """Refuses bounds that the profile does not have."""
        Approach(self.speed, self.profile, self.acceleration, self.jerk)


@dataclass(frozen=True)
class GoalWords(WayWords):
    """A goal of the joints, and the way to it."""

    goal: str | None = option(
        "Impedance, mpc: goal [rad] by joint; others stay where they start.", None, metavar="JSON"
    )


@dataclass(frozen=True)
class ReferenceWords(Words):
    """A motion to follow."""

    reference: str | None = option("MPC, track: q_ and dq_ columns to follow.", None, metavar="LOG")


def gains(words: Any, given: Given, *names: str) -> dict[str, Any]:
    """Gains a joint: what the words say, else the arm's usual ones."""
    found: dict[str, list[float]] = {}
    for name in names:
        text = getattr(words, name)
        found[name] = (
            getattr(given, name).tolist() if text is None else parse_state(text, f"--{name}", given.robot.joints)
        )
    return found


def way(words: WayWords) -> dict[str, Any]:
    """How a goal is approached."""
    return {f"goal_{name}": getattr(words, name) for name in ("profile", "acceleration", "jerk")}


def goal(robot: Robot, text: str | None) -> list[float | None]:
    """The goals by joint; None for a joint that stays at its start pose."""
    if text is None:
        return [None] * robot.n
    found = parse_state(text, "--goal", robot.joints, np.nan)
    check_goal(robot, np.array(found))
    return [None if np.isnan(value) else value for value in found]


def angles(plain: Sequence[float | None] | Mapping[str, Any]) -> FloatArray:
    """The same as an array, NaN for None."""
    return np.array([np.nan if angle is None else angle for angle in plain], dtype=np.float64)
