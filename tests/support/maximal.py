"""Robots, and the numeric inputs of the maximal-coordinate programs, for the tests."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.resolve import resolve
from diffpbd.codegen.description.robot import IDENTITY, ZERO, Inertial, Joint, JointType, Link, Robot
from diffpbd.codegen.symbolic.maximal_parameters import axes_of, maximal_parameters
from diffpbd.codegen.symbolic.tree import Tree

Array = npt.NDArray[np.float64]


def tree_of(robot: Robot) -> Tree:
    """Topology of a robot."""
    joints = robot.joints
    slides = tuple(j.type is JointType.PRISMATIC for j in joints)
    return Tree(tuple(j.parent for j in joints), slides, (False,) * robot.n)


@cache
def shipped(name: str) -> Robot:
    """A shipped robot."""
    return resolve(name)[1]


@cache
def two_arms() -> Robot:
    """A turning torso that carries two short arms of Baxter's first three hinges: a branching tree of seven
    joints."""
    bare = shipped("baxter_bare")
    inertia = ((1.5, 0.0, 0.01), (0.0, 1.2, 0.0), (0.01, 0.0, 0.8))
    joints = [Joint("torso", JointType.REVOLUTE, -1, IDENTITY, ZERO, (0.0, 0.0, 1.0))]
    links = [Link("torso", Inertial(20.0, (0.02, 0.01, 0.3), inertia))]
    for side, first in (("left", 1), ("right", 4)):
        for k in range(3):
            joint = bare.joints[k]
            x, y, z = joint.translation
            shift = (x, -y if side == "right" and k == 0 else y, z)
            parent = 0 if k == 0 else first + k - 1
            joints.append(dataclasses.replace(joint, name=f"{side}_{k}", parent=parent, translation=shift))
            links.append(dataclasses.replace(bare.links[k], name=f"{side}_link_{k}"))
    return Robot("two_arms", "world", tuple(joints), tuple(links), bare.tips[:0] or bare.tips[:1])


ROBOTS = (shipped("baxter_bare"), two_arms(), shipped("prismatic_skew"), shipped("double_pendulum"))


def description_blocks(robot: Robot, payload: Array | None = None) -> dict[str, Any]:
    """Inputs of `maximal_parameters`, flat by rows as the NumPy reference takes them."""
    inertials = [link.inertial for link in robot.links]
    seat, triad = axes_of(robot)
    upper = np.triu_indices(3)
    tip = robot.tips[0]
    return {
        "mass": [i.mass for i in inertials],
        "com": np.array([i.com for i in inertials]).T,
        "inertia": np.array([np.array(i.inertia)[upper] for i in inertials]).T,
        "rotation": np.array([np.ravel(j.rotation) for j in robot.joints]).T,
        "translation": np.array([j.translation for j in robot.joints]).T,
        "seat": np.array(seat).T,
        "triad": np.array(triad).T,
        "payload": np.zeros(10) if payload is None else payload,
        "tip": np.concatenate([np.ravel(tip.rotation), tip.translation]),
    }


@cache
def numbers(robot: Robot) -> dict[str, Array]:
    """`body` and `joint` blocks of a robot without payload."""
    run = maximal_parameters(tree_of(robot), robot.tips[0].link).numpy()
    return {name: value.ravel() for name, value in run(**description_blocks(robot)).items()}


@cache
def free(robot: Robot) -> dict[str, Array]:
    """What else a step takes, for a robot without torque, friction and springs: gravity, u, friction,
    spring."""
    n = robot.n
    friction = np.tile([0.0, 0.0, 0.01], n)
    return {
        "gravity": np.array([0, 0, -9.81]),
        "u": np.zeros(n),
        "friction": friction,
        "spring": np.zeros(2 * n),
    }
