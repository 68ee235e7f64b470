"""First guess of an identification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.parameters import ParameterValues
from diffpbd.runtime.model.robot import Robot

__all__ = ["starting_point"]


def starting_point(
    robot: Robot, fitted: Robot, fit: Sequence[str], given: ParameterValues, fixed: Mapping[str, float]
) -> FloatArray:
    """alpha of `fitted` (the robot with what is fitted in alpha): what is `fixed`, then what is `given`; without that,
    fitted rotors start at the values of the description's transmissions."""
    rotors = {f"rotor_inertia.{joint}": value for joint, value in robot.manifest.robot.rotors.items()}
    own = {name: value for name, value in rotors.items() if any(name == n or name.startswith(f"{n}.") for n in fit)}
    return fitted.alpha.vector(fixed, base=fitted.alpha.vector(given or own))
