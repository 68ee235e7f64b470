"""Parameters and joints as the header tells them to C and C++ programs: bounds, limits, verdicts, sizes, versions."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.made.limited import arm
from support.made.rubbing import HUB, RAIL
from support.robots import generated, loaded
from support.small.branching import branching
from support.small.sled import friction, sled

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.folder.parameter_rules import FAULTS, AlphaFault

PAYLOAD = "payload.inertia"
MOST = np.finfo(float).max
"""In size: no bound."""


def tree(folder: Path) -> Robot:
    (folder / "tree.urdf").write_bytes(branching())
    return load(
        generated(str(folder / "tree.urdf"), functions=("gravity",), symbolic=["mass", "com", "inertia"], variants=())
    )


ROBOTS = {"plain": lambda _: loaded("double_pendulum"), "friction": sled, "limits": lambda _: arm(), "symbolic": tree}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return ROBOTS[request.param](tmp_path_factory.mktemp("robot"))


def verdict(robot: Robot, alpha: np.ndarray) -> tuple[int, str]:
    """The status of `<robot>_alpha_check`, and the entry by name."""
    check = ctypes.CDLL(str(robot.folder / robot.manifest.library))[f"{robot.manifest.name}_alpha_check"]
    values, entry = np.ascontiguousarray(alpha, float), ctypes.c_int(-1)
    status = check(ctypes.c_void_p(values.ctypes.data), ctypes.byref(entry))
    assert check(ctypes.c_void_p(values.ctypes.data), None) == status
    return status, robot.alpha.names[entry.value] if status else ""


def refusal(robot: Robot, changed: dict[str, float]) -> str:
    """Python's message about values by name."""
    try:
        robot.alpha.vector(changed)
    except InputError as error:
        return str(error)
    return ""


def table(robot: Robot, what: str, count: int) -> np.ndarray:
    library = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    return np.array((ctypes.c_double * count).in_dll(library, f"{robot.manifest.name}_{what}"))


def test_tables_are_the_manifest_s(robot: Robot) -> None:
    alpha, joints = robot.alpha, robot.manifest.robot.joints
    for what, values in (("default", alpha.defaults), ("lower", alpha.lower), ("upper", alpha.upper)):
        np.testing.assert_array_equal(table(robot, f"alpha_{what}", len(alpha)), np.clip(values, -MOST, MOST))
    for what in ("lower", "upper", "velocity", "effort"):
        none = -MOST if what == "lower" else MOST
        told = [none if getattr(j, what) is None else getattr(j, what) for j in joints]
        np.testing.assert_array_equal(table(robot, f"joint_{what}", len(joints)), told)
    library = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    for what, names in (("alpha_name", alpha.names), ("joint_name", robot.joints)):
        found = (ctypes.c_char_p * len(names)).in_dll(library, f"{robot.manifest.name}_{what}")
        assert tuple(name.decode() for name in found) == names


def test_c_refuses_what_python_refuses(robot: Robot) -> None:
    """Every entry just inside and outside of every bound, not finite, and at random sizes: one verdict, of one entry."""
    assert verdict(robot, robot.alpha.defaults) == (0, "")
    rng, seen = np.random.default_rng(3), set()
    for entry in robot.alpha.entries:
        bounds = [bound for bound in (entry.lower, entry.upper) if bound is not None]
        near = [v for bound in bounds for v in (bound, np.nextafter(bound, -np.inf), np.nextafter(bound, np.inf))]
        for value in (*near, np.nan, np.inf, -np.inf, *rng.normal(size=3), *1e3 * rng.normal(size=2)):
            alpha = robot.alpha.defaults
            alpha[robot.alpha.index(entry.name)] = value
            (status, place), told = verdict(robot, alpha), refusal(robot, {entry.name: float(value)})
            assert (status != 0) == bool(told), (entry.name, value, status, told)
            if status:
                assert status in list(FAULTS) and (place in told or place.removesuffix(".xx") in told), (place, told)
                seen.add(AlphaFault(status))
    assert {AlphaFault.NOT_FINITE, AlphaFault.BELOW, AlphaFault.NO_BODY} <= seen


def test_matrices_of_inertia(robot: Robot) -> None:
    """A matrix is one of a body where its eigenvalues are not negative: turned diagonals, one value just on both sides of 0."""
    rng, inside = np.random.default_rng(4), 0
    for _ in range(200):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        least = rng.choice([-1e-2, -1e-5, 0.0, 1e-5, 1e-2])
        inertia = turn @ np.diag([least, 0.3, 0.5]) @ turn.T
        moments = dict(zip(("xx", "xy", "xz", "yy", "yz", "zz"), inertia[np.triu_indices(3)], strict=True))
        changed = {f"{PAYLOAD}.{k}": float(v) for k, v in moments.items()}
        alpha = robot.alpha.vector(None)
        alpha[list(robot.alpha.indices(PAYLOAD))] = [changed[name] for name in robot.alpha.names if name in changed]
        status, place = verdict(robot, alpha)
        assert (status != 0) == (least < 0.0), (least, status)
        assert bool(refusal(robot, changed)) == (status != 0)
        if status and all(moments[k] >= 0.0 for k in ("xx", "yy", "zz")):
            assert (status, place) == (AlphaFault.NO_BODY, f"{PAYLOAD}.xx")
        inside += status == 0
    assert 60 < inside < 180


def test_friction_that_pushes(tmp_path: Path) -> None:
    robot = sled(tmp_path)
    assert verdict(robot, robot.alpha.vector(friction(RAIL, HUB))) == (0, "")
    (mean,) = (name for name in robot.alpha.names if name.startswith("friction.coulomb.") and "rail" in name)
    half = mean.replace("coulomb.", "coulomb_asymmetry.")
    for value, status in ((0.5, 0), (-0.5, 0), (0.5000001, 43), (-0.6, 43)):
        alpha = robot.alpha.vector({mean: 0.5})
        alpha[robot.alpha.index(half)] = value
        assert verdict(robot, alpha) == (status, half if status else "")


def test_an_empty_range() -> None:
    robot = arm()
    lower = next(name for name in robot.alpha.names if name.startswith("limit.lower."))
    upper = robot.alpha[lower.replace("lower", "upper")]
    for value, status in ((upper, 0), (upper + 1e-9, 44)):
        alpha = robot.alpha.defaults
        alpha[robot.alpha.index(lower)] = value
        assert verdict(robot, alpha) == (status, lower if status else "")


PROGRAM = """
#include "double_pendulum.h"
#include <stdio.h>
#include <string.h>

static double work[DOUBLE_PENDULUM_JOINT_STEP_WORK], more[DOUBLE_PENDULUM_JAC_JOINT_STEP_WORK];
enum {{ AS_A_CONSTANT = DOUBLE_PENDULUM_IK_WORK }};

int main(void) {{
  double alpha[DOUBLE_PENDULUM_ALPHA], u[DOUBLE_PENDULUM_JOINTS], p[DOUBLE_PENDULUM_JOINTS] = {{1e300 * 1e300, 0.0}};
  const double *in[] = {{p, alpha}};
  double *out[] = {{u}};
  int entry = -1;
  if (strcmp(double_pendulum_hash(), DOUBLE_PENDULUM_HASH) != 0) return 2;
  if (sizeof work / sizeof work[0] != (size_t)double_pendulum_joint_step_work_size()) return 3;
  if (sizeof more / sizeof more[0] != (size_t)double_pendulum_jac_joint_step_work_size()) return 4;
  if (AS_A_CONSTANT != double_pendulum_ik_work_size()) return 5;
  double_pendulum_alpha_defaults(alpha);
  if (double_pendulum_gravity(in, out, work) != DOUBLE_PENDULUM_STATUS_NOT_FINITE) return 6;
  alpha[DOUBLE_PENDULUM_ALPHA_PAYLOAD_MASS] = -5.0;
  if (double_pendulum_alpha_check(alpha, &entry) != DOUBLE_PENDULUM_STATUS_ALPHA_BELOW) return 7;
  printf("%s at least %g; %s to %g; %s\\n", double_pendulum_alpha_name[entry], double_pendulum_alpha_lower[entry],
         double_pendulum_joint_name[1], double_pendulum_joint_upper[1], DOUBLE_PENDULUM_VERSION);
  return 0;
}}
"""


@pytest.mark.parametrize("compiler", [["cc", "-std=c99"], ["c++", "-std=c++98", "-x", "c++"]], ids=["C", "C++"])
def test_a_program(compiler: list[str], tmp_path: Path) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    folder = generated("double_pendulum")
    (tmp_path / "own.c").write_text(PROGRAM.format())
    strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    library = [str(folder / "libdouble_pendulum.so"), f"-Wl,-rpath,{folder}"]
    subprocess.run(
        [*compiler, *strict, str(tmp_path / "own.c"), "-x", "none", *library, "-lm", "-o", str(tmp_path / "own")],
        check=True,
    )
    done = subprocess.run([str(tmp_path / "own")], capture_output=True, text=True, check=False)
    version = loaded("double_pendulum").manifest.generator.diffpbd
    assert done.returncode == 0, done.returncode
    assert done.stdout == f"payload.mass at least 0; elbow to 6.5; {version}\n"


def test_another_header_is_seen(tmp_path: Path) -> None:
    """The header of one generation with the library of another."""
    folder = generated("double_pendulum")
    header = (folder / "double_pendulum.h").read_text()
    (tmp_path / "double_pendulum.h").write_text(re.sub(r'(_HASH ")....', r"\g<1>none", header))
    shutil.copy(folder / "main.c", tmp_path)
    library = [str(folder / "libdouble_pendulum.so"), f"-Wl,-rpath,{folder}"]
    for where, code in ((folder, 0), (tmp_path, 1)):
        subprocess.run(
            ["cc", f"-I{where}", str(where / "main.c"), *library, "-lm", "-o", str(tmp_path / "own")], check=True
        )
        done = subprocess.run([str(tmp_path / "own")], capture_output=True, text=True, check=False)
        assert (done.returncode, "not the header's" in done.stdout) == (code, bool(code))


def test_every_work_size_is_a_constant() -> None:
    robot = loaded("double_pendulum")
    header = (robot.folder / "double_pendulum.h").read_text()
    told = {name.lower(): int(size) for name, size in re.findall(r"#define DOUBLE_PENDULUM_(\w+)_WORK (\d+)\n", header)}
    assert told == {f.name: f.work_size for f in robot.manifest.functions if not f.rollout} and len(told) > 30
