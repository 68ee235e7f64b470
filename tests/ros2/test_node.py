"""Topics between two participants of this process: quality of service, who is there, and what is no message."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from support.arms.lone_ros2 import QOS, Head, Imu, Layout, Stamp, States, Torques

from diffpbd.runtime.arms.ros2.link import Ros2Link
from diffpbd.runtime.arms.ros2.node import Node, domain_of
from diffpbd.runtime.records.messages import JointState

PATIENCE = 10.0  # s


def wait_until(what: Callable[[], object], patience: float = PATIENCE) -> bool:
    end = time.monotonic() + patience
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture
def link() -> Iterator[Ros2Link]:
    one = Ros2Link(Node(domain_of()), "/joint_states", "/effort_controller/commands")
    yield one
    one.close()


class Robot:
    """A robot's participant, with the quality of service of ros2_control's controllers."""

    def __init__(self, qos: Qos = QOS) -> None:
        self.participant = DomainParticipant(domain_of())
        self.writer = DataWriter(self.participant, Topic(self.participant, "rt/joint_states", States), qos=qos)
        self.key = str(self.participant.get_guid())

    def listen(self, qos: Qos = QOS) -> None:
        topic = Topic(self.participant, "rt/effort_controller/commands", Torques)
        self.reader = DataReader(self.participant, topic, qos=qos)

    def say(self, second: int, *names: str) -> None:
        self.writer.write(States(Head(Stamp(second, 5), ""), list(names), [1.0] * len(names), [], []))


DURABLE = Qos(Policy.Reliability.Reliable(100_000_000), Policy.Durability.TransientLocal, Policy.History.KeepLast(1))
BEST = Qos(Policy.Reliability.BestEffort, Policy.Durability.Volatile, Policy.History.KeepLast(1))


@pytest.mark.parametrize("qos", [QOS, DURABLE, BEST], ids=["system default", "transient local", "sensor data"])
def test_states_come_whatever_the_robot_offers(link: Ros2Link, qos: Qos) -> None:
    heard: list[tuple[JointState, float, str]] = []
    link.open(lambda *what: heard.append(what))
    robot = Robot(qos)
    begin = time.monotonic()

    def said() -> bool:
        robot.say(7, "a", "b")
        return bool(heard)

    assert wait_until(said)
    message, received, participant = heard[0]
    assert message.name == ("a", "b") and message.header.stamp == (7, 5) and message.position.tolist() == [1.0, 1.0]
    assert begin <= received <= time.monotonic() and participant == robot.key
    assert link.seen() == ""


@pytest.mark.parametrize("qos", [QOS, BEST], ids=["system default", "sensor data"])
def test_torques_go_and_who_hears_them_is_known(link: Ros2Link, qos: Qos) -> None:
    link.open(lambda *what: None)
    robot, recorder = Robot(), Robot()
    recorder.listen()
    assert wait_until(lambda: link.hears(recorder.key))
    assert link.hears("") and not link.hears(robot.key)  # a recorder is no robot
    robot.listen(qos)
    assert wait_until(lambda: link.hears(robot.key))
    link.send(("b", "a"), np.array([1.0, 2.0]))
    heard: list[Torques] = []
    assert wait_until(lambda: heard or heard.extend(robot.reader.take(1)))
    assert heard[0].data == [1.0, 2.0] and heard[0].layout.dim[0].label == "joints: b a"
    assert link.dropped == 0 and link.commanders() == ()
    robot.participant.__del__()
    assert wait_until(lambda: not link.hears(robot.key))


def test_others_that_command_are_named(link: Ros2Link) -> None:
    link.open(lambda *what: None)
    other = DomainParticipant(domain_of())
    writer = DataWriter(other, Topic(other, "rt/effort_controller/commands", Torques), qos=QOS)
    assert wait_until(link.commanders)
    assert "process" in link.commanders()[0]
    del writer
    assert wait_until(lambda: not link.commanders())


def test_a_command_of_another_is_remembered_when_it_has_gone(link: Ros2Link) -> None:
    link.open(lambda *what: None)
    other = DomainParticipant(domain_of())
    writer = DataWriter(other, Topic(other, "rt/effort_controller/commands", Torques), qos=QOS)
    assert wait_until(link.commanders)
    writer.write(Torques(Layout([], 0), [1.0]))
    assert wait_until(
        lambda: f"process {os.getpid()}" in link.commanders()[0] and "reach the arm" in link.commanders()[0]
    )
    other.__del__()
    assert not wait_until(lambda: not link.commanders(), 0.5)


@pytest.mark.parametrize("durable", [True, False])
def test_a_reader_that_asks_for_more_than_is_offered_is_told_of_qos(link: Ros2Link, durable: bool) -> None:
    link.open(lambda *what: None)
    robot = Robot()
    robot.listen(DURABLE if durable else QOS)
    if durable:
        assert wait_until(link.unfit) and not link.hears(robot.key)
        assert f"process {os.getpid()}" in link.unfit() and "durability TransientLocal" in link.unfit()
        assert "Volatile (QoS" in link.unfit()
    else:
        assert wait_until(lambda: link.hears(robot.key)) and link.unfit() == ""
    robot.participant.__del__()


def test_a_topic_of_another_type_is_said(link: Ros2Link) -> None:
    link.open(lambda *what: None)
    assert "nobody in domain" in link.seen()
    other = DomainParticipant(domain_of())
    writer = DataWriter(other, Topic(other, "rt/joint_states", Imu))
    assert wait_until(lambda: "Imu_" in link.seen())
    assert link.seen() == (
        "/joint_states is published as sensor_msgs::msg::dds_::Imu_, expected sensor_msgs::msg::dds_::JointState_"
    )
    del writer


def test_what_is_no_state_is_counted_and_the_next_one_is_heard(link: Ros2Link) -> None:
    heard: list[int] = []
    link.open(lambda message, *what: heard.append(message.header.stamp[0]))
    robot = Robot()

    def said() -> bool:
        robot.say(-1, "a")
        robot.say(8, "a")
        return bool(heard)

    assert wait_until(said)
    assert set(heard) == {8} and wait_until(lambda: "a stamp that is no time" in link.seen())
