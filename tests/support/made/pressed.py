"""Robots pressed onto something by a torque."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from support import touching
from support.judges.touch_oracle import Oracle
from support.mechanisms import in_cache
from support.robots import generated

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime import Robot, load

H = 0.01


@dataclass(frozen=True)
class Case:
    """A robot, what judges it, and a state in contact after some steps from a start."""

    robot: Robot
    oracle: Oracle
    p: Any
    pd: Any

    def alpha(self, **more: float) -> dict[str, float]:
        """Compliance away from zero, and what is asked."""
        names = [name for name in self.robot.alpha.names if name.startswith("contact.compliance")]
        return {**dict.fromkeys(names, 1e-5), **{k.replace("__", "."): v for k, v in more.items()}}

    def vector(self, alpha: dict[str, float]) -> Any:
        return self.robot.alpha.vector(alpha)


CASES: dict[str, tuple[Any, Any, int]] = {
    "box": ([0.0, 0.05 + 1e-7, 0.001], [0.7, 0.0, 0.0], 3),
    "reaching_arm": ([-0.6, 0.7, 0.1], [2.0, 0.0, 0.0], 32),
    "pressing_five_bar": ([2.2, -1.2, 0.9, 0.2], [0.0, 0.0, 0.0, 0.0], 30),
}


@cache
def case(name: str) -> Case:
    path = in_cache(getattr(touching, name)(), name)
    robot = load(generated(str(path), functions=("joint_step", "jac_alpha_joint_step")))
    recipe = find_recipe(str(path))
    p, pd, steps = CASES[name]
    p = robot.close_loops(p, np.zeros(robot.n)) if robot.manifest.robot.loops else p
    P, PD = robot.rollout(np.array(p), np.array(pd), np.zeros((steps, robot.n)), h=H)
    return Case(robot, Oracle(build(read_robot(recipe), recipe)), np.array(P[-1]), np.array(PD[-1]))


def torque(c: Case) -> Any:
    return np.linspace(0.05, 0.3, c.robot.n)
