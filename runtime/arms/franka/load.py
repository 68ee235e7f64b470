"""Load of the flange: the driver's end effector and load against the payload of alpha, both ways.

The driver tells mass, centre of mass in the flange's frame and inertia about it; alpha has them in the tip's frame. The way
from one to the other is taken from both models' own poses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, RefusedError
from diffpbd.runtime.model.robot import Robot

__all__ = ["Body", "difference", "mounted", "payload_of", "set_load", "with_payload"]

MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")
ROWS, COLUMNS = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)
PATIENCE = 2.0
"""s for the robot's state to tell a load that it was given."""
LIGHTEST = 1e-6
"""kg; less is no load."""
SMALLEST, NO_BODY = 1e-9, 1e-5
"""kg·m²; a load has at least the one about every axis, and what is further below zero than the other is no rounding."""


@dataclass(frozen=True, eq=False)
class Body:
    """`mass` [kg], `com` (3,) [m] and `inertia` (3, 3) [kg·m²] about it, in one frame."""

    mass: float
    com: FloatArray
    inertia: FloatArray

    def seen(self, rotation: FloatArray, translation: FloatArray) -> Body:
        """Returns this body seen from the frame in which its own is (rotation, translation)."""
        return Body(self.mass, rotation @ self.com + translation, rotation @ self.inertia @ rotation.T)

    def _about(self, point: FloatArray) -> FloatArray:
        arm = self.com - point
        moved = self.inertia + self.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return np.asarray(moved, dtype=np.float64)

    def without(self, other: Body) -> Body:
        """Returns this body without `other`, a part of it."""
        mass = self.mass - other.mass
        if mass < LIGHTEST:
            return Body(max(mass, 0.0), np.zeros(3), np.zeros((3, 3)))
        com = (self.mass * self.com - other.mass * other.com) / mass
        rest = Body(mass, com, np.zeros((3, 3)))
        origin = np.zeros(3)
        return Body(mass, com, self._about(origin) - other._about(origin) - rest._about(origin))


def mounted(state: Any, part: str = "total") -> Body:
    """The driver's end effector and load in the flange's frame, or one `part` of it: "ee" or "load"."""
    mass, com, inertia = (getattr(state, name) for name in (f"m_{part}", f"F_x_C{part}", f"I_{part}"))
    return Body(
        float(mass), np.array(com, dtype=np.float64).reshape(3), np.array(inertia, dtype=np.float64).reshape(3, 3)
    )


def payload_of(robot: Robot, alpha: FloatArray) -> Body:
    """The payload of alpha, in the tip's frame."""
    value = {name: alpha[robot.alpha.index(f"payload.{name}")] for name in _names()}
    inertia = np.zeros((3, 3))
    for moment, i, j in zip(MOMENTS, ROWS, COLUMNS, strict=True):
        inertia[i, j] = inertia[j, i] = value[f"inertia.{moment}"]
    return Body(float(value["mass"]), np.array([value[f"com.{axis}"] for axis in "xyz"]), inertia)


def with_payload(robot: Robot, alpha: FloatArray, body: Body) -> FloatArray:
    """Alpha with this payload, given in the tip's frame."""
    changed: FloatArray = np.array(alpha)
    numbers = [body.mass, *body.com, *body.inertia[ROWS, COLUMNS]]
    for name, number in zip(_names(), numbers, strict=True):
        changed[robot.alpha.index(f"payload.{name}")] = number
    return changed


def _names() -> list[str]:
    return ["mass", *(f"com.{axis}" for axis in "xyz"), *(f"inertia.{moment}" for moment in MOMENTS)]


def difference(a: Body, b: Body) -> str:
    """Where two bodies differ by more than a gram or a millimetre, in words, or empty."""
    if abs(a.mass - b.mass) > 1e-3:
        return f"{a.mass:.3f} kg against {b.mass:.3f} kg"
    if min(a.mass, b.mass) > LIGHTEST and (np.abs(a.com - b.com) > 1e-3).any():
        return f"centres of mass at {np.round(a.com, 4).tolist()} m against {np.round(b.com, 4).tolist()} m"
    return ""


def set_load(driver: Any, state: Any, wanted: Body, *, patience: float = PATIENCE) -> Any:
    """Tell the robot what it carries beside its end effector, so that all of it is `wanted` (in the flange's frame).

    Returns the first state that says so: those on their way while the robot took the load still tell the old one. After
    `patience` [s] without one, RefusedError.
    """
    hand = mounted(state, "ee")
    load = wanted.without(hand)
    if wanted.mass < hand.mass - LIGHTEST:
        raise InputError(
            f"The payload of --params, {wanted.mass:.3f} kg, is all that the flange carries, but Desk says that the end "
            f"effector alone has {hand.mass:.3f} kg: correct the end effector in Desk, or the parameters."
        )
    values, axes = np.linalg.eigh(load.inertia)
    if values[0] < -NO_BODY:
        raise InputError(
            f"The payload of --params less the end effector that Desk knows leaves {load.mass:.3f} kg with a negative inertia "
            f"({values[0]:.2g} kg·m²): correct the end effector in Desk, or the parameters."
        )
    inertia = axes @ np.diag(np.maximum(values, SMALLEST)) @ axes.T
    try:
        driver.set_load(load.mass, load.com.tolist(), inertia.ravel().tolist())
    except Exception as error:
        raise RefusedError(f"The robot does not take the load: {' '.join(str(error).split())}.") from None
    end = time.monotonic() + patience
    while apart := difference(load, mounted(state := driver.state, "load")):
        if time.monotonic() > end:
            raise RefusedError(
                f"The robot took the load, but {patience:g} s later its state does not say so: {apart}. Expected the load that "
                "it was told; look whether Desk or another program sets one too."
            )
    return state
