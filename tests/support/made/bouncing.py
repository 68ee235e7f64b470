"""Robots that bounce."""

from __future__ import annotations

from functools import cache
from typing import Any

from support.mechanisms import Mechanism, joint, robot_of
from support.touching import RADIUS, TABLE, ball, contact, inertial, rod

from diffpbd.runtime import Robot

G, HEAVY = 9.81, (1.0, 0.5, 2.0, 0.25)
"""[m/s²]; [kg] of the balls in a row."""


def row_of_balls() -> tuple[Mechanism, str]:
    """On slides along x, frictionless, the last against a wall."""
    limit, count = '<limit lower="-9" upper="9" effort="1" velocity="1"/>', len(HEAVY)
    names = [f"b{k}" for k in range(count)]
    links = [f'<link name="{name}">{inertial(m, (0.01,) * 3)}</link>' for name, m in zip(names, HEAVY, strict=True)]
    slides = [joint(f"x_{k}", "base", k, (0, 0, 0), (1, 0, 0), kind="prismatic", limit=limit) for k in names]
    wall = {"name": "wall", "point": (1.2, 0.0, 0.0), "normal": (-1.0, 0.0, 0.0)}
    touching = [
        contact(k, k, (0.0, 0.0, 0.0), RADIUS, other, 0.0) for k, other in zip(names, [*names[1:], "wall"], strict=True)
    ]
    return Mechanism(links, slides, [], {}, planes=[wall], contacts=touching), ""


def under_a_ceiling() -> tuple[Mechanism, str]:
    """A ball between two planes."""
    mechanism, line = ball()
    mechanism.planes = [TABLE, {"name": "ceiling", "point": (0.0, 0.0, 0.5), "normal": (0.0, 0.0, -1.0)}]
    mechanism.contacts[0]["against"] = ["table", "ceiling"]
    return mechanism, line


def smooth_rod() -> tuple[Mechanism, str]:
    mechanism, line = rod()
    for touching in mechanism.contacts:
        touching["friction"] = 0.0
    return mechanism, line


MADE = {"ball": ball, "rod": rod, "smooth_rod": smooth_rod, "row": row_of_balls, "between": under_a_ceiling}


@cache
def made(name: str, restitution: float | None = 0.5) -> Robot:
    mechanism, line = MADE[name]()
    for touching in mechanism.contacts:
        if restitution is not None:
            touching["restitution"] = restitution
    return robot_of((mechanism, line), name if restitution is None else f"bouncing_{name}")


def given(r: Robot, e: float, **more: float) -> Any:
    bouncing = {k: e for k in r.alpha.names if k.startswith("contact.restitution.")}
    return r.alpha.vector(bouncing | {"contact.slip": 1e-7} | {k.replace("__", "."): v for k, v in more.items()})
