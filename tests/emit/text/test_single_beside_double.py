"""A program that links a robot's double archive and its single one (`generate --single`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime import load

STRICT = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror".split()
BOTH = """
#include "double_pendulum.h"
#include "double_pendulum_single.h"
#include <stdio.h>

static double alpha[DOUBLE_PENDULUM_ALPHA], work[2000];
static float alpha_f[DOUBLE_PENDULUM_SINGLE_ALPHA], work_f[2000];

int main(void) {
  double p[2] = {1.25, -0.5}, pd[2] = {0.75, 2.0}, u[2] = {3.0, -1.0}, h = 0.0078125, next[4];
  float p_f[2] = {1.25f, -0.5f}, pd_f[2] = {0.75f, 2.0f}, u_f[2] = {3.0f, -1.0f}, h_f = 0.0078125f, next_f[4];
  const double *in[] = {p, pd, u, &h, alpha};
  const float *in_f[] = {p_f, pd_f, u_f, &h_f, alpha_f};
  double *out[] = {next, next + 2};
  float *out_f[] = {next_f, next_f + 2};
  int k;
  if (double_pendulum_joint_step_work_size() > 2000 || double_pendulum_single_joint_step_work_size() > 2000) return 1;
  double_pendulum_alpha_defaults(alpha);
  double_pendulum_single_alpha_defaults(alpha_f);
  if (double_pendulum_joint_step(in, out, work) != DOUBLE_PENDULUM_STATUS_OK) return 2;
  if (double_pendulum_single_joint_step(in_f, out_f, work_f) != DOUBLE_PENDULUM_SINGLE_STATUS_OK) return 3;
  for (k = 0; k < 4; k++) printf("%.17g %.17g\\n", next[k], (double)next_f[k]);
  return 0;
}
"""


@pytest.mark.thorough
def test_a_program_may_link_both(tmp_path: Path) -> None:
    """Both archives by their own Makefiles: no exported name in common, and a step whose digits agree as far as floats go."""
    robot = load(generated("double_pendulum", functions=("joint_step", "forward_dynamics"), variants=(), single=True))
    names, archives = [], []
    for part, name in (("", "double_pendulum"), ("float", "double_pendulum_single")):
        folder = tmp_path / name
        ignored = shutil.ignore_patterns("float", "casadi")
        shutil.copytree(robot.folder / part, folder, ignore=None if part else ignored)
        subprocess.run(["make", "-s", "all", "CFLAGS=-O0"], cwd=folder, check=True)
        archives.append(folder / f"lib{name}.a")
        listed = subprocess.run(
            ["nm", "-g", "--defined-only", archives[-1]], capture_output=True, text=True, check=True
        )
        names.append({line.split()[-1] for line in listed.stdout.splitlines() if len(line.split()) == 3})
    assert all("joint_step" in " ".join(own) for own in names) and not names[0] & names[1]
    assert all(name.startswith("double_pendulum_single_") for name in names[1])
    (tmp_path / "both.c").write_text(BOTH)
    includes = [f"-I{archive.parent}" for archive in archives]
    for order in (archives, archives[::-1]):
        out = tmp_path / "both"
        subprocess.run(["gcc", *STRICT, *includes, "-o", out, tmp_path / "both.c", *order, "-lm"], check=True)
        said = subprocess.run([out], capture_output=True, text=True, check=True).stdout
        exactly, roughly = np.array([line.split() for line in said.splitlines()], dtype=float).T
        p, pd = robot.joint_step([1.25, -0.5], [0.75, 2.0], [3.0, -1.0], h=0.0078125)
        np.testing.assert_allclose(exactly, [*p, *pd], rtol=1e-12)
        apart = np.abs(exactly - roughly).max()
        assert 1e-9 < apart < 2e-5 and (roughly == roughly.astype(np.float32)).all(), apart
