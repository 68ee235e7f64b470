"""The example of the C in a controller of ros2_control: built by its CMake against stand-ins for ROS 2, and driven."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support.imports import ROOT
from support.robots import generated

EXAMPLE = ROOT / "docs" / "examples" / "ros2_control"
STUBS = Path(__file__).parent / "stubs"


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    if not (shutil.which("cmake") and shutil.which("c++")):
        pytest.skip("needs cmake and a compiler of C++")
    folder = generated("double_pendulum", functions=("mpc",))
    build = tmp_path_factory.mktemp("build")
    settings = (
        f"-DCMAKE_PREFIX_PATH={STUBS / 'cmake'}", "-DROBOT=double_pendulum", f"-DROBOT_FOLDER={folder}",
        "-DCMAKE_BUILD_TYPE=Debug", "-DDOUBLE_PENDULUM_EXAMPLE=OFF",
    )  # fmt: skip
    for words in (("-S", EXAMPLE, "-B", build, *settings), ("--build", build)):
        done = subprocess.run(["cmake", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    done = subprocess.run([build / "drive"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.thorough("model")
@pytest.mark.parametrize("owner", [0, 1], ids=["model", "robot"])
def test_the_arm_is_held_led_and_held_again(driven: list[dict], owner: int) -> None:
    seen = driven[owner]
    assert seen["began"] and seen["held"] < 1e-6
    assert seen["led"] > 0.05 and seen["speed"] > 0.5 and seen["forwarded"] < 1e-9
    assert seen["travel"] < 0.3 and seen["rest"] < 2e-3
    assert seen["over"] <= 1e-9 and seen["change"] <= 10.0 + 1e-6
    assert seen["blind"] == 0.0


def test_wrong_limits_are_refused(driven: list[dict]) -> None:
    assert not driven[2]["began"]


def test_the_files_name_each_other() -> None:
    plugin = ElementTree.parse(EXAMPLE / "forward_or_hold.xml").getroot()
    cmake = (EXAMPLE / "CMakeLists.txt").read_text()
    package = ElementTree.parse(EXAMPLE / "package.xml").getroot()
    assert plugin.attrib["path"] == package.findtext("name") == re.search(r"project\((\w+)", cmake)[1]
    kind = plugin.find("class").attrib
    assert f"type: {kind['name']}" in (EXAMPLE / "controllers.yaml").read_text()
    assert (
        f"PLUGINLIB_EXPORT_CLASS({kind['type']}, {kind['base_class_type']})"
        in (EXAMPLE / "forward_or_hold.cpp").read_text()
    )
    asked = re.search(r"foreach\(package ([\w ]+)\)", cmake)[1].split()
    assert asked == [one.text for one in package.findall("depend")]
