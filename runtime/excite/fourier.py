"""Periodic joint motions as finite Fourier series that start and end at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Fourier"]


@dataclass(frozen=True)
class Fourier:
    """Motions of period `duration` [s] with `harmonics` of the base frequency 1/duration.

    A joint's motion is start + Σ_k (a_k sin kωt + b_k (1 − cos kωt)) / k with Σ a_k = 0 and Σ k b_k = 0, so that rate and
    acceleration vanish at both ends. `x` (n, 2 harmonics − 1) holds each joint's start [rad or m] and the coordinates of
    its a and b in a basis of the solutions of these conditions.
    """

    duration: float
    harmonics: int

    @property
    def size(self) -> int:
        """Coordinates per joint."""
        return 2 * self.harmonics - 1

    def most_acceleration(self, x: FloatArray) -> FloatArray:
        """A bound (n,) of the accelerations at all times: the sum of the amplitudes of all harmonics."""
        k = np.arange(1, self.harmonics + 1)
        coefficients = np.abs(self._basis() @ x[:, 1:].T)
        size = coefficients[: self.harmonics] + coefficients[self.harmonics :]
        return np.asarray((2.0 * np.pi / self.duration) ** 2 * k @ size)

    def _basis(self) -> FloatArray:
        """Basis (2 harmonics, coordinates) of a and b under their two conditions."""
        rest = np.zeros((2, 2 * self.harmonics))
        rest[0, : self.harmonics], rest[1, self.harmonics :] = 1.0, np.arange(1, self.harmonics + 1)
        return np.asarray(np.linalg.svd(rest)[2][2:].T)

    def matrices(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(samples, size) each: positions, rates and accelerations are these times xᵀ."""
        k = np.arange(1, self.harmonics + 1)
        w = 2.0 * np.pi / self.duration
        phase = w * np.outer(time, k)
        sine, cosine = np.sin(phase), np.cos(phase)
        blocks = [
            np.hstack([sine / k, (1.0 - cosine) / k]),
            np.hstack([w * cosine, w * sine]),
            np.hstack([-(w**2) * k * sine, w**2 * k * cosine]),
        ]
        basis = self._basis()
        first = (np.ones((len(time), 1)), np.zeros((len(time), 1)), np.zeros((len(time), 1)))
        position, rate, acceleration = (np.hstack([f, b @ basis]) for f, b in zip(first, blocks, strict=True))
        return position, rate, acceleration

    def state(self, x: FloatArray, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """q and dq (samples, n) at the times [s]."""
        q, dq, _ = self.motion(x, time)
        return q, dq

    def motion(self, x: FloatArray, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, dq, ddq (samples, n) at the times [s]."""
        position, rate, acceleration = (m @ x.T for m in self.matrices(time))
        return position, rate, acceleration
