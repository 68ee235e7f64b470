"""Positions, rates and torques by the names of joints: `q0={"elbow": 0.3}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import number
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.folder.manifest import POSITIONS, VECTOR, Argument, RobotFacts

__all__ = ["JointValues", "by_joint", "of_joints"]

JointValues: TypeAlias = "npt.ArrayLike | Mapping[str, float]"
"""A vector in the order of the joints, or numbers by name."""

OF_JOINTS = ("joints, ", "base (")
"""Prefix of the frame of a vector with one number per joint; with a floating base it is named first."""


def of_joints(inputs: Sequence[Argument], robot: RobotFacts) -> dict[str, tuple[tuple[str, ...], FloatArray]]:
    """Inputs that may be given by name: names of their numbers, and default values."""
    found = {}
    for argument in inputs:
        if argument.axes == VECTOR and argument.frame.startswith(OF_JOINTS):
            at = argument.name in POSITIONS
            names = robot.positions if at else tuple(joint.name for joint in robot.joints)
            found[argument.name] = names, np.array(robot.neutral if at else [0.0] * len(names))
    return found


def by_joint(where: str, given: Mapping[str, float], names: Sequence[str], rest: FloatArray) -> FloatArray:
    """The vector (n,) of numbers by name; joints that are not named are as in `rest`."""
    vector: FloatArray = rest.copy()
    for name, value in given.items():
        if name not in names:
            raise InputError(f"{where}: there is no joint {name!r}. {hint(str(name), names)}")
        vector[names.index(name)] = number(f"{where}: {name}", value)
    return vector
