"""Fill the gaps of the paper's Table II: which period of the circle, masses and gravity give its four printed numbers.

Loss and work of one turn with the printed lengths, before and after, for each choice; and where the search from the printed
lengths ends for those that come nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from experiments.design.double_pendulum import PAPER, Design, Task, closed_loop, improve, walked

__all__ = ["CHOICES", "Choice", "nearest", "summary", "try_all"]

PERIODS = (0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 5.0)
"""[s]"""
HEAVIER = (0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0)
"""[1] Masses over those of the shipped pendulum."""
GRAVITY = (0.0, 9.8)
"""[m/s²] A horizontal plane, or an arm that hangs."""
CHOICES = tuple(
    Task(period=period, heavier=heavier, gravity=gravity)
    for gravity, heavier, period in product(GRAVITY, HEAVIER, PERIODS)
)
SHOWN = 5
PRINTED = np.array([*PAPER["before"][2:], *PAPER["after"][2:]])
"""Loss and work before, loss and work after."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Loss and work before and after (4,) of a task, and by which factor the worst of them is off."""

    task: Task
    numbers: tuple[float, ...]

    @property
    def off(self) -> float:
        """Largest of ours over the paper's and of the paper's over ours; infinite where the arm flies off."""
        if not (np.isfinite(self.numbers).all() and min(self.numbers) > 0.0):
            return float("inf")
        return float(np.exp(np.abs(np.log(np.array(self.numbers) / PRINTED)).max()))


def try_all(robot: Robot, tasks: Sequence[Task] = CHOICES) -> list[Choice]:
    """Every task with the printed lengths, nearest to the four printed numbers first."""
    found = []
    for task in tasks:
        turn = closed_loop(robot, task)
        walks = [walked(turn, np.array(PAPER[word][:2])) for word in PAPER]
        found.append(Choice(task, tuple(x for walk in walks for x in (walk.loss, walk.work))))
    return sorted(found, key=lambda one: one.off)


def nearest(robot: Robot, found: Sequence[Choice]) -> list[tuple[Choice, Design]]:
    """The nearest ones, with the optimum that the search from the printed lengths ends in."""
    l1, l2 = PAPER["after"][:2]
    return [(one, improve(robot, one.task, (l1, l2))) for one in found[:SHOWN]]


def summary(found: Sequence[tuple[Choice, Design]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows."""

    def say(x: float) -> str:
        return number(x, 4)

    rows = [["the paper", "", "", *(say(x) for x in PRINTED), "", *(say(x) for x in PAPER["after"][:2])]]
    for one, design in found:
        task = one.task
        own = (f"{task.period:g}", f"{task.heavier:g}", f"{task.gravity:g}")
        rows.append(
            [*own, *(say(x) for x in one.numbers), f"{one.off:.2f}×", *(say(float(x)) for x in design.after.lengths)]
        )
    return [
        "turn [s]", "masses [1]", "gravity [m/s²]", "loss before", "work before [J]", "loss after", "work after [J]", "worst",
        "optimum l1 [m]", "l2 [m]",
    ], rows  # fmt: skip
