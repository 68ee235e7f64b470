"""Parameters that the torque is not linear in: gravity, velocities of friction, joint origins, a sensor's gain, delay and zero.

Each adds a column, the derivative of the predicted torque at its present value, whose coefficient is its change. After a solve
the columns are recomputed at the new values until convergence: Gauss and Newton's method. At the end the changes
are zero, and the columns are the exact derivatives, so the statistics are those of the whole problem.

A sensor with gain g and delay d reads g·u(t − d) where the joint's torque is u(t) (offset included); what is compared with
the model is reading(t + d)/g. An encoder whose zero is off reads q where the joint is at q + z. All three belong to the
sensors and not to alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import DELAY, GAIN, SENSOR, ZERO

__all__ = ["STRUCTURE", "Outer"]

STRUCTURE = ("gravity", "friction.transition_velocity", "friction.stribeck_velocity", "origin")
ROWS = 2048
"""[1] Samples whose derivatives by all of alpha are held at a time."""


@dataclass(frozen=True)
class Outer:
    """`names` of those wanted, and their present `values`."""

    names: tuple[str, ...]
    values: FloatArray

    @staticmethod
    def of(robot: Robot, names: Sequence[str], base: FloatArray) -> Outer:
        """Those among the fitted names, at their start."""
        wanted = tuple(n for n in names if n.startswith((*STRUCTURE, *SENSOR)))
        start = [
            SENSOR[n.rpartition(".")[0]][0] if n.startswith(tuple(SENSOR)) else base[robot.alpha.index(n)]
            for n in wanted
        ]
        return Outer(wanted, np.array(start, dtype=np.float64))

    def at(self, values: FloatArray) -> Outer:
        """The same at other values."""
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def value(self, name: str, default: float) -> float:
        """The present value of one of them, or the default."""
        return float(self.values[self.names.index(name)]) if name in self.names else default

    def gains(self, joints: Sequence[str]) -> FloatArray:
        """Present gains (n,) of the sensors [1]."""
        return np.array([self.value(f"{GAIN}.{joint}", 1.0) for joint in joints], dtype=np.float64)

    def alpha(self, robot: Robot, base: FloatArray) -> FloatArray:
        """alpha with the present values of those that are part of it."""
        alpha = base.copy()
        for name, value in zip(self.names, self.values, strict=True):
            if not name.startswith(tuple(SENSOR)):
                alpha[robot.alpha.index(name)] = value
        return np.asarray(alpha, dtype=np.float64)

    def moved(self, samples: Samples) -> Samples:
        """The samples at the joints' positions, by the present zeros of the encoders."""
        zeros = np.array([self.value(f"{ZERO}.{joint}", 0.0) for joint in samples.joints], dtype=np.float64)
        return replace(samples, q=samples.q + zeros) if zeros.any() else samples

    def measured(self, samples: Samples) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """reading(t + d)/g (samples, n) of the filtered readings, trimmed, and where the recording has it."""
        tau, there = samples.tau.copy(), np.ones(samples.tau.shape, dtype=np.bool_)
        for j, joint in enumerate(samples.joints):
            gain, delay = self.value(f"{GAIN}.{joint}", 1.0), self.value(f"{DELAY}.{joint}", 0.0)
            if delay != 0.0:
                wanted = samples.time + delay
                there[:, j] = (wanted >= samples.time[0]) & (wanted <= samples.time[-1])
                tau[:, j] = CubicSpline(samples.time, tau[:, j])(np.clip(wanted, samples.time[0], samples.time[-1]))
            tau[:, j] /= gain
        kept = samples.trimmed(np.arange(len(tau), dtype=np.float64)).astype(np.intp)
        return np.asarray(tau[kept]), np.asarray(there[kept], dtype=np.bool_)

    def columns(self, robot: Robot, samples: Samples, alpha: FloatArray, predicted: FloatArray) -> FloatArray:
        """Derivatives (samples, n, names) of reading(t + d)/g's prediction, not filtered, by the names.

        `predicted` (samples, n) is the torque at alpha, not filtered. Columns of zeros are `design.build`'s.
        """
        result = np.zeros((*predicted.shape, len(self.names)))
        inside = [k for k, name in enumerate(self.names) if not name.startswith(tuple(SENSOR))]
        if inside:
            positions = [robot.alpha.index(self.names[k]) for k in inside]
            for a in range(0, len(predicted), ROWS):
                rows = slice(a, a + ROWS)
                found = robot.jac_alpha_inverse_dynamics(samples.p[rows], samples.dq[rows], samples.ddq[rows], alpha)
                found = getattr(found, "du_dalpha", found)  # of robots with loops one of several
                result[rows][:, :, inside] = found[:, :, positions]
        for k, name in enumerate(self.names):
            kind, _, joint = name.rpartition(".")
            if kind in (GAIN, DELAY):
                j = robot.joints.index(joint)
                slope = np.gradient(predicted[:, j], 1.0 / samples.rate)
                result[:, j, k] = predicted[:, j] / self.values[k] if kind == GAIN else -slope
        return result
