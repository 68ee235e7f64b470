"""Finds after how many steps a torque really acts, from the torques that the measured motion needed.

A planner that was told a wrong delay answers to what it has answered already, and shakes. The changes of the torque that each
step needed are compared with the changes of the torques sent 0, 1, 2 … ticks before: at the right delay they agree, whatever
constant load, friction or mass the model lacks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.disturbance import DisturbanceObserver
from diffpbd.runtime.mpc.sent_torques import SentTorques

__all__ = ["DelayWatch", "remark", "watch_of"]

BEYOND = 3
"""Steps by which a delay longer than the one told is looked for."""
WATCHED = 1.0
"""s of motion that are compared; after that the delay counts as known."""
FEWEST = 6
"""Least changes to compare."""
MOVED = 3e-3
"""[1] Least sum of squared changes of torques sent, over the effort limits: twice 4 % of one. At rest noise says nothing."""
SLIPS = 0.02
"""rad/s; a joint slower than this may stick."""
CLEARLY = 3.0
"""[1] Squared misfit of every other delay over that of the best one. Pure delays give 4 to 1000 within 15 ticks; elastic gears
and filtered speeds, which are no delay, up to 2.5."""


class DelayWatch:
    """For ticks of h [s]; `told` is the delay in steps that is believed."""

    def __init__(self, robot: Robot, alpha: FloatArray, h: float, told: int) -> None:
        """`alpha` of the model."""
        self._inverse, self._effort, self._h = DisturbanceObserver(robot, alpha, h), robot.limits.effort, h
        self._told = told
        self.start()

    def start(self) -> None:
        """Nothing is known."""
        self._last: tuple[float, FloatArray, FloatArray] | None = None
        self._before: tuple[FloatArray, FloatArray] | None = None
        self._misfit: FloatArray = np.zeros(self._told + BEYOND + 1)
        self._moved, self._count = 0.0, 0

    def update(self, time: float, p: FloatArray, pd: FloatArray, sent: SentTorques, age: float | None) -> int | None:
        """The delay in steps, if it clearly is another than the one told, from a state of `time` [s].

        `age` of the state in ticks, if its stamp is known: that much of the delay is known, and torques by when they were sent.
        """
        last, self._last = self._last, (time, p, pd)
        before, self._before = self._before, None
        if last is None or self._count * self._h >= WATCHED or not self._inverse.in_time(time - last[0]):
            return None
        delays = range(len(self._misfit))
        found = [sent.acted(m) if age is None else sent.mean(last[0], time, m * self._h) for m in delays]
        torques = [torque for torque in found if torque is not None]
        if len(torques) < len(found):
            return None
        needed = self._inverse.needed(last[1], last[2], torques[0], pd, self._h)
        self._before = None if needed is None else (needed, np.array(torques))
        if before is None or self._before is None:
            return None
        turning = (np.minimum(np.abs(pd), np.abs(last[2])) > SLIPS) & (pd * last[2] > 0.0)
        return self._compared(self._before[0] - before[0], self._before[1] - before[1], turning, age or 0.0)

    def _compared(self, needed: FloatArray, sent: FloatArray, turning: npt.NDArray[np.bool_], age: float) -> int | None:
        """The delay after these changes (n,) and (delays, n) of a step; friction hides what joints need that do not turn."""
        weight = np.where(turning, 1.0 / self._effort**2, 0.0)
        if turning.any():
            self._count += 1
            self._moved += float((weight * sent**2).sum(axis=1).mean())
            self._misfit = self._misfit + (weight * (needed - sent) ** 2).sum(axis=1)
        expected = max(0, round(self._told - age))
        best = int(np.argmin(self._misfit))
        enough = self._count >= FEWEST and self._moved >= MOVED
        if best == expected or not enough or np.partition(self._misfit, 1)[1] < CLEARLY * self._misfit[best]:
            return None
        return round(age + best)


def watch_of(robot: Robot, alpha: FloatArray, h: float, told: int) -> DelayWatch | None:
    """None for a robot whose motors' torques do not follow from its motion."""
    facts = robot.manifest.robot
    whole = {"jac_kicked_step", "friction_torque"} <= set(robot.functions)
    return None if facts.loops or facts.passive or not whole else DelayWatch(robot, alpha, h, told)


def remark(told: int, found: int, time: float) -> str:
    """Words for a delay that was found at `time` [s]."""
    return (
        f"torques act {found} {'step' if found == 1 else 'steps'} after their state was measured, not {told} as told: this was "
        f"found from the motion at {time:.3g} s and compensated from then on; expected {arg.delay} {found}"
    )
