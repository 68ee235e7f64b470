"""C of call programs and of their reverse mode, against NumPy and CasADi: how values pass, what is shared, cuts."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from support.kernel_head import head

from diffpbd.codegen.emit.text import call_writer
from diffpbd.codegen.emit.text.call_writer import CallWriter, Routine
from diffpbd.codegen.graph.expressions.translate import call_graph
from diffpbd.codegen.program.program import Matrix, Program

HEAD = "#include <math.h>\n#include <string.h>\n" + head()
FLAGS = ("-std=c99", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unused-function")
START = 100.0
"""What stands in gradients before a call: they are added to."""


@cache
def leaf() -> Program:
    """A 2×3 matrix and a number → two outputs of other shapes."""
    b = Program("leaf")
    m, s = b.input("m", 2, 3), b.scalar("s")
    b.output("column", b.let(Matrix([sp.sin(m[0, k]) * m[1, k] + s for k in range(3)])))
    b.output("square", b.let(m * m.T * s))
    return b


@cache
def middle() -> Program:
    """Calls of the leaf whose arguments are parts of an input, out of order, and numbers."""
    b = Program("middle")
    v, s = b.input("v", 6), b.scalar("s")
    first = b.call(leaf(), m=Matrix(2, 3, list(v)), s=s)
    column, square = first["column"], first["square"]
    mixed = Matrix([[column[2], 2, column[0]], [square[1, 0], v[5], -3]])
    second = b.call(leaf(), m=mixed, s=square[0, 1])
    third = b.call(leaf(), m=Matrix(2, 3, [1, 2, 3, 4, 5, 6]), s=s)
    b.output("direct", second["column"])
    b.output("several", Matrix([third["column"][1], 7, column[1], v[0]]))
    return b


@cache
def outer() -> Program:
    """Calls of calls; an input that no output depends on, a call that nothing reads."""
    b = Program("outer")
    x, scale, idle = b.input("x", 6), b.scalar("scale"), b.input("idle", 2)
    once = b.call(middle(), v=x, s=scale)
    d, several = once["direct"], once["several"]
    b.call(leaf(), m=Matrix(2, 3, [idle[0]] * 6), s=idle[1])
    twice = b.call(middle(), v=Matrix([*several[:2], d[1], x[3], *several[2:]]), s=d[0])
    b.output("y", Matrix([*twice["direct"], *d]))
    b.output("z", twice["several"])
    return b


def compiled(writer: CallWriter, routine: Routine, arguments: int, folder: Path) -> Any:
    """The routine as a Python function of arrays; its work array holds NaN."""
    names = ", ".join(f"a{k}" for k in range(arguments + 1))
    source, library = folder / "call.c", folder / "call.so"
    typed = ", ".join(f"double *a{k}" for k in range(arguments + 1))
    source.write_text(f"{HEAD}{''.join(writer.texts)}\nvoid call({typed}) {{ {routine.name}({names}); }}\n")
    subprocess.run(["cc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
    call = ctypes.CDLL(str(library)).call

    def run(*arrays: np.ndarray) -> None:
        guard = np.full(routine.work + 1, np.nan)
        guard[-1] = 123.0
        call(*[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, guard)])
        assert guard[-1] == 123.0, "the work array is as long as the routine says"

    return run


def values(program: Program) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {k: rng.uniform(0.2, 1.2, m.shape) for k, m in program.inputs.items()}


def flat(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix, float).ravel(order="F")


def forward(program: Program, folder: Path) -> tuple[CallWriter, dict[str, np.ndarray]]:
    writer = CallWriter()
    run = compiled(writer, writer.forward(program), len(program.inputs) + len(program.outputs), folder)
    found = {k: np.full(m.rows * m.cols, np.nan) for k, m in program.outputs.items()}
    run(*(flat(v) for v in values(program).values()), *found.values())
    return writer, found


def reverse(
    program: Program, wanted: tuple[str, ...], folder: Path
) -> tuple[CallWriter, Routine, dict[str, np.ndarray]]:
    writer = CallWriter()
    routine = writer.reverse(program, frozenset(s for k in wanted for s in program.inputs[k]))
    run = compiled(writer, routine, len(program.inputs) + len(program.outputs) + len(wanted), folder)
    found = {k: np.full(program.inputs[k].rows * program.inputs[k].cols, START) for k in wanted}
    run(*(flat(v) for v in values(program).values()), *seeds(program).values(), *found.values())
    return writer, routine, found


def seeds(program: Program) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(6)
    return {k: rng.normal(size=m.rows * m.cols) for k, m in program.outputs.items()}


def pulled(program: Program, wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The gradients by CasADi's reverse mode."""
    f = call_graph(program)
    x = [ca.MX.sym(k, m.rows, m.cols) for k, m in program.inputs.items()]
    weighed = sum(
        (ca.dot(ca.vec(y), s) for y, s in zip(f.call(x), seeds(program).values(), strict=True)), start=ca.MX(0)
    )
    by = [x[list(program.inputs).index(k)] for k in wanted]
    graph = ca.Function("g", x, [ca.gradient(weighed, v) for v in by])
    return dict(zip(wanted, map(flat, map(np.array, graph.call(list(values(program).values())))), strict=True))


@pytest.mark.parametrize("make", [leaf, middle, outer])
def test_forward_is_the_program(make: Any, tmp_path: Path) -> None:
    program = make()
    _, found = forward(program, tmp_path)
    expected = program.numpy()(**values(program))
    for name, value in found.items():
        np.testing.assert_allclose(value, flat(expected[name]), rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("expanded", [True, False], ids=["short", "long"])
@pytest.mark.parametrize(
    ("make", "wanted"),
    [(leaf, ("m",)), (middle, ("v", "s")), (middle, ("s",)), (outer, ("x", "scale", "idle")), (outer, ("scale",))],
)
def test_reverse_adds_the_gradient(
    make: Any, wanted: tuple[str, ...], expanded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long program keeps only what lies between the programs it calls, and runs them again in reverse."""
    monkeypatch.setattr(call_writer, "EXPANDED_CALLS", 1000 if expanded else 0)
    program = make()
    writer, routine, found = reverse(program, wanted, tmp_path)
    expected = pulled(program, wanted)
    for name, value in found.items():
        np.testing.assert_allclose(value - START, expected[name], rtol=1e-12, atol=1e-11, err_msg=name)
    if make is outer:
        assert ("middle_reverse_" in "".join(writer.texts)) != expanded
        assert ("outer_expanded_reverse_" in "".join(writer.texts)) == expanded
    assert routine.operations > 0


def test_a_kernel_is_emitted_once_however_often_it_is_called(tmp_path: Path) -> None:
    writer, _ = forward(outer(), tmp_path)
    text = "".join(writer.texts)
    assert (
        text.count("void leaf_program(") == text.count("void middle_program(") == text.count("void outer_program(") == 1
    )
    before = len(writer.texts)
    assert writer.forward(middle()).name == "middle_program" and len(writer.texts) == before


def test_what_lies_side_by_side_is_passed_as_it_lies(tmp_path: Path) -> None:
    """A column of an input and a call's whole output: pointers, nothing gathered; numbers: one table."""
    b = Program("plain")
    v = b.input("v", 9)
    inner = Program("inner")
    inner.output("r", inner.let(inner.input("x", 3) * 2))
    r = b.call(inner, x=Matrix(v[3:6]))["r"]
    b.output("y", b.call(inner, x=r)["r"])
    b.output("c", b.call(inner, x=Matrix([1, 2, 3]))["r"])
    writer, found = forward(b, tmp_path)
    body = writer.texts[-1]
    assert "v + 3" in body and " w[" not in body and body.count("static const double") == 1
    np.testing.assert_allclose(found["y"], 4 * values(b)["v"].ravel()[3:6])
    np.testing.assert_array_equal(found["c"], [2.0, 4.0, 6.0])


@pytest.mark.parametrize("make", [middle, outer])
def test_cut_functions_give_the_same_bits(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = forward(make(), tmp_path)
    (tmp_path / "forth").mkdir()
    _, _, gradient = reverse(make(), tuple(make().inputs)[:1], tmp_path / "forth")
    monkeypatch.setattr(call_writer, "PIECE_LINES", 3)
    (tmp_path / "cut").mkdir()
    writer, pieces = forward(make(), tmp_path / "cut")
    assert f"{make().name}_program_part1(" in "".join(writer.texts)
    for name, value in whole.items():
        np.testing.assert_array_equal(pieces[name], value)
    (tmp_path / "back").mkdir()
    _, _, cut = reverse(make(), tuple(make().inputs)[:1], tmp_path / "back")
    for name, value in gradient.items():
        np.testing.assert_array_equal(cut[name], value)
