"""Floating bases and their states."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.free_flyer import position

from diffpbd.runtime import Robot

Array = Any


def state(seed: int = 3) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return position(rng, 2), rng.uniform(-2, 2, 8), rng.uniform(-1, 1, 8) * np.array([1.0] * 6 + [0.3] * 2)


def rich(robot: Robot) -> Array:
    """Every parameter away from its default, friction too."""
    rng = np.random.default_rng(8)
    sizes = {
        "friction.coulomb": 0.3,
        "friction.viscous": 0.2,
        "rotor": 0.02,
        "spring": 0.5,
        "wrench": 0.5,
        "payload.mass": 0.3,
        "payload.com": 0.1,
    }
    values = robot.alpha.defaults.copy()
    for k, name in enumerate(robot.alpha.names):
        size = next((s for kind, s in sizes.items() if name.startswith(kind)), 0.0)
        values[k] += size * rng.uniform(0.5, 1.0)
    return values
