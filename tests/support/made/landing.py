"""Floating bodies that land."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from support import touching
from support.mechanisms import robot_of

from diffpbd.runtime import Robot

H, G, STILL = 0.01, 9.81, np.zeros(6)


@cache
def thrown() -> Robot:
    return robot_of(touching.box("floating", 0.5, True), "thrown_box", 'symbolic = ["mass"]')


def start(rng: np.random.Generator) -> tuple[Any, Any]:
    q = rng.standard_normal(4)
    p = np.concatenate([rng.standard_normal(2), [rng.uniform(0.2, 0.6)], q / np.linalg.norm(q)])
    return p, np.concatenate([rng.standard_normal(3), 6 * rng.standard_normal(3)])


def landing(count: int) -> tuple[Any, Any]:
    """A state while corners touch."""
    p, pd = start(np.random.default_rng(7))
    P, PD = thrown().rollout(p, pd, np.zeros((count, 6)), h=H)
    return P[-1], PD[-1]
