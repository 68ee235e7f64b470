"""From a description's numbers to the blocks `body` and `joint` of the step programs, payload included.

The programs take every number as an input, so any of them may be symbolic upstream. `axes_of` gives the two
inputs that are choices, not data: the triad of each joint and the quaternion its rest orientation is written
from.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.description.geometry.rigid import triad_of
from diffpbd.codegen.description.robot.robot import Mat3, Robot
from diffpbd.codegen.method.kinematics import rotation
from diffpbd.codegen.program.notation import WORLD, JointNumbers, column, square
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, dot, quaternion_product, symmetric
from diffpbd.codegen.program.tree import Tree


def _upper(a: Any) -> Any:
    return column(a[0, 0], a[0, 1], a[0, 2], a[1, 1], a[1, 2], a[2, 2])


@cache
def loaded_link() -> Program:
    """Leaf: mass, com (3), inertia (6, about the COM) of a link and its payload (10) on the tip (12) -> the
    same of both."""
    program = Program("loaded_link", "A link with the payload rigidly on its tip.")
    mass, com, inertia = program.scalar("mass"), program.input("com", 3), program.input("inertia", 6)
    payload, tip = program.input("payload", 10), program.input("tip", 12)
    R = square(tip[:9, 0])
    share = program.let(payload[0, 0] / program.let(mass + payload[0, 0]))
    between = program.let(R * payload[1:4, 0] + tip[9:12, 0] - com)
    turned = program.let(program.let(R * symmetric(payload[4:10, 0])) * R.T)
    spread = program.let(mass * share) * (dot(between, between) * sp.eye(3) - between * between.T)
    program.output("loaded_mass", program.let(mass + payload[0, 0]))
    program.output("loaded_com", program.let(com + share * between))
    program.output("loaded_inertia", program.let(_upper(symmetric(inertia) + turned + spread)))
    return program


@cache
def joint_numbers() -> Program:
    """Leaf: rotation (9 by rows), translation (3), seat (4), triad (9), com_a (3, zero for the world), com_b
    (3) -> joint (28).

    The rest orientation's quaternion is `seat`, the quaternion of the rotation's default, times that of the
    small rotation from there, whose scalar part is near 1: smooth in the rotation as long as it is not half a
    turn from its default.
    """
    program = Program("joint_numbers", "Numbers of a joint in maximal coordinates.")
    R, translation = square(program.input("rotation", 9)), program.input("translation", 3)
    seat, triad = program.input("seat", 4), program.input("triad", 9)
    com_a, com_b = program.input("com_a", 3), program.input("com_b", 3)
    away = program.let(rotation(program, seat).T * R)
    double = program.let(sp.sqrt(1 + away.trace()))
    vector = program.let(axial(away) * program.let(1 / (2 * double)))
    q_rest = program.let(quaternion_product(seat, column(program.let(double / 2), vector)))
    f1, f2, axis = (triad[k : k + 3, 0] for k in (0, 3, 6))
    e1, e2, axis_a = (program.let(R * w) for w in (f1, f2, axis))
    block = JointNumbers(-com_b, program.let(translation - com_a), q_rest, e1, e2, axis_a, f1, f2, axis)
    program.output("joint", block.flat())
    return program


@cache
def maximal_parameters(tree: Tree, tip_link: int) -> Program:
    """Call program: a description's blocks -> body (7 n), joint (28 n).

    Inputs: mass (n), com (3 x n), inertia (6 x n, about the COM), rotation (9 x n, by rows), translation (3 x
    n), seat (4 x n), triad (9 x n), payload (10: mass, com, inertia about it, tip frame), tip (12: rotation
    by rows, translation, in link `tip_link`).
    """
    n = tree.n
    program = Program("maximal_parameters", "Blocks of the step programs from a description's numbers.")
    mass, com, inertia = program.input("mass", n), program.input("com", 3, n), program.input("inertia", 6, n)
    rotations, translation = program.input("rotation", 9, n), program.input("translation", 3, n)
    seat, triad = program.input("seat", 4, n), program.input("triad", 9, n)
    payload, tip = program.input("payload", 10), program.input("tip", 12)
    links = [(mass[i, 0], com[:, i], inertia[:, i]) for i in range(n)]
    m, c, inertia_c = links[tip_link]
    called = program.call(loaded_link(), mass=m, com=c, inertia=inertia_c, payload=payload, tip=tip)
    links[tip_link] = (called["loaded_mass"][0, 0], called["loaded_com"], called["loaded_inertia"])
    joints = []
    for j, parent in enumerate(tree.parents):
        called = program.call(
            joint_numbers(),
            rotation=rotations[:, j],
            translation=translation[:, j],
            seat=seat[:, j],
            triad=triad[:, j],
            com_a=Matrix([0, 0, 0]) if parent == WORLD else links[parent][1],
            com_b=links[j][1],
        )
        joints.append(called["joint"])
    program.output("body", column(*(column(m, inertia_c) for m, _, inertia_c in links)))
    program.output("joint", column(*joints))
    return program


def axes_of(robot: Robot) -> tuple[list[list[float]], list[list[float]]]:
    """`seat` and `triad` of every joint of a robot: one list of 4 and one of 9 numbers a joint."""
    return [list(quaternion_of(j.rotation)) for j in robot.joints], [list(triad_of(j.axis)) for j in robot.joints]


def quaternion_of(R: Mat3) -> tuple[float, float, float, float]:
    """Unit quaternion wxyz of a rotation matrix, scalar part not negative; the best of the four rows of q
    qᵀ."""
    w_x, w_y, w_z = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    trace = R[0][0] + R[1][1] + R[2][2]
    rows = (
        (1 + trace, w_x, w_y, w_z),
        (w_x, 1 + 2 * R[0][0] - trace, xy, xz),
        (w_y, xy, 1 + 2 * R[1][1] - trace, yz),
        (w_z, xz, yz, 1 + 2 * R[2][2] - trace),
    )
    best = rows[max(range(4), key=lambda k: rows[k][k])]
    scale = math.copysign(1.0, best[0]) / math.sqrt(sum(e * e for e in best))
    return (best[0] * scale, best[1] * scale, best[2] * scale, best[3] * scale)
