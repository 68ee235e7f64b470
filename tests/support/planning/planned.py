"""Predictive control of an arm of the reality bench, tick by tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from support.reality import Differences, RealArm, kind_of

from diffpbd.runtime import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Status
from diffpbd.runtime.mpc.reference import GoalReference

H = 0.01
"""s; a tick, and the time until its torque acts."""


@dataclass(frozen=True)
class Course:
    """Outcome of a run: truth of the links (ticks, n), statuses, the solver's seconds and rounds by tick."""

    q: np.ndarray
    fastest: np.ndarray
    statuses: Counter[Status]
    seconds: np.ndarray
    rounds: np.ndarray
    estimate: np.ndarray


def model_of(robot: Robot, kind: str | Path) -> np.ndarray:
    """alpha with the friction and the spring that a model of this arm has."""
    known = kind_of(kind)
    numbers: dict[str, float] = {}
    for k, joint in enumerate(robot.joints):
        numbers[f"friction.coulomb.{joint}"], numbers[f"friction.viscous.{joint}"] = known.coulomb[k], known.viscous[k]
        if known.sprung and joint.endswith(known.sprung):
            numbers[f"spring.stiffness.{joint}"], numbers[f"spring.rest.{joint}"] = known.spring, known.rest
    return robot.alpha.vector({name: x for name, x in numbers.items() if name in robot.alpha.names})


def planner(robot: Robot, alpha: np.ndarray, horizon: int = 15, **options: Any) -> Mpc:
    """With the observer, told of one tick of delay."""
    given = {"delay": 1, "disturbance": TIME_CONSTANT, "transition": TRANSITION, **options}
    return Mpc(robot, horizon, h=H, alpha=alpha, options=MpcOptions(**given))


def real(kind: str | Path, **differences: Any) -> RealArm:
    """Its torques act a tick later."""
    return RealArm(kind, Differences(**{"command_delay": H, **differences}), period=H)


def follow(
    mpc: Mpc, arm: RealArm, start: np.ndarray, goal: np.ndarray, seconds: float, *, speed: float = 0.8,
    events: dict[float, Callable[[RealArm], None]] | None = None, each: Callable[[], None] | None = None,
) -> Course:  # fmt: skip
    """From rest at `start` to `goal`; `events` by their time [s]."""
    arm.place(start)
    mpc.start(holding_torque(mpc.problem.robot, start, mpc.problem.alpha))
    reference = GoalReference(goal, speed)
    reference.start(start)
    nodes = H * (mpc.delay + np.arange(mpc.problem.horizon + 1))
    waiting = {round(time / H): act for time, act in (events or {}).items()}
    q, spent, rounds, estimates = [], [], [], []
    fastest = np.zeros(arm.n)
    for k in range(round(seconds / H)):
        if k in waiting:
            waiting[k](arm)
        _, p, pd, _ = arm.state()
        tick = mpc.tick(k * H, p, pd, *reference.at(k * H + nodes))
        arm.apply(tick.torque, H)
        q.append(arm.q)
        fastest = np.maximum(fastest, np.abs(arm.dq))
        spent.append(np.nan if tick.plan is None else tick.plan.seconds)
        rounds.append(0 if tick.plan is None else tick.plan.inner_iterations)
        estimates.append(np.zeros(arm.n) if mpc.observer is None else mpc.observer.estimate)
        if each is not None:
            each()
    return Course(np.array(q), fastest, Counter(mpc.statuses), np.array(spent), np.array(rounds), np.array(estimates))
