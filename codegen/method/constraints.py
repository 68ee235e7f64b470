"""Joint constraints in maximal coordinates and their gradients, by differentiation.

A residual is written once, as a function of the two positions and of world vectors fixed to parent or child.
Its gradient is `diff` of the same expression under the left perturbation x <- x + dx, R <- (1 + [phi]x) R,
which turns a vector `w` fixed to the body into `w + phi x w`: the paper's eqs. 2, 7 and, with the signs of the two
bodies exchanged there, 14. The direct solver needs its null space and
one solution of J d = -c, which have a short closed form in `projection`; tests compare it with the
gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.laws.cuts import LOOP_ROWS
from diffpbd.codegen.method import loops
from diffpbd.codegen.method.kinematics import rotation
from diffpbd.codegen.program.notation import (
    JOINT,
    POSITION,
    QUATERNION,
    STATE,
    WORLD,
    WORLD_STATE,
    JointNumbers,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.tree import Tree

HALF = sp.Rational(1, 2)


@dataclass(frozen=True)
class JointVectors:
    """A joint between two poses: COM positions x_a, x_b and world vectors fixed to parent `a` and child `b`
    (3 each)."""

    joint: JointNumbers
    x_a: Any
    x_b: Any
    on_a: Callable[[Any], Any]
    on_b: Callable[[Any], Any]

    @staticmethod
    def at(program: Program, joint: JointNumbers, x_a: Any, R_a: Any, x_b: Any, R_b: Any) -> JointVectors:
        """At two poses; a vector is added to the program when it is first used."""
        return JointVectors(joint, x_a, x_b, lambda w: program.let(R_a * w), lambda w: program.let(R_b * w))

    def moved(self, dx_a: Any, phi_a: Any, dx_b: Any, phi_b: Any) -> JointVectors:
        """Under a small left perturbation of both bodies."""

        def on_a(w: Any) -> Any:
            return self.on_a(w) + cross(phi_a, self.on_a(w))

        def on_b(w: Any) -> Any:
            return self.on_b(w) + cross(phi_b, self.on_b(w))

        return JointVectors(self.joint, self.x_a + dx_a, self.x_b + dx_b, on_a, on_b)

    @property
    def r_a(self) -> Any:
        """COM of the parent to the joint [m]."""
        return self.on_a(self.joint.r)

    @property
    def r_b(self) -> Any:
        """COM of the child to the joint [m]."""
        return self.on_b(self.joint.t)

    @property
    def triad_a(self) -> tuple[Any, Any, Any]:
        """e1, e2, axis on the parent."""
        return self.on_a(self.joint.e1), self.on_a(self.joint.e2), self.on_a(self.joint.axis_a)

    @property
    def triad_b(self) -> tuple[Any, Any, Any]:
        """f1, f2, axis on the child."""
        return self.on_b(self.joint.f1), self.on_b(self.joint.f2), self.on_b(self.joint.axis_b)

    @property
    def axis_b(self) -> Any:
        """Joint axis on the child."""
        return self.on_b(self.joint.axis_b)


Residual = Callable[[JointVectors], Any]


def joint_gap(w: JointVectors) -> Any:
    """Joint on the child minus joint on the parent [m, world] (3); the paper's c^P (eq. 1)."""
    return w.x_b + w.r_b - w.x_a - w.r_a


def axis_cross(w: JointVectors) -> Any:
    """The paper's c^A (eq. 11): axis on the parent x axis on the child (3 rows of rank 2)."""
    return cross(w.on_a(w.joint.axis_a), w.axis_b)


def axis_tangents(w: JointVectors) -> Any:
    """The two independent rows of a hinge's alignment: the child's axis along e1 and e2 of the parent [1]
    (2)."""
    return Matrix([dot(w.on_a(w.joint.e1), w.axis_b), dot(w.on_a(w.joint.e2), w.axis_b)])


def slide_offsets(w: JointVectors) -> Any:
    """Offsets of a slide normal to its axis: gap along e1 and e2 of the parent [m] (2)."""
    gap = joint_gap(w)
    return Matrix([dot(w.on_a(w.joint.e1), gap), dot(w.on_a(w.joint.e2), gap)])


def slide_orientation(w: JointVectors) -> Any:
    """2 s vec(q_rel) of a slide, parent triad axes (3): half the axial vector of the relative rotation, same
    for ±q."""
    (e1, e2, axis_a), (f1, f2, axis_b) = w.triad_a, w.triad_b
    return HALF * Matrix(
        [dot(axis_a, f2) - dot(e2, axis_b), dot(e1, axis_b) - dot(axis_a, f1), dot(e2, f1) - dot(e1, f2)]
    )


def hinge_residual(w: JointVectors) -> Any:
    """The five rows of a hinge: gap (3), tangents (2)."""
    return column(joint_gap(w), axis_tangents(w))


def slide_residual(w: JointVectors) -> Any:
    """The five rows of a slide: offsets (2), orientation (3)."""
    return column(slide_offsets(w), slide_orientation(w))


def gradient(residual: Residual, w: JointVectors) -> tuple[Any, Any]:
    """J_a, J_b (rows x 6): derivatives of the residual by (dx, phi) of parent and of child, at zero
    perturbation."""
    symbols = [sp.Symbol(f"delta_{k}", real=True) for k in range(12)]
    dx_a, phi_a, dx_b, phi_b = (Matrix(symbols[k : k + 3]) for k in (0, 3, 6, 9))
    moved = residual(w.moved(dx_a, phi_a, dx_b, phi_b))
    at_zero = dict.fromkeys(symbols, 0)
    rows = [[sp.expand(row.diff(s).subs(at_zero)) for s in symbols] for row in moved]
    J = Matrix(rows)
    return J[:, :6], J[:, 6:]


def between_states(program: Program) -> tuple[JointVectors, Any, Any]:
    """Vectors of a joint between two states that are declared here, those of parent and child, and the states."""
    joint = JointNumbers.of(program.input("joint", JOINT))
    parent, child = program.input("parent", STATE), program.input("child", STATE)
    R_a, R_b = (rotation(program, s[QUATERNION, 0]) for s in (parent, child))
    return JointVectors.at(program, joint, parent[POSITION, 0], R_a, child[POSITION, 0], R_b), parent, child


@cache
def constraint_kernel(slide: bool) -> Program:
    """Leaf: residual `c` (5) of one joint at the states of parent and child."""
    kind = "slide" if slide else "hinge"
    program = Program(f"{kind}_constraint", f"Constraint residual of a {kind}: positional rows, then angular rows.")
    w, _, _ = between_states(program)
    program.output("c", program.let((slide_residual if slide else hinge_residual)(w)))
    return program


def ends(tree: Tree, xi: Any, joint: Any, j: int) -> dict[str, Any]:
    """Inputs of joint j's kernels: its numbers, the states of its parent and of its child."""
    parent = tree.parents[j]
    return {
        "joint": part(joint, JOINT, j),
        "parent": WORLD_STATE if parent == WORLD else part(xi, STATE, parent),
        "child": part(xi, STATE, j),
    }


@cache
def constraints(tree: Tree) -> Program:
    """Call program: xi (13 n), joint (28 n) -> c (5 n); with closed loops also loop (25 each), and all their rows behind."""
    program = Program("constraints", "Constraint residuals of every joint.")
    xi, joint = program.input("xi", STATE * tree.n), program.input("joint", JOINT * tree.n)
    rows = [program.call(constraint_kernel(tree.slides[j]), **ends(tree, xi, joint, j))["c"] for j in range(tree.n)]
    if tree.closures:
        loop = program.input("loop", LOOP_ROWS * len(tree.closures))
        rows.append(program.call(loops.check(tree), xi=xi, loop=loop)["rows"])
    program.output("c", column(*rows))
    return program
