"""The arms of the reality bench: what a description does not say of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from support.arms import lone_baxter
from support.compiled import CACHE
from support.small.universal import UR5E, write

ROBOTS = Path(__file__).parents[3] / "codegen" / "robots"


@dataclass(frozen=True)
class Kind:
    """Friction by joint from the base on, as a model knows it: dry [N·m], viscous [N·m·s/rad]; a spring [N·m/rad, rad] beside
    the motor of one joint, by the end of its name; `ready` [rad] is a pose of rest well inside the limits. `stiffness`
    [N·m/rad] and `damping` [N·m·s/rad] are gains of laws that its model bears at 250 Hz. `shipped` is its name among
    the shipped robots."""

    urdf: Callable[[], Path]
    hand: str
    coulomb: tuple[float, ...]
    viscous: tuple[float, ...]
    ready: tuple[float, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    shipped: str = ""
    sprung: str = ""
    spring: float = 0.0
    rest: float = 0.0

    def robot(self) -> str:
        """The name by which `generated` is asked."""
        return self.shipped or str(self.urdf())


@cache
def ur5e() -> Path:
    """In the test cache; another process may write the same at once."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / "ur5e.urdf"
    write(path.with_suffix(f".{os.getpid()}"), UR5E).rename(path)
    return path


KINDS = {
    "baxter": Kind(
        lambda: ROBOTS / "baxter_bare.urdf", "left_wrist", tuple(lone_baxter.COULOMB), tuple(lone_baxter.VISCOUS),
        (0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0), (120.0, 120.0, 80.0, 80.0, 5.0, 5.0, 5.0), (12.0, 12.0, 6.0, 6.0, 0.2, 0.2, 0.2),
        "baxter_bare", lone_baxter.SPRUNG, lone_baxter.SPRING, lone_baxter.SPRING_REST,
    ),
    "fr3": Kind(
        lambda: ROBOTS / "fr3.urdf", "fr3_hand_tcp", (1.4, 1.0, 1.2, 0.8, 0.5, 0.7, 0.4), (0.6, 0.5, 0.4, 0.5, 0.3, 0.3, 0.2),
        (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785), (200.0, 200.0, 200.0, 200.0, 30.0, 30.0, 10.0),
        (20.0, 20.0, 15.0, 15.0, 1.0, 1.0, 0.2), "fr3",
    ),
    "ur5e": Kind(
        ur5e, "wrist_3_body", (4.0, 5.0, 3.0, 0.9, 0.8, 0.7), (4.0, 5.0, 3.0, 0.8, 0.7, 0.5), (0.0, -1.2, 1.4, -1.2, -1.5, 0.3),
        (200.0, 200.0, 150.0, 20.0, 15.0, 4.0), (20.0, 20.0, 10.0, 0.8, 0.5, 0.15),
    ),
}  # fmt: skip
"""Friction of FR3 and UR5e is a stand-in of a likely size: harmonic drives rub more than the others' gears."""


def kind_of(robot: str | Path) -> Kind:
    """One of the three, or a description without friction, whose hand is its last link."""
    if str(robot) in KINDS:
        return KINDS[str(robot)]
    nothing = tuple(np.zeros(16))
    return Kind(lambda: Path(robot), "", nothing, nothing, nothing, nothing, nothing)
