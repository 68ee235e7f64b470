"""A real ROS 1 graph: Debian's rosmaster, and the simulated Baxter as a rospy node."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.records.definitions import DEFINITIONS
from diffpbd.runtime.ros1.master import call

DIST_PACKAGES = Path("/usr/lib/python3/dist-packages")
GENMSG = Path("/usr/lib/genpy/genmsg_py.py")
HERE = Path(__file__).parent
ROOT = HERE.parent.parent
URDF = ROOT / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"


def _missing() -> str:
    if not (shutil.which("rosmaster") and (DIST_PACKAGES / "rospy").is_dir() and GENMSG.is_file()):
        return "Debian's ROS 1 packages are not installed (docs/baxter.md has the line)"
    if importlib.util.find_spec("pinocchio") is None:
        return "pinocchio is not installed"
    return ""


@pytest.fixture(scope="session")
def ros() -> None:
    """Skips where there is no ROS 1, unless DIFFPBD_REQUIRE_ROS=1."""
    missing = _missing()
    if missing and os.environ.get("DIFFPBD_REQUIRE_ROS") == "1":
        pytest.fail(f"DIFFPBD_REQUIRE_ROS=1, but {missing}")
    if missing:
        pytest.skip(missing)


@pytest.fixture(scope="session")
def genpy_messages(ros: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """baxter_core_msgs made by genpy from our definitions' texts."""
    folder = tmp_path_factory.mktemp("messages")
    source, out = folder / "msg", folder / "baxter_core_msgs" / "msg"
    source.mkdir()
    files = []
    for name, definition in DEFINITIONS.items():
        if name.startswith("baxter_core_msgs/"):
            path = source / f"{name.split('/')[1]}.msg"
            path.write_text(definition.text + "\n")
            files.append(str(path))
    out.mkdir(parents=True)
    base = ["/usr/bin/python3", str(GENMSG), "-p", "baxter_core_msgs", "-o", str(out)]
    include = ["-I", f"baxter_core_msgs:{source}"]
    for package in ("std_msgs", "geometry_msgs", "sensor_msgs"):
        include += ["-I", f"{package}:/usr/share/{package}/msg"]
    subprocess.run([*base, *include, *files], check=True, capture_output=True)
    subprocess.run([*base, "--initpy"], check=True, capture_output=True)
    (folder / "baxter_core_msgs" / "__init__.py").touch()
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Graph:
    """A rosmaster of its own."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.uri = f"http://127.0.0.1:{port}"
        self.environment = {
            **os.environ, "ROS_MASTER_URI": self.uri, "ROS_IP": "127.0.0.1", "ROS_HOME": str(folder),
            "ROS_LOG_DIR": str(folder), "PYTHONWARNINGS": "ignore",
        }  # fmt: skip
        self.environment.pop("ROS_HOSTNAME", None)
        self.process = subprocess.Popen(
            ["rosmaster", "--core", "-p", str(port)], env={**self.environment, "PYTHONPATH": ""},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(self._answers, "rosmaster does not answer")

    def _answers(self) -> bool:
        try:
            call(self.uri, "getPid", "/test", timeout=1.0)
        except GraphError:
            return False
        return True

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class RobotProcess:
    """The rospy robot; `ask` sends a request and returns the robot's account of itself."""

    def __init__(self, graph: Graph, messages: Path, name: str = "baxter", *options: str, urdf: Path = URDF) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "rospy_robot.py"), str(urdf), str(messages), name, *options],
            env=graph.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert json.loads(self._line()) == {"ready": True}

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the rospy robot ended with {self.process.wait()}"
        return line

    def ask(self, **request: object) -> dict:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def kill(self) -> None:
        self.process.kill()
        self._close()

    def leave(self) -> None:
        self.ask(leave=True)
        self._close()

    def _close(self) -> None:
        self.process.wait(10)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()


PATIENCE = 60.0
"""s for what must happen, on a machine with other work."""


def wait_until(condition: Callable[[], object], complaint: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, complaint
        time.sleep(0.01)


@pytest.fixture(scope="session")
def graph(ros: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    graph = Graph(tmp_path_factory.mktemp("ros"))
    yield graph
    graph.kill()


@pytest.fixture(scope="session")
def shared_robot(graph: Graph, genpy_messages: Path) -> Iterator[RobotProcess]:
    robot = RobotProcess(graph, genpy_messages)
    yield robot
    robot.leave()


REST = [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]


@pytest.fixture
def robot(shared_robot: RobotProcess) -> RobotProcess:
    """The rospy robot, enabled and at rest, with a fresh audit."""
    shared_robot.ask(fault="", press=False, push=[0.0] * 7)
    shared_robot.ask(reset=True)
    shared_robot.ask(enable=False)
    shared_robot.ask(enable=True, pose=REST, audit=True)
    time.sleep(0.05)
    return shared_robot


@pytest.fixture(scope="session")
def arm_robot() -> Robot:
    """The generated left arm."""
    return loaded("baxter_bare")
