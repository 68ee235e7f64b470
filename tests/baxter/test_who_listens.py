"""Who listens must be the robot: a recorder of the same topics hides nothing. Without a graph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from diffpbd.runtime.arms.baxter.arm import BaxterArm
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.messages import Header, JointState, Receipt
from diffpbd.runtime.ros1.messages import AssemblyState

JOINTS = ("left_s0", "left_s1")
COMMANDS, SUPPRESSING = "/robot/limb/left/joint_command", "/robot/limb/left/suppress_gravity_compensation"
ROBOT, RECORDER = "/realtime_loop", "/rosbag_record"


class Graph:
    """A node whose topics the test connects."""

    def __init__(self) -> None:
        self.topics: dict[str, Any] = {}
        self.heard: dict[str, Any] = {}
        self.shut_down = SimpleNamespace(is_set=lambda: False)

    def publish(self, topic: str, kind: type, *, latch: bool = False) -> Any:
        self.topics[topic] = SimpleNamespace(topic=topic, subscribers=())
        return self.topics[topic]

    def subscribe(self, topic: str, kind: type, callback: Any) -> Any:
        self.heard[topic] = callback
        return SimpleNamespace(topic=topic, refusals={}, publishers=("http://robot/",), present=("http://robot/",))

    def connect(self, topic: str, *names: str) -> None:
        self.topics[topic].subscribers = names


def limits() -> Limits:
    one = np.ones(2)
    return Limits(lower=-one, upper=one, speed=one, effort=one, law_effort=one, torque_rate=one, position_margin=0.1)


def joint_state(arm: BaxterArm, graph: Graph, stamp: float = 100.0) -> None:
    content = JointState(Header(0, (int(stamp), round(1e9 * (stamp % 1))), ""), JOINTS, *np.zeros((3, 2)))
    graph.heard["/robot/joint_states"](content, Receipt("/robot/joint_states", ROBOT, stamp - 90.0, b""))


def attached(**options: Any) -> tuple[BaxterArm, Graph]:
    graph = Graph()
    arm = BaxterArm("left", JOINTS, limits(), graph, **options)  # type: ignore[arg-type]
    graph.heard["/robot/state"](AssemblyState(True, True, False, False, 0, 0), Receipt("/robot/state", ROBOT, 9.0, b""))
    joint_state(arm, graph)
    return arm, graph


@pytest.mark.parametrize(
    "names, there", [((), False), ((RECORDER,), False), ((ROBOT,), True), ((RECORDER, ROBOT), True)]
)
def test_the_robot_itself_must_listen(names: tuple[str, ...], there: bool) -> None:
    arm, graph = attached()
    graph.connect(COMMANDS, *names)
    missing, fault = arm.missing(suppressing=False), arm.fault()
    assert (missing == "") == there and (fault is None) == there
    if not there:
        assert f"the robot ({ROBOT}) does not listen to {COMMANDS}" in missing and "--robot-node" in missing
        assert (f"only {RECORDER} does" in missing) == bool(names)
        assert fault.reason is Reason.LOST_ROBOT and f"the robot ({ROBOT}) does not listen" in fault.text


@pytest.mark.parametrize("suppressing", [False, True])
def test_the_robot_must_hear_that_its_gravity_is_off_where_it_is(suppressing: bool) -> None:
    arm, graph = attached()
    graph.connect(COMMANDS, ROBOT)
    graph.connect(SUPPRESSING, RECORDER)
    assert ("gravity would be applied twice" in arm.missing(suppressing=suppressing)) == suppressing
    fault = arm.fault()
    assert (fault is not None and fault.reason is Reason.LOST_ROBOT) == suppressing
    graph.connect(SUPPRESSING, ROBOT, RECORDER)
    assert arm.missing(suppressing=suppressing) == "" and arm.fault() is None


def test_another_listener_may_be_named() -> None:
    arm, graph = attached(robot_node="/motors")
    graph.connect(COMMANDS, ROBOT)
    assert "the robot (/motors) does not listen" in arm.missing(suppressing=False)
    graph.connect(COMMANDS, "/motors")
    assert arm.missing(suppressing=False) == "" and arm.fault() is None


def test_a_registration_that_nobody_answers_is_no_second_robot() -> None:
    arm, graph = attached()
    arm.assembly.publishers = ("http://robot/", "http://killed/")
    assert "publishers" not in arm.trouble()
    arm.assembly.present = ("http://other/", "http://robot/")
    assert "/robot/state has 2 publishers" in arm.trouble()


@pytest.mark.parametrize("stamp, text", [(99.5, "went back by 0.500 s"), (98.0, "went back by 2.000 s")])
def test_a_clock_that_steps_is_trouble_until_the_run_begins(stamp: float, text: str) -> None:
    arm, graph = attached()
    joint_state(arm, graph, stamp)
    joint_state(arm, graph, 100.5)
    assert text in arm.trouble()
    arm.forget_trouble()
    assert "went back" not in arm.trouble()


def robot_state(arm: BaxterArm, graph: Graph, **told: Any) -> None:
    content = {"ready": True, "enabled": True, "stopped": False, "error": False, "estop_button": 0, "estop_source": 0}
    graph.heard["/robot/state"](AssemblyState(*{**content, **told}.values()), Receipt("/robot/state", ROBOT, 9.0, b""))


@pytest.mark.parametrize(
    "told, text",
    [
        ({}, ""), ({"estop_button": 3}, ""), ({"estop_source": 1}, ""), ({"estop_button": 1}, "the e-stop is pressed"),
        ({"estop_button": 2}, "the e-stop is pressed"), ({"stopped": True, "estop_source": 1}, "the e-stop is pressed"),
        ({"stopped": True, "estop_source": 3}, "the robot is stopped (source 3)"),
        ({"error": True}, "the robot reports an error"),
        ({"enabled": False}, "the robot is disabled"), ({"enabled": False, "estop_button": 1}, "the e-stop is pressed"),
    ],
)  # fmt: skip
def test_why_a_robot_cannot_move(told: dict[str, Any], text: str) -> None:
    """Button and source each for itself: a button that is pressed counts before the robot says that it has stopped."""
    arm, graph = attached()
    robot_state(arm, graph, **told)
    assert arm.unable() == text


@pytest.mark.parametrize("told", [{"estop_button": 1}, {"stopped": True}, {"enabled": False}, {"error": True}])
def test_a_trouble_of_one_message_is_remembered(told: dict[str, Any]) -> None:
    arm, graph = attached()
    arm.clock = SimpleNamespace(now=lambda: 9.0)
    robot_state(arm, graph)
    assert arm.trouble() == ""
    robot_state(arm, graph, **told)
    seen = arm.unable()
    robot_state(arm, graph, error=True)
    robot_state(arm, graph)
    assert arm.unable() == "" and seen and arm.trouble() == seen  # the first one
    arm.forget_trouble()
    assert arm.trouble() == ""
