"""Simulated recordings of a Baxter arm with known friction and spring, and with errors of stated size; and how often the
intervals that an identification prints hold the truth.

Motions are sums of sines as the arm was recorded with: a range of about 0.5 rad and rates of about 0.5 rad/s, wrists half of
that, every recording of its own. Errors are added to what the sensors read, in parts of each joint's RMS torque, less its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.identify import Identification
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

RATE = 100.0  # Hz
SECONDS = 20.0
RECORDINGS = 3
ENCODER = 5e-4  # rad, white: about a quantum of 14 bits
TACHOMETER = 0.02  # rad/s, white
WHITE = 0.05  # of the torque's RMS
COLOURED, MEMORY = 0.05, 0.3  # of the torque's RMS, and seconds that it lasts (an AR(1) process)
DRIFT, DRIFTING = 0.10, 10.0  # of the torque's RMS, and seconds of a recording's first part during which it fades
RIPPLE, PERIOD = 0.10, 2.0 * np.pi / 40.0  # amplitude, of the torque's RMS, and angle between its peaks [rad]
CYCLE = (4.0, 6.0)  # s that motions repeat after
SLOW = 0.2  # of the others' range: w0 hardly moves, so that its rate is near the noise
FRAGMENT = 1.2  # s of coloured recording behind a gap


@dataclass(frozen=True)
class Errors:
    """Errors that the sensors add: which of the above."""

    coloured: bool = False
    drift: bool = False
    ripple: bool = False
    fragment: bool = False


KINDS = {
    "white": Errors(),
    "coloured": Errors(coloured=True),
    "drift": Errors(coloured=True, drift=True),
    "ripple": Errors(ripple=True),
    "fragment": Errors(coloured=True, fragment=True),
}


def truth_of(robot: Robot) -> dict[str, float]:
    """Friction, offsets and the shoulder's spring as the physical arm has them, about."""
    values = {
        "friction.coulomb": (0.3, 0.6, 0.3, 0.25, 0.1, 0.05, 0.06),
        "friction.viscous": (0.4, 0.5, 0.3, 0.3, 0.15, 0.05, 0.03),
        "torque_offset": (-0.45, 0.0, -0.65, 0.5, 0.06, 0.3, -0.2),
    }
    found = {f"{kind}.{j}": v for kind, own in values.items() for j, v in zip(robot.joints, own, strict=True)}
    spring = robot.manifest.recipe.springs[0]
    del found[f"torque_offset.{spring}"]
    return found | {f"spring.stiffness.{spring}": 24.0, f"spring.rest.{spring}": -1.5}


def recordings(robot: Robot, errors: Errors, seed: int) -> list[Samples]:
    """One set, filtered as by default."""
    rng = np.random.default_rng(seed)
    alpha = robot.alpha.vector(truth_of(robot))
    turn = rng.uniform(0.0, 2.0 * np.pi, robot.n)
    found: list[Samples] = []
    for k in range(RECORDINGS):
        log = _recorded(robot, alpha, errors, rng, SECONDS, turn, first=k == 0)
        if errors.fragment and k == 0:
            more = _recorded(robot, alpha, errors, rng, FRAGMENT, turn, first=False)
            rows = [np.concatenate([a, b]) for a, b in ((log.q, more.q), (log.dq, more.dq), (log.tau, more.tau))]
            log = Log(
                np.concatenate([log.time, log.time[-1] + 1.0 + more.time]), log.joints, rows[0], rows[1], None, rows[2]
            )
        found += process(f"run {k + 1}", log, Processing())
    return found


def _recorded(
    robot: Robot,
    alpha: np.ndarray,
    errors: Errors,
    rng: np.random.Generator,
    seconds: float,
    turn: np.ndarray,
    *,
    first: bool,
) -> Log:
    time = np.arange(round(seconds * RATE)) / RATE
    q, dq, ddq = _motion(robot, rng, time)
    tau = np.asarray(robot.inverse_dynamics(q, dq, ddq, alpha))
    size = tau.std(axis=0)
    read = tau + WHITE * size * rng.normal(size=tau.shape)
    if errors.coloured:
        read += COLOURED * size * _coloured(rng, tau.shape)
    if errors.drift and first:
        read += DRIFT * size * np.maximum(1.0 - time / DRIFTING, 0.0)[:, None] * rng.choice([-1.0, 1.0], robot.n)
    if errors.ripple:
        read += RIPPLE * size * np.sin(2.0 * np.pi * q / PERIOD + turn)
    q = q + ENCODER * rng.normal(size=q.shape)
    return Log(time, robot.joints, q, dq + TACHOMETER * rng.normal(size=q.shape), None, read)


def _motion(robot: Robot, rng: np.random.Generator, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three harmonics of a period of its own a joint, which repeats several times in a recording."""
    n = robot.n
    omega = 2.0 * np.pi / rng.uniform(*CYCLE) * np.arange(1, 4)[:, None] * np.ones(n)
    size = (
        rng.uniform(0.1, 0.4, (3, n))
        / np.arange(1, 4)[:, None]
        * np.where(np.arange(n) >= 4, 0.6, 1.0)
        * np.where(np.arange(n) == 4, SLOW, 1.0)
    )
    phase = rng.uniform(0.0, 2.0 * np.pi, (3, n))
    middle = rng.uniform(-0.4, 0.4, n) + np.array([0.0, -0.6, 0.0, 1.2, 0.0, 0.4, 0.0])
    angle = omega * time[:, None, None] + phase
    q = middle + (size * np.sin(angle)).sum(axis=1)
    return q, (size * omega * np.cos(angle)).sum(axis=1), -(size * omega**2 * np.sin(angle)).sum(axis=1)


def _coloured(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """An AR(1) process of unit variance."""
    from scipy.signal import lfilter

    decay = float(np.exp(-1.0 / (MEMORY * RATE)))
    white = rng.normal(size=shape)
    start = decay * rng.normal(size=(1, shape[1]))
    return np.asarray(lfilter([np.sqrt(1.0 - decay**2)], [1.0, -decay], white, axis=0, zi=start)[0])


@dataclass(frozen=True)
class Coverage:
    """By parameter, of intervals of 95 %: share that hold the truth, mean printed deviation over the estimates' scatter; the
    share of the deviations that is printed."""

    held: dict[str, float]
    ratio: dict[str, float]
    printed: float

    @staticmethod
    def of(results: Sequence[Identification], truth: dict[str, float]) -> Coverage:
        """Coverage of several sets of the same kind."""
        held, ratio, printed = {}, {}, 0
        for name, value in truth.items():
            found = [e for result in results for e in result.estimates if e.name == name and e.std is not None]
            printed += len(found)
            errors = np.array([e.value - value for e in found])
            deviations = np.array([e.std for e in found], dtype=np.float64)
            held[name] = float((np.abs(errors) <= 1.96 * deviations).mean())
            ratio[name] = float(deviations.mean() / errors.std())
        return Coverage(held, ratio, printed / (len(results) * len(truth)))

    @property
    def all(self) -> float:
        """Share over all parameters."""
        return float(np.mean(list(self.held.values())))

    def __str__(self) -> str:
        low = min(self.held, key=lambda name: self.held[name])
        ratios = np.array(list(self.ratio.values()))
        return (
            f"printed {self.printed:.2f}; held {self.all:.3f}, worst {self.held[low]:.2f} ({low}); deviation over scatter "
            f"{ratios.mean():.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
        )
