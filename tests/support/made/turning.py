"""Bodies that turn and roll on a table."""

from __future__ import annotations

from functools import cache

import numpy as np
from support.mechanisms import Mechanism, joint, robot_of
from support.touching import MASS, RADIUS, TABLE, ball, contact, inertial, two_arms

from diffpbd.runtime import Robot

G, TORSIONAL, ROLLING, LOAD = 9.81, 0.004, 0.002, 10.0
"""[m/s², m, m, N]"""


MOMENT = 0.4 * MASS * RADIUS**2


ON_TABLE = np.array([0.0, 0.0, RADIUS, 1.0, 0.0, 0.0, 0.0])


def flat_foot() -> tuple[Mechanism, str]:
    """A leg on a slide and a hinge, both upright, that stands on a point of its sole: the disc about it holds what turns it."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    down = joint("down", "base", "shaft", (0, 0, 0), (0, 0, 1), kind="prismatic", limit=limit)
    yaw = joint("yaw", "shaft", "foot", (0, 0, 0), (0, 0, 1), kind="continuous")
    links = ['<link name="shaft"/>', f'<link name="foot">{inertial(MASS, (MOMENT,) * 3)}</link>']
    foot = contact("sole", "foot", (0.0, 0.0, 0.0)) | {"torsional": TORSIONAL}
    return Mechanism(links, [down, yaw], [], {}, planes=[TABLE], contacts=[foot]), ""


def fingers() -> tuple[Mechanism, str]:
    """A hand against a plate and a ball on another arm."""
    mechanism = two_arms()
    mechanism.contacts[0] |= {"torsional": 0.01, "rolling": 0.005}
    return mechanism, ""


def roller() -> tuple[Mechanism, str]:
    """A capsule along y, whose ends share its weight, and a ball beside it that it meets."""
    mechanism, line = ball("floating", 0.3)
    own = {"end": (0.0, 0.15, 0.0), "against": ["table", "post"], "rolling": ROLLING}
    mechanism.contacts = [
        contact("roller", "ball", (0.0, -0.15, 0.0), RADIUS, friction=0.3) | own,
        {"name": "post", "link": "world", "point": (0.9, 0.0, RADIUS), "radius": RADIUS},
    ]
    return mechanism, line


def turning(base: str, **law: float) -> tuple[Mechanism, str]:
    mechanism, line = ball(base, 0.3)
    mechanism.contacts[0] |= law
    return mechanism, line


BOTH = {"torsional": TORSIONAL, "rolling": ROLLING}


MADE = {
    "turned_ball": lambda: turning("floating", **BOTH),
    "rolled_ball": lambda: turning("planar", rolling=ROLLING),
    "bouncing_turned_ball": lambda: turning("floating", **BOTH, restitution=0.5),
    "exact_turned_ball": lambda: (turning("floating", **BOTH)[0], 'base_joint = "floating"\ncone = "exact"'),
    "flat_foot": flat_foot,
    "fingers": fingers,
    "roller": roller,
}


@cache
def made(name: str) -> Robot:
    return robot_of(MADE[name](), name)
