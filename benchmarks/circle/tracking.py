"""A law in closed loop with a plant along a reference, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.circle.reference import Reference
from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT, DisturbanceObserver
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Bounds, Weights
from diffpbd.runtime.simulate.plant import MujocoPlant

__all__ = ["ComputedTorque", "Law", "Predictive", "Track", "track"]

TORQUE_RATE = 100.0
"""1/s; change of torque that a plan may ask for, as a share of the effort limit: all of it in a tick, as the arm's own limits
are position, speed and effort. The 10 of `run` take 40 ms to balance 6 N·m on a wrist, which is at its speed limit in 20."""

Law = Callable[[int, FloatArray, FloatArray], FloatArray]
"""Torque (n,) [N·m] at tick k for the measured p [rad] and pd [rad/s]; the plant's delay comes after it."""


@dataclass(frozen=True, eq=False)
class Track:
    """A run, a row a tick: time [s], true p and pd, torque u asked for, true tip and the reference's [m].

    `limits` is the least distance to any limit over the run, as a share of it: of positions 0 at a limit and 1 in the
    middle, of speeds and torques 0 at the limit and 1 at rest; below 0 a limit was left. `nearest` is the joint of each.
    `fastest` (rows, n) [rad/s] are the largest speeds from a tick to the next.
    """

    time: FloatArray
    p: FloatArray
    pd: FloatArray
    u: FloatArray
    tip: FloatArray
    wanted: FloatArray
    fastest: FloatArray
    limits: dict[str, float]
    nearest: dict[str, int]

    @property
    def error(self) -> FloatArray:
        """Distance of the tip from where it should be [m]."""
        distance: FloatArray = np.linalg.norm(self.tip - self.wanted, axis=1)
        return distance

    def rms(self, begin: float = 0.0) -> float:
        """Root mean square of the tip's error [m] from a time [s] on."""
        return float(np.sqrt(np.mean(self.error[self.time >= begin] ** 2)))


class ComputedTorque:
    """Inverse dynamics along the reference, plus M(p) (kp e + kd ė) of the measured state: a law to compare others with.

    The feedforward is that of the tick at which the torque will act.
    """

    def __init__(
        self, robot: Robot, reference: Reference, alpha: FloatArray, *, stiffness: float = 100.0, damping: float = 20.0,
        delay: int = 1, disturbance: float | None = None,
    ) -> None:  # fmt: skip
        """`stiffness` [1/s²] and `damping` [1/s] of the error; `delay` in ticks, the plant's; `disturbance` [s]: time constant
        of an observer whose estimate is balanced (None: no observer)."""
        self._robot, self._reference, self._alpha = robot, reference, alpha
        self._kp, self._kd, self._delay = stiffness, damping, delay
        self._observer = (
            None if disturbance is None
            else DisturbanceObserver(robot, alpha, reference.period, time_constant=disturbance)
        )  # fmt: skip
        self._sent: deque[FloatArray] = deque(maxlen=delay + 1)

    def __call__(self, k: int, p: FloatArray, pd: FloatArray) -> FloatArray:
        """The torque [N·m]."""
        now, now_rate, _ = self._reference.at(k)
        ahead = self._reference.at(k + self._delay)
        feedforward = np.asarray(self._robot.inverse_dynamics(*ahead, self._alpha))
        feedback = self._kp * (now - p) + self._kd * (now_rate - pd)
        torque: FloatArray = feedforward + self._robot.mass_matrix(p, self._alpha) @ feedback
        if self._observer is None:
            return torque
        acted = self._sent[0] if len(self._sent) > self._delay else None
        torque = torque - self._observer.update(k * self._reference.period, p, pd, acted)
        torque = within(torque, -self._observer.limit, self._observer.limit)
        self._sent.append(torque)
        return torque


class Predictive:
    """Predictive control along the reference: a real-time iteration a tick over `horizon` steps of the reference's period.

    Weights are the paper's. Torques already on their way are taken into account; the limits are the description's.
    """

    def __init__(
        self, robot: Robot, reference: Reference, alpha: FloatArray, *, horizon: int = 20, delay: int = 1,
        disturbance: float | None = TIME_CONSTANT, torque_rate: float = TORQUE_RATE,
    ) -> None:  # fmt: skip
        """`delay` in ticks, the plant's; `disturbance` [s]: time constant of the observer (None: no observer); `torque_rate`
        [1/s]: change of torque over the effort limit."""
        self._reference, self._ahead = reference, delay + np.arange(horizon + 1)
        limits = Bounds.of(robot, reference.period)
        self.mpc = Mpc(
            robot, horizon, weights=Weights(), h=reference.period, alpha=alpha,
            bounds=replace(limits, du=torque_rate * reference.period * limits.u_upper),
            options=MpcOptions(delay=delay, disturbance=disturbance, transition=TRANSITION),
        )  # fmt: skip

    def __call__(self, k: int, p: FloatArray, pd: FloatArray) -> FloatArray:
        """The torque [N·m]."""
        samples = [self._reference.at(k + int(j)) for j in self._ahead]
        P, PD = np.array([s[0] for s in samples]), np.array([s[1] for s in samples])
        return self.mpc.tick(k * self._reference.period, p, pd, P, PD).torque


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
        p, pd = plant.step(u)
        rows.append((*true[:2], u, true[2], wanted, plant.fastest))
    positions, rates, torques, tips, wanted_tips, fastest = (np.array(column) for column in zip(*rows, strict=True))
    half = 0.5 * (plant.upper - plant.lower)
    room = {
        "position": np.minimum(positions - plant.lower, plant.upper - positions) / half,
        "torque": 1.0 - np.abs(torques) / plant.effort,
    }
    if speed is not None:
        room["speed"] = 1.0 - fastest / np.asarray(speed)
    time: FloatArray = reference.period * np.arange(ticks, dtype=np.float64)
    return Track(
        time, positions, rates, torques, tips, wanted_tips, fastest,
        {kind: float(shares.min()) for kind, shares in room.items()},
        {kind: int(shares.min(axis=0).argmin()) for kind, shares in room.items()},
    )  # fmt: skip
