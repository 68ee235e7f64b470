"""Plain C of templates/ on two robots by hand (tests/c): a pendulum and a block that slides, without a generator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.line_coverage import compiled_and_run, shares
from support.plain_c import HERE, ROBOTS, TEMPLATES, includes, sources, write_numbers

STRICT = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -Wno-unused-function -DDIFFPBD_PORTABLE".split()
COVERED = {
    "pendulum": {"joint_step.c": 94, "step_functions.h": 95, "rollout.h": 95, "adjoint.h": 95},
    "block": {
        "mpc.c": 90, "mpc_active.h": 90, "mpc_dual.h": 80, "mpc_stopped.h": 90, "mpc_qp.h": 95, "mpc_riccati.h": 95,
        "mpc_linearise.h": 90, "mpc_products.h": 80,
        "damped_hold.c": 85, "holding.h": 100,
        "torque_estimation.h": 95, "rows.h": 100, "parameters.c": 100,
    },
}  # fmt: skip
"""Lines of a file that its robot runs, at least [%]; others are of more coordinates and of what other robots have."""
CHECKS = (
    "-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-deadcode.DeadStores,bugprone-*,-bugprone-easily-swappable-parameters,"
    "-bugprone-implicit-widening-of-multiplication-result,-bugprone-macro-parentheses,-bugprone-narrowing-conversions,"
    "-bugprone-reserved-identifier,-bugprone-suspicious-include"
)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of numbers.h: constants and statuses, as a generated model.h has them."""
    folder = tmp_path_factory.mktemp("numbers")
    write_numbers(folder)
    return folder


def run(robot: str, numbers: Path, where: Path, *options: str, compiler: str = "gcc") -> None:
    """Compiles the tests of a robot and runs them."""
    command = [compiler, *STRICT, *options, *includes(robot, numbers), *sources(robot), "-lm", "-o", str(where / robot)]
    made = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([str(where / robot)], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("robot", ROBOTS)
def test_under_address_and_undefined(robot: str, numbers: Path, tmp_path: Path) -> None:
    run(
        robot,
        numbers,
        tmp_path,
        "-g",
        "-O1",
        "-fsanitize=address,undefined,float-cast-overflow",
        "-fno-sanitize-recover=all",
    )


@pytest.mark.parametrize("robot", ROBOTS)
def test_in_two_threads(robot: str, numbers: Path, tmp_path: Path) -> None:
    objects = []
    for source in [*sources(robot), str(HERE / "threads.c")]:
        renamed = [] if source.endswith("threads.c") else ["-Dmain=run"]
        objects.append(str(tmp_path / f"{len(objects)}.o"))
        command = ["gcc", "-std=gnu99", "-g", "-O1", "-fsanitize=thread", "-DTHREADS", "-DDIFFPBD_PORTABLE", *renamed]
        subprocess.run([*command, *includes(robot, numbers), "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["gcc", "-fsanitize=thread", *objects, "-lm", "-lpthread", "-o", str(tmp_path / robot)], check=True)
    done = subprocess.run([str(tmp_path / robot)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("robot", ROBOTS)
def test_lines_that_are_run(robot: str, numbers: Path, tmp_path: Path) -> None:
    found = shares([compiled_and_run(sources(robot), includes(robot, numbers), tmp_path)])
    print(*(f"{name} {ran:.1f} %" for name, ran in sorted(found.items())), sep="\n")
    low = {name: found.get(name) for name, least in COVERED[robot].items() if found.get(name, 0.0) < least}
    assert not low, low


@pytest.mark.thorough("pendulum")
@pytest.mark.parametrize("robot", ROBOTS)
def test_clang(robot: str, numbers: Path, tmp_path: Path) -> None:
    """As C99 with every warning, and what clang-tidy says."""
    if shutil.which("clang") is None:
        pytest.skip("no clang")
    run(robot, numbers, tmp_path, "-O0", compiler="clang")
    if shutil.which("clang-tidy") is None:
        pytest.skip("no clang-tidy")
    own = [str(TEMPLATES[name]) for name in ROBOTS[robot]]
    command = [
        "clang-tidy",
        "--quiet",
        f"--checks={CHECKS}",
        "--header-filter=templates/",
        "--warnings-as-errors=*",
        *own,
    ]
    told = subprocess.run(
        [*command, "--", "-std=c99", "-DDIFFPBD_PORTABLE", *includes(robot, numbers)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout
