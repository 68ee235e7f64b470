"""The arm with its hand on the real graph: the generated `baxter`, against a robot of the same description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.stopping import Reason

from .conftest import REST, ROOT, Graph, RobotProcess
from .running import GRAVITY, check_audit, execute


@pytest.fixture
def handed(graph: Graph, genpy_messages: Path) -> Iterator[RobotProcess]:
    robot = RobotProcess(graph, genpy_messages, urdf=ROOT / "diffpbd" / "codegen" / "robots" / "baxter.urdf")
    robot.ask(enable=True, pose=REST, audit=True)
    yield robot
    robot.leave()


def test_the_hand_is_carried(graph: Graph, handed: RobotProcess) -> None:
    report = execute(loaded("baxter"), graph.uri, controller=GRAVITY, owner=GravityOwner.MODEL)
    answer = handed.ask()
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED and report.sent > 100
    assert max(abs(a - b) for a, b in zip(answer["q"], REST, strict=True)) < 0.02
