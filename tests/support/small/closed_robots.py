"""Generated mechanisms with closed loops, each with its judge and a closed state that moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from support.judges.closed import Judge
from support.mechanisms import MECHANISMS
from support.robots import CACHE, generated

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.runtime import Robot, load

FUNCTIONS = (
    "joint_step",
    "jac_alpha_joint_step",
    "torque_terms",
    "jac_forward_dynamics",
    "step",
    "vjp_step",
    "constraints",
)
"""What is made of each, and of the five-bar besides."""
MORE = {"five_bar": ("mpc", "estimate_torque")}


@dataclass(frozen=True)
class Case:
    """A generated mechanism, its judge, and a closed state that moves."""

    robot: Robot
    judge: Judge
    p: Any
    pd: Any
    folder: Path


def start(robot: Robot, name: str) -> tuple[Any, Any]:
    guess = MECHANISMS[name]().guess
    p = robot.close_loops([guess[joint.name] for joint in robot.manifest.robot.joints], np.zeros(robot.n))
    pd = robot.close_rates(p, np.ones(robot.n))
    return p, 1.5 * pd / np.abs(pd).max()


@cache
def case(name: str) -> Case:
    path = MECHANISMS[name]().write(CACHE / "mechanisms", name, 'symbolic = ["mass", "origin", "loop"]')
    folder = generated(str(path), functions=(*FUNCTIONS, *MORE.get(name, ())))
    robot = load(folder)
    judge = Judge(path.with_suffix(".urdf"), read_robot(find_recipe(str(path))))
    return Case(robot, judge, *start(robot, name), folder)
