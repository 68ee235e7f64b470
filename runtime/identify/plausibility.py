"""What an identification came to, held against the description: parameters that only wrong units or signs explain."""

from __future__ import annotations

from diffpbd.runtime.identify.result import Identification
from diffpbd.runtime.logs.thresholds import GAIN
from diffpbd.runtime.robot import Robot

__all__ = ["implausible"]

UNITS = "Is the torque in N·m and of this robot? --drive-gain turns currents into torques"


def implausible(robot: Robot, result: Identification) -> list[str]:
    """A sentence for masses far from the description's, for gains at a bound, and for torques that are explained by nothing."""
    defaults = dict(zip(robot.alpha.names, robot.alpha.defaults.tolist(), strict=True))
    lost = {item.name for item in result.lost}
    far, sentences = [], []
    for estimate in result.estimates:
        if estimate.name.startswith("sensor.gain.") and estimate.bound:
            text = f"{estimate.name} is at its {estimate.bound} bound of {estimate.value:g}"
            sentences.append(f"{text}: the torque of that joint is not the description's. {UNITS}.")
        own = defaults.get(estimate.name, 0.0)
        if estimate.name.startswith("mass.") and own > 0.0 and estimate.name not in lost:
            if not 1.0 / GAIN <= estimate.value / own <= GAIN:
                far.append(f"{estimate.name} {estimate.value / own:.2g} times")
    if far:
        sentences.append(f"Far from the description: {', '.join(far)}. {UNITS}.")
    for joint, (_, explained) in result.train.shares.items():
        if explained < 0.0:
            sentences.append(
                f"The torque of {joint} is explained by nothing that was fitted (R² {explained:.2g}). {UNITS}."
            )
    return sentences
