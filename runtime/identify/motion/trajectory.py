"""Common parts of the trajectory forms: recordings as steps, and unknown entries of alpha.

The torque recorded at a sample acts, less its sensor's offset, until the next one, as in a simulated log. Positions and rates
are weighted with `POSITION` and `RATE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.columns.attached_springs import started
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["POSITION", "RATE", "STEPS", "Motion", "Parameters", "Path", "check_functions", "motions", "parameters_of"]

Path: TypeAlias = "tuple[FloatArray, FloatArray, FloatArray]"
"""Positions and rates (steps + 1, n) of an estimated trajectory, true torques (steps, n) that act during its steps."""

POSITION = 1e-3
"""[rad or m] Deviation of a recorded position: a few quanta of a 14-bit encoder."""
RATE = 1e-2
"""[rad/s or m/s] Deviation of a recorded rate: that position over a tenth of a second."""
OFFSET = "torque_offset."
SPRING_START = 1.0
"""[N·m/rad] Stiffness that the search begins with where spring and rest are unknown and alpha has none: without stiffness
the rest has no effect."""


@dataclass(frozen=True)
class Motion:
    """One recording: step h [s], positions and rates (steps + 1, n), torque readings of every step (steps, n)."""

    name: str
    h: float
    q: FloatArray
    dq: FloatArray
    tau: FloatArray

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.tau)


STEPS = ("joint_step", "jac_joint_step", "jac_alpha_joint_step")
"""Functions of a generated step with its sensitivities."""


def check_functions(robot: Robot, option: str, needed: Sequence[str] = STEPS) -> None:
    """InputError for a robot that lacks some of them."""
    missing = [name for name in needed if name not in robot.functions]
    if missing:
        words = (
            f"{option} needs {listing(missing)}, which {robot.name} has not.",
            robot.manifest.why_not(missing[-1]),
            f"Or use {arg.form('torque')}." if option.startswith(f"{arg.form}") else None,
        )
        raise InputError(" ".join(filter(None, words)))


def motions(samples: Sequence[Samples], form: str) -> list[Motion]:
    """Recordings as steps between their samples."""
    found = []
    for s in samples:
        q, dq, tau = (s.trimmed(values) for values in (s.q, s.dq, s.tau))
        if len(q) < 2:
            raise InputError(
                f"{s.name}: {len(q)} sample; too short for {arg.form(form)}, which needs at least one step."
            )
        found.append(Motion(s.name, 1.0 / s.rate, q, dq, tau[:-1]))
    return found


@dataclass(frozen=True)
class Parameters:
    """Unknown entries of alpha: names, positions, start and bounds; `base` holds all others.

    `offsets[k]` is the joint whose sensor's offset unknown k is, -1 for what acts on the plant.
    """

    names: tuple[str, ...]
    positions: npt.NDArray[np.intp]
    base: FloatArray
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    offsets: npt.NDArray[np.intp]
    offset_of: npt.NDArray[np.intp]
    """Positions of every joint's torque offset in alpha; the freedoms of a floating base have none."""

    def alpha(self, theta: FloatArray) -> FloatArray:
        """alpha with these values of the unknowns."""
        values = np.array(self.base, dtype=np.float64)
        values[self.positions] = theta
        return values

    def torque(self, tau: FloatArray, theta: FloatArray) -> FloatArray:
        """True torque of a reading (…, n): its sensor's offset taken away."""
        return np.asarray(tau - self.alpha(theta)[self.offset_of], dtype=np.float64)

    def sensitivities(
        self, robot: Robot, theta: FloatArray, P: FloatArray, PD: FloatArray, U: FloatArray, h: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the ends (p, ṗ) of steps from P, PD under U (k, n): by their starts (k, 2n, 2n), by the torques (k, 2n, n), and
        by the unknowns (k, 2n, m)."""
        alpha = self.alpha(theta)
        J = robot.jac_joint_step(P, PD, U, h, alpha)
        J_alpha = robot.jac_alpha_joint_step(P, PD, U, h, alpha)
        by_start = np.block([[J.dp_next_dp, J.dp_next_dpd], [J.dpd_next_dp, J.dpd_next_dpd]])
        by_torque = np.concatenate([J.dp_next_du, J.dpd_next_du], axis=1)
        by_theta = np.concatenate([J_alpha.dp_next_dalpha, J_alpha.dpd_next_dalpha], axis=1)[:, :, self.positions]
        for k in np.flatnonzero(self.offsets >= 0).tolist():
            by_theta[:, :, k] -= by_torque[:, :, self.offsets[k]]
        return by_start, by_torque, by_theta


def parameters_of(robot: Robot, names: Sequence[str], base: FloatArray, form: str) -> Parameters:
    """The unknowns; what is no entry of alpha is refused."""
    strange = [name for name in names if name not in robot.alpha]
    if strange:
        raise InputError(
            f"{arg.form(form)} fits entries of alpha only, not {listing(strange)}; use {arg.form('torque')}."
        )
    positions = np.array([robot.alpha.index(name) for name in names], dtype=np.intp)
    start = base[positions].copy()
    for k, name in enumerate(names):
        joint = name.removeprefix("spring.stiffness.")
        if joint != name and f"spring.rest.{joint}" in names and start[k] == 0.0:
            start[k] = SPRING_START
        start[k] = started(robot, name, start[k])
    joints = [name.removeprefix(OFFSET) if name.startswith(OFFSET) else "" for name in names]
    return Parameters(
        tuple(names),
        positions,
        base,
        start,
        robot.alpha.lower[positions],
        robot.alpha.upper[positions],
        np.array([robot.joints.index(joint) if joint else -1 for joint in joints], dtype=np.intp),
        np.array([robot.alpha.index(OFFSET + j) for j in robot.joints if OFFSET + j in robot.alpha], dtype=np.intp),
    )
