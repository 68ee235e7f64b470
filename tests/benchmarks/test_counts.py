"""Counts without a clock, the kind of the processor, and tables by kind."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.robots import loaded

from benchmarks import assembly, kinds, processor, static

TEXT = """\
twice:
.LFB0:
\tsubq\t$24, %rsp
\tmovsd\t%xmm0, 8(%rsp)
\tmovapd\t%xmm1, %xmm2
\tmulsd\t8(%rsp), %xmm2
\tdivsd\t%xmm2, %xmm0
\tmovsd\t(%rdi), %xmm3
\taddq\t$24, %rsp
\tret
\tcall\tfar@PLT
\tret
\t.size\ttwice, .-twice
"""


def test_an_assembly_text_is_counted_to_its_first_return() -> None:
    ((name, lines),) = assembly.functions(TEXT)
    found = assembly.counted(lines)
    assert name == "twice"
    assert (found.instructions, found.loads, found.stores, found.copies, found.divisions, found.aside) == (
        8,
        1,
        1,
        1,
        1,
        2,
    )
    assert len(found.lines) == 7  # no way out among them


def test_a_compiler_s_functions_are_measured_and_pieces_are_one(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "__attribute__((noinline)) double f_kernel_0(double x) { return x / 3.0; }\n"
        "__attribute__((noinline)) double f_kernel_1(double x) { return x / 7.0; }\n"
        "double g(double x) { return f_kernel_0(x) + f_kernel_1(x); }\n"
    )
    compiler = shutil.which("gcc")
    if compiler is None or shutil.which("nm") is None:
        pytest.skip("needs gcc and binutils")
    found = assembly.measured([compiler, "-O2"], source, tmp_path)
    assert set(found) == {"f_kernel", "g"}
    if found["f_kernel"].divisions:  # of an x86
        assert found["f_kernel"].divisions == 2
    assert 0 < found["f_kernel"].bytes < 100


def test_operations_are_those_of_the_text() -> None:
    text = (
        "static NOINLINE void newton_kernel_0(const V *x, V *y) {\n V a0,a1;\n a0=x[0];\n a1=2.0;\n a0=a0*a1;\n y[0]=a0;\n}\n"
        "static NOINLINE void newton_kernel_1(V *y) {\n V a0;\n a0=sin0;\n}\n"
    )
    assert static.operations(text) == {"newton": 2}


def test_iterations_of_a_step_share_what_they_begin_with() -> None:
    counted = static.operations((loaded("baxter_bare").folder / "src" / "joint_step_model.h").read_text())
    assert counted["reach"] > 4 * counted["chord_after"]
    assert sum(counted[k] for k in static.STEP) < 4900  # 5900 when each began by itself


def test_the_kind_is_the_newest_whose_features_are_here() -> None:
    targets = {
        "old": SimpleNamespace(vendor="maker", features={"sse2"}),
        "new": SimpleNamespace(vendor="maker", features={"sse2", "avx2", "pku"}),
        "newer": SimpleNamespace(vendor="maker", features={"sse2", "avx2", "pku", "avx512f"}),
        "other": SimpleNamespace(vendor="else", features={"sse2", "avx2", "fma"}),
    }
    assert processor.nearest({"sse2", "avx2", "fma"}, "maker", targets) == "new"
    assert processor.nearest({"sse2"}, "maker", targets) == "old"
    assert processor.nearest(set(), "maker", targets) is None


def test_tables_of_kinds_stand_side_by_side(tmp_path: Path) -> None:
    rows = [SimpleNamespace(name="diffpbd joint_step")]
    timings = {"diffpbd joint_step": {"step": SimpleNamespace(ratio=3.8123, median=1.48)}}
    path = kinds.write(tmp_path, {"processor": {"kind": "zen4", "name": "EPYC"}}, rows, timings)  # type: ignore[arg-type]
    assert path.name == "zen4.json"
    tables = kinds.read(tmp_path)
    assert kinds.lines(tables)[0] == ["joint_step", "3.81"]
    assert kinds.lines(tables)[1] == ["portable", ""]


def test_the_committed_tables_are_read() -> None:
    tables = kinds.read(kinds.RESULTS)
    assert {len(line) for line in kinds.lines(tables)} == {1 + len(tables)}
    assert all(found["processor"]["kind"] == kind for kind, found in tables.items())
