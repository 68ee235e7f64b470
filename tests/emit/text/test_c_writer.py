"""C text of graphs: every operation, cuts into pieces, numbers to the bit, refusals."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.kernel_head import head

from diffpbd.codegen.emit.text.c_writer import PIECE, Kernel, UnknownOperation, kernel, literal

HEAD = "#include <math.h>\n" + head()


def run(
    k: Kernel, folder: Path, inputs: Sequence[np.ndarray], outputs: Sequence[int], fill: float = 777.0
) -> list[np.ndarray]:
    """Compile a kernel and call it on buffers that hold `fill`; the work array is filled with NaN."""
    types = ", ".join(["const double *"] * len(inputs) + ["double *"] * (len(outputs) + 1))
    names = ", ".join(f"a{i}" for i in range(len(inputs) + len(outputs) + 1))
    typed = ", ".join(f"{t} {n}" for t, n in zip(types.split(", "), names.split(", "), strict=True))
    source, library = folder / f"{k.name}.c", folder / f"{k.name}.so"
    source.write_text(f"{HEAD}{k.text}\nvoid call({typed}) {{ {k.name}({names}); }}\n")
    flags = ["-std=c99", "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unused-parameter"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    found = [np.full(size, fill) for size in outputs]
    arrays = [*(np.asarray(x, float) for x in inputs), *found, np.full(max(1, k.work), np.nan)]
    ctypes.CDLL(str(library)).call(*[ctypes.c_void_p(a.ctypes.data) for a in arrays])
    return found


def every_operation() -> ca.Function:
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 3)
    a, b, c = (x[k] for k in range(3))
    values = [
        -a, ca.sqrt(c), a * a, 2 * a, 1 / a, ca.sin(a), ca.cos(a), ca.tan(a), ca.tanh(a), ca.exp(a), ca.log(c),
        ca.fabs(b), ca.sign(b), ca.sign(a), ca.sign(y[2]), ca.acos(a), ca.asin(a), ca.atan(a), ca.cosh(a), ca.sinh(a),
        a + b, a - b, a * b, a / b, ca.atan2(a, b), c**b, c**2.5, a < b, a <= b, a == b, a != b,
        ca.logic_and(a < b, b < c), ca.logic_or(a < b, b < c), ca.logic_not(a < b), ca.if_else(a < b, b, c),
        ca.fmin(a, b), ca.fmax(a, b), ca.hypot(a, b), y[0] * 0.1, y[1] * -1e-300, 3.0, 1e22,
    ]  # fmt: skip
    return ca.Function("f", [x, y], [ca.densify(ca.vertcat(*values))], ["x", "y"], ["z"])


def test_every_operation(tmp_path: Path) -> None:
    f = every_operation()
    x, y = np.array([0.3, -1.7, 2.2]), np.array([0.9, 1.1, 0.0])
    (found,) = run(kernel(f, "k_all"), tmp_path, [x, y], [f.numel_out(0)])
    np.testing.assert_allclose(found, np.array(f(x, y)).ravel(), rtol=1e-15, atol=0)


@pytest.mark.parametrize("piece", [1, 2, 7, 50, 10_000])
def test_pieces_give_the_same_bits(tmp_path: Path, piece: int) -> None:
    """Registers that live across a cut travel through the work array, whatever the length of the pieces."""
    rng = np.random.default_rng(2)
    A, x = ca.SX.sym("A", 4, 4), ca.SX.sym("x", 4)
    y = ca.solve(A, ca.sin(x)) + x
    J = ca.densify(ca.jacobian(y, x))
    f = ca.Function("f", [A, x], [y, J], ["A", "x"], ["y", "J"], {"cse": True})
    value, at = rng.normal(size=(4, 4)) + 4.0 * np.eye(4), rng.normal(size=4)
    k = kernel(f, f"k_{piece}", piece=piece)
    statements = len(re.findall(r"^ (?:a|y\[|J\[)\d+\]?=", kernel(f, "k").text, re.MULTILINE))
    assert k.text.count("static") == (1 if piece == 10_000 else -(-statements // piece) + 1)
    found = run(k, tmp_path, [value.ravel(order="F"), at], [4, 16])
    whole = run(kernel(f, "k_whole"), tmp_path, [value.ravel(order="F"), at], [4, 16])
    for a, b, exact in zip(found, whole, f(value, at), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, np.array(exact).ravel(order="F"), rtol=1e-14)


def test_one_call_gives_sine_and_cosine_of_an_angle(tmp_path: Path) -> None:
    """Every angle has one, also where its register is used again for another; a cut between the two makes a second call."""
    x = ca.SX.sym("x", 2)
    a, b = x[0] * x[1], x[0] - x[1]
    values = [ca.sin(a), ca.cos(b), ca.sin(ca.sin(a)), ca.cos(ca.sin(a)), ca.cos(a), ca.sin(b), ca.sin(ca.cos(a))]
    f = ca.Function("f", [x], [ca.vertcat(*values)], ["x"], ["y"], {"cse": True})
    at = np.array([0.7, -1.3])
    k = kernel(f, "k")
    assert k.text.count("sine_cosine(") == 4
    (found,) = run(k, tmp_path, [at], [7])
    np.testing.assert_allclose(found, np.array(f(at)).ravel(), rtol=1e-15)
    pieces = kernel(f, "k_1", piece=1)
    assert pieces.text.count("sine_cosine(") == 7
    np.testing.assert_array_equal(run(pieces, tmp_path, [at], [7])[0], found)


@pytest.mark.parametrize("piece", [PIECE, 2])
def test_several_divisions_by_a_value_are_one(tmp_path: Path, piece: int) -> None:
    x = ca.SX.sym("x", 4)
    y = x[0] + x[1]
    values = [x[1] / y, x[2] / y, 1 / y, x[3] / x[0], x[2] / (x[1] + x[3])]
    f = ca.Function("f", [x], [ca.vertcat(*values)], ["x"], ["z"])
    made = kernel(f, "k", piece=piece)
    assert made.text.count("/") == 3  # of y, and two that stand alone
    at = np.random.default_rng(1).uniform(0.5, 2.0, 4)
    np.testing.assert_allclose(run(made, tmp_path, [at], [5])[0], np.asarray(f(at)).ravel(), rtol=4e-16)
    lanes = kernel(f, "k", shared=())
    assert lanes.text.count("B(1.0)/") == 1
    device = kernel(f, "k", device=True)
    assert device.text.count("INSIDE") == 1 and device.work == 0  # one function, however many statements


def test_a_value_that_is_written_over_is_another_divisor() -> None:
    """CasADi gives a register to a new value when the old one is read no more."""
    x = ca.SX.sym("x", 2)
    y = x[0]
    for _ in range(5):
        y = x[1] / (y + 1.0)
    f = ca.Function("f", [x], [y], ["x"], ["z"])
    assert kernel(f, "k").text.count("/") == 5


def test_structural_zeros_are_written_and_matrices_run_by_columns(tmp_path: Path) -> None:
    x = ca.SX.sym("x", 2)
    M = ca.densify(ca.blockcat([[x[0], 0, 1], [0, x[1], 0]]))
    f = ca.Function("f", [x], [M], ["x"], ["M"])
    (found,) = run(kernel(f, "k"), tmp_path, [np.array([5.0, 6.0])], [6])
    np.testing.assert_array_equal(found, [5.0, 0.0, 0.0, 6.0, 1.0, 0.0])


def test_accumulating_kernels_add(tmp_path: Path) -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [3 * x], ["x"], ["y"])
    (found,) = run(kernel(f, "k", accumulate=True), tmp_path, [np.array([1.0, 2.0])], [2], fill=100.0)
    np.testing.assert_array_equal(found, [103.0, 106.0])


def test_literals_read_back_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    values = [
        0.1,
        1.0,
        1e22,
        5e-324,
        1.7976931348623157e308,
        *rng.normal(size=1000) * 10.0 ** rng.integers(-300, 300, 1000),
    ]
    for value in values:
        for signed in (float(value), -float(value)):
            text = literal(signed)
            assert float(text.strip("()")) == signed
            assert ("e" in text or "." in text) and text.startswith("(") == (signed < 0.0)
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="non-finite"):
            literal(bad)


def test_sparse_arguments_and_unknown_operations_are_refused() -> None:
    x = ca.SX.sym("x", 2)
    with pytest.raises(ValueError, match="output y is not dense"):
        kernel(ca.Function("f", [x], [ca.diag(x)], ["x"], ["y"]), "k")
    sparse = ca.SX.sym("s", ca.Sparsity.lower(2))
    with pytest.raises(ValueError, match="input s is not dense"):
        kernel(ca.Function("f", [sparse], [ca.densify(sparse)], ["s"], ["y"]), "k")
    with pytest.raises(UnknownOperation, match="no C text for CasADi operation .* in f"):
        kernel(ca.Function("f", [x], [ca.erf(x)], ["x"], ["y"]), "k")


def test_a_long_graph_is_cut_into_pieces_that_a_compiler_digests() -> None:
    x = ca.SX.sym("x")
    y = x
    for _ in range(7000):
        y = ca.sin(y)
    text = kernel(ca.Function("f", [x], [y], ["x"], ["y"]), "k").text
    lengths = [piece.count("sine_cosine(") for piece in text.split("static NOINLINE void ")[1:]]
    assert sum(lengths) == 7000
    assert len(lengths) == -(-7000 // PIECE) and max(lengths) <= 4000
