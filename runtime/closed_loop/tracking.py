"""A law in closed loop with a plant along a reference, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.closed_loop.plant import MujocoPlant
from diffpbd.runtime.closed_loop.reference import Reference
from diffpbd.runtime.control.controllers import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.robot import Robot

__all__ = ["ComputedTorque", "Law", "Track", "track"]

Law = Callable[[int, FloatArray, FloatArray], FloatArray]
"""Torque (n,) [N·m] at tick k for the measured p [rad] and pd [rad/s]; the plant's delay comes after it."""


@dataclass(frozen=True, eq=False)
class Track:
    """A run, a row a tick: time [s], true p and pd, torque u asked for, true tip and the reference's [m].

    `limits` is the least distance to any limit over the run, as a share of it: of positions 0 at a limit and 1 in the
    middle, of speeds and torques 0 at the limit and 1 at rest; below 0 a limit was left.
    """

    time: FloatArray
    p: FloatArray
    pd: FloatArray
    u: FloatArray
    tip: FloatArray
    wanted: FloatArray
    limits: dict[str, float]

    @property
    def error(self) -> FloatArray:
        """Distance of the tip from where it should be [m]."""
        distance: FloatArray = np.linalg.norm(self.tip - self.wanted, axis=1)
        return distance

    def rms(self, begin: float = 0.0, end: float = np.inf) -> float:
        """Root mean square of the tip's error [m] between two times [s]."""
        chosen = (self.time >= begin) & (self.time < end)
        return float(np.sqrt(np.mean(self.error[chosen] ** 2)))


class ComputedTorque:
    """Inverse dynamics along the reference, plus M(p) (kp e + kd ė) of the measured state: a law to compare others with.

    The feedforward is that of the tick at which the torque will act.
    """

    def __init__(
        self, robot: Robot, reference: Reference, alpha: FloatArray, *, stiffness: float = 100.0, damping: float = 20.0,
        delay: int = 1,
    ) -> None:  # fmt: skip
        """`stiffness` [1/s²] and `damping` [1/s] of the error; `delay` in ticks, the plant's."""
        self._robot, self._reference, self._alpha = robot, reference, alpha
        self._kp, self._kd, self._delay = stiffness, damping, delay

    def __call__(self, k: int, p: FloatArray, pd: FloatArray) -> FloatArray:
        """The torque [N·m]."""
        now, now_rate, _ = self._reference.at(k)
        ahead = self._reference.at(k + self._delay)
        feedforward = np.asarray(self._robot.inverse_dynamics(*ahead, self._alpha))
        feedback = self._kp * (now - p) + self._kd * (now_rate - pd)
        torque: FloatArray = feedforward + self._robot.mass_matrix(p, self._alpha) @ feedback
        return torque


def track(
    plant: MujocoPlant, law: Law, reference: Reference, *, hold: npt.ArrayLike | None = None,
    events: dict[int, Callable[[MujocoPlant], None]] | None = None, speed: npt.ArrayLike | None = None, rest: float = 0.0,
) -> Track:  # fmt: skip
    """Run `law` along `reference` from its first sample, then `rest` [s] more at its end.

    `hold` (n,) [N·m] acts until the first command does; `events` are called at ticks, such as a push; `speed` (n,)
    [rad/s] are the joints' limits.
    """
    if abs(plant.facts.period - reference.period) > 1e-9:
        raise InputError(f"track: plant and reference have periods of {plant.facts.period} and {reference.period} s.")
    p, pd = plant.reset(reference.p[0], reference.pd[0], held=hold)
    ticks = len(reference) + round(rest / reference.period)
    rows: list[tuple[FloatArray, ...]] = []
    for k in range(ticks):
        wanted = reference.tip[min(k, len(reference) - 1)]
        true = plant.position, plant.velocity, plant.tip
        if events is not None and k in events:
            events[k](plant)
        u = np.asarray(law(k, p, pd), dtype=np.float64)
        rows.append((*true[:2], u, true[2], wanted))
        p, pd = plant.step(u)
    positions, rates, torques, tips, wanted_tips = (np.array(column) for column in zip(*rows, strict=True))
    half = 0.5 * (plant.upper - plant.lower)
    limits = {
        "position": float((np.minimum(positions - plant.lower, plant.upper - positions) / half).min()),
        "torque": float((1.0 - np.abs(torques) / plant.effort).min()),
    }
    if speed is not None:
        limits["speed"] = float((1.0 - np.abs(rates) / np.asarray(speed)).min())
    time: FloatArray = reference.period * np.arange(ticks, dtype=np.float64)
    return Track(time, positions, rates, torques, tips, wanted_tips, limits)
