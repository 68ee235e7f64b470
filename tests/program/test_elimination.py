"""Unpivoted elimination from the tips: right, and without fill-in on a tree."""

from __future__ import annotations

import numpy as np
import pytest

from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program

N = 5
# Joints 1, 2 hang on 0 and joints 3, 4 on 0 as a second branch: their entries with each other are zero.
BRANCHES = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 0, 0, 1, 1], [1, 0, 0, 1, 1]]


def solver(pattern: list[list[int]], *, symmetric: bool, transposed: bool, columns: int) -> Program:
    b = Program("solve")
    full, rhs = b.input("A", N, N), b.input("rhs", N, columns)
    A = Matrix(N, N, lambda i, j: full[i, j] * pattern[i][j])
    factors = elimination.factors(b, A, symmetric=symmetric)
    b.output("factors", factors)
    b.output("x", elimination.solve(b, factors, rhs, transposed=transposed))
    return b


def matrix(pattern: list[list[int]], symmetric: bool, seed: int) -> np.ndarray:
    """Symmetric part positive definite; the rest antisymmetric and as large as it."""
    rng = np.random.default_rng(seed)
    part = rng.normal(size=(N, N))
    A = part @ part.T + 0.5 * np.eye(N)
    A = A * np.array(pattern) + np.diag(np.abs(A).sum(axis=1)) * (0 if np.all(pattern) else 1)
    other = rng.normal(size=(N, N))
    return np.asarray(A if symmetric else A + (other - other.T) * np.array(pattern))


@pytest.mark.parametrize("pattern", [[[1] * N] * N, BRANCHES], ids=["full", "branches"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("transposed", [False, True])
def test_solves(pattern: list[list[int]], symmetric: bool, transposed: bool) -> None:
    run = solver(pattern, symmetric=symmetric, transposed=transposed, columns=3).numpy()
    for seed in range(20):
        A = matrix(pattern, symmetric, seed)
        rhs = np.random.default_rng(100 + seed).normal(size=(N, 3))
        x = run(A=A, rhs=rhs)["x"]
        expected = np.linalg.solve(A.T if transposed else A, rhs)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11 * np.linalg.cond(A))


def test_the_inverse_of_a_symmetric_matrix_is_mirrored() -> None:
    b = Program("inverse")
    A = b.input("A", N, N)
    factors = elimination.factors(b, A, symmetric=True)
    b.output("x", elimination.solve(b, factors, Matrix.eye(N), symmetric_result=True))
    value = matrix([[1] * N] * N, True, 1)
    x = b.numpy()(A=value)["x"]
    np.testing.assert_array_equal(x, x.T)
    np.testing.assert_allclose(x @ value, np.eye(N), atol=1e-12)


def test_branches_cause_no_fill_in() -> None:
    branched = solver(BRANCHES, symmetric=True, transposed=False, columns=1)
    full = solver([[1] * N] * N, symmetric=True, transposed=False, columns=1)
    factors = branched.outputs["factors"]
    assert all(factors[i, j] == 0 for i in range(N) for j in range(N) if not BRANCHES[i][j])
    assert branched.operations() < 0.75 * full.operations()
