"""The emitted C under the address sanitizer, entered as Python enters it, with every combination of optional inputs.

`tests/emit/text/test_sanitized.py` calls the C from C, with blocks of the manifest's sizes; here the arrays are those of `Mpc`,
`ik`, the functions of distances and torque estimation. `tests/support/entered.py` runs in a Python with the sanitizer loaded.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.planning.around_a_ball import URDF
from support.robots import generated

from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.manifest import read_manifest

COUNTS = {"spheres": 1, "capsules": 3, "boxes": 2, "planes": 4}
"""Unequal, so that no two kinds have arrays of one size."""
FUNCTIONS = ("mpc", "ik", "estimate_torque")
SCRIPT = Path(__file__).parents[2] / "support" / "entered.py"
ALL = tuple(COUNTS)
MIXES = [mix for size in range(len(COUNTS)) for mix in itertools.combinations(COUNTS, size)]


def sanitizer() -> str:
    found = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("gcc has no address sanitizer")
    return found


def sanitized(mix: tuple[str, ...], folder: Path) -> Path:
    """A robot with these kinds of obstacles, compiled with the sanitizer."""
    file = folder / "planar.urdf"
    file.write_text(URDF, encoding="utf-8")
    kinds = tuple(f"{kind}={COUNTS[kind]}" for kind in mix)
    copy = folder / "planar"
    distances = {"clearance": True, "obstacles": kinds} if kinds else {}
    shutil.copytree(generated(str(file), functions=FUNCTIONS, **distances), copy)
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("CC", "gcc")
        changed.setenv("DIFFPBD_CFLAGS", "-O0 -g -fsanitize=address -DDIFFPBD_PORTABLE")
        compile_library(copy, read_manifest(copy).library)
    return copy


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The robot with all kinds."""
    return sanitized(ALL, tmp_path_factory.mktemp("sanitized"))


def entered(folder: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, str(script), str(folder)], env=environment, capture_output=True, text=True, check=False
    )


def expect_clean(folder: Path) -> None:
    done = entered(folder)
    assert done.returncode == 0, (done.stdout[-500:], done.stderr[:3000])
    assert all(part in done.stdout for part in ("plans", "poses", "distances", "torques"))


@pytest.mark.thorough
def test_python_hands_over_what_c_reads(whole: Path) -> None:
    expect_clean(whole)


@pytest.mark.soak
@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: "+".join(mix) or "none")
def test_of_any_kinds(mix: tuple[str, ...], tmp_path: Path) -> None:
    expect_clean(sanitized(mix, tmp_path))


@pytest.mark.thorough
def test_the_sanitizer_would_see_another_order(whole: Path, tmp_path: Path) -> None:
    """Arrays by the alphabet, as obstacles once were."""
    script = tmp_path / "alphabet.py"
    script.write_text(
        "import sys\n"
        "import diffpbd.runtime.functions.rollout as rollout\n"
        "right = rollout.in_order\n"
        "KINDS = ('boxes', 'capsules', 'planes', 'spheres')\n"
        "def alphabet(function, arguments, given, steps=0):\n"
        "    arrays = right(function, arguments, given, steps)\n"
        "    return [*arrays[:-4], *(given[kind] for kind in KINDS)] if 'spheres' in given else arrays\n"
        "rollout.in_order = alphabet\n"
        f"sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        "import entered\n"
        "entered.main(sys.argv[1:])\n"
    )
    done = entered(whole, script)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr, done.stderr[:2000]
