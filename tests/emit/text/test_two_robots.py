"""P35: two robots with the same joint names in one program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

PROGRAM = """
#include "arm_left.h"
#include "arm_right.h"
#include <stdio.h>
#include <stdlib.h>

static const double left_alpha[ARM_LEFT_ALPHA] = {%s};
static const double right_alpha[ARM_RIGHT_ALPHA] = {%s};

int main(void) {
  double s0[2] = {0.25, 0.8}, f0[2], a0[2], *w;
  const double *in[2];
  double *out[1];
  int size = arm_left_gravity_work_size();
  if (arm_right_gravity_work_size() > size) size = arm_right_gravity_work_size();
  w = (double *)calloc((size_t)size + 1, sizeof(double));
  in[0] = s0;
  in[1] = left_alpha;
  out[0] = f0;
  if (arm_left_gravity(in, out, w)) return 1;
  in[1] = right_alpha;
  out[0] = a0;
  if (arm_right_gravity(in, out, w)) return 1;
  printf("%%.17g %%.17g %%.17g %%.17g\\n", f0[0], f0[1], a0[0], a0[1]);
  free(w);
  return 0;
}
"""
NAMES = ("arm_left", "arm_right")


@pytest.fixture(scope="module")
def arms(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("arms")
    found = {}
    for name in NAMES:
        shutil.copy(shared / "cases" / "P35-two-robots-one-binary" / f"{name}.urdf", folder)
        recipe = folder / f"{name}.toml"
        recipe.write_text(f'name = "{name}"\nurdf = "{name}.urdf"\nfunctions = ["gravity"]\n')
        found[name] = generate(str(recipe), out=folder / "generated" / name).folder
    return found


def build(arms: dict[str, Path], folder: Path, compiler: str, suffix: str, flags: list[str]) -> np.ndarray:
    defaults = [", ".join(repr(float(v)) for v in load(arms[name]).alpha.defaults) for name in NAMES]
    program, objects = folder / f"both.{suffix}", []
    program.write_text(PROGRAM % tuple(defaults))
    for name in NAMES:
        for source in (arms[name] / "src").glob("*.c"):
            objects.append(str(folder / f"{name}_{source.stem}.o"))
            subprocess.run(
                ["cc", "-std=c99", "-O0", f"-I{arms[name]}", "-c", str(source), "-o", objects[-1]], check=True
            )
    includes = [f"-I{arms[name]}" for name in NAMES]
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(
        [compiler, *flags, *strict, *includes, str(program), *objects, "-o", str(folder / suffix), "-lm"], check=True
    )
    return np.array(
        subprocess.run([str(folder / suffix)], capture_output=True, check=True, text=True).stdout.split(), float
    )


@pytest.mark.thorough
@pytest.mark.parametrize(("compiler", "suffix", "flags"), [("cc", "c", ["-std=c99"]), ("c++", "cpp", ["-std=c++98"])])
def test_one_program(
    arms: dict[str, Path], shared: Path, tmp_path: Path, compiler: str, suffix: str, flags: list[str]
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    expected = json.loads((shared / "cases" / "P35-two-robots-one-binary" / "expected.json").read_text())
    found = build(arms, tmp_path, compiler, suffix, flags)
    np.testing.assert_allclose(found, [*expected["arm_left"], *expected["arm_right"]], rtol=0, atol=1e-9)


def test_both_libraries_in_one_process(arms: dict[str, Path], shared: Path) -> None:
    expected = json.loads((shared / "cases" / "P35-two-robots-one-binary" / "expected.json").read_text())
    robots = {name: load(arms[name]) for name in NAMES}
    for name, robot in robots.items():
        np.testing.assert_allclose(robot.gravity(np.array(expected["q"])), expected[name], rtol=0, atol=1e-9)
