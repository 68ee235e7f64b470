"""How far axes are turned: one zero a turn, by logarithms of matrices, and derivatives that are those of the values."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from diffpbd.codegen.graph.expressions.translate import function
from diffpbd.codegen.laws import cuts
from diffpbd.codegen.program.program import Matrix, Program

ANGLES = (0.0, 1e-9, 1e-3, 1.0, 2.0, 2.2, 3.0, np.pi - 1e-4, np.pi - 1e-7, np.pi)


def rows(kind: str) -> Any:
    """CasADi: frame (9) → rows of a type about turns, and their gradient by a small turn."""
    b = Program("turned")
    Q = Matrix(3, 3, list(b.input("Q", 9)))
    found = [row for row in cuts.derived(kind) if not any(row.force)]
    known = cuts.at(b, found, Matrix([0, 0, 0]), Q, 1)
    b.output("value", b.let(Matrix([row.value.xreplace(known) for row in found])))
    b.output("gradient", b.let(Matrix([list(row.moment.xreplace(known)) for row in found])))
    return function(b)


def skew(v: Any) -> Any:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0.0]])


def turned(kind: str, angle: float, seed: int) -> tuple[Any, Any]:
    """A rotation by an angle: of a whole frame, or of the third axis after any turn about it."""
    rng = np.random.default_rng(seed)
    n = rng.standard_normal(3) if seed > 2 else np.eye(3)[seed]
    if kind == "hinge":
        n = np.array([n[0], n[1], 0.0]) if seed != 2 else np.array([1.0, 1.0, 0.0])
    n /= np.linalg.norm(n)
    R = Rotation.from_rotvec(angle * n).as_matrix()
    if kind == "hinge":
        R = R @ Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)]).as_matrix()
    return R, n


@pytest.mark.parametrize("kind", ["weld", "slide", "hinge"])
@pytest.mark.parametrize("angle", ANGLES)
def test_one_zero_a_turn_and_exact_derivatives(kind: str, angle: float) -> None:
    """4 tan(θ/4) along the axis, the sign free at half a turn; the gradient is the value's derivative, finite and regular."""
    f = rows(kind)
    for seed in range(6):
        R, n = turned(kind, angle, seed)
        value, gradient = (np.array(x) for x in f(R.ravel()))
        value = value.ravel()
        wanted = 4 * np.tan(angle / 4) * n[: len(value)]
        if kind == "hinge":  # the axis tips by n × e₃ in the plane
            wanted = 4 * np.tan(angle / 4) * np.array([n[1], -n[0]])
        off = min(np.abs(value - wanted).max(), np.abs(value + wanted).max() if angle > np.pi - 1e-6 else np.inf)
        if kind == "hinge" and angle > np.pi - 2e-7:  # no direction to turn back in, but far from zero
            off = abs(np.linalg.norm(value) - 4)
        assert off < 1e-5 if angle > np.pi - 1e-6 else off < 1e-14
        assert np.isfinite(gradient).all()
        assert np.linalg.svd(gradient, compute_uv=False)[len(value) - 1] > 0.99
        if kind != "hinge" or angle < np.pi - 1e-5:
            step, last = 1e-6, np.abs(gradient).max()
            for k in range(3):
                one, other = (np.array(f(((np.eye(3) + s * step * skew(np.eye(3)[k])) @ R).ravel())[0]).ravel()
                              for s in (1, -1))  # fmt: skip
                if np.linalg.norm(one - other) < 1.0:  # not over the jump at half a turn
                    assert np.abs((one - other) / (2 * step) - gradient[:, k]).max() < 1e-8 * last**3


@pytest.mark.parametrize("kind", ["weld", "hinge"])
def test_second_derivatives_are_those_of_the_gradient(kind: str) -> None:
    """Differentiated again along two turns, up to 0.1 rad from half a turn: what the curvature of a step is made of."""
    f, rng = rows(kind), np.random.default_rng(4)
    x = ca.SX.sym("x", 9)
    by = ca.Function("by", [x], [ca.jacobian(ca.vec(f(x)[1]), x)])
    for angle in (0.0, 1.0, 2.0, 3.0):
        R, turn = turned(kind, angle, 5)[0], rng.standard_normal(3)
        along = np.array(by(R.ravel())) @ (skew(turn) @ R).ravel()
        one, other = (np.array(f((Rotation.from_rotvec(s * 1e-5 * turn).as_matrix() @ R).ravel())[1]).ravel("F")
                      for s in (1, -1))  # fmt: skip
        assert np.abs((one - other) / 2e-5 - along).max() < 1e-7 * max(1.0, float(np.abs(along).max()))
