"""The hand-arranged pages against their origin: a two-link arm, hinge and slide, from the constraints' own residuals by SymPy.

Null space, F, G, their Jacobian and the closing displacements are derived here from the residuals of `method.constraints` with
`diff` and linear algebra alone, and compared with the pages at rational numbers to 40 digits of 50: identities, not roundings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import mpmath
import pytest
import sympy as sp

from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space.links import link_jacobian
from diffpbd.codegen.laws import forces
from diffpbd.codegen.method import projection
from diffpbd.codegen.method.constraints import JointVectors, gradient, hinge_residual, joint_gap, slide_residual
from diffpbd.codegen.method.kinematics import fk
from diffpbd.codegen.method.parameters import maximal_parameters
from diffpbd.codegen.method.world import kernel_at
from diffpbd.codegen.program.notation import JOINT, STATE, JointNumbers, part
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.rotation import axial, cross, dot, rotation_matrix, symmetric
from diffpbd.codegen.program.tree import Tree

DIGITS, SAME = 50, mpmath.mpf(10) ** -40
TREE = Tree((-1, 0), (False, True), (True, False))
R = sp.Rational
N = 2
RESIDUALS = (hinge_residual, slide_residual)

# A hinge about z and a slide along x, every frame askew by a rational rotation.
SEATS = [sp.Matrix([1, 2, 2, 4]) / 5, sp.Matrix([4, 2, -1, 2]) / 5]
TURNED = [sp.eye(3), sp.Matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])]  # columns e1, e2, axis, in link axes
FRAMES = [rotation_matrix(q) for q in SEATS]
AT = [sp.Matrix([R(1, 10), R(-1, 5), R(3, 10)]), sp.Matrix([R(1, 5), R(1, 10), R(-1, 10)])]
MASS = [R(3, 2), R(4, 5)]
COM = [sp.Matrix([R(1, 20), R(-1, 10), R(1, 5)]), sp.Matrix([R(1, 10), R(1, 30), R(-1, 20)])]
INERTIA = [
    (R(3, 100), R(1, 200), R(-1, 300), R(1, 25), R(1, 400), R(1, 50)),
    (R(1, 50), 0, R(1, 500), R(3, 100), 0, R(1, 40)),
]
GRAVITY = sp.Matrix([R(1, 2), R(-1, 3), R(-49, 5)])
ROTOR, STIFFNESS, REST = [R(1, 50), R(1, 30)], [R(7), R(11)], [R(1, 4), R(-1, 8)]
FRICTION = {"coulomb": [R(1, 2), R(1, 5)], "viscous": [R(1, 3), R(1, 7)], "transition": [R(1, 5), R(1, 4)]}


def cols(*columns: Any) -> Any:
    return sp.Matrix.hstack(*[sp.Matrix(list(c)) for c in columns])


def about_origin(k: int) -> list[Any]:
    c, m = COM[k], MASS[k]
    whole = symmetric(INERTIA[k]) + m * (c.dot(c) * sp.eye(3) - c * c.T)
    return [m, *(m * c), *whole[0, :], whole[1, 1], whole[1, 2], whole[2, 2]]


def turned_body(k: int) -> list[Any]:
    """The same in the axes of the joint; the first link has these already, so joint 1 stands in the same frame either way."""
    m, x, y, z, *inertia = about_origin(k)
    turned = TURNED[k].T * symmetric(inertia) * TURNED[k]
    return [m, *(TURNED[k].T * sp.Matrix([x, y, z])), *turned[0, :], turned[1, 1], turned[1, 2], turned[2, 2]]


JOINT_SPACE: dict[str, Any] = {
    "before": cols(*[[*(FRAMES[k] * TURNED[k]), *AT[k]] for k in range(N)]),
    "after": cols(*[list(TURNED[k].T) for k in range(N)]),
    "body": cols(*[about_origin(k) for k in range(N)]),
    "hinge_before": cols(*[[*(FRAMES[k] * TURNED[k]), *AT[k]] for k in range(N)]),
    "hinge_body": cols(*[turned_body(k) for k in range(N)]), "carried": [sum(MASS), MASS[1]],
    "gravity": GRAVITY, "rotor": ROTOR, "stiffness": STIFFNESS, "rest": REST, **FRICTION,
}  # fmt: skip
DESCRIBED: dict[str, Any] = {
    "mass": MASS, "com": cols(*COM), "inertia": cols(*INERTIA), "rotation": cols(*FRAMES), "translation": cols(*AT),
    "seat": cols(*SEATS), "triad": cols(*[list(t.T) for t in TURNED]), "payload": [0] * 10,
    "tip": [*sp.eye(3), 0, 0, 0],
}  # fmt: skip


def expressions(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs of a program as SymPy expressions of what is given."""
    flat = program.flatten()
    known: dict[Any, Any] = {}
    for name, formal in flat.inputs.items():
        value = given[name]
        known.update(zip(formal, list(value) if hasattr(value, "__len__") else [value], strict=True))
    for statement in flat.statements:
        known[statement.symbol] = statement.expression.xreplace(known)
    return {name: sp.Matrix(m.xreplace(known)) for name, m in flat.outputs.items()}


def exact(value: Any) -> Any:
    """A rational, or what is one of 50 digits already, in 50 digits."""
    mpmath.mp.dps = DIGITS
    return value if isinstance(value, mpmath.mpf) else mpmath.mpf(sp.Rational(value).p) / sp.Rational(value).q


def at(values: Mapping[Any, Any], *matrices: Any) -> list[Any]:
    """Matrices of expressions as mpmath matrices of 50 digits."""
    f = sp.lambdify(list(values), [list(sp.Matrix(m)) for m in matrices], modules="mpmath", cse=True)
    found = f(*map(exact, values.values()))
    return [_shaped(flat, *sp.Matrix(m).shape) for m, flat in zip(matrices, found, strict=True)]


def _shaped(flat: list[Any], rows: int, columns: int) -> Any:
    return mpmath.matrix([[flat[columns * i + j] for j in range(columns)] for i in range(rows)])


def same(ours: Any, page: Any) -> bool:
    scale = max(1, mpmath.norm(page, mpmath.inf))
    return bool(mpmath.norm(ours - page, mpmath.inf) < SAME * scale)


p0, p1, pd0, pd1, u = (sp.Matrix(sp.symbols(f"{k}_1:3", real=True)) for k in ("p", "q", "pd", "qd", "u"))
h = sp.Symbol("h", positive=True)
POINT = dict(
    zip([*p0, *p1, *pd0, *pd1, *u, h], map(R, "3/10 -1/5 7/20 -3/25 4/5 -2/3 5/6 -1/2 3 -2 1/50".split()), strict=True)
)


@cache
def joints() -> list[JointNumbers]:
    flat = expressions(maximal_parameters(TREE, 1), DESCRIBED)["joint"]
    return [JointNumbers.of(sp.ImmutableMatrix(flat[JOINT * j : JOINT * (j + 1), :])) for j in range(N)]


def poses(p: Any) -> list[tuple[Any, Any]]:
    """COM and rotation of both links, by the page of forward kinematics."""
    flat = sp.Matrix([e for j in joints() for e in j.flat()])
    xi = expressions(fk(TREE), {"p": p, "pd": [0, 0], "joint": flat})["xi"]
    states = [sp.Matrix(part(xi, STATE, k)) for k in range(N)]
    return [tuple(m.applyfunc(_whole) for m in (s[0:3, 0], sp.Matrix(rotation_matrix(s[6:10, 0])))) for s in states]


def _whole(e: Any) -> Any:
    """Products of half angles as whole angles: expressions small enough to differentiate twice."""
    half = [f for f in e.atoms(sp.cos, sp.sin) if f.args[0].could_extract_minus_sign() is False and f.args[0].is_Mul]
    if not half:
        return e
    a = half[0].args[0]
    C, S = sp.cos(a), sp.sin(a)
    e = sp.expand(e).subs({C**2: (1 + sp.cos(2 * a)) / 2, S**2: (1 - sp.cos(2 * a)) / 2})
    return sp.expand(e.subs(C * S, sp.sin(2 * a) / 2))


X_A, X_B = (sp.ImmutableMatrix(sp.symbols(f"x_{k}_1:4", real=True)) for k in "ab")
R_A, R_B = (sp.ImmutableMatrix(3, 3, sp.symbols(f"R_{k}_1:10", real=True)) for k in "ab")


def between(j: int) -> JointVectors:
    """Joint j between two poses whose every entry is a symbol."""
    return JointVectors(joints()[j], X_A, X_B, lambda w: R_A * w, lambda w: R_B * w)


def ends(j: int, x: list[Any]) -> dict[Any, Any]:
    """Those symbols at poses in 50 digits: position, rotation of the first link, then of the second."""
    world = [mpmath.zeros(3, 1), mpmath.eye(3)]
    values = [*world, *x[:2]] if j == 0 else x
    return {s: v for m, value in zip((X_A, R_A, X_B, R_B), values, strict=True) for s, v in zip(m, value, strict=True)}


def motions(p: Any, x: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """∂(position, turning)/∂p (3×2 each) of both links, by differentiation."""
    found = []
    for centre, rotation in x:
        turnings = [axial(rotation.diff(k) * rotation.T) / 2 for k in p]
        found.append((centre.jacobian(p), cols(*turnings)))
    return found


@pytest.mark.thorough
def test_the_motion_of_the_links_is_the_null_space_of_the_constraints() -> None:
    """The constraints' Jacobian (10 × 12) leaves two of all displacements of two bodies (12): those of the joints."""
    x = poses(p0)
    *numbers, T = at(
        POINT, *[m for pose in x for m in pose], sp.Matrix.vstack(*[m for pair in motions(p0, x) for m in pair])
    )
    c, J, P = mpmath.zeros(10, 1), mpmath.zeros(10, 12), mpmath.zeros(2, 12)
    for j in range(N):
        w = between(j)
        residual, *blocks = at(
            ends(j, numbers), RESIDUALS[j](w), *gradient(RESIDUALS[j], w), *_unit_rate(w, slide=j == 1)
        )
        for k in range(5):
            c[5 * j + k] = residual[k]
        for body, (row, rate) in enumerate(zip(blocks[:2], blocks[2:], strict=True), start=j - 1):
            for k in range(6):
                if body >= 0:
                    P[j, 6 * body + k] = rate[k]
                    for r in range(5):
                        J[5 * j + r, 6 * body + k] = row[r, k]
    assert mpmath.norm(c, mpmath.inf) < SAME
    assert min(mpmath.svd_r(J, compute_uv=False)) > 1e-3, "ten independent rows leave a null space of two"
    assert mpmath.norm(J * T, mpmath.inf) < SAME
    assert same(P * T, mpmath.eye(2))


def _unit_rate(w: JointVectors, slide: bool) -> tuple[Any, Any]:
    """The rate of the joint's own coordinate as rows (1×6) for parent and child."""
    axis = sp.Matrix(w.on_a(w.joint.axis_a))
    if not slide:
        turn = sp.Matrix.hstack(sp.zeros(1, 3), axis.T)
        return -turn, turn
    a, b = gradient(lambda v: sp.Matrix([dot(v.on_a(v.joint.axis_a), joint_gap(v))]), w)
    return sp.Matrix(a), sp.Matrix(b)


@cache
def derived() -> tuple[Any, Any]:
    """h F and h G: the discrete momentum balances of both bodies, pulled back with the null space."""
    x, y = poses(p0), poses(p1)
    S, E = motions(p0, x), motions(p1, y)
    change = p1 - p0
    F, G = sp.Matrix([0, 0]), sp.Matrix([0, 0])
    for k in range(N):
        m, inertia = MASS[k], symmetric(INERTIA[k])
        moment = axial(y[k][1] * (sp.eye(3) * inertia.trace() / 2 - inertia) * x[k][1].T)
        (lin0, ang0), (lin1, ang1) = S[k], E[k]
        begun = x[k][1] * inertia * x[k][1].T * ang0 * pd0
        ended = y[k][1] * inertia * y[k][1].T * ang1 * pd1
        step, weight = m * (y[k][0] - x[k][0]), h**2 / 2 * m * GRAVITY
        F = F + lin0.T * (step - h * m * lin0 * pd0 - weight) + ang0.T * (sp.Matrix(moment) - h * begun)
        G = G + lin1.T * (h * m * lin1 * pd1 - step - weight) + ang1.T * (h * ended - sp.Matrix(moment))
    F, G = sp.Matrix(F).as_mutable(), sp.Matrix(G).as_mutable()
    for j in range(N):
        friction = forces.friction_torque(pd1[j], *(FRICTION[k][j] for k in ("coulomb", "viscous", "transition")))
        springs = [forces.spring_torque(p[j], STIFFNESS[j], REST[j]) for p in (p0, p1)]
        F[j] += ROTOR[j] * (change[j] - h * pd0[j]) - h**2 / 2 * (u[j] + springs[0])
        G[j] += ROTOR[j] * (h * pd1[j] - change[j]) - h**2 / 2 * (u[j] + springs[1]) - h**2 * friction
    return F, G


def page(program: Program) -> dict[str, Any]:
    known = {"p": p0, "pd": pd0, "u": u, "p_next": p1, "pd_next": pd1, "h": [h], **JOINT_SPACE}
    return evaluated(program)({k: [POINT.get(e, e) for e in sp.Matrix(list(known[k]))] for k in program.inputs})


def evaluated(program: Program) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A program in 50 digits, its statements as they are."""
    flat = program.flatten()
    inputs = [s for m in flat.inputs.values() for s in m]
    named = [(s.symbol, s.expression) for s in flat.statements]
    outputs = [list(m) for m in flat.outputs.values()]
    f = sp.lambdify(inputs, outputs, modules="mpmath", cse=lambda e: (named, e))

    def run(given: Mapping[str, Any]) -> dict[str, Any]:
        numbers = [exact(e) for k in flat.inputs for e in given[k]]
        return {k: _shaped(v, *flat.outputs[k].shape) for k, v in zip(flat.outputs, f(*numbers), strict=True)}

    return run


def test_residuals_are_the_projected_balances_of_momentum() -> None:
    F, G = at(POINT, *derived())
    found = page(joint_space.residuals(TREE))
    assert same(F, found["F"]) and same(G, found["G"])
    assert mpmath.norm(F, mpmath.inf) > 1e-3 and mpmath.norm(G, mpmath.inf) > 1e-3


def test_assembled_blocks_are_the_derivatives() -> None:
    F, G = derived()
    program = Program("blocks")
    _, blocks = link_jacobian.declare_blocks(program, TREE)
    for name in ("D", "K0", "M0", "K1", "M1"):
        program.output(name, getattr(blocks, name))
    found = page(program)
    by_p0, by_p1, by_pd0, of_p0, of_p1, of_pd1, by_u, of_u = at(
        POINT, F.jacobian(p0), F.jacobian(p1), -F.jacobian(pd0) / h,
        G.jacobian(p0), G.jacobian(p1), G.jacobian(pd1) / h, F.jacobian(u), G.jacobian(u),
    )  # fmt: skip
    for name, ours in (("K0", by_p0), ("D", by_p1), ("M0", by_pd0), ("K1", of_p1), ("M1", of_pd1)):
        assert same(ours, found[name]), name
    assert same(of_p0, found["D"].T)
    half = -((mpmath.mpf(1) / 50) ** 2) / 2 * mpmath.eye(2)
    assert same(by_u, half) and same(of_u, half)


@pytest.mark.parametrize("j", range(N), ids=["hinge", "slide"])
def test_closing_displacements_solve_the_linearised_constraints(j: int) -> None:
    """J_b d = -c of a detached joint, with the one condition that the page sets itself: no motion along the joint."""
    apart = [([R(1, 30), R(-1, 40), R(1, 25)], [8, 1, -4, 0], 9), ([R(-1, 20), R(1, 50), R(1, 60)], [6, 2, -3, 0], 7)]
    x = at(
        POINT,
        *[
            m
            for (centre, rotation), (d, q, norm) in zip(poses(p0), apart, strict=True)
            for m in (centre + sp.Matrix(d), rotation_matrix(sp.Matrix(q) / norm) * rotation)
        ],
    )
    w = between(j)
    axis = sp.Matrix(w.on_a(w.joint.axis_a))
    free = sp.Matrix.hstack(sp.zeros(1, 3), axis.T)
    if j == 1:  # the joint on the child moves normal to the axis
        free = sp.Matrix.hstack(axis.T, sp.Matrix(cross(w.r_b, axis)).T)
    A, c = at(ends(j, x), sp.Matrix.vstack(sp.Matrix(gradient(RESIDUALS[j], w)[1]), free), RESIDUALS[j](w))
    assert abs(c[0]) > 1e-3 and abs(c[3]) > 1e-3
    b = mpmath.matrix([*(-e for e in c), 0])
    moved = mpmath.lu_solve(A, b)
    kernel = kernel_at(projection.motion_kernel(j == 1, closing=True), j - 1, slide=j == 1)
    known = ends(j, x)
    given = {
        "joint": list(joints()[j].flat()), "rotation_a": [known[e] for e in R_A], "rotation_b": [known[e] for e in R_B],
        "x_a": [known[e] for e in X_A], "x_b": [known[e] for e in X_B], "offset_a": [R(1, 9), R(2, 9), R(-1, 3)],
        "gap_a": [0] * 6,
    }  # fmt: skip
    found = evaluated(kernel)({k: given[k] for k in kernel.inputs})
    linear, turning, offset = found["gap"][0:3], found["gap"][3:6], found["offset"]
    at_com = linear - _cross(offset, turning)
    assert same(mpmath.matrix([*at_com, *turning]), moved)


def _cross(a: Any, b: Any) -> Any:
    return mpmath.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
