"""The C of a robot on another processor: cross-compiled for ARM's 64-bit cores, run by an emulator: the same bits as here by
the portable path, the same to rounding by NEON's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import touching
from support.mechanisms import robot_of
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.folder.manifest import Argument, Function

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
ROBOTS = {
    "double_pendulum": (
        "joint_step", "jac_joint_step", "vjp_joint_step", "forward_dynamics", "gravity", "jac_sixth_order_step",
        "vjp_fourth_order_step",
    ),
    "thrown_box": ("joint_step", "jac_joint_step"),
    "prismatic_skew": ("joint_step", "jac_joint_step", "inverse_dynamics"),
}  # fmt: skip
ROWS = 21
"""No multiple of the lanes."""
PORTABLE = "-DDIFFPBD_PORTABLE"
CALL = """
  {{
    const double *in[{inputs}];
    double *out[{outputs}];
    int k, status;
    double *work = (double *)calloc((size_t){symbol}_work_size() + 1, sizeof *work);
    for (k = 0; k < {rows}; k++) {{
      if (fread(buffer, sizeof *buffer, {given}, stdin) != {given}) return 1;
      {pointers}
      status = {symbol}(in, out, work);
      result[{found}] = status;
      fwrite(result, sizeof *result, {found} + 1, stdout);
    }}
    free(work);
  }}"""
ROWS_OF = """
  {{
    static const int in_size[] = {{{in_size}}}, out_size[] = {{{out_size}}};
    static const double *in[{inputs}];
    static double *out[{outputs}];
    int k;
    long failed;
    double *work = (double *)calloc((size_t){symbol}_work_size() + 1, sizeof *work);
    {pointers}
    if (fread(buffer, sizeof *buffer, {given}, stdin) != {given}) return 1;
    for (k = 0; k < {found}; k++) result[k] = 0.0;
    failed = {robot}_map({symbol}, {inputs}, in_size, in, {outputs}, out_size, out, {rows}, work);
    result[{found}] = (double)failed;
    fwrite(result, sizeof *result, {found} + 1, stdout);
    free(work);
  }}"""
"""All rows in one call; h and alpha are shared."""
SHARED = ("h", "alpha")

pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"{COMPILER} or {EMULATOR} is not installed",
)


def entry_of(robot: Robot, name: str) -> Function:
    return next(f for f in robot.manifest.functions if f.name == name)


def program(robot: Robot, names: tuple[str, ...]) -> str:
    """A C program that reads arguments of all functions from its standard input and writes what they return, with statuses."""
    calls, most = [], 1
    for name in names:
        entry = entry_of(robot, name)
        given, found = (sum(a.size() for a in arguments) for arguments in (entry.inputs, entry.outputs))
        pointers, place = [], 0
        for k, argument in enumerate(entry.inputs):
            pointers.append(f"in[{k}] = buffer + {place};")
            place += argument.size()
        place = 0
        for k, argument in enumerate(entry.outputs):
            pointers.append(f"out[{k}] = result + {place};")
            place += argument.size()
        most = max(most, given, found + 1)
        calls.append(
            CALL.format(
                inputs=len(entry.inputs), outputs=len(entry.outputs), symbol=entry.symbol, rows=ROWS, given=given,
                found=found, pointers="\n      ".join(pointers),
            )
        )  # fmt: skip
    return main_of(robot, most, calls)


def main_of(robot: Robot, most: int, calls: list[str]) -> str:
    return (
        f'#include "{robot.name}.h"\n#include <stdio.h>\n#include <stdlib.h>\nstatic double buffer[{most}], result[{most}];\n'
        f"int main(void) {{{''.join(calls)}\n  return 0;\n}}\n"
    )


def batches(robot: Robot, names: tuple[str, ...]) -> tuple[str, bytes]:
    """A C program that maps functions over ROWS rows, and what it reads; it writes the path, then results and failures."""
    calls, most, given = [f"puts({robot.name}_path());"], 1, b""
    for name in names:
        entry, rows = entry_of(robot, name), np.array(arguments(robot, name, 1.0))
        pointers, data, place, start = [], [], 0, 0
        for k, argument in enumerate(entry.inputs):
            own = rows[:, start : start + argument.size()]
            data.append(own[0] if argument.name in SHARED else own.ravel())
            pointers.append(f"in[{k}] = buffer + {place};")
            place, start = place + data[-1].size, start + argument.size()
        reads, place = place, 0
        for k, argument in enumerate(entry.outputs):
            pointers.append(f"out[{k}] = result + {place};")
            place += argument.size() * ROWS
        most, given = max(most, reads, place + 1), given + np.concatenate(data).tobytes()
        calls.append(
            ROWS_OF.format(
                in_size=", ".join("0" if a.name in SHARED else str(a.size()) for a in entry.inputs),
                out_size=", ".join(str(a.size()) for a in entry.outputs),
                inputs=len(entry.inputs), outputs=len(entry.outputs), symbol=entry.symbol, robot=robot.name,
                rows=ROWS, given=reads, found=place, pointers="\n    ".join(pointers),
            )
        )  # fmt: skip
    return main_of(robot, most, calls), given


def arguments(robot: Robot, name: str, most: float = 4.0) -> list[np.ndarray]:
    """Rows (ROWS, inputs) of states and torques as the C takes them; some beyond what a step can solve."""
    rng = np.random.default_rng(3)
    fixed = {"h": np.array([0.01]), "alpha": robot.alpha.defaults}

    def drawn(argument: Argument) -> np.ndarray:
        values = rng.uniform(-most, most, argument.size())
        if robot.manifest.robot.floating and argument.name == "p":  # a quaternion, near the ground
            values[2], values[3:7] = rng.uniform(0.05, 0.4), values[3:7] / np.linalg.norm(values[3:7])
        return values

    return [
        np.concatenate([fixed[a.name] if a.name in fixed else drawn(a) for a in entry_of(robot, name).inputs])
        for _ in range(ROWS)
    ]


def box() -> Robot:
    """A box over the ground, with a contact at each of its corners."""
    return robot_of(touching.box("floating", 0.5, True), "thrown_box", 'symbolic = ["mass"]')


def built(robot: Robot, folder: Path, text: str, command: list[str], *defined: str) -> str:
    folder.mkdir()
    (folder / "program.c").write_text(text)
    sources = sorted(str(path) for path in (robot.folder / "src").glob("*.c"))
    flags = ["-std=c99", "-ffp-contract=off", *defined, f"-I{robot.folder}", "-o", str(folder / "program")]
    subprocess.run([*command, *flags, str(folder / "program.c"), *sources, "-lm"], check=True)
    return str(folder / "program")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "optimised"), [("double_pendulum", "-O2"), ("prismatic_skew", "-O0"), ("thrown_box", "-O2")]
)
def test_the_same_bits_as_on_this_processor(name: str, optimised: str, tmp_path: Path) -> None:
    functions = ("default", *(("sixth_order_step",) if name == "double_pendulum" else ()))
    robot = box() if name == "thrown_box" else load(generated(name, functions=functions, variants=()))
    text = program(robot, ROBOTS[name])
    given = np.concatenate([np.concatenate(arguments(robot, function)) for function in ROBOTS[name]]).tobytes()
    here = built(robot, tmp_path / "here", text, ["cc", "-O1"], PORTABLE)
    there = built(robot, tmp_path / "there", text, [COMPILER, optimised, "-static"], PORTABLE)
    found = [
        subprocess.run(command, input=given, capture_output=True, check=True).stdout
        for command in ([here], [EMULATOR, there])
    ]
    assert len(found[0]) > 8 * ROWS * len(ROBOTS[name])
    differ = np.frombuffer(found[0], dtype=np.float64) != np.frombuffer(found[1], dtype=np.float64)
    assert found[0] == found[1], f"{differ.sum()} of {differ.size} numbers differ"


@pytest.mark.thorough
def test_pairs_of_rows_in_the_vectors_of_neon(tmp_path: Path) -> None:
    """Both paths in one program; that in use is asked for and named."""
    steps, formulas = ("joint_step", "jac_joint_step", "vjp_joint_step"), ("inverse_dynamics", "forward_dynamics")
    robot = load(generated("double_pendulum", functions=("default",), variants=()))
    text, given = batches(robot, (*steps, *formulas))
    here = built(robot, tmp_path / "here", text, ["cc", "-O1"], PORTABLE)
    there = built(robot, tmp_path / "there", text, [COMPILER, "-O1", "-static", "-Wall", "-Wextra", "-Werror"])

    def run(*command: str) -> tuple[str, np.ndarray]:
        out = subprocess.run(command, input=given, capture_output=True, check=True).stdout
        path, _, numbers = out.partition(b"\n")
        return path.decode(), np.frombuffer(numbers, dtype=np.float64)

    wanted = run(here)
    portable = run(EMULATOR, "-E", "DIFFPBD_PATH=portable", there)
    foreign = run(EMULATOR, "-E", "DIFFPBD_PATH=x86-64-v3", there)
    neon = run(EMULATOR, "-U", "DIFFPBD_PATH", there)
    assert [path for path, _ in (wanted, portable, foreign, neon)] == ["portable", "portable", "portable", "neon"]
    np.testing.assert_array_equal(portable[1], wanted[1])
    assert neon[1].size == wanted[1].size and (neon[1] != wanted[1]).any()
    np.testing.assert_allclose(neon[1], wanted[1], rtol=1e-13, atol=3e-13)
