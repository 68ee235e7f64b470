"""C in single precision (`generate --single`): on an emulated Cortex-M7 without an operating system, whose unit has no double
arithmetic, the same bits as here; beside the double C on 1000 states."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.imports import ROOT
from support.robots import generated
from support.touching import block

from diffpbd.codegen.emit.single import LIBM, single
from diffpbd.codegen.generate import generate
from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.folder.manifest import Function

COMPILER, EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
LINUX = "arm-linux-gnueabihf-gcc"
CORE = "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16".split()
BOARD = ROOT / "tests" / "c" / "cortex_m7"
FUNCTIONS = ("joint_step", "jac_joint_step", "inverse_dynamics", "forward_dynamics", "tip_pose", "fk", "frame_pose")
ROWS = 1000
STRICT = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wdouble-promotion -Werror".split()
CALL = """
  for (k = 0, paint(); k < {rows}; k++) {{
    if (!take(buffer, {given} * (int)sizeof *buffer)) return 1;
    {pointers}
    result[{found}] = (float){symbol}(in, out, work);
    give(result, ({found} + 1) * (int)sizeof *result);
  }}
  result[0] = (float)used();
  give(result, sizeof *result);"""

UNCACHED = {**os.environ, "CCACHE_DISABLE": "1"}
"""ccache keeps no records of stack."""

on_board = pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"{COMPILER} (with newlib) or {EMULATOR} is not installed",
)


def made(name: str) -> Robot:
    return load(generated(name, functions=("joint_step", "forward_dynamics"), variants=(), single=True))


def entry_of(robot: Robot, name: str) -> Function:
    return next(f for f in robot.manifest.functions if f.name == name)


def symbol_of(entry: Function) -> str:
    return f"{entry.symbol.removesuffix(entry.name)}single_{entry.name}"


def program(robot: Robot) -> str:
    """A C program that takes the arguments of all functions and gives what they return, statuses, and bytes of stack."""
    calls, numbers, arguments, work = [], 1, 1, 1
    for entry in (entry_of(robot, name) for name in FUNCTIONS):
        pointers = []
        for side, store, own in (("in", "buffer", entry.inputs), ("out", "result", entry.outputs)):
            place = 0
            for k, argument in enumerate(own):
                pointers.append(f"{side}[{k}] = {store} + {place};")
                place += argument.size()
        given, found = (sum(a.size() for a in own) for own in (entry.inputs, entry.outputs))
        numbers, work = max(numbers, given, found + 1), max(work, entry.work_size or 0)
        arguments = max(arguments, len(entry.inputs), len(entry.outputs))
        calls.append(
            CALL.format(rows=ROWS, given=given, found=found, symbol=symbol_of(entry), pointers=" ".join(pointers))
        )  # fmt: skip
    return (
        f'#include "{robot.name}_single.h"\n#include "board.h"\n'
        f"static float buffer[{numbers}], result[{numbers}], work[{work}];\n"
        f"static const float *in[{arguments}];\nstatic float *out[{arguments}];\n"
        f"int main(void) {{\n  int k;{''.join(calls)}\n  return 0;\n}}\n"
    )


@cache
def states(robot: Robot) -> dict[str, np.ndarray]:
    """Arguments (ROWS, size) of every function, numbers that single precision has; torques of accelerations up to 5 rad/s²."""
    rng = np.random.default_rng(7)
    alpha = robot.alpha.defaults.astype(np.float32).astype(float)
    n = entry_of(robot, "joint_step").inputs[0].size()

    def drawn(most: float) -> np.ndarray:
        return rng.uniform(-most, most, (ROWS, n)).astype(np.float32).astype(float)

    p, pd, pdd = drawn(3.0), drawn(2.0), drawn(5.0)
    u = np.array([robot.inverse_dynamics(*row, alpha=alpha) for row in zip(p, pd, pdd, strict=True)])
    fixed = {
        "h": np.full((ROWS, 1), np.float32(0.01)),
        "frame": np.zeros((ROWS, 1)),
        "alpha": np.tile(alpha, (ROWS, 1)),
    }
    return {"p": p, "pd": pd, "pdd": pdd, "u": u.astype(np.float32).astype(float), **fixed}


def given(robot: Robot) -> bytes:
    rows = states(robot)
    return b"".join(
        np.hstack([rows[a.name] for a in entry_of(robot, name).inputs]).astype(np.float32).tobytes()
        for name in FUNCTIONS
    )


def split(robot: Robot, data: bytes) -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Results of each function (ROWS, size), statuses and bytes of stack."""
    numbers, result, at = np.frombuffer(data, dtype=np.float32), {}, 0
    for name in FUNCTIONS:
        size = sum(a.size() for a in entry_of(robot, name).outputs) + 1
        own = numbers[at : at + size * ROWS].reshape(ROWS, size)
        result[name] = own[:, :-1].astype(float), own[:, -1], int(numbers[at + size * ROWS])
        at += size * ROWS + 1
    assert at == numbers.size
    return result


def built(robot: Robot, folder: Path, command: list[str], *files: str) -> Path:
    text = folder / "program.c"
    text.write_text(program(robot))
    sources = [text, *sorted((robot.folder / "float" / "src").glob("*.c")), *(BOARD / name for name in files)]
    quiet = ["-Wno-implicit-int-float-conversion"] if command[0] == "clang" else []  # of sizes, which are small
    flags = [*STRICT, *quiet, "-ffp-contract=off", f"-I{robot.folder / 'float'}", f"-I{BOARD}"]
    objects = []
    for source in map(str, sources):
        objects.append(str(folder / f"{command[0]}_{Path(source).stem}.o"))
        subprocess.run([*command, *flags, "-c", "-o", objects[-1], source], check=True, env=UNCACHED)
    out = folder / f"{command[0]}_program"
    linked = ["-nostartfiles", "-Wl,--gc-sections", f"-T{BOARD / 'board.ld'}"] if "board.c" in files else []
    subprocess.run([*command, *linked, "-o", str(out), *objects, "-lm"], check=True)
    return out


def here(robot: Robot, folder: Path, command: tuple[str, ...]) -> bytes:
    out = built(robot, folder, list(command), "host.c")
    return subprocess.run([str(out)], input=given(robot), capture_output=True, check=True).stdout


ERRORS = {
    "double_pendulum": {
        "joint_step": (1e-6, 2e-5), "jac_joint_step": (1e-6, 2e-5, 5e-6, 1e-7, 1e-9, 1e-3, 2e-5, 2e-7),
        "inverse_dynamics": (2e-5,), "forward_dynamics": (1.5e-4,), "tip_pose": (6e-7, 4e-7), "fk": (3e-6,),
        "frame_pose": (6e-7, 4e-7),
    },
    "baxter_bare": {
        "joint_step": (3e-6, 3e-4), "jac_joint_step": (3e-6, 3e-4, 2e-5, 2e-7, 2e-7, 3e-3, 1e-4, 3e-5),
        "inverse_dynamics": (4e-5,), "forward_dynamics": (5e-3,), "tip_pose": (4e-7, 6e-7), "fk": (7e-6,),
        "frame_pose": (4e-7, 6e-7),
    },
}  # fmt: skip
"""[SI] What the largest error of each output on all states stays below: two to three times what was found."""
STACK = {"double_pendulum": 800, "baxter_bare": 3000}
"""[B] Of every function, its callees' included."""
NAMES = ["double_pendulum", pytest.param("baxter_bare", marks=pytest.mark.soak)]


def exact(robot: Robot, name: str) -> list[np.ndarray]:
    """Each output (ROWS, size) of the double C at the same arguments."""
    rows, entry = states(robot), entry_of(robot, name)
    called, results = getattr(robot, name), []
    for k in range(ROWS):
        own = {a.name: rows[a.name][k] for a in entry.inputs if a.name != "frame"}
        found = called(**{key: value if key != "h" else float(value[0]) for key, value in own.items()})
        found = found if isinstance(found, tuple) else (found,)
        results.append([np.asarray(x).ravel(order="F") for x in found])
    return [np.array([row[k] for row in results]) for k in range(len(results[0]))]


@pytest.mark.parametrize("name", NAMES)
def test_errors_beside_the_double_c(name: str, tmp_path: Path) -> None:
    robot = made(name)
    for function, (values, status, _) in split(robot, here(robot, tmp_path, ("gcc", "-O1"))).items():
        assert not status.any(), function
        at, largest = 0, []
        for wanted in exact(robot, function):
            largest.append(np.abs(values[:, at : at + wanted.shape[1]] - wanted).max())
            at += wanted.shape[1]
        print(name, function, *(f"{x:.1e}" for x in largest))
        bars = ERRORS[name][function]
        assert all(0.02 * bar < x < bar for x, bar in zip(largest, bars, strict=True)), (function, largest, bars)


@pytest.mark.thorough
@on_board
@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits_on_a_cortex_m7_without_doubles_and_heap(name: str, tmp_path: Path) -> None:
    robot = made(name)
    core = [COMPILER, "-O2", "-ffunction-sections", "-fcallgraph-info=su", *CORE]
    board = built(robot, tmp_path, core, "board.c")
    (tmp_path / "given").write_bytes(given(robot))
    machine = ["-M", "mps2-an500", "-nographic", "-semihosting-config", "enable=on,target=native"]
    subprocess.run([EMULATOR, *machine, "-kernel", str(board)], cwd=tmp_path, check=True, timeout=300)
    there = split(robot, (tmp_path / "found").read_bytes())
    clang = ("clang", "-O2") if shutil.which("clang") else ("gcc", "-O0")
    wanted = split(robot, here(robot, tmp_path, clang))
    for function, (values, status, stack) in there.items():
        np.testing.assert_array_equal(values, wanted[function][0])
        np.testing.assert_array_equal(status, wanted[function][1])
        bound = stack_bound(tmp_path, symbol_of(entry_of(robot, function)))
        print(name, function, f"stack: {stack} B used, at most {bound} B")
        assert 32 <= stack <= bound <= STACK[name], function
    symbols = subprocess.run(["arm-none-eabi-nm", str(board)], capture_output=True, text=True, check=True).stdout
    words = {line.split()[-1] for line in symbols.splitlines()}
    assert f"{robot.name}_single_joint_step" in words
    assert not {w for w in words if re.match(r"__aeabi_(d|f2d|i2d|ui2d|l2d)|_?_?(malloc|calloc|free|sbrk)", w)}


@pytest.mark.thorough
@pytest.mark.skipif(
    shutil.which(LINUX) is None or shutil.which("qemu-arm") is None, reason=f"{LINUX} or qemu-arm is not installed"
)
def test_the_same_bits_on_32_bit_arm_with_linux(tmp_path: Path) -> None:
    robot = made("double_pendulum")
    out = built(robot, tmp_path, [LINUX, "-O2", "-static"], "host.c")
    there = subprocess.run(["qemu-arm", str(out)], input=given(robot), capture_output=True, check=True).stdout
    assert there == here(robot, tmp_path, ("gcc", "-O1"))


LIBRARY = 64
"""[B] Allowed for newlib's copying of arrays, which has no record of its stack."""


def stack_bound(folder: Path, symbol: str) -> int:
    """Bytes of stack of a function and its deepest callees, by what the compiler wrote of each (-fcallgraph-info)."""
    own: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for file in folder.glob("arm-none-eabi-gcc_*.ci"):
        unit = file.stem

        def named(title: str, unit: str = unit) -> str:
            return f"{unit}:{title.split(':')[-1]}" if ":" in title else title

        text = file.read_text()
        for title, size in re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(static\)', text):
            own[named(title)] = int(size)
        for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(named(caller), set()).add(named(callee))

    def deepest(name: str) -> int:
        return own.get(name, LIBRARY) + max((deepest(callee) for callee in calls.get(name, ())), default=0)

    assert symbol in own
    return deepest(symbol)


STEPS = 20


@pytest.mark.parametrize("name", NAMES)
def test_a_rollout_and_its_gradient(name: str, tmp_path: Path) -> None:
    """Runs of 0.2 s from 20 states, under about what holds the arm there, beside double: where they end [rad], and what a seed
    on every node gives, by its largest entry."""
    robot, library = made(name), tmp_path / "single.so"
    sources = sorted(map(str, (robot.folder / "float" / "src").glob("*.c")))
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", f"-I{robot.folder / 'float'}"]
    subprocess.run(["gcc", *flags, "-o", str(library), *sources, "-lm"], check=True)
    symbols = ctypes.CDLL(str(library))
    rng, rows = np.random.default_rng(3), states(robot)
    n, alpha = rows["p"].shape[1], rows["alpha"][0].copy()
    worst = np.zeros(2)
    for k in range(20):
        holding = robot.inverse_dynamics(rows["p"][k], np.zeros(n), np.zeros(n), alpha=alpha)
        U = np.float32(holding * rng.uniform(0.95, 1.05, (STEPS, 1))).astype(float)
        P_bar, PD_bar = np.float32(rng.standard_normal((2, STEPS + 1, n))).astype(float)
        p, pd, h = rows["p"][k], 0.1 * rows["pd"][k].astype(np.float32).astype(float), float(np.float32(0.01))
        pd = pd.astype(np.float32).astype(float)
        P, PD = robot.rollout(p, pd, U, h=h, alpha=alpha)
        wanted = robot.vjp_rollout(p, pd, U, h=h, alpha=alpha, P_bar=P_bar, PD_bar=PD_bar)
        ends = called(symbols, f"{name}_single_rollout", (p, pd, U, h, alpha), (P.size, PD.size))
        found = called(
            symbols, f"{name}_single_vjp_rollout", (p, pd, U, h, alpha, P_bar, PD_bar), [np.size(x) for x in wanted]
        )
        apart = max(np.abs(a - np.ravel(b)).max() / np.abs(b).max() for a, b in zip(found, wanted, strict=True))
        worst = np.maximum(worst, [np.abs(ends[0] - P.ravel()).max(), apart])
    print(name, "rollout", worst)
    assert (worst > 1e-7).all() and (worst < (1e-4, 1e-2)).all(), worst


def called(symbols: ctypes.CDLL, name: str, given: Sequence[Any], sizes: Sequence[int]) -> list[np.ndarray]:
    """A rollout's function of a library in single precision: flat outputs of these sizes."""
    inputs = [np.ravel(x).astype(np.float32) for x in given]
    outputs = [np.zeros(size, dtype=np.float32) for size in sizes]
    work = np.zeros(getattr(symbols, f"{name}_work_size")(STEPS), dtype=np.float32)
    pointers = [(ctypes.c_void_p * len(own))(*(x.ctypes.data for x in own)) for own in (inputs, outputs)]
    status = getattr(symbols, name)(STEPS, *pointers, ctypes.c_void_p(work.ctypes.data))
    assert status == 0
    return [x.astype(float) for x in outputs]


def test_words_of_c() -> None:
    text = (
        'double sin(double x) { return 1.0 + 2e-3 * x - .5 + a.b1; } /* doubles, IEEE double precision */ "1.0 double"'
    )
    want = (
        'float sinf(float x) { return 1.0f + 2e-3f * x - .5f + a.b1; } /* floats, IEEE double precision */ "1.0 double"'
    )
    assert single(text) == want
    assert single("x = 1e-300 + 3 * 10;") == "x = 0.0f + 3 * 10;"
    assert (
        single("arm_step(arm_stepper, ARM_N);", {"arm_step": "arm_single_step"})
        == "arm_single_step(arm_stepper, ARM_N);"
    )
    assert single('#include "sine_cosine.h"\n') == '#include "sine_cosine.h"\n'
    assert all(single(f"{name}(x)") == f"{name}f(x)" for name in LIBM)
    with pytest.raises(ValueError, match="1e150 has no single precision"):
        single("1e150")


def test_what_has_no_single_precision_is_refused(tmp_path: Path) -> None:
    path = block().write(tmp_path, "block")
    with pytest.raises(InputError, match=r"block: --single is for open trees .*: here .*contact.*Leave --single out"):
        generate(str(path), out=tmp_path / "out", functions=("joint_step",), single=True)


def test_the_header_says_what_is_left_and_how_short_a_step_may_be() -> None:
    robot = made("double_pendulum")
    header = (robot.folder / "float" / "double_pendulum_single.h").read_text()
    declared = set(re.findall(r"int double_pendulum_single_(\w+)\(", header))
    assert {"joint_step", "vjp_rollout", "inverse_dynamics", "tip_pose", "frame_pose"} <= declared
    assert not {"ik", "step", "sixth_order_step"} & declared
    assert "0.0001 s at least" in header and "double " not in header
    assert "C_CONE" not in (robot.folder / "float" / "src" / "model.h").read_text()
