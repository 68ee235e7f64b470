"""Answers of a controller and its manager: order, interface, the arm's own controller, and both releases' messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from diffpbd.runtime.arms.ros2.controllers import Answer, Controllers, names_of
from diffpbd.runtime.arms.ros2.node import Node, domain_of
from diffpbd.runtime.arms.ros2.service_types import (
    ChainConnection,
    ControllerState,
    ControllerStateHumble,
    ListControllersReply,
    ListControllersReplyHumble,
)
from diffpbd.runtime.arms.ros2.simulated.manager import OWN, offer

COMMANDS = "/cell/effort_controller/commands"
NEVER = lambda: False  # noqa: E731 one line, used everywhere


@pytest.fixture
def nodes() -> Iterator[tuple[Node, Node]]:
    both = Node(domain_of()), Node(domain_of())
    yield both
    for node in both:
        node.close()


def test_a_controller_is_asked_and_its_arm_handed_over(nodes: tuple[Node, Node]) -> None:
    robot, ours = nodes
    held: list[bool] = []
    offer(robot, COMMANDS, ("b", "a"), lambda: held.append(True))
    robot.start()
    asked, named = Controllers(ours, COMMANDS, None), Controllers(ours, COMMANDS, "another_controller")
    ours.start()
    assert asked.ask(NEVER) == Answer(("b", "a"), "effort", True, OWN)
    assert named.ask(NEVER).own == "another_controller"
    assert not named.hand_over("another_controller", NEVER) and held == []
    assert asked.hand_over(OWN, NEVER) and held == [True]


def test_nobody_answers(nodes: tuple[Node, Node]) -> None:
    _, ours = nodes
    asked = Controllers(ours, COMMANDS, None)
    ours.start()
    assert asked.ask(NEVER) == Answer(unasked="no node offers /cell/effort_controller/get_parameters")
    assert not asked.hand_over(OWN, NEVER)


def test_names_follow_from_the_topic() -> None:
    assert names_of(COMMANDS) == ("/cell/effort_controller", "/cell/controller_manager")
    assert names_of("effort_controller/commands") == ("/effort_controller", "/controller_manager")


def test_both_releases_lists_are_read() -> None:
    chains = [ChainConnection("x", ["y"])]
    old = ControllerStateHumble("own", "inactive", "T", [], ["a/position"], [], False, False, [], chains)
    new = ControllerState("own", "active", "T", True, 500, [], ["a/effort"], [], False, False, ["s"], [], chains)
    for kind, state in ((ListControllersReplyHumble, old), (ListControllersReply, new)):
        sent = kind(7, 1, [state, state])
        read = ListControllersReply.deserialize(sent.serialize())
        assert (read.guid, read.seq, list(read.controller)) == (7, 1, [state, state])
    with pytest.raises(ValueError, match="another release"):
        ListControllersReply.deserialize(ListControllersReplyHumble(7, 1, [old]).serialize()[:-8])
