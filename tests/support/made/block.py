"""A block on a plane: the contact that most tests press."""

from __future__ import annotations

from functools import cache

import numpy as np
from support.mechanisms import robot_of
from support.touching import MASS, ball, block, box, rod

from diffpbd.runtime import Robot

H, G = 0.01, 9.81


MADE = {"tumbling_box": lambda: box("floating"), "block": block, "ball": ball, "rod": rod}


@cache
def robot(name: str) -> Robot:
    return robot_of(MADE[name](), name)


def alpha_of(r: Robot, **more: float) -> np.ndarray:
    return r.alpha.vector({key.replace("__", "."): value for key, value in more.items()})


def rest(friction: float, h: float, slip: float = 1e-5, load: float = 10.0) -> float:
    """Height of a point mass at rest."""
    return 0.5 * h * friction * slip * (2 * load / (MASS * G) - 1)
