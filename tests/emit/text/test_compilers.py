"""Compilers' options for the generated C: those that take NaN for impossible are refused, others draw no warning."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from support.made.bouncing import made as bouncing
from support.made.exact_cone import made as coned
from support.made.limited import crank
from support.made.pressed import case as pressing
from support.made.shaped_scenes import shaped
from support.made.turning import made as turned
from support.mechanisms import in_cache
from support.robots import CACHE, FULL, generated
from support.small.closed_robots import case as closed
from support.small.floating_arm import floating_arm, stopped_flap
from support.touching import block, presser

from benchmarks.scale import chain

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FAST = ["-ffast-math", "-Ofast", "-O2 -ffinite-math-only", "-O3 -ffast-math -fno-signed-zeros"]
REMEDY = "-fno-fast-math"
REFUSAL = "-ffast-math, -Ofast and their parts take away the checks for NaN"
PROGRAM = """#include "arm.h"
#include <math.h>
#include <stdio.h>
int main(void) {
  static double alpha[ARM_ALPHA], work[10000];
  double values[] = {0.3, -0.2, 0.0, 0.0, 0.0, 0.0}, h = 0.01, p[2], pd[2];
  const double *in[] = {values, values + 2, values + 4, &h, alpha};
  double *out[] = {p, pd};
  int k;
  arm_alpha_defaults(alpha);
  printf("%d", arm_joint_step(in, out, work));
  for (k = 0; k < 6; k++) {
    const double kept = values[k];
    values[k] = NAN;
    printf(" %d", arm_joint_step(in, out, work) != 0);
    values[k] = kept;
  }
  return 0;
}
"""


@cache
def arm() -> Path:
    """That of docs/c.md, as test_c_project.py has it."""
    described = CACHE / "arm.urdf"
    CACHE.mkdir(exist_ok=True)
    if not described.exists():
        shutil.copy(Path(__file__).parents[3] / "codegen" / "robots" / "double_pendulum.urdf", described)
    return generated(str(described), functions=("joint_step",), variants=("variational_direct",))


@cache
def stopped_block() -> Path:
    """Limits and a contact, with predictive control."""
    asked = ("joint_step", "jac_alpha_joint_step", "mpc")
    return generated(str(in_cache(block(), "stopped_block", "limits = true")), functions=asked)


@cache
def stops() -> Path:
    """Limits alone."""
    sources = CACHE / "touching"
    sources.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).parents[3] / "codegen" / "robots" / "double_pendulum.urdf", sources / "stops_alone.urdf")
    return generated(str(sources / "stops_alone.urdf"), functions=("joint_step",), variants=(), limits=True)


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("folder", [lambda: generated("double_pendulum"), stopped_block], ids=["all", "unilateral"])
def test_every_source_has_the_refusal_before_its_code(folder: Callable[[], Path], tmp_path: Path) -> None:
    root = folder()
    sources = sorted((root / "src").glob("*.c"))
    assert {"mpc.c", "common.c", "torque_estimation.c" if root.name.startswith("double") else "constrained_step.c"} <= {
        source.name for source in sources
    }
    heads = set()
    for source in sources:
        head, rest = source.read_text(encoding="utf-8").split("#endif\n", 1)
        assert "#include" not in head and "{" not in head and "#include" in rest, source.name
        heads.add(head[head.index("#if") :])
    (head,) = heads
    (tmp_path / "head.c").write_text(f"{head}#endif\nint none;\n")
    for compiler in COMPILERS:
        for flags in FAST:
            told = run(compiler, *flags.split(), "-fsyntax-only", str(tmp_path / "head.c"))
            assert told.returncode != 0 and REFUSAL in told.stderr and REMEDY in told.stderr, (compiler, flags)
            fine = run(compiler, *flags.split(), REMEDY, "-fsyntax-only", str(tmp_path / "head.c"))
            assert fine.returncode == 0, fine.stderr
        for level in ("-O0", "-O3"):
            assert run(compiler, level, "-fsyntax-only", str(tmp_path / "head.c")).returncode == 0


def judged(folder: Path, library: Path) -> None:
    """A good input has status 0, each NaN another one."""
    program = folder / "nan"
    (folder / "nan.c").write_text(PROGRAM)
    subprocess.run(["cc", "-std=c99", f"-I{folder}", "-o", program, folder / "nan.c", library, "-lm"], check=True)
    assert run(str(program)).stdout == "0 1 1 1 1 1 1"


def test_make_refuses_fast_math_and_takes_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "arm"
    shutil.copytree(arm(), folder, ignore=shutil.ignore_patterns("*.so", "casadi"))
    for flags in ("-O3 -ffast-math", "-Ofast"):
        told = run("make", "libarm.a", f"CFLAGS={flags}", cwd=folder)
        assert told.returncode != 0 and REFUSAL in told.stderr
        assert not (folder / "libarm.a").exists()
    done = run("make", "libarm.a", f"CFLAGS=-O0 -ffast-math {REMEDY}", cwd=folder)
    assert done.returncode == 0, done.stderr
    judged(folder, folder / "libarm.a")


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_cmake_refuses_fast_math_and_takes_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "arm"
    shutil.copytree(arm(), folder, ignore=shutil.ignore_patterns("*.so", "casadi"))
    head = "cmake_minimum_required(VERSION 3.10)\nproject(control C)\nadd_compile_options(-ffast-math)\nadd_subdirectory(arm)\n"
    remedy = f"target_compile_options(arm PRIVATE {REMEDY})\n"
    assert remedy in (Path(__file__).parents[3] / "docs" / "c.md").read_text(encoding="utf-8")
    for text, fine in ((head, False), (head + remedy, True)):
        (tmp_path / "CMakeLists.txt").write_text(text)
        assert run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", cwd=tmp_path).returncode == 0
        done = run("cmake", "--build", "build", cwd=tmp_path)
        assert (done.returncode == 0) == fine, done.stderr
        assert fine or REFUSAL in done.stderr + done.stdout
    judged(folder, tmp_path / "build" / "arm" / "libarm.a")


STRICT = "-pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Werror".split()


@pytest.mark.thorough("clang-stops", "gcc-stopped")
@pytest.mark.parametrize("folder", [stopped_block, stops])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["syntax", *(pytest.param(k, marks=pytest.mark.soak) for k in "0123")])
def test_no_warnings_beside_limits_and_contacts(
    folder: Callable[[], Path], compiler: str, level: str, tmp_path: Path
) -> None:
    root = folder()
    strict = [compiler, "-std=c99", *STRICT, f"-I{root}"]
    for source in sorted((root / "src").glob("*.c")):
        # what may be uninitialised, and pointers that meet, come from the optimiser only
        optimised = (
            level if level.isdigit() else "1" if (compiler, source.name) == ("gcc", "constrained_step.c") else ""
        )
        how = [f"-O{optimised}", "-c", "-o", str(tmp_path / "object.o")] if optimised else ["-fsyntax-only"]
        told = run(*strict, *how, str(source))
        assert told.returncode == 0, told.stderr[:3000]


def deep() -> Path:
    """That of the matrix."""
    (CACHE / "deep.urdf").write_text(chain(15), encoding="utf-8")
    return generated(str(CACHE / "deep.urdf"), functions=("joint_step", "jac_alpha_joint_step"), variants=())


ROBOTS = {
    **{name: lambda name=name: generated(name) for name in FULL}, "loops": lambda: closed("five_bar").folder, "deep": deep,
    "floating": lambda: floating_arm().folder, "floating, stopped": lambda: stopped_flap().folder,
    "bouncing": lambda: bouncing("rod").folder, "exact cone": lambda: coned("exact").folder,
    "turning": lambda: turned("fingers").folder, "shapes": lambda: shaped("rod_over_rod").folder,
    "loop at a stop": lambda: crank().folder, "loop in contact": lambda: pressing("pressing_five_bar").robot.folder,
}  # fmt: skip


@pytest.mark.thorough(*(set(ROBOTS) - {"baxter_bare", "double_pendulum"}))
@pytest.mark.parametrize("robot", ROBOTS)
def test_no_warnings_of_any_robot(robot: str, tmp_path: Path) -> None:
    """All of its C as C99; its headers, read twice, as C and C++."""
    root = ROBOTS[robot]()
    files = [str(path) for path in (*sorted(root.glob("src/*.c")), root / "main.c")]
    for compiler in COMPILERS:
        c99 = (compiler, "-std=c99", *STRICT, f"-I{root}", "-fsyntax-only")
        dialects = [
            c99,
            *((compiler, f"-std={cpp}", *STRICT, "-fsyntax-only", "-x", "c++") for cpp in ("c++98", "c++11")),
        ]
        told = [run(*c99, *files)]
        for header in sorted(root.glob("*.h")):
            (tmp_path / "twice.c").write_text(
                f'#include "{header}"\n#include "{header}"\nint main(void) {{ return 0; }}\n'
            )
            told += [run(*dialect, str(tmp_path / "twice.c")) for dialect in dialects]
        assert all(one.returncode == 0 for one in told), "".join(one.stderr for one in told)[:3000]


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_no_warnings_of_an_optimiser(level: str, tmp_path: Path) -> None:
    """Robots of two coordinates, fewer than a contact has rows: code that is never reached is not compiled either."""
    root = generated(str(in_cache(presser(), "presser")), functions=("joint_step", "jac_alpha_joint_step"))
    for compiler in COMPILERS:
        source = str(root / "src" / "constrained_step.c")
        told = run(compiler, "-std=c99", *STRICT, level, f"-I{root}", "-c", source, "-o", str(tmp_path / "step.o"))
        assert told.returncode == 0, told.stderr[:3000]
