"""Compares an identification with the description: parameters that only wrong units or signs explain."""

from __future__ import annotations

from typing import Final

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.sensors.gain import GAIN_OFF
from diffpbd.runtime.identify.result.result import Identification
from diffpbd.runtime.model.robot import Robot

__all__ = ["implausible"]

CONSTANT = 0.5
"""[1] Constant part of an encoder's residual above which it is reported."""
ROUNDING = 1e-9
"""[rad or m] Residuals of recordings without noise."""
EXPLAINED: Final = 1e-6
"""[1] RMSE over the RMS torque below which a torque is explained, also one that is constant, whose R² is that of rounding."""


def _units() -> str:
    return f"Is the torque in N·m and of this robot? {arg.drive_gain} turns currents into torques"


def implausible(robot: Robot, result: Identification) -> list[str]:
    """Sentences on masses far from the description's, gains at a bound, unexplained torques, and encoders with a constant
    error."""
    defaults = dict(zip(robot.alpha.names, robot.alpha.defaults.tolist(), strict=True))
    lost = {item.name for item in result.lost}
    far, sentences = [], []
    for estimate in result.estimates:
        if estimate.name.startswith("sensor.gain.") and estimate.bound:
            text = f"{estimate.name} is at its {estimate.bound} bound of {estimate.value:g}"
            sentences.append(f"{text}: the torque of that joint is not the description's. {_units()}.")
        own = defaults.get(estimate.name, 0.0)
        if estimate.name.startswith("mass.") and own > 0.0 and estimate.name not in lost:
            if not 1.0 / GAIN_OFF <= estimate.value / own <= GAIN_OFF:
                far.append(f"{estimate.name} {estimate.value / own:.2g} times")
    if far:
        sentences.append(f"Far from the description: {', '.join(far)}. {_units()}.")
    if result.compared == "position":
        return [*sentences, *_off(result)]
    for joint, (left, explained) in result.train.shares.items():
        if explained < 0.0 and left > EXPLAINED:
            sentences.append(
                f"The torque of {joint} is explained by nothing that was fitted (R² {explained:.2g}). {_units()}."
            )
    return sentences


def _off(result: Identification) -> list[str]:
    """A sentence on encoders with a constant error, unlike noise."""
    return [
        f"What is left at {joint} is {bias:+.2g} on average, of {result.train.rmse[joint]:.2g} RMS: no noise, but an encoder's "
        "zero, a length that is not fitted, or a mechanism that did not move."
        for joint, bias in result.train.bias.items()
        if abs(bias) > CONSTANT * result.train.rmse[joint] > ROUNDING
    ]
