"""What a controller is, and the two simplest: hold the start pose, and float.

A controller in torque mode returns its law's torque *without gravity*: gravity is added in one place, by the
supervisor, and only if the model owns it. A controller keeps nothing of a tick that the guard refuses.
"""

from __future__ import annotations

import enum
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Controller", "FloatArray", "GravityController", "HoldController", "Mode", "within"]

FloatArray = npt.NDArray[np.float64]


def within(values: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """np.clip for small arrays, five times as fast: a tick does it often."""
    return np.minimum(np.maximum(values, low), high)


class Mode(enum.IntEnum):
    """What a command's numbers are; the values are those of Baxter's JointCommand."""

    POSITION = 1
    VELOCITY = 2
    TORQUE = 3


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

    def settings(self) -> dict[str, object]:
        """What a log needs to make the same controller again."""


class HoldController:
    """Position mode at the angles measured at the start."""

    name = "hold"
    mode = Mode.POSITION

    def __init__(self) -> None:
        self._held = np.empty(0)

    def start(self, q: FloatArray) -> None:
        """Take the pose to hold [rad]."""
        self._held = q.copy()

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The pose taken at the start [rad]."""
        return self._held

    def settings(self) -> dict[str, object]:
        """Nothing to set."""
        return {}


class GravityController:
    """Torque mode with no torque beyond gravity and a little damping: the arm can be led by hand."""

    name = "gravity"
    mode = Mode.TORQUE

    def __init__(self, damping: npt.ArrayLike) -> None:
        """`damping` [N·m·s/rad] a joint, at least 0."""
        self._damping = np.array(damping, dtype=np.float64)

    def start(self, q: FloatArray) -> None:
        """No state."""

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """-damping·dq [N·m]."""
        return -self._damping * dq

    def settings(self) -> dict[str, object]:
        """The damping."""
        return {"damping": self._damping.tolist()}
