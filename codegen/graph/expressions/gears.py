"""Joints that mimic others, folded in: the coordinates of every function are the independent joints alone.

With p the positions of the independent joints, those of all joints are A p + b, and so their rates A ṗ and accelerations
A p̈. Virtual work makes the torques on the coordinates Aᵀ u of the torques on all joints, and the inertia Aᵀ M A. For a robot
without mimic joints A is the identity, and nothing is multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.description.robot.robot import Robot


@dataclass(frozen=True)
class Gears:
    """`matrix` A (joints × coordinates) and `offset` b (joints) [rad or m]; matrix None is the identity."""

    matrix: Any
    offset: Any
    independent: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.independent)

    def positions(self, p: Any) -> Any:
        """Positions of all joints: A p + b."""
        return p if self.matrix is None else ca.mtimes(self.matrix, p) + self.offset

    def rates(self, pd: Any) -> Any:
        """Rates or accelerations of all joints: A ṗ."""
        return pd if self.matrix is None else ca.mtimes(self.matrix, pd)

    def torques(self, u: Any) -> Any:
        """Torques on the coordinates from those on all joints: Aᵀ u; for a matrix column by column."""
        return u if self.matrix is None else ca.mtimes(self.matrix.T, u)

    def columns(self, matrix: Any) -> Any:
        """A matrix that multiplies rates of all joints, as one that multiplies those of the coordinates: J A."""
        return matrix if self.matrix is None else ca.mtimes(matrix, self.matrix)

    def fold(self, matrix: Any) -> Any:
        """Aᵀ M A."""
        return self.torques(self.columns(matrix))

    def chosen(self, x: Any) -> Any:
        """The entries of the independent joints."""
        return x if self.matrix is None else x[list(self.independent)]


def gears_of(robot: Robot) -> Gears:
    """The gears of a robot."""
    independent = robot.independent
    if len(independent) == robot.n:
        return Gears(None, None, independent)
    column = {joint: k for k, joint in enumerate(independent)}
    matrix, offset = ca.DM(robot.n, len(independent)), ca.DM.zeros(robot.n)
    for i, joint in enumerate(robot.joints):
        if joint.mimic is None:
            matrix[i, column[i]] = 1.0
            continue
        if joint.mimic.multiplier != 0.0:
            matrix[i, column[joint.mimic.joint]] = joint.mimic.multiplier
        offset[i] = joint.mimic.offset
    return Gears(matrix, offset, independent)
