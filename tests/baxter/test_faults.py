"""The fault table: each on a real ROS 1 graph with a rospy robot, each ending in a reported state."""

from __future__ import annotations

import os
import signal
import socket
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.stopping import Phase, Reason
from diffpbd.runtime.ros1 import Node
from diffpbd.runtime.ros1.master import call
from diffpbd.runtime.ros1.messages import AssemblyState, JointCommand
from diffpbd.runtime.ros1.wire import encode_header

from .conftest import REST, Graph, RobotProcess, wait_until
from .running import GRAVITY, HOLD, POSITION, check_audit, execute, held_after

TORQUE = 3


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")


@pytest.mark.thorough("GravityOwner.ROBOT")
@pytest.mark.parametrize("owner", list(GravityOwner))
def test_a_good_run_holds_then_controls_then_holds(
    arm_robot: Robot, graph: Graph, robot: RobotProcess, owner: GravityOwner
) -> None:
    report = execute(arm_robot, graph.uri, owner=owner, duration=1.2)
    answer = held_after(robot)
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED and report.phase is Phase.RUN
    assert answer["audit"]["modes"] == [POSITION, TORQUE, POSITION]
    assert "commands to hold the measured pose" in report.ending
    # Nobody pushed: the springs hold the arm where it was.
    assert np.abs(np.array(answer["q"]) - REST).max() < 0.03
    assert report.sent > 200 and report.dropped == 0


@pytest.mark.parametrize("controller", [HOLD, GRAVITY], ids=lambda c: c["name"])
def test_other_controllers(arm_robot: Robot, graph: Graph, robot: RobotProcess, controller: dict) -> None:
    report = execute(arm_robot, graph.uri, controller=controller, owner=GravityOwner.ROBOT)
    answer = held_after(robot)
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED
    assert np.abs(np.array(answer["q"]) - REST).max() < 0.03


def test_a_short_nan_in_the_state_is_survived(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    nan = lambda: robot.ask(fault="nan", **{"for": 0.04})  # noqa: E731 one line, used once
    report = execute(arm_robot, graph.uri, owner=GravityOwner.MODEL, action=nan)
    check_audit(held_after(robot), report)
    assert report.reason is Reason.FINISHED
    assert report.counts[TickStatus.NOT_FINITE_STATE] > 0


@pytest.mark.parametrize(
    "fault, owner, reason, text",
    [
        ("no_velocity", GravityOwner.MODEL, Reason.BAD_STATE, "not finite state"),
        ("freeze", GravityOwner.ROBOT, Reason.STALE_STATE, "s old"),
        ("missing", GravityOwner.MODEL, Reason.BAD_STATE, "left_e1 missing"),
    ],
)
def test_a_lasting_fault_of_the_state_ends_the_run(
    arm_robot: Robot, graph: Graph, robot: RobotProcess, fault: str, owner: GravityOwner, reason: Reason, text: str
) -> None:
    """With every law and owner in lock-step: tests/loop/test_fault_rows.py; here the messages are rospy's."""
    report = execute(arm_robot, graph.uri, owner=owner, action=lambda: robot.ask(fault=fault))
    check_audit(held_after(robot), report)
    assert report.reason is reason and text in report.text
    assert "nothing more was sent" in report.ending


def test_an_offset_of_the_joint_states_is_never_obeyed(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    report = execute(arm_robot, graph.uri, action=lambda: robot.ask(fault="offset"))
    answer = held_after(robot)
    check_audit(answer, report)
    assert report.reason in (Reason.BAD_STATE, Reason.GATE) and "nothing more was sent" in report.ending
    assert np.abs(np.array(answer["q"]) - REST).max() < 0.03


def test_changing_joint_orders_do_not_matter(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    robot.ask(fault="shuffle")
    report = execute(arm_robot, graph.uri)
    answer = held_after(robot)
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED and not report.rejected
    assert np.abs(np.array(answer["q"]) - REST).max() < 0.03


def test_e_stop_and_release(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    report = execute(arm_robot, graph.uri, action=lambda: robot.ask(press=True))
    check_audit(held_after(robot), report)
    assert report.reason is Reason.ROBOT and "e-stop is pressed" in report.text
    assert "nothing more was sent: the e-stop is pressed" in report.ending
    refused = execute(arm_robot, graph.uri)
    assert refused.reason is Reason.REFUSED and "e-stop" in refused.text and refused.sent == 0
    robot.ask(press=False)
    robot.ask(reset=True)
    assert execute(arm_robot, graph.uri).text == "the robot is disabled."
    again = execute(arm_robot, graph.uri, enable=True)
    answer = held_after(robot)
    check_audit(answer, again)
    assert again.reason is Reason.FINISHED and len(answer["audit"]["first_errors"]) == 2


def test_a_short_disabling_ends_the_run(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    def blink() -> None:
        robot.ask(enable=False)
        time.sleep(0.03)
        robot.ask(enable=True)

    report = execute(arm_robot, graph.uri, action=blink, rate=100.0)
    answer = held_after(robot)
    assert report.reason is Reason.ROBOT and "disabled" in report.text
    check_audit(answer, report)
    again = execute(arm_robot, graph.uri)
    answer = held_after(robot)
    check_audit(answer, again)
    assert again.reason is Reason.FINISHED and len(answer["audit"]["first_errors"]) == 2


def test_a_second_robot_on_the_graph(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    second: list[Node] = []

    def appear() -> None:
        second.append(Node("another_robot", master=graph.uri))
        second[0].publish("/robot/state", AssemblyState)

    try:
        report = execute(arm_robot, graph.uri, action=appear)
        check_audit(held_after(robot), report)
        assert report.reason is Reason.ROBOT and "2 publishers" in report.text
        refused = execute(arm_robot, graph.uri)
        assert refused.reason is Reason.REFUSED and "2 publishers" in refused.text and refused.sent == 0
    finally:
        second[0].close()


def test_another_commander_of_the_arm(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    other: list[Node] = []

    def appear() -> None:
        other.append(Node("trajectory_server", master=graph.uri))
        other[0].publish("/robot/limb/left/joint_command", JointCommand)

    try:
        report = execute(arm_robot, graph.uri, action=appear, duration=4.0)
        check_audit(held_after(robot), report)
        assert report.reason is Reason.ROBOT and "also commanded by /trajectory_server" in report.text
        refused = execute(arm_robot, graph.uri)
        assert refused.reason is Reason.REFUSED and "/trajectory_server" in refused.text and refused.sent == 0
        assert execute(arm_robot, graph.uri, allow_others=True, duration=0.2).reason is Reason.FINISHED
    finally:
        other[0].close()


@pytest.mark.thorough("check", "hold")
@pytest.mark.parametrize("phase", [Phase.CHECK, Phase.HOLD, Phase.RUN, Phase.STOP], ids=lambda p: p.value)
def test_ctrl_c_in_every_phase(arm_robot: Robot, graph: Graph, robot: RobotProcess, phase: Phase) -> None:
    if phase is Phase.CHECK:
        robot.ask(fault="freeze")
    interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731 one line, used once
    lasts = {Phase.HOLD: {"hold": 5.0}, Phase.RUN: {"duration": 5.0}}.get(
        phase, {}
    )  # the signal comes in it, however late
    report = execute(arm_robot, graph.uri, phase=phase, after=0.05, action=interrupt, **lasts)
    answer = held_after(robot)
    check_audit(answer, report)
    expected = Reason.FINISHED if phase is Phase.STOP else Reason.INTERRUPTED
    assert report.reason is expected and report.good
    assert report.phase is (Phase.RUN if phase is Phase.STOP else phase)
    if phase is Phase.CHECK:
        assert report.sent == 0
    else:
        assert "commands to hold the measured pose" in report.ending and answer["mode"] == POSITION


def test_wrong_md5_then_robot_killed_and_restarted_then_master_killed(
    arm_robot: Robot, genpy_messages: Path, tmp_path: Path
) -> None:
    graph = Graph(tmp_path)
    try:
        wrong = RobotProcess(graph, genpy_messages, "baxter", "wrong_md5")
        report = execute(arm_robot, graph.uri, wait=1.0)
        wrong.kill()
        assert report.reason is Reason.REFUSED and report.sent == 0
        assert "/robot/state" in report.text and AssemblyState.DEFINITION.md5 in report.text

        first = RobotProcess(graph, genpy_messages)
        report = execute(arm_robot, graph.uri, action=first.kill)
        assert report.reason in (Reason.LOST_ROBOT, Reason.STALE_STATE), report
        assert report.age.maximum <= 0.1

        second = RobotProcess(graph, genpy_messages)
        second.ask(audit=True, enable=False)
        second.ask(enable=True, pose=REST)
        report = execute(arm_robot, graph.uri)
        check_audit(held_after(second), report)
        assert report.reason is Reason.FINISHED

        report = execute(arm_robot, graph.uri, action=graph.kill, duration=6.0)
        answer = held_after(second)
        check_audit(answer, report)
        assert report.reason is Reason.LOST_MASTER
        assert "commands to hold the measured pose" in report.ending
        second.kill()
    finally:
        graph.kill()


def test_an_exception_of_the_controller_still_stops_cleanly(
    arm_robot: Robot, graph: Graph, robot: RobotProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diffpbd.runtime.control.laws.impedance import ImpedanceController

    calls = []

    def break_later(self, time, q, dq):
        calls.append(time)
        if len(calls) > 50:
            raise RuntimeError("a fault of the law")
        return np.zeros(7)

    monkeypatch.setattr(ImpedanceController, "output", break_later)
    with pytest.raises(RuntimeError, match="fault of the law"):
        execute(arm_robot, graph.uri)
    answer = held_after(robot)
    assert answer["mode"] == POSITION and answer["audit"]["modes"] == [POSITION, TORQUE, POSITION]


@pytest.mark.thorough
def test_a_reader_that_never_reads_delays_nobody(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    kind = JointCommand.DEFINITION
    me, topic, held = "/never_reads", "/robot/limb/left/joint_command", socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)

    def subscribe() -> None:
        ask = partial(call, timeout=2.0)
        (uri,) = ask(graph.uri, "registerSubscriber", me, topic, kind.name, "http://127.0.0.1:1/")
        ask(graph.uri, "unregisterSubscriber", me, topic, "http://127.0.0.1:1/")
        held.connect(tuple(ask(uri, "requestTopic", me, topic, [["TCPROS"]])[1:]))
        held.sendall(encode_header({"callerid": me, "topic": topic, "type": kind.name, "md5sum": kind.md5}))

    with held:
        report = execute(arm_robot, graph.uri, action=subscribe, duration=2.0)
    answer = held_after(robot)
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED and report.dropped > 200, report  # all for the one that does not read
    assert report.work.percentile(0.5) < 2e-3 and answer["audit"]["commands"] > 0.9 * report.sent


def test_nothing_is_left_on_the_graph(arm_robot: Robot, graph: Graph, robot: RobotProcess) -> None:
    with Node("observer", master=graph.uri) as observer:
        topic = "/robot/limb/left/joint_command"
        execute(arm_robot, graph.uri, duration=0.2)
        wait_until(lambda: observer.master.publishers(topic) == (), "still registered")
