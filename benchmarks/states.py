"""The random states that every function is timed over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

SEED = 2
STATES = 256
ROLLOUTS = 16
STEPS = 100
H = 0.01
"""[s], of everything that is timed."""


@dataclass(frozen=True)
class States:
    """A row each: p [rad], pd [rad/s], u [N m], seeds; starts and torques of rollouts, U row by row n x STEPS column-major."""

    p: np.ndarray
    pd: np.ndarray
    u: np.ndarray
    seeds: tuple[np.ndarray, np.ndarray]
    p0: np.ndarray
    pd0: np.ndarray
    U: np.ndarray


def random_states(urdf: Path) -> States:
    """Poses anywhere, rates of +-1 rad/s, torques that accelerate by +-5 rad/s^2.

    Torques follow the inertia they move: 1 N m would spin the 3e-4 kg m^2 behind the last joint by 30 rad/s in a step.
    Rollouts start within +-0.3 rad of the hanging arm at +-0.3 rad/s, under torques worth +-1 rad/s^2: anywhere else the
    frictionless wrist soon whirls at 100 rad/s and more, where Euler steps explode.
    """
    model = pin.buildModelFromUrdf(str(urdf))
    data, n, random = model.createData(), model.nv, np.random.default_rng(SEED)
    p, pd, pdd = (random.uniform(-bound, bound, (STATES, n)) for bound in (np.pi, 1, 5))
    u = np.array([pin.rnea(model, data, *state) for state in zip(p, pd, pdd, strict=True)])
    rest = hanging(model)
    p0 = rest + random.uniform(-0.3, 0.3, (ROLLOUTS, n))
    pd0 = random.uniform(-0.3, 0.3, (ROLLOUTS, n))
    inertia = np.diag(pin.crba(model, data, rest))
    U = inertia * random.uniform(-1, 1, (ROLLOUTS, STEPS, n))
    seeds = random.normal(size=(2, STATES, n))
    return States(p, pd, u, (seeds[0], seeds[1]), p0, pd0, U.reshape(ROLLOUTS, STEPS * n))


def hanging(model: pin.Model) -> np.ndarray:
    """The pose [rad] of least potential energy that the arm sinks to from near its zero pose."""
    data, p = model.createData(), np.full(model.nq, 0.1)
    for _ in range(5000):
        p -= 0.01 * np.linalg.solve(pin.crba(model, data, p), pin.computeGeneralizedGravity(model, data, p))
    return p
