"""Further starts of `close_loops` if the given pose does not close, or only far away."""

from __future__ import annotations

import math

import casadi as ca

from diffpbd.codegen.description.geometry.rigid import norm
from diffpbd.codegen.graph.contact.constrained_step import closed_rows
from diffpbd.codegen.graph.model.model import Model


def spread(model: Model) -> list[float]:
    """Largest distance of further starts from the pose, per coordinate [rad or m]: half a turn, the robot's size for a
    slide; 0 for coordinates that move no loop, and for a base."""
    robot, p = model.robot, ca.SX.sym("p", model.tree.freedoms)
    size = sum(norm(joint.translation) for joint in robot.joints)
    size += sum(norm(loop.parent_translation) + norm(loop.child_translation) for loop in robot.loops)
    pattern = ca.SX(closed_rows(model, p, True)[1]).sparsity()
    moved = set(pattern.get_col())
    found = []
    for k, i in enumerate(robot.independent):
        still = k not in moved or k < len(robot.base_freedoms)
        found.append(0.0 if still else size if robot.joints[i].type.slides else math.pi)
    return found


def turns(model: Model) -> list[int]:
    """1 for every coordinate that closes a loop a turn further on, too: a hinge that no other joint follows."""
    robot = model.robot
    leaders = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}
    joints = [(i, robot.joints[i]) for i in robot.independent]
    base = len(robot.base_freedoms)
    return [int(k >= base and i not in leaders and not joint.type.slides) for k, (i, joint) in enumerate(joints)]


def weyl(n: int) -> list[float]:
    """Increments of a low-discrepancy sequence in n dimensions: powers of 1/g, g the root of x^(n + 1) = x + 1."""
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (n + 1))
    return [g ** -(k + 1) for k in range(n)]
