"""Interface of a controller.

A controller in torque mode returns its law's torque *without gravity*: gravity is added in one place, by the
supervisor, and only if the model owns it. A controller keeps nothing of a tick that the guard refuses. Eight methods are
optional: `measured(stamp)` hears, by the clock of `time` [s], when the state of the next `output` was measured,
`sent(law)` what became of the torque; `expected(time)` says where the law leads the joints [rad], `away(time, q)` how far
the arm is from where the law is to bring it, or None, and `finished(time)` whether the run may end; `gravity(q)` is the
model's torque [N·m] where the controller has a model of its own, `close()` ends what it started; `remark()` is a sentence
about what it was told and the motion contradicts, or None.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Away", "Controller", "Mode", "farthest"]


class Mode(enum.IntEnum):
    """Meaning of a command's numbers; the values are those of Baxter's JointCommand."""

    POSITION = 1
    VELOCITY = 2
    TORQUE = 3


@dataclass(frozen=True)
class Away:
    """`distance` [`unit`] of a joint, by its place in the robot, or of the tip (None), from `aim`, in words."""

    joint: int | None
    distance: float
    unit: str
    aim: str


def farthest(wanted: FloatArray, q: FloatArray, aim: str) -> Away | None:
    """The joint that is farthest from where it is wanted [rad] (n,); NaN: nowhere. None if no joint is wanted anywhere."""
    away = np.abs(wanted - q)
    if np.isnan(away).all():
        return None
    k = int(np.nanargmax(away))
    return Away(k, float(away[k]), "rad", aim)


class Controller(Protocol):
    """A law over the joints in the order of the generated robot: q [rad], dq [rad/s]."""

    name: str
    mode: Mode

    def start(self, q: FloatArray) -> None:
        """Begin at the measured state; forget everything before."""

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The command at `time` [s] since the start: [N·m] without gravity, or [rad] in position mode.

        May be not finite if the reference is: the supervisor then takes its safe action.
        """
