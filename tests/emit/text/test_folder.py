"""Generated folders as a C programmer meets them: warnings, symbols, buffers, build files, sizes, words."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arguments import arguments, row_of
from support.numeric import states
from support.robots import FULL, SOAK, generated, loaded, loaded_alpha

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.emit.folder import write_folder
from diffpbd.codegen.emit.tables.constants import CONSTANTS, FRAME_STATUS, STATUS
from diffpbd.codegen.emit.tables.hold_constants import HOLD_STATUS
from diffpbd.codegen.graph.solved.step_graphs import UNROLLED
from diffpbd.runtime import Robot, load
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.integrity import RECORD_SUFFIX
from diffpbd.runtime.functions.function import BoundFunction

STRICT = [
    "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror",
]  # fmt: skip
LIBC = {"memcpy", "memmove", "memset", "strcmp", "getenv"}  # tcc copies a struct by memmove
LIBM = {
    "floor",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "exp",
    "log",
    "sqrt",
    "fabs",
    "atan",
    "atan2",
    "asin",
    "acos",
    "pow",
    "fmin",
    "fmax",
    "hypot",
}
UNJUDGED = "_unjudged"
"""Ends the functions whose results entries.c judges."""
MERGED = {"sincos"}  # what gcc makes of a sine and a cosine of one angle, where libm has it
OF_LINKERS = {
    "_init", "_fini", "_edata", "_end", "__bss_start",
    "_etext", "_GLOBAL_OFFSET_TABLE_",
    *(f"__{kind}_array_{end}" for kind in ("preinit", "init", "fini") for end in ("start", "end")),
}  # fmt: skip
MOST_OPERATIONS, MOST_BYTES = 20_000, 5_000_000


def cc(*words: str, cwd: Path | None = None) -> None:
    result = subprocess.run(["cc", *words], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:3000]


def sources(folder: Path) -> list[Path]:
    return sorted((folder / "src").glob("*.c"))


@pytest.mark.thorough("gnu99")
@pytest.mark.parametrize("dialect", ["gnu99", "gnu11"])
def test_names_do_not_clash_with_a_compilers_own(dialect: str) -> None:
    """Where extensions are on, as they are by default, <math.h> declares more than C99 has."""
    folder = generated("double_pendulum")
    for source in sources(folder):
        cc(f"-std={dialect}", "-Wall", "-Werror", "-fsyntax-only", f"-I{folder}", str(source))


@pytest.mark.parametrize(
    "named", [("joint_step.c", "torque_estimation.c", "mpc.c"), pytest.param((), marks=pytest.mark.soak, id="all")]
)
def test_no_warnings_when_optimised(named: tuple[str, ...], tmp_path: Path) -> None:
    """Some warnings (uninitialised values) come from the optimiser only: in code with loops and branches first of all."""
    folder = generated("double_pendulum")
    chosen = [source for source in sources(folder) if not named or source.name in named]
    assert len(chosen) >= len(named) > 0 or len(chosen) > 6
    for source in chosen:
        cc(*STRICT, "-O2", "-fPIC", f"-I{folder}", "-c", str(source), "-o", str(tmp_path / f"{source.stem}.o"))
    cc(*STRICT, "-O2", f"-I{folder}", "-c", str(folder / "main.c"), "-o", str(tmp_path / "main.o"))


def symbols(library: Path, kind: str) -> set[str]:
    text = subprocess.run(["nm", "-D", kind, str(library)], capture_output=True, check=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if not re.search(r"\s[wV]\s", line)}


@pytest.mark.parametrize("name", FULL)
def test_every_symbol_is_declared_and_only_libm_is_wanted(name: str) -> None:
    """Only libm (and a few of libc) wanted; everything offered carries the robot's name and is in the header."""
    folder = generated(name)
    library = folder / f"lib{name}.so"
    assert symbols(library, "--undefined-only") <= LIBM | LIBC | MERGED
    offered = symbols(library, "--defined-only") - OF_LINKERS
    header = (folder / f"{name}.h").read_text()
    declared = set(re.findall(rf"\b({name}_\w+)[(\[]", header))
    assert {symbol for symbol in offered if not symbol.endswith(UNJUDGED)} == declared
    macros = set(re.findall(r"#define (\w+)", header)) | set(re.findall(r"typedef .*?\(\*(\w+)\)", header))
    assert all(word.lower().startswith(f"{name}_") for word in macros)


def test_what_is_not_judged_is_hidden(pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By compilers that know hidden names; tcc offers them all."""
    monkeypatch.setenv("CC", "cc")
    compile_library(pendulum, "libdouble_pendulum.so")
    offered = symbols(pendulum / "libdouble_pendulum.so", "--defined-only")
    assert len(offered) > 50 and not any(symbol.endswith(UNJUDGED) for symbol in offered)


def pieces(text: str) -> dict[str, int]:
    """Statements of every C function."""
    found, name, count = {}, "", 0
    for line in text.splitlines():
        if match := re.match(r"(?:static )?(?:NOINLINE )?(?:void|int|double|long|const char \*)\s*(\w+)\(.*\{", line):
            name, count = match[1], 0
        count += line.count(";")
        if line == "}" and name:
            found[name] = count
    return found


@pytest.mark.parametrize("name", FULL)
def test_sizes(name: str) -> None:
    folder = generated(name)
    texts = [*sources(folder), *(folder / "src").glob("*.h")]
    total = sum(text.stat().st_size for text in texts)
    largest = max((n, f) for source in texts for f, n in pieces(source.read_text()).items())
    print(f"{name}: {total} bytes of C (bar {MOST_BYTES}); largest function {largest[1]}, {largest[0]} statements")
    assert largest[0] <= MOST_OPERATIONS
    assert total < MOST_BYTES


def taken(robot: Robot, f: BoundFunction) -> np.ndarray:
    """Parameters of every kind but those that the function refuses."""
    alpha = loaded_alpha(robot.alpha)
    if f.name.startswith(("step", "vjp_step")):
        alpha[list(robot.alpha.indices("rotor_inertia"))] = 0.0
    if "_order_" in f.name:
        alpha[[k for k, name in enumerate(robot.alpha.names) if name.startswith("friction.")]] = 0.0
    return np.maximum(alpha, robot.alpha.lower)


def raw(robot: Robot, f: BoundFunction, given: dict[str, Any], fill: float) -> list[np.ndarray]:
    """One call through ctypes; outputs are filled before, work is filled too."""
    library = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    inputs = [np.ravel(np.asarray(given[a.name], float), order="F") for a in f.facts.inputs]
    found = [np.full(a.size() + 2, fill) for a in f.facts.outputs]
    work = np.full((f.facts.work_size or 0) + 2, fill)
    pointers = [(ctypes.c_void_p * len(arrays))(*[x.ctypes.data for x in arrays]) for arrays in (inputs, found)]
    status = getattr(library, f.facts.symbol)(*pointers, ctypes.c_void_p(work.ctypes.data))
    assert status == 0, (f.name, status)
    assert (work[-2:] == fill).all(), f"{f.name} writes behind its work array"
    assert all((x[-2:] == fill).all() for x in found), f"{f.name} writes behind an output"
    return [x[:-2] for x in found]


@pytest.mark.parametrize("name", FULL)
def test_every_function_writes_every_output_and_reads_only_its_inputs(name: str) -> None:
    """Outputs and work hold 777 before one call and −3e300 before another: same bits, at every kind of state (P37)."""
    robot = loaded(name)
    values = states(robot.n, 1)
    for f in robot.functions.values():
        if f.facts.rollout:
            continue
        alpha = taken(robot, f)
        batch = arguments(robot, f, values, alpha)
        for row in (0, 1, 5):
            given = row_of(batch, row)
            one, two = (raw(robot, f, given, fill) for fill in (777.0, -3e300))
            for argument, a, b in zip(f.facts.outputs, one, two, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"{f.name} {argument.name}")


@pytest.mark.parametrize("name", FULL)
def test_threads_give_the_same_bits(name: str) -> None:
    robot = loaded(name)
    values = states(robot.n, 20)
    f = robot.functions["vjp_joint_step"]
    given = arguments(robot, f, values, loaded_alpha(robot.alpha))
    for one, two in zip(f(**given), f(**given, threads=3), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    """A folder of sources alone, as shipped to a control PC."""
    folder = tmp_path / "double_pendulum"
    shutil.copytree(generated("double_pendulum"), folder, ignore=shutil.ignore_patterns("*.so"))
    return folder


def check_example(program: Path) -> None:
    """Compare what the example prints with the step."""
    text = subprocess.run([str(program)], capture_output=True, check=True, text=True).stdout
    robot, zero = loaded("double_pendulum"), np.zeros(2)
    assert text.startswith("one step of 0.01 s from rest, no torque: status 0\n")
    before, after = np.array(re.findall(r"position \d: *(\S+) -> *(\S+)", text), float).T
    p, pd = robot.joint_step(before, zero, zero)
    np.testing.assert_allclose(after, p, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.array(re.findall(r"rate \d: *(\S+)", text), float), pd, rtol=0, atol=1e-9)
    assert np.abs(pd).max() > 0.01


def test_makefile(pendulum: Path) -> None:
    run = {"cwd": pendulum, "capture_output": True, "text": True}
    result = subprocess.run(["make", "CFLAGS=-O0"], **run)
    assert result.returncode == 0, result.stderr
    check_example(pendulum / "example")
    subprocess.run(["make", "shared", "CFLAGS=-O0"], check=True, **run)
    zero = np.zeros(2)
    np.testing.assert_array_equal(load(pendulum).gravity(zero + 1.0), loaded("double_pendulum").gravity(zero + 1.0))
    subprocess.run(["make", "clean"], check=True, **run)
    left = {path.relative_to(pendulum).as_posix() for path in pendulum.rglob("*") if path.is_file()}
    assert left == {*loaded("double_pendulum").manifest.files, "manifest.json"}


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("tcc") is None, reason="no tcc: a compiler of plain C99 without gcc's extensions")
@pytest.mark.parametrize("name", ["double_pendulum", pytest.param("baxter_bare", marks=pytest.mark.soak)])
def test_a_plain_compiler_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    """Tcc lacks what an old control PC's compiler lacks; without reordered arithmetic every bit is the same.

    With reduced counts the suite's own robots are tcc's, and the other one is made by cc.
    """
    folder = tmp_path / name
    shutil.copytree(generated(name), folder, ignore=shutil.ignore_patterns("*.so"))
    words = ["CC=tcc"] if SOAK else ["CC=cc", "CFLAGS=-O0"]
    result = subprocess.run(["make", "shared", "example", *words], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:3000]
    plain, robot = load(folder), loaded(name)
    assert (folder / f"lib{name}.so").read_bytes() != (generated(name) / f"lib{name}.so").read_bytes()
    values = states(robot.n, 3)
    for f in robot.functions.values():
        if not f.facts.rollout:
            alpha = taken(robot, f)
            given = arguments(robot, f, values, alpha)
            for row in range(3):
                here = row_of(given, row)
                for one, two in zip(raw(robot, f, here, 0.0), raw(plain, f, here, 0.0), strict=True):
                    np.testing.assert_array_equal(one, two, err_msg=f.name)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_cmake(pendulum: Path) -> None:
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug"], cwd=pendulum, **quiet)
    subprocess.run(["cmake", "--build", "build"], cwd=pendulum, **quiet)
    check_example(pendulum / "build" / "double_pendulum_example")


@pytest.mark.parametrize("name", FULL)
def test_the_manifest_says_what_is_there(name: str) -> None:
    folder, robot = generated(name), loaded(name)
    manifest = robot.manifest
    left = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    record = f"{manifest.library}{RECORD_SUFFIX}"
    assert left == {*manifest.files, "manifest.json", manifest.library, record}
    for file, digest in manifest.files.items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    graphs = {f.casadi for f in manifest.functions if f.casadi} | {f"casadi/{UNROLLED}.casadi"}
    assert graphs == {f for f in left if f.startswith("casadi/")}
    listed = {c.name for c in manifest.constants}
    assert listed == {c.name for c in CONSTANTS} and all(c.unit and c.reason for c in manifest.constants)
    for f in manifest.functions:
        assert f.doc and f.operations >= 0 and set(f.status) <= {*STATUS, *FRAME_STATUS, *HOLD_STATUS}
        for argument in (*f.inputs, *f.outputs):
            assert argument.unit, (f.name, argument.name)
        assert all(re.fullmatch(r"[A-Za-z]\w*", a.name) and not re.fullmatch(r"[io]\d+", a.name) for a in f.inputs)


@pytest.mark.parametrize("name", FULL)
def test_header_and_readme_list_everything(name: str) -> None:
    folder, manifest = generated(name), loaded(name).manifest
    header, readme = (folder / f"{name}.h").read_text(), (folder / "README.md").read_text()
    joints = [header.index(f"{j.name} ({j.type})") for j in manifest.robot.joints]
    assert joints == sorted(joints)
    for k, parameter in enumerate(manifest.alpha):
        assert re.search(rf" = {k},? /\* {re.escape(parameter.name)} \[", header), parameter.name
    for f in manifest.functions:
        assert f.doc in header and f"int {f.symbol}(" in header and f"`{f.symbol}`" in readme
    assert f"#define {name.upper()}_JOINTS {len(joints)}" in header
    assert "ship the sources" in readme.lower()
    for path in [*sources(folder), folder / f"{name}.h", folder / "main.c"]:
        assert "Do not edit" in path.read_text()[:400] and "diffpbd generate" in path.read_text()[:400]


def test_what_compilers_may_be_reading_is_not_written_again(tmp_path: Path) -> None:
    """A source that was cut to nothing while the compiler read it made a library without half of its functions."""
    recipe, described = resolve("double_pendulum")
    seen: dict[Path, int] = {}
    write_folder(
        tmp_path, described, replace(recipe, functions=("gravity",)), "0" * 64, lambda _recipe: "", lambda _line: None,
        lambda source, _headers: seen.update({source: source.stat().st_ino ^ source.stat().st_mtime_ns}),
    )  # fmt: skip
    assert {path.name for path in seen} >= {"functions.c", "common.c"}
    assert seen == {path: path.stat().st_ino ^ path.stat().st_mtime_ns for path in seen}
