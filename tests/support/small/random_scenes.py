"""Random scenes of robots that touch things: parameters over decades, states from rest to fast."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError

SLIP = 1e-5


@dataclass
class Tally:
    """Outcomes of scenes: by the level that solved them (0 at the final slip, 1 along a falling one), or the status; the most
    iterations of a stage, and their sum."""

    scenes: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    most: int = 0
    total: int = 0
    deepest: float = 0.0

    def line(self, name: str) -> str:
        solved = self.scenes - sum(self.statuses.values())
        share = self.levels["falling slip"] / max(1, 2 * solved)
        return (
            f"{name}: {self.scenes} steps, level 0 solves {100 * (1 - share):.3f} % of stages, statuses {dict(self.statuses)}, "
            f"iterations {self.total / max(1, 2 * solved):.2f} a stage, at most {self.most}, deepest {self.deepest:.1e} m"
        )


def alpha_of(robot: Robot, rng: np.random.Generator, soft: bool = False) -> dict[str, float]:
    """Masses over six decades around the description's, frictions up to 2, compliance where `soft`."""
    values: dict[str, float] = {"contact.slip": SLIP}
    for entry in robot.alpha.entries:
        kind = entry.name.split(".")[0]
        if kind == "mass" and entry.default > 0.0:
            values[entry.name] = entry.default * 10.0 ** rng.uniform(-3, 3)
        elif entry.name.startswith("contact.friction"):
            values[entry.name] = float(rng.uniform(1e-3, 2.0))
        elif entry.name.startswith("contact.compliance") and soft:
            values[entry.name] = 10.0 ** rng.uniform(-7, -4)
    return values


def run(
    robot: Robot, p: Any, pd: Any, alpha: dict[str, float], h: float, steps: int, tally: Tally, soft: bool = False
) -> None:
    """Steps from a start by `contact_force`, which says how, and `joint_step`; ends at the first status."""
    u, vector = np.zeros(robot.n), robot.alpha.vector(alpha)
    for _ in range(steps):
        tally.scenes += 1
        try:
            found = robot.contact_force(p, pd, u, h=h, alpha=vector)
            p, pd = robot.joint_step(p, pd, u, h=h, alpha=vector)
        except SolverError as error:
            tally.statuses[int(str(error).rsplit("status ", 1)[1].split(")")[0])] += 1
            return
        assert np.isfinite(p).all() and np.isfinite(pd).all() and np.isfinite(found.contact_force).all()
        pose, rate, first, second = (int(x) for x in found.iterations)
        tally.levels["falling slip"] += first + second
        tally.total += pose + rate
        tally.most = max(tally.most, pose, rate)
        if not soft:
            tally.deepest = max(tally.deepest, -float(np.min(robot.contact_gap(p, alpha=vector))))
