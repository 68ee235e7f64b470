"""A floating base with limits and no gravity."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.free_flyer import position
from support.small.floating_arm import stopped_flap

Array = Any


LOWER, UPPER = -0.8, 0.6


SPIN = np.array([0.4, -0.2, 0.1, 0.5, -0.7, 0.6, 3.0])


def weightless(**more: float) -> Array:
    values = {f"gravity.{axis}": 0.0 for axis in "xyz"} | {key.replace("__", "."): v for key, v in more.items()}
    return stopped_flap().alpha.vector(values)


def start(angle: float) -> Array:
    p = position(np.random.default_rng(1), 1)
    p[:3], p[7] = [0.1, 0.2, 0.3], angle
    return p
