"""Robots of shapes that touch."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from support.mechanisms import robot_of
from support.small.shaped import alone, over, pair

from diffpbd.runtime import Robot

H, G, OFF = 0.01, 9.81, 0.1


MADE: dict[str, Any] = {
    "cube": lambda: alone("cube"),
    "rod": lambda: alone("rod", friction=0.2),
    "rod_over_rod": lambda: over("rod", "rod"),
    "ball_over_cube": lambda: over("ball", "cube"),
    "crossed": lambda: (
        pair(
            "rod",
            "rod",
            (("z", "pitch"), ("z",)),
            np.pi / 2,
            (1.0, 3.0),
            friction=0.0,
            restitution=0.6,
            place=(OFF, 0, 0),
        ),
        "gravity = [0, 0, 0]",
    ),
}


@cache
def shaped(name: str) -> Robot:
    return robot_of(MADE[name](), name, sources="shaped")


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: Any = (1.0, 0.0, 0.0, 0.0)) -> np.ndarray:
    return np.r_[x, y, z, np.array(turn) / np.linalg.norm(turn)]
