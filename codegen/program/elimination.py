"""Gaussian elimination written out: factor once, solve often. Zeros that the tree leaves in a matrix stay zeros.

No pivoting: the matrices are joint-space inertias, or inertias plus a small antisymmetric part, whose symmetric part is
positive definite; that bounds the growth of unpivoted elimination (Golub and Van Loan 1979). Rows go from the last joint
(a tip) to the first, so that joints on different branches, whose entries are zero, cause no fill-in.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored


def factors(b: Program, A: Any, symmetric: bool = False) -> Any:
    """A = U L in one matrix: U unit upper (above the diagonal), L lower with its diagonal inverted."""
    n = A.rows
    a = [[A[i, j] for j in range(n)] for i in range(n)]
    for k in range(n - 1, -1, -1):
        a[k][k] = b.let(1 / a[k][k])
        for i in range(k):
            if a[i][k] == 0:
                continue
            a[i][k] = b.let(a[i][k] * a[k][k])
            for j in range(i + 1 if symmetric else k):
                a[i][j] = b.let(a[i][j] - a[i][k] * a[k][j])
        if symmetric:
            for i in range(k):
                for j in range(i + 1, k):
                    a[i][j] = a[j][i]
    return Matrix(a)


@stored
def solver(n: int, columns: int, symmetric: bool) -> Program:
    """A (n × n), rhs (n × columns) → x = A⁻¹ rhs."""
    b = Program("solve")
    made = factors(b, b.input("A", n, n), symmetric=symmetric)
    b.output("x", solve(b, made, b.input("rhs", n, columns)))
    return b


@stored
def inverse(n: int) -> Program:
    """A (n × n) → A⁻¹ and the inverted `pivots`."""
    b = Program("inverse", "Inverse by elimination without pivoting.")
    made = factors(b, b.input("A", n, n))
    b.output("inverse", solve(b, made, Matrix.eye(n)))
    b.output("pivots", Matrix([made[k, k] for k in range(n)]))
    return b


def solve(b: Program, a: Any, rhs: Any, transposed: bool = False, symmetric_result: bool = False) -> Any:
    """A⁻¹ rhs (or A⁻ᵀ rhs) with the `factors` a; rhs n × m. With `symmetric_result` (the inverse of a symmetric matrix)
    only one triangle is worked out."""
    n = a.rows
    columns = []
    for c in range(rhs.cols):
        z = [rhs[i, c] for i in range(n)]
        if transposed:
            for k in range(n - 1, -1, -1):
                z[k] = b.let(a[k, k] * z[k])
                for i in range(k):
                    z[i] = b.let(z[i] - a[k, i] * z[k])
            for k in range(n):
                for i in range(k + 1, n):
                    z[i] = b.let(z[i] - a[k, i] * z[k])
        else:
            for k in range(n - 1, -1, -1):
                for i in range(k):
                    z[i] = b.let(z[i] - a[i, k] * z[k])
            for k in range(n):
                z[k] = b.let(a[k, k] * z[k])
                for i in range(k + 1, n):
                    z[i] = b.let(z[i] - a[i, k] * z[k])
        columns.append(Matrix(z))
    result = Matrix.hstack(*columns)
    return Matrix(n, n, lambda i, j: result[min(i, j), max(i, j)]) if symmetric_result else result
