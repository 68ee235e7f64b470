"""From a description's numbers to the blocks `body` and `joint` of the step programs, payload included.

The programs are leaves, so every number may be symbolic upstream; `robot_numbers` gives the numeric inputs of a Robot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.description.robot import WORLD, Joint, Mat3, Robot, Vec3
from diffpbd.codegen.symbolic.kinematics import rotation
from diffpbd.codegen.symbolic.notation import JointNumbers, Tree, column, part
from diffpbd.codegen.symbolic.program import Program
from diffpbd.codegen.symbolic.rotation import dot, symmetric

LINK = 10
"""Numbers of a link: mass, COM (3, link frame), inertia about the COM (xx, xy, xz, yy, yz, zz; link axes)."""
ORIGIN = 7
"""Numbers of a joint's origin: unit quaternion wxyz (4), translation [m] (3), joint frame in the parent link's frame."""
PAYLOAD = 10
"""Numbers of the payload: mass, COM, inertia about its COM, as of a link but in the tip frame."""
TRIAD = 9
"""f1, f2, axis of a joint in its own frame (which is the child link's)."""


def _upper(a: Any) -> Any:
    return column(a[0, 0], a[0, 1], a[0, 2], a[1, 1], a[1, 2], a[2, 2])


def _parallel(mass: Any, d: Any) -> Any:
    """Inertia of a point mass at distance d: mass (d·d 1 - d dᵀ)."""
    return mass * (dot(d, d) * sp.eye(3) - d * d.T)


@cache
def loaded_link_program() -> Program:
    """Leaf: link (10), payload (10), tip (7: quaternion, translation, tip in the link frame) -> link (10) of both together."""
    program = Program("loaded_link", "A link with the payload rigidly on its tip.")
    link, payload, tip = program.input("link", LINK), program.input("payload", PAYLOAD), program.input("tip", ORIGIN)
    R = rotation(program, tip[:4, 0])
    mass = program.let(link[0, 0] + payload[0, 0])
    com_payload = program.let(R * payload[1:4, 0] + tip[4:7, 0])
    share = program.let(payload[0, 0] / mass)
    between = program.let(com_payload - link[1:4, 0])
    com = program.let(link[1:4, 0] + share * between)
    turned = program.let(program.let(R * symmetric(payload[4:10, 0])) * R.T)
    reduced = program.let(link[0, 0] * share)
    inertia = symmetric(link[4:10, 0]) + turned + _parallel(reduced, between)
    program.output("loaded", column(mass, com, program.let(_upper(inertia))))
    return program


@cache
def joint_block_program() -> Program:
    """Leaf: origin (7), triad (9), com_a (3, zero for the world), com_b (3) -> joint (28)."""
    program = Program("joint_block", "Numbers of a joint in maximal coordinates.")
    origin, triad = program.input("origin", ORIGIN), program.input("triad", TRIAD)
    com_a, com_b = program.input("com_a", 3), program.input("com_b", 3)
    q_rest, translation = origin[:4, 0], origin[4:7, 0]
    R = rotation(program, q_rest)
    f1, f2, axis = (triad[k : k + 3, 0] for k in (0, 3, 6))
    e1, e2, axis_a = (program.let(R * w) for w in (f1, f2, axis))
    block = JointNumbers(-com_b, program.let(translation - com_a), q_rest, e1, e2, axis_a, f1, f2, axis)
    program.output("joint", block.flat())
    return program


@cache
def body_block_program() -> Program:
    """Leaf: link (10) -> body (7); the mass and the inertia about the COM, as they are."""
    program = Program("body_block", "Mass and inertia of a link in maximal coordinates.")
    link = program.input("link", LINK)
    program.output("body", column(link[0, 0], link[4:10, 0]))
    return program


def maximal_parameters(tree: Tree, tip_link: int) -> Program:
    """Call program: link (10 n), origin (7 n), triad (9 n), payload (10), tip (7) -> body (7 n), joint (28 n)."""
    program = Program("maximal_parameters", "Blocks of the step programs from a description's numbers.")
    link, origin = program.input("link", LINK * tree.n), program.input("origin", ORIGIN * tree.n)
    triad = program.input("triad", TRIAD * tree.n)
    payload, tip = program.input("payload", PAYLOAD), program.input("tip", ORIGIN)
    links = [part(link, LINK, i) for i in range(tree.n)]
    links[tip_link] = program.call(loaded_link_program(), link=links[tip_link], payload=payload, tip=tip)["loaded"]
    bodies, joints = [], []
    for j, parent in enumerate(tree.parents):
        bodies.append(program.call(body_block_program(), link=links[j])["body"])
        called = program.call(
            joint_block_program(),
            origin=part(origin, ORIGIN, j),
            triad=part(triad, TRIAD, j),
            com_a=sp.zeros(3, 1) if parent == WORLD else links[parent][1:4, 0],
            com_b=links[j][1:4, 0],
        )
        joints.append(called["joint"])
    program.output("body", column(*bodies))
    program.output("joint", column(*joints))
    return program


@dataclass(frozen=True)
class RobotNumbers:
    """Numeric inputs of `maximal_parameters` for one robot, flat; no payload is a payload of zeros."""

    link: tuple[float, ...]
    origin: tuple[float, ...]
    triad: tuple[float, ...]
    tip: tuple[float, ...]
    payload: tuple[float, ...] = (0.0,) * PAYLOAD


def robot_numbers(robot: Robot) -> RobotNumbers:
    """The numbers of a robot and of its first tip."""
    link = [e for item in robot.links for e in _link_numbers(item.inertial.mass, item.inertial.com, item.inertial.inertia)]
    origin = [e for joint in robot.joints for e in (*quaternion_of(joint.rotation), *joint.translation)]
    triad = [e for joint in robot.joints for e in triad_of(joint)]
    tip = (*quaternion_of(robot.tips[0].rotation), *robot.tips[0].translation)
    return RobotNumbers(tuple(link), tuple(origin), tuple(triad), tip)


def _link_numbers(mass: float, com: Vec3, inertia: Mat3) -> tuple[float, ...]:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    return (mass, *com, xx, xy, xz, yy, yz, zz)


def triad_of(joint: Joint) -> tuple[float, ...]:
    """f1, f2, axis: a right-handed triad in the joint frame, f1 along the frame axis least aligned with the joint axis."""
    a = joint.axis
    least = min(range(3), key=lambda k: (abs(a[k]), k))
    raw = [(1.0 if k == least else 0.0) - a[least] * a[k] for k in range(3)]
    norm = math.sqrt(sum(e * e for e in raw))
    f1 = [e / norm for e in raw]
    f2 = [a[1] * f1[2] - a[2] * f1[1], a[2] * f1[0] - a[0] * f1[2], a[0] * f1[1] - a[1] * f1[0]]
    return (*f1, *f2, *a)


def quaternion_of(R: Mat3) -> tuple[float, float, float, float]:
    """Unit quaternion wxyz of a rotation matrix, scalar part not negative; the best of the four rows of q qᵀ."""
    w_x, w_y, w_z, trace = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1], R[0][0] + R[1][1] + R[2][2]
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    rows = (
        (1 + trace, w_x, w_y, w_z),
        (w_x, 1 + 2 * R[0][0] - trace, xy, xz),
        (w_y, xy, 1 + 2 * R[1][1] - trace, yz),
        (w_z, xz, yz, 1 + 2 * R[2][2] - trace),
    )
    best = rows[max(range(4), key=lambda k: rows[k][k])]
    scale = math.copysign(1.0, best[0]) / math.sqrt(sum(e * e for e in best))
    return (best[0] * scale, best[1] * scale, best[2] * scale, best[3] * scale)
