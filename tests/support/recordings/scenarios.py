"""Recordings of an arm made from a seed, in twelve scenarios, with the truth known.

`drawn_arm.c` has the arm's dynamics once more, without a line of ours, and integrates them by Runge and Kutta's fourth order
under a computed torque that a controller holds between its ticks; `tests/identify/causes/test_specification.py` holds it
against Pinocchio.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from diffpbd.runtime.logs.csv import Log

Array = npt.NDArray[np.float64]

N = 3
RATE, SECONDS = 100.0, 20.0  # Hz, s
STEP = 1e-3  # s, of the integration; controllers that are not held tick as fast
GRAVITY = 9.81
WIDTH = 0.05  # rad/s, of the transition of friction
WAY = 0.02  # rad, of friction with memory
ENCODER, TACHOMETER = 5e-5, 5e-3  # rad, rad/s; white
WHITE = 0.02  # of a torque's deviation
COLOURED, MEMORY = 0.05, 0.3  # of the torque's deviation, s
RIPPLE, PERIOD = 0.10, 2.0 * np.pi / 40.0  # of the torque's deviation, rad


@dataclass(frozen=True, eq=False)
class Arm:
    """A chain of `N` hinges drawn from a seed: axes (N, 3), origins (N, 3) [m] in the link before, masses [kg], centres (N, 3)
    [m], inertias about them (N, 3) [kg·m²], friction and offsets (N,)."""

    axes: Array
    origins: Array
    mass: Array
    com: Array
    inertia: Array
    coulomb: Array
    viscous: Array
    offset: Array

    @staticmethod
    def of(seed: int) -> Arm:
        rng = np.random.default_rng(seed)
        mass = np.array([4.0, 2.5, 1.5]) * rng.uniform(0.7, 1.3, N)
        size = rng.uniform(0.05, 0.12, (N, 3))
        sides = size**2 * mass[:, None]
        axes = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
        axes[2] = rng.permutation(axes[1:].copy())[0] if rng.random() < 0.5 else [1.0, 0.0, 0.0]
        return Arm(
            axes,
            np.array([[0.0, 0.0, 0.3], [0.05, 0.0, 0.1], [0.3, 0.0, 0.05]]) * rng.uniform(0.8, 1.2, (N, 3)),
            mass,
            rng.uniform(-0.05, 0.05, (N, 3)) + np.array([[0.0, 0.0, 0.05], [0.15, 0.0, 0.0], [0.12, 0.03, 0.0]]),
            0.5 * (sides.sum(axis=1, keepdims=True) - sides) + 0.02,
            np.array([1.2, 0.9, 0.4]) * rng.uniform(0.7, 1.3, N),
            np.array([0.8, 0.6, 0.3]) * rng.uniform(0.7, 1.3, N),
            rng.uniform(-0.5, 0.5, N),
        )

    @cached_property
    def urdf(self) -> str:
        """The description, to the last bit."""

        def words(values: Sequence[float] | Array) -> str:
            return " ".join(repr(float(v)) for v in values)

        parts = ['<robot name="drawn"><link name="base"/>']
        for k in range(N):
            ixx, iyy, izz = (repr(float(v)) for v in self.inertia[k])
            parts.append(
                f'<link name="l{k}"><inertial><origin xyz="{words(self.com[k])}"/><mass value="{float(self.mass[k])!r}"/>'
                f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial></link>'
                f'<joint name="j{k}" type="revolute"><parent link="{f"l{k - 1}" if k else "base"}"/><child link="l{k}"/>'
                f'<origin xyz="{words(self.origins[k])}"/><axis xyz="{words(self.axes[k])}"/>'
                '<limit lower="-3.1" upper="3.1" effort="300" velocity="8"/></joint>'
            )
        return "\n".join([*parts, "</robot>"])

    @property
    def truth(self) -> dict[str, float]:
        """Entries of alpha by name."""
        kinds = {"friction.coulomb": self.coulomb, "friction.viscous": self.viscous, "torque_offset": self.offset}
        return {f"{kind}.j{k}": float(v) for kind, own in kinds.items() for k, v in enumerate(own)}

    def accelerations(self, q: Array, dq: Array, torque: Array) -> Array:
        """Those (N,) that torques of motors make without friction."""
        found = np.zeros(N)
        _library().accelerations(_pointer(self.packed(Scenario())), *(_pointer(v) for v in (q, dq, torque, found)))
        return found

    def packed(self, scenario: Scenario) -> Array:
        """As the C has it."""
        more = [scenario.load, scenario.way, scenario.stribeck, scenario.width]
        own = (self.axes, self.origins, self.mass, self.com, self.inertia, self.coulomb, self.viscous)
        return np.concatenate([*(part.ravel() for part in own), more])


@cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "drawn_arm.so"
        source = Path(__file__).with_name("drawn_arm.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(built), str(source), "-lm"], check=True)
        return ctypes.CDLL(str(built))


def _pointer(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


@dataclass(frozen=True)
class Scenario:
    """Faults of the arm (`load` [kg], friction over a `way`, Stribeck's part of Coulomb's) and with its sensors."""

    recordings: int = 3
    load: float = 0.0
    way: float = 0.0
    stribeck: float = 0.0
    heavier: float = 0.0
    width: float = WIDTH
    sensors: Mapping[str, float] = field(default_factory=dict)
    """Of each in parts of the torque's deviation: `coloured`, `ripple`, `drift`; `late` [s]; `gain` of the last joint."""


SCENARIOS: dict[str, Scenario] = {
    "healthy": Scenario(),
    "coloured": Scenario(sensors={"coloured": COLOURED}),
    "drift": Scenario(sensors={"coloured": COLOURED, "drift": 0.1}),
    "ripple": Scenario(sensors={"ripple": RIPPLE}),
    "ripple, two recordings": Scenario(2, sensors={"ripple": RIPPLE}),
    "hysteresis": Scenario(way=WAY),
    "late": Scenario(sensors={"late": 0.02}),
    "payload": Scenario(load=0.5),
    "stribeck": Scenario(stribeck=0.6),
    "gain": Scenario(sensors={"gain": 1.1}),
    "masses": Scenario(heavier=0.1),
    "sticking": Scenario(width=0.01),
}


@dataclass(frozen=True)
class Motions:
    """Motions of a batch: time (samples,) [s], q, dq and the torque that acted (batch, samples, N)."""

    time: Array
    q: Array
    dq: Array
    torque: Array


def simulated(arm: Arm, scenario: Scenario, seeds: Sequence[int], held: int = 1) -> Motions:
    """Simulate once what scenarios with the same arm share."""
    plant = (scenario.load, scenario.way, scenario.stribeck, scenario.heavier, scenario.width)
    return _simulated(arm, plant, tuple(seeds), held)


@cache
def _simulated(arm: Arm, plant: tuple[float, ...], seeds: tuple[int, ...], held: int) -> Motions:
    """One trajectory a seed under a controller that ticks every `held` steps; torques are its own, at the samples."""
    scenario = Scenario(3, *plant)
    stride, count = round(1.0 / (RATE * STEP)), round(SECONDS * RATE)
    grown = 1.0 + scenario.heavier * np.array([0.0, 1.0, -1.0])
    body, known = replace(arm, mass=arm.mass * grown).packed(scenario), arm.packed(Scenario())
    out = np.zeros((len(seeds), count, 3 * N))
    for k, seed in enumerate(seeds):
        goal = _goal(np.random.default_rng(seed))
        words = (_pointer(body), _pointer(known), *(_pointer(part) for part in goal), ctypes.c_double(STEP))
        _library().simulate(*words, held, stride, count, _pointer(out[k]))
    return Motions(np.arange(count) / RATE, out[..., :N], out[..., N : 2 * N], out[..., 2 * N :])


def _goal(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Middle (N,), and size, frequency [rad/s], phase (3, N) of three sines a joint."""
    omega = 2.0 * np.pi / rng.uniform(4.0, 6.0) * np.arange(1, 4)[:, None] * np.ones(N)
    size = rng.uniform(0.15, 0.5, (3, N)) / np.arange(1, 4)[:, None]
    return rng.uniform(-0.4, 0.4, N), size, omega, rng.uniform(0.0, 2.0 * np.pi, (3, N))


def read(arm: Arm, scenario: Scenario, motions: Motions, seed: int) -> list[Log]:
    """Logs of a batch that is one set, as sensors show it."""
    rng = np.random.default_rng(seed)
    sensors, logs = scenario.sensors, []
    turn, side = rng.uniform(0.0, 2.0 * np.pi, N), rng.choice([-1.0, 1.0], N)
    for k in range(len(motions.q)):
        q, dq, tau = motions.q[k], motions.dq[k], motions.torque[k].copy()
        if "late" in sensors:
            tau = np.column_stack([np.interp(motions.time - sensors["late"], motions.time, own) for own in tau.T])
        size = tau.std(axis=0)
        tau[:, -1] *= sensors.get("gain", 1.0)
        tau += arm.offset + WHITE * size * rng.normal(size=tau.shape)
        if "coloured" in sensors:
            tau += sensors["coloured"] * size * _ar(rng, tau.shape)
        if "drift" in sensors and k == 0:
            tau += sensors["drift"] * size * side * np.maximum(1.0 - motions.time / 10.0, 0.0)[:, None]
        if "ripple" in sensors:
            tau += sensors["ripple"] * size * np.sin(2.0 * np.pi * q / PERIOD + turn)
        noise = rng.normal(size=(2, *q.shape))
        logs.append(
            Log(
                motions.time,
                tuple(f"j{k}" for k in range(N)),
                q + ENCODER * noise[0],
                dq + TACHOMETER * noise[1],
                None,
                tau,
            )
        )
    return logs


def _ar(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    decay = float(np.exp(-1.0 / (MEMORY * RATE)))
    start = decay * rng.normal(size=(1, shape[1]))
    return np.asarray(lfilter([np.sqrt(1.0 - decay**2)], [1.0, -decay], rng.normal(size=shape), axis=0, zi=start)[0])


def sets(arm: Arm, scenario: Scenario, count: int, held: int = 1) -> list[list[Log]]:
    """So many sets, all simulated at once."""
    each = scenario.recordings
    m = simulated(arm, scenario, range(count * each), held)
    parts = [slice(k * each, (k + 1) * each) for k in range(count)]
    return [read(arm, scenario, Motions(m.time, m.q[p], m.dq[p], m.torque[p]), 1000 + k) for k, p in enumerate(parts)]


Found = Mapping[str, tuple[float, float | None]]


@dataclass(frozen=True)
class Count:
    """Counts of intervals of 95 %: share printed, of these the share that holds the truth, and the worst parameter's."""

    printed: float
    held: float
    worst: tuple[str, float]
    farthest: float

    @staticmethod
    def of(found: Sequence[Found], truth: Mapping[str, float]) -> Count:
        z = {n: np.array([(f[n][0] - v) / f[n][1] for f in found if f[n][1] is not None]) for n, v in truth.items()}
        every = np.concatenate(list(z.values()))
        shares = {n: float((np.abs(own) <= 1.96).mean()) for n, own in z.items() if own.size >= len(found) / 4}
        low = min(shares, key=lambda n: shares[n]) if shares else ""
        return Count(
            every.size / (len(found) * len(truth)),
            float((np.abs(every) <= 1.96).mean()) if every.size else 1.0,
            (low, shares.get(low, 1.0)),
            float(np.abs(every).max(initial=0.0)),
        )
