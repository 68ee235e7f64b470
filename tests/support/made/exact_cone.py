"""Blocks in exact friction cones."""

from __future__ import annotations

from functools import cache

import numpy as np
from support.mechanisms import robot_of
from support.touching import box

from diffpbd.runtime import Robot

H, G, FRICTION = 0.01, 9.81, 0.5


@cache
def made(cone: str) -> Robot:
    return robot_of(box("floating", FRICTION), f"box_{cone}", f'cone = "{cone}"')


START = np.array([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0])
