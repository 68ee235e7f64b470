"""The C as a project takes it (docs/c.md): CMake by folder and by find_package, parameters and statuses by name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.imports import ROOT
from support.robots import CACHE, generated, loaded
from support.small.floating_arm import floating_arm

from diffpbd.codegen.emit.tables.constants import ALPHA_STATUS, SPECIAL_STATUS, STATUS, STATUS_NAMES
from diffpbd.codegen.emit.tables.enumerators import alpha_identifiers, status_table
from diffpbd.codegen.functions import table
from diffpbd.runtime import Robot, load
from diffpbd.runtime.mpc.problem import Status

PAGE = (ROOT / "docs" / "c.md").read_text(encoding="utf-8")


def test_the_page_has_the_table_of_functions() -> None:
    assert f"{table()}\n\n" in PAGE, "python -m diffpbd.codegen.emit.stub writes it anew"


NAMED = {"payload.mass": 0.5, "friction.viscous.elbow": 0.2}


@pytest.fixture(scope="module")
def arm() -> Robot:
    """The page's arm, in its smallest form."""
    described = CACHE / "arm.urdf"
    if not described.exists():
        CACHE.mkdir(exist_ok=True)
        shutil.copy(ROOT / "codegen" / "robots" / "double_pendulum.urdf", described)
    return load(generated(str(described), functions=("joint_step",), variants=("variational_direct",)))


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


@pytest.mark.thorough("folder")
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
@pytest.mark.parametrize("how", ["folder", "find_package"])
def test_the_page_s_project_builds_and_steps(arm: Robot, tmp_path: Path, how: str) -> None:
    def cmake(*words: str) -> None:
        subprocess.run(["cmake", *words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)

    (tmp_path / "generated").mkdir()
    shutil.copytree(arm.folder, tmp_path / "generated" / "arm")
    text, debug = block("cmake"), ["-DCMAKE_BUILD_TYPE=Debug"]
    if how == "find_package":
        cmake(
            "-S",
            "generated/arm",
            "-B",
            "arm",
            *debug,
            "-DARM_EXAMPLE=OFF",
            f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'usr'}",
        )
        cmake("--build", "arm", "--target", "install")
        assert not (tmp_path / "arm" / "arm_example").exists()
        shutil.rmtree(tmp_path / "generated")
        text = text.replace("add_subdirectory(generated/arm)", "find_package(arm REQUIRED)")
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "control.c").write_text(block("c"))
    cmake("-S", ".", "-B", "build", *debug, f"-DCMAKE_PREFIX_PATH={tmp_path / 'usr'}")
    cmake("--build", "build")
    assert not list((tmp_path / "build").rglob("arm_example")), "the example is not built inside another project"
    done = subprocess.run([tmp_path / "build" / "control"], check=True, capture_output=True, text=True)
    expected = arm.joint_step([0.3, -0.2], [0.0, 0.0], [0.0, 0.0], 0.01, alpha=NAMED).p_next
    np.testing.assert_allclose([float(word) for word in done.stdout.split()], expected, rtol=1e-12)


@pytest.mark.thorough("fixed")
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_folder_s_example_prints_the_step_of_a_moving_robot(arm: Robot, tmp_path: Path, base: str) -> None:
    robot = arm if base == "fixed" else floating_arm()
    program, library = tmp_path / "example", robot.folder / robot.manifest.library
    subprocess.run(["cc", f"-I{robot.folder}", "-o", program, robot.folder / "main.c", library, "-lm"], check=True)
    first, *lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert first.endswith("status 0")
    start = [float(line.split()[2]) for line in lines[: robot.n_p]]
    step = robot.joint_step(start, np.zeros(robot.n), np.zeros(robot.n))
    np.testing.assert_allclose([float(line.split()[-1]) for line in lines], [*step.p_next, *step.pd_next], atol=1e-9)
    assert np.abs(step.pd_next).max() > 0.01  # not the pose in which it hangs


def test_every_parameter_has_its_name_and_default(arm: Robot, tmp_path: Path) -> None:
    """Positions by the enum are those of the manifest, and the function writes its defaults."""
    names = [f"ARM_ALPHA_{name}" for name in alpha_identifiers(arm.alpha.names)]
    shown = "".join(f'  printf("%d %.17g\\n", {name}, alpha[{name}]);\n' for name in names)
    (tmp_path / "main.c").write_text(
        '#include "arm.h"\n#include <stdio.h>\nint main(void) {\n  double alpha[ARM_ALPHA];\n  arm_alpha_defaults(alpha);\n'
        f"{shown}  return 0;\n}}\n"
    )
    library, program = arm.folder / arm.manifest.library, tmp_path / "main"
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{arm.folder}"]
    subprocess.run(["cc", *strict, "-o", program, tmp_path / "main.c", library, "-lm"], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(arm.alpha)))
    assert [float(line.split()[1]) for line in lines] == arm.alpha.defaults.tolist()


def test_names_that_meet_are_told_apart() -> None:
    assert alpha_identifiers(["payload.mass", "mass.a b", "mass.a-b", "mass.é"]) == [
        "PAYLOAD_MASS", "MASS_A_B_1", "MASS_A_B_2", "MASS__",
    ]  # fmt: skip


def test_there_is_one_list_of_statuses() -> None:
    """The header's names, the manifests' words and the runtime's enum."""
    assert set(STATUS_NAMES) == {0, *STATUS, *ALPHA_STATUS, *SPECIAL_STATUS}
    assert len(set(STATUS_NAMES.values())) == len(STATUS_NAMES)
    assert {f"MPC_{status.name}": int(status) for status in Status if status not in (Status.SOLVED, Status.ASTRAY)} == {
        name: k for k, name in STATUS_NAMES.items() if name.startswith("MPC_")
    }
    assert f"{status_table()}\n\n" in PAGE, "python -m diffpbd.codegen.emit.stub writes it anew"
    for name in ("double_pendulum", "baxter"):
        robot = loaded(name)
        header = (robot.folder / f"{name}.h").read_text(encoding="utf-8")
        listed = {int(k): own for own, k in re.findall(rf"{name.upper()}_STATUS_(\w+) = (\d+)", header)}
        assert listed.items() <= STATUS_NAMES.items()
        assert {k for f in robot.functions.values() for k in f.facts.status} <= set(listed)
