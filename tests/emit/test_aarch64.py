"""The C of a robot on another processor: cross-compiled for ARM's 64-bit cores, run by an emulator, the same bits as here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import touching
from support.robots import CACHE, generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.folder.manifest import Argument, Function

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
ROBOTS = {
    "double_pendulum": ("joint_step", "jac_joint_step", "vjp_joint_step", "forward_dynamics", "gravity"),
    "thrown_box": ("joint_step", "jac_joint_step"),
    "prismatic_skew": ("joint_step", "jac_joint_step", "inverse_dynamics"),
}
ROWS = 20
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
    return (
        f'#include "{robot.name}.h"\n#include <stdio.h>\n#include <stdlib.h>\nstatic double buffer[{most}], result[{most}];\n'
        f"int main(void) {{{''.join(calls)}\n  return 0;\n}}\n"
    )


def arguments(robot: Robot, name: str) -> list[np.ndarray]:
    """Rows (ROWS, inputs) of states and torques as the C takes them; some beyond what a step can solve."""
    rng = np.random.default_rng(3)
    fixed = {"h": np.array([0.01]), "alpha": robot.alpha.defaults}

    def drawn(argument: Argument) -> np.ndarray:
        values = rng.uniform(-4.0, 4.0, argument.size())
        if robot.manifest.robot.floating and argument.name == "p":  # a quaternion, near the ground
            values[2], values[3:7] = rng.uniform(0.05, 0.4), values[3:7] / np.linalg.norm(values[3:7])
        return values

    return [
        np.concatenate([fixed[a.name] if a.name in fixed else drawn(a) for a in entry_of(robot, name).inputs])
        for _ in range(ROWS)
    ]


def box() -> Robot:
    """A box over the ground, with a contact at each of its corners."""
    folder = CACHE / "touching"
    folder.mkdir(parents=True, exist_ok=True)
    mechanism, line = touching.box("floating", 0.5, True)
    path = mechanism.write(folder, "thrown_box", f'{line}\nsymbolic = ["mass"]')
    return load(generated(str(path), functions=("joint_step", "jac_alpha_joint_step")))


def built(robot: Robot, folder: Path, text: str, command: list[str]) -> str:
    folder.mkdir()
    (folder / "program.c").write_text(text)
    sources = sorted(str(path) for path in (robot.folder / "src").glob("*.c"))
    flags = ["-std=c99", "-ffp-contract=off", "-DDIFFPBD_PORTABLE", f"-I{robot.folder}", "-o", str(folder / "program")]
    subprocess.run([*command, *flags, str(folder / "program.c"), *sources, "-lm"], check=True)
    return str(folder / "program")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "optimised"), [("double_pendulum", "-O2"), ("prismatic_skew", "-O0"), ("thrown_box", "-O2")]
)
def test_the_same_bits_as_on_this_processor(name: str, optimised: str, tmp_path: Path) -> None:
    robot = box() if name == "thrown_box" else load(generated(name, functions=("default",), variants=()))
    text = program(robot, ROBOTS[name])
    given = np.concatenate([np.concatenate(arguments(robot, function)) for function in ROBOTS[name]]).tobytes()
    here = built(robot, tmp_path / "here", text, ["cc", "-O1"])
    there = built(robot, tmp_path / "there", text, [COMPILER, optimised, "-static"])
    found = [
        subprocess.run(command, input=given, capture_output=True, check=True).stdout
        for command in ([here], [EMULATOR, there])
    ]
    assert len(found[0]) > 8 * ROWS * len(ROBOTS[name])
    differ = np.frombuffer(found[0], dtype=np.float64) != np.frombuffer(found[1], dtype=np.float64)
    assert found[0] == found[1], f"{differ.sum()} of {differ.size} numbers differ"
