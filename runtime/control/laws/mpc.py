"""Predictive control as a law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.base.options import option, same
from diffpbd.runtime.control.common import GOAL_SPEED, OLDER_WAY, GoalWords, ReferenceWords, goal, way
from diffpbd.runtime.control.law import Given, Law, Range, Setup, bounded
from diffpbd.runtime.mpc.options import MpcOptions, parse_weights
from diffpbd.runtime.mpc.profile import PROFILE

if TYPE_CHECKING:
    from diffpbd.runtime.mpc.controller import MpcController

__all__ = ["PredictiveControl"]

LONGEST, LATEST = 50, 10
"""Largest horizon and delay of a plan, in steps."""
HEAVIEST = 1e9
"""Largest weight of the plan's cost: beyond it the others are lost in rounding."""
SLOWEST_OBSERVER = 10.0
"""s; time constant of the observer."""
OPTIONS = ("delay", "disturbance", "clearance_price", "clearance_hard")
"""Options of `MpcOptions` that a run has beside the clearance: a tick's time is that of the arm."""


@dataclass(frozen=True)
class _Words(GoalWords, ReferenceWords):
    horizon: int = option("MPC: steps of one tick planned ahead.", 20, span=(1, LONGEST))
    weights: str | None = option(
        'MPC: cost, such as {"p": 1, "pd": 0.02, "u": 0, "du": 2e-7, "end": 1}.', None, metavar="JSON"
    )
    delay: int = same(MpcOptions, "delay")
    disturbance: float | None = same(MpcOptions, "disturbance")
    clearance_price: float | None = same(MpcOptions, "clearance_price")
    clearance_hard: bool = same(MpcOptions, "clearance_hard")


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictiveControl(Law):
    """`horizon` and `delay` in ticks, the cost's `weights`, a `goal` [rad] and the way to it or a `reference` (time, q, dq) and
    how near it begins, the observer's time constant `disturbance` [s], and the distance [m] that plans keep."""

    name: ClassVar[str] = "mpc"
    rate: ClassVar[float | None] = 250.0
    plans_around: ClassVar[bool] = True
    older: ClassVar[Mapping[str, Any]] = OLDER_WAY
    words: ClassVar[type[_Words]] = _Words
    horizon: int = bounded(Range("--horizon", 1, LONGEST, "steps", "a tick plans no further"))
    goal_speed: float = bounded(GOAL_SPEED)
    goal_profile: str = PROFILE
    goal_acceleration: float | None = None
    goal_jerk: float | None = None
    weights: Mapping[str, Any] | None = bounded(
        Range("--weights", 0.0, HEAVIEST, "", "beyond it the other weights are rounding"), None
    )
    goal: Sequence[float | None] | None = None
    reference: Mapping[str, Any] | None = None
    reach: float | None = None
    delay: int = bounded(Range("--delay", 0, LATEST, "ticks", "a later command is of no use"), 0)
    disturbance: float | None = bounded(
        Range("disturbance", 0.0, SLOWEST_OBSERVER, "s", "a slower observer finds nothing"), None
    )
    clearance: float | None = None
    clearance_price: float | None = None
    clearance_hard: bool = False

    @classmethod
    def told(cls, words: _Words, given: Given) -> PredictiveControl:
        """A goal or a log's motion, and how it is planned."""
        if words.reference and words.goal:
            raise ArgumentError("--reference and --goal are two references; expected one.")
        options = {name: getattr(words, name) for name in OPTIONS} | {"clearance": given.clearance}
        MpcOptions(**options)  # refuses numbers out of range
        weights = None if words.weights is None else parse_weights(words.weights)
        aim = given.motion(words.reference, words.speed) if words.reference else {"goal": goal(given.robot, words.goal)}
        return cls(horizon=words.horizon, goal_speed=words.speed, **way(words), weights=weights, **aim, **options)

    def make(self, setup: Setup) -> MpcController:
        """The controller; its planner is imported where one is made."""
        from diffpbd.runtime.mpc.controller import MpcController

        told = {**vars(self), "obstacles": setup.obstacles}
        return MpcController(setup.robot, setup.alpha, setup.limits, setup.h, told)
