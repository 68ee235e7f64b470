"""Iterative projections of the paper: Gauss-Seidel (joint by joint) and Jacobi (gathered), positional then
angular rows.

A correction is Δ = W Jᵀ λ with J W Jᵀ λ = -c for the rows of one joint (`block`, smooth at c = 0), or with
the paper's single multiplier along n = c/|c| (`scalar`: J is then nᵀJ and c is |c|; it has no derivative at c
= 0). Gradients are `constraints.gradient`, that is `diff`; the paper's printed angular gradients have the
signs of the two bodies exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.description.recipe import Relaxation
from diffpbd.codegen.method import limits, projection
from diffpbd.codegen.method.bodies import adjugate
from diffpbd.codegen.method.constraints import (
    JointVectors,
    Residual,
    axis_cross,
    axis_tangents,
    gradient,
    joint_gap,
    slide_offsets,
    slide_orientation,
)
from diffpbd.codegen.method.kinematics import rotation, turned
from diffpbd.codegen.method.relaxation import factors
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    LIMIT,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    WORLD,
    JointNumbers,
    children,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program, number
from diffpbd.codegen.program.rotation import dot, symmetric
from diffpbd.codegen.program.tree import Tree

WEIGHT: Final = 7
"""1/m, then I⁻¹ in link axes (6)."""
RESIDUAL_FLOOR: Final = sp.Float(1e-10)
"""[m or rad] Length below which `scalar` fades its direction c/|c| out, to be finite at c = 0; drift worth
correcting is far above it, rounding far below."""


class Multiplier(Enum):
    """How the rows of one joint are solved in a sweep."""

    BLOCK = "block"
    SCALAR = "scalar"


@cache
def weight_kernel() -> Program:
    """Leaf: body (7) -> weight (7)."""
    program = Program("weight", "Inverse mass and inverse inertia of a body.")
    body = program.input("body", BODY)
    cofactors, reciprocal = adjugate(program, symmetric(body[1:, 0]))
    inverse = program.let(cofactors * reciprocal)
    upper = [inverse[i, j] for i in range(3) for j in range(i, 3)]
    program.output("weight", column(program.let(1 / body[0, 0]), *upper))
    return program


@cache
def weights(tree: Tree) -> Program:
    """Call program: body (7 n) -> weight (7 n)."""
    program = Program("sweep_weights", "Weights of every body, once a step.")
    body = program.input("body", BODY * tree.n)
    program.output(
        "weight",
        column(*(program.call(weight_kernel(), body=part(body, BODY, i))["weight"] for i in range(tree.n))),
    )
    return program


@dataclass(frozen=True)
class _Side:
    """One body of a joint in a correction: its rotation, weight, and the gradient of the rows by it."""

    R: Any
    inverse_mass: Any
    inverse_inertia: Any
    J_x: Any
    J_phi: Any


def residual_of(slide: bool, angular: bool, multiplier: Multiplier) -> Residual:
    """The rows a correction closes."""
    if angular:
        if slide:
            return slide_orientation
        return axis_cross if multiplier is Multiplier.SCALAR else axis_tangents
    return slide_offsets if slide else joint_gap


@cache
def correction_kernel(slide: bool, angular: bool, root: bool, multiplier: Multiplier) -> Program:
    """Leaf: correction of one joint's rows at two poses: `move_b` and, unless it is a root joint, `move_a`
    (dx, φ; 6 each)."""
    name = "_".join(
        [
            "slide" if slide else "hinge",
            "angular" if angular else "positional",
            multiplier.value,
            *(["root"] if root else []),
        ]
    )
    program = Program(name, "Correction of the rows of one joint.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    pose_b, weight_b = program.input("pose_b", POSE), program.input("weight_b", WEIGHT)
    R_b, x_b = rotation(program, pose_b[POSE_QUATERNION, 0]), pose_b[POSE_POSITION, 0]
    R_a, x_a = sp.eye(3), sp.zeros(3, 1)
    if not root:
        pose_a, weight_a = program.input("pose_a", POSE), program.input("weight_a", WEIGHT)
        R_a, x_a = rotation(program, pose_a[POSE_QUATERNION, 0]), pose_a[POSE_POSITION, 0]
    w = JointVectors.at(program, joint, x_a, R_a, x_b, R_b)
    residual = residual_of(slide, angular, multiplier)
    c = program.let(residual(w))
    J_a, J_b = (program.let(J) for J in gradient(residual, w))
    floor = sp.Integer(0)
    if multiplier is Multiplier.SCALAR:
        length = program.let(sp.sqrt(dot(c, c) + RESIDUAL_FLOOR**2))
        n = program.let(c / length)
        missing = program.let(1 - dot(n, n))
        floor = missing * (weight_b[1, 0] if angular else weight_b[0, 0])
        c = sp.Matrix([[length]])
        J_a, J_b = program.let(n.T * J_a), program.let(n.T * J_b)
    sides = [_Side(R_b, weight_b[0, 0], symmetric(weight_b[1:, 0]), J_b[:, :3], J_b[:, 3:])]
    if not root:
        sides.append(_Side(R_a, weight_a[0, 0], symmetric(weight_a[1:, 0]), J_a[:, :3], J_a[:, 3:]))
    for key, move in zip(("move_b", "move_a"), _moves(program, sides, c, floor), strict=False):
        program.output(key, move)
    return program


def _moves(program: Program, sides: list[_Side], c: Any, floor: Any) -> list[Any]:
    """W Jᵀ λ of both bodies with (J W Jᵀ + floor) λ = -c."""
    K, weighted = _stiffness(program, sides, c.rows, floor)
    return _pushed(program, sides, weighted, program.let(_solve(program, K, -c)))


def _stiffness(program: Program, sides: list[_Side], m: int, floor: Any) -> tuple[Any, list[Any]]:
    """J W Jᵀ + floor (m x m), and I⁻¹ Jᵀ of both bodies in link axes."""
    turned_rows = [program.let(side.R.T * side.J_phi.T) for side in sides]
    weighted = [program.let(side.inverse_inertia * G) for side, G in zip(sides, turned_rows, strict=True)]

    def entry(i: int, j: int) -> Any:
        terms = [side.inverse_mass * dot(side.J_x[i, :], side.J_x[j, :]) for side in sides]
        terms += [dot(G[:, i], Z[:, j]) for G, Z in zip(turned_rows, weighted, strict=True)]
        return program.let(sum(terms, floor if i == j else sp.Integer(0)))

    upper = {(i, j): entry(i, j) for i in range(m) for j in range(i, m)}
    return sp.Matrix(m, m, lambda i, j: upper[min(i, j), max(i, j)]), weighted


def _pushed(program: Program, sides: list[_Side], weighted: list[Any], multipliers: Any) -> list[Any]:
    """W Jᵀ λ (6) of both bodies."""
    moves = []
    for side, Z in zip(sides, weighted, strict=True):
        dx = program.let(side.inverse_mass * (side.J_x.T * multipliers))
        phi = program.let(side.R * program.let(Z * multipliers))
        moves.append(column(dx, phi))
    return moves


def _solve(program: Program, K: Any, rhs: Any) -> Any:
    if K.rows == 1:
        return rhs / K[0, 0]
    if K.rows == 2:
        reciprocal = program.let(1 / program.let(K[0, 0] * K[1, 1] - K[0, 1] ** 2))
        return program.let(sp.Matrix([[K[1, 1], -K[0, 1]], [-K[0, 1], K[0, 0]]]) * rhs) * reciprocal
    cofactors, reciprocal = adjugate(program, K)
    return program.let(cofactors * rhs) * reciprocal


@cache
def limit_kernel(slide: bool, root: bool) -> Program:
    """Leaf: correction of one joint's limits: `move_b`, `move_a` (6 each), and the joint's multiplier after it.

    The multiplier is that of all corrections of the step so far. It is projected, not its change, so that a limit gives back
    what it pushed too much; `factor` times the correction is what will be done.
    """
    kind = f"{'slide' if slide else 'hinge'}_limit{'_root' if root else ''}"
    program = Program(kind, "Correction of the limits of one joint.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    limit, angle, multiplier = program.input("limit", LIMIT), program.scalar("angle"), program.scalar("multiplier")
    factor = program.scalar("factor")
    pose_b, weight_b = program.input("pose_b", POSE), program.input("weight_b", WEIGHT)
    R_b, x_b = rotation(program, pose_b[POSE_QUATERNION, 0]), pose_b[POSE_POSITION, 0]
    R_a, x_a = sp.eye(3), sp.zeros(3, 1)
    if not root:
        pose_a, weight_a = program.input("pose_a", POSE), program.input("weight_a", WEIGHT)
        R_a, x_a = rotation(program, pose_a[POSE_QUATERNION, 0]), pose_a[POSE_POSITION, 0]
    p = limits.position(program, joint, slide, x_a, R_a, x_b, R_b, angle)
    w = JointVectors.at(program, joint, x_a, R_a, x_b, R_b)
    J_a, J_b = (program.let(J) for J in limits.row_gradient(slide, w))
    sides = [_Side(R_b, weight_b[0, 0], symmetric(weight_b[1:, 0]), J_b[:, :3], J_b[:, 3:])]
    if not root:
        sides.append(_Side(R_a, weight_a[0, 0], symmetric(weight_a[1:, 0]), J_a[:, :3], J_a[:, 3:]))
    K, weighted = _stiffness(program, sides, 1, sp.Integer(0))
    change = program.let(limits.projected(program, multiplier, p, limit, K[0, 0]) - multiplier)
    for key, move in zip(("move_b", "move_a"), _pushed(program, sides, weighted, Matrix([change])), strict=False):
        program.output(key, move)
    program.output("multiplier_next", program.let(multiplier + factor * change))
    return program


@cache
def displace_kernel(angular: bool, scaled: bool) -> Program:
    """Leaf: a pose moved by (dx, φ), all of it or `factor` times it; angular moves leave the position
    alone."""
    name = f"{'turn' if angular else 'displace'}{'_scaled' if scaled else ''}"
    program = Program(name, "A pose moved by a correction.")
    pose, move = program.input("pose", POSE), program.input("move", 6)
    if scaled:
        factor = program.scalar("factor")
        move = sp.Matrix(program.let(factor * move))
    x = pose[POSE_POSITION, 0]
    moved = x if angular else program.let(x + move[:3, 0])
    program.output("moved", column(moved, turned(program, pose[POSE_QUATERNION, 0], move[3:, 0])))
    return program


def _correct(
    program: Program,
    tree: Tree,
    j: int,
    angular: bool,
    multiplier: Multiplier,
    pose: list[Any],
    joint: Any,
    weight: Any,
) -> dict[str, Any]:
    parent = tree.parents[j]
    given = {"joint": part(joint, JOINT, j), "pose_b": pose[j], "weight_b": part(weight, WEIGHT, j)}
    if parent != WORLD:
        given |= {"pose_a": pose[parent], "weight_a": part(weight, WEIGHT, parent)}
    return program.call(correction_kernel(tree.slides[j], angular, parent == WORLD, multiplier), **given)


@cache
def gauss_seidel_sweep(tree: Tree, multiplier: Multiplier = Multiplier.BLOCK) -> Program:
    """Call program: one sweep over the joints, base to tip, each positional then angular: pose ->
    pose_next."""
    program = Program("gauss_seidel_sweep", "Gauss-Seidel sweep over the joints.")
    flat, weight = program.input("pose", POSE * tree.n), program.input("weight", WEIGHT * tree.n)
    joint = program.input("joint", JOINT * tree.n)
    at = {"joint": joint, "weight": weight} | limit_inputs(program, tree)
    pose = [part(flat, POSE, i) for i in range(tree.n)]
    for j, parent in enumerate(tree.parents):
        for angular in (False, True):
            moves = _correct(program, tree, j, angular, multiplier, pose, joint, weight)
            for body, key in ((j, "move_b"), (parent, "move_a")):
                if body != WORLD:
                    displace = displace_kernel(angular, scaled=False)
                    pose[body] = program.call(displace, pose=pose[body], move=moves[key])["moved"]
        if j in tree.limits:
            moves = _limit(program, tree, j, pose, at, sp.Integer(1))
            at["multiplier"][j] = moves["multiplier_next"][0, 0]
            for body, key in ((j, "move_b"), (parent, "move_a")):
                if body != WORLD:
                    displace = displace_kernel(not tree.slides[j], scaled=False)
                    pose[body] = program.call(displace, pose=pose[body], move=moves[key])["moved"]
    program.output("pose_next", column(*pose))
    if tree.limits:
        program.output("multiplier_next", column(*at["multiplier"]))
    return program


def limit_inputs(program: Program, tree: Tree) -> dict[str, Any]:
    """Declares what the limits of a sweep need: limit (2 n), angle (n) and multiplier (n)."""
    if not tree.limits:
        return {}
    return {
        "limit": program.input("limit", LIMIT * tree.n),
        "angle": program.input("angle", tree.n),
        "multiplier": list(program.input("multiplier", tree.n)),
    }


def limit_of(at: dict[str, Any], j: int) -> dict[str, Any]:
    """What the kernels take of one joint's limits, from `limit_inputs`."""
    return {"limit": part(at["limit"], LIMIT, j), "angle": at["angle"][j, 0], "multiplier": at["multiplier"][j]}


def _limit(program: Program, tree: Tree, j: int, pose: list[Any], at: dict[str, Any], factor: Any) -> dict[str, Any]:
    parent = tree.parents[j]
    given = {"joint": part(at["joint"], JOINT, j), "pose_b": pose[j], "weight_b": part(at["weight"], WEIGHT, j)}
    if parent != WORLD:
        given |= {"pose_a": pose[parent], "weight_a": part(at["weight"], WEIGHT, parent)}
    return program.call(limit_kernel(tree.slides[j], parent == WORLD), **given, **limit_of(at, j), factor=factor)


@cache
def jacobi_sweep(tree: Tree, multiplier: Multiplier = Multiplier.BLOCK, relaxation: Relaxation = None) -> Program:
    """Call program: all positional corrections at once, then all angular ones, relaxed: pose -> pose_next."""
    program = Program("jacobi_sweep", "Jacobi sweep over the joints.")
    flat, weight = program.input("pose", POSE * tree.n), program.input("weight", WEIGHT * tree.n)
    joint = program.input("joint", JOINT * tree.n)
    at = {"joint": joint, "weight": weight} | limit_inputs(program, tree)
    pose = [part(flat, POSE, i) for i in range(tree.n)]
    factor_of = factors(tree, relaxation)
    for angular in (False, True):
        moves = [_correct(program, tree, j, angular, multiplier, pose, joint, weight) for j in range(tree.n)]
        after = []
        for body in range(tree.n):
            gathered = [moves[body]["move_b"], *(moves[k]["move_a"] for k in children(tree, body))]
            factor = number(factor_of[body])
            displace = displace_kernel(angular, scaled=factor != 1)
            scaled = {"factor": factor} if factor != 1 else {}
            after.append(
                program.call(displace, pose=pose[body], move=projection.total(program, gathered), **scaled)["moved"]
            )
        pose = after
    if tree.limits:
        pose = _gathered_limits(program, tree, pose, at, min(factor_of))
    program.output("pose_next", column(*pose))
    if tree.limits:
        program.output("multiplier_next", column(*at["multiplier"]))
    return program


def _gathered_limits(program: Program, tree: Tree, pose: list[Any], at: dict[str, Any], share: float) -> list[Any]:
    """All limits at once, relaxed: a multiplier that is projected asks for one factor whatever the corrections have."""
    touching = [[(j, "move_b") for j in (i,) if j in tree.limits] for i in range(tree.n)]
    for i in range(tree.n):
        touching[i] += [(k, "move_a") for k in children(tree, i) if k in tree.limits]
    factor = number(share)
    moves = {j: _limit(program, tree, j, pose, at, factor) for j in tree.limits}
    for j, found in moves.items():
        at["multiplier"][j] = found["multiplier_next"][0, 0]
    after = list(pose)
    for i, meeting in enumerate(touching):
        if meeting:
            turning = all(not tree.slides[j] for j, _ in meeting)
            move = projection.total(program, [moves[j][key] for j, key in meeting])
            scaled = {"factor": factor} if factor != 1 else {}
            kernel = displace_kernel(turning, scaled=factor != 1)
            after[i] = program.call(kernel, pose=pose[i], move=move, **scaled)["moved"]
    return after
