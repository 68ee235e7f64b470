"""Registrations of nodes that live, that were killed, and that hang."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import click
import pytest

from diffpbd.runtime.arms.baxter import run as run_baxter
from diffpbd.runtime.base.errors import GoneError, GraphError, RefusedError
from diffpbd.runtime.ros1 import Node, registrations
from diffpbd.runtime.ros1.master import call
from diffpbd.runtime.ros1.master_server import LocalMaster
from diffpbd.runtime.ros1.messages import Float64
from diffpbd.runtime.ros1.registrations import Life, registered, withdraw
from diffpbd.runtime.ros1.watch import MasterWatch

TOPIC = "/commands"


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalMaster]:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    monkeypatch.setattr(registrations, "CALL_TIMEOUT", 0.5)
    found = LocalMaster()
    yield found
    found.close()


@pytest.fixture
def node(graph: LocalMaster) -> Iterator[Node]:
    with Node("ours", master=graph.uri) as found:
        yield found


def register(graph: LocalMaster, name: str, port: int) -> None:
    call(graph.uri, "registerPublisher", name, TOPIC, "std_msgs/Float64", f"http://127.0.0.1:{port}/", timeout=30.0)


def gone(graph: LocalMaster) -> None:
    """A registration of a process that has ended: nothing listens at its port any more."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    register(graph, "/killed", port)


@pytest.fixture
def silent(graph: LocalMaster) -> Iterator[None]:
    """A registration of a process that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as hung:
        register(graph, "/hung", hung.getsockname()[1])
        yield


def lives(node: Node) -> dict[str, Life]:
    return {one.name: one.life for one in registered(node.master, TOPIC, node.name)}


def test_each_is_asked(graph: LocalMaster, node: Node, silent: None) -> None:
    gone(graph)
    node.publish(TOPIC, Float64)
    with Node("alive", master=graph.uri) as other:
        other.publish(TOPIC, Float64)
        assert lives(node) == {"/alive": Life.ANSWERS, "/killed": Life.GONE, "/hung": Life.SILENT}
        assert {one.name for one in withdraw(node.master, TOPIC)} == {"/killed"}
        assert set(node.master.publishers(TOPIC)) == {"/alive", "/hung", node.name}
        assert withdraw(node.master, TOPIC) == ()


def test_a_process_that_was_killed_is_gone(graph: LocalMaster, node: Node) -> None:
    """Its registration stays with the master; the kernel has closed its port."""
    program = (
        "import sys, time; from diffpbd.runtime.ros1 import Node; from diffpbd.runtime.ros1.messages import Float64\n"
        "node = Node('victim', master=sys.argv[1]); node.publish('/commands', Float64); print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, graph.uri], stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None and victim.stdout.readline() == "up\n"
        assert lives(node) == {"/victim": Life.ANSWERS}
        victim.kill()
    assert lives(node) == {"/victim": Life.GONE}


def test_refused_connections_alone_say_that_nobody_is_there(graph: LocalMaster, silent: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(GoneError, match="does not answer getPid"):
        call(f"http://127.0.0.1:{port}/", "getPid", "/us", timeout=10.0)
    with pytest.raises(GraphError) as error:
        call("http://no-such-machine.invalid:1/", "getPid", "/us", timeout=10.0)
    assert not isinstance(error.value, GoneError)


def test_the_watch_of_a_run_counts_who_may_command(graph: LocalMaster, node: Node, silent: None) -> None:
    gone(graph)
    node.publish(TOPIC, Float64)
    watch = MasterWatch(node.master, TOPIC, node.name)
    watch.close()
    assert watch.others == ("/hung",) and watch.lost == ""


def alone(node: Node, **options: bool) -> None:
    run_baxter._alone(node, TOPIC, {"allow_others": False, "clean_dead": False, **options})


def test_a_killed_program_refuses_no_run(graph: LocalMaster, node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    gone(graph)
    alone(node)
    said = capsys.readouterr().err
    assert "/killed" in said and "nothing listens at its address" in said and "--clean-dead withdraws it" in said
    alone(node, clean_dead=True)
    assert "withdrawn from /commands: /killed" in capsys.readouterr().err
    alone(node)
    assert capsys.readouterr().err == ""


def test_a_program_that_hangs_refuses_until_it_has_ended(graph: LocalMaster, node: Node, silent: None) -> None:
    for clean in (False, True):
        with pytest.raises(RefusedError, match=r"commanded by /hung \(http.*\) does not answer\. .*halted.*kill -9"):
            alone(node, clean_dead=clean)
    alone(node, allow_others=True)


class Commander:
    """A program in a process of its own that publishes commands a hundred times a second."""

    PROGRAM = """
import sys, time
from diffpbd.runtime.ros1 import Node
from diffpbd.runtime.ros1.messages import Float64
node = Node("commander", master=sys.argv[1])
topic = node.publish("/commands", Float64)
print("up", flush=True)
while True:
    topic.publish(Float64(1.0))
    time.sleep(0.01)
"""

    def __init__(self, graph: LocalMaster) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM, graph.uri], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None and self.process.stdout.readline() == "up\n"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Robot:
    """A robot that keeps every connection, as rospy does: whoever was withdrawn from the master reaches it all the same."""

    def __init__(self, graph: LocalMaster) -> None:
        self.node = Node("robot", master=graph.uri)
        self.node._server._functions["publisherUpdate"] = lambda caller, topic, uris: 0
        self.heard: list[str] = []
        self.node.subscribe(TOPIC, Float64, lambda message, receipt: self.heard.append(receipt.publisher))


def wait_until(what: Callable[[], object]) -> None:
    end = time.monotonic() + 10.0
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_halted_program_is_not_dead_and_its_process_is_named(
    graph: LocalMaster, node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    """It answers no call, its port still takes connections; withdrawn by somebody else it would reach the robot unseen."""
    commander = Commander(graph)
    robot = Robot(graph)
    try:
        wait_until(lambda: robot.heard)
        commander.process.send_signal(signal.SIGSTOP)
        assert withdraw(node.master, TOPIC) == ()
        with pytest.raises(RefusedError, match=rf"/commander \(http.*, process {commander.process.pid}, halted\)"):
            alone(node, clean_dead=True)
        uri = node.master.node("/commander")
        call(graph.uri, "unregisterPublisher", "/commander", TOPIC, uri, timeout=30.0)
        alone(node)  # the master no longer knows
        watch = MasterWatch(node.master, TOPIC, node.name, lambda: "/robot")
        watch.close()
        assert [f"process {commander.process.pid}, halted" in one for one in watch.others] == [True]
        assert "is connected to the robot without being registered" in watch.others[0]
        commander.process.send_signal(signal.SIGCONT)
        count = len(robot.heard)
        wait_until(lambda: len(robot.heard) > count)  # which is why
        commander.end()
        wait_until(lambda: (watch.look(), not watch.others)[1])
    finally:
        commander.end()
        commander.process.stdout.close()
        robot.node.close()


def test_our_own_connection_to_the_robot_is_nobody_else(graph: LocalMaster, node: Node) -> None:
    robot = Robot(graph)
    try:
        topic = node.publish(TOPIC, Float64)
        robot.node._update(robot.node._subscribers[TOPIC], [node.uri])
        wait_until(lambda: topic.subscribers)
        info = call(robot.node.uri, "getBusInfo", "/us", timeout=30.0)
        assert [entry[1:] for entry in info] == [[node.uri, "i", "TCPROS", TOPIC, True]]
        watch = MasterWatch(node.master, TOPIC, node.name, lambda: "/robot")
        watch.close()
        assert watch.others == ()
    finally:
        robot.node.close()


def test_a_program_that_lives_is_neither_overlooked_nor_withdrawn(graph: LocalMaster, node: Node) -> None:
    with Node("alive", master=graph.uri) as other:
        other.publish(TOPIC, Float64)
        with pytest.raises(RefusedError, match=r"commanded by /alive\. One program"):
            alone(node, clean_dead=True)
        assert node.master.publishers(TOPIC) == ("/alive",)


def test_the_options_of_the_command_are_these() -> None:
    from diffpbd.runtime.commands.run import command

    assert {"clean_dead", "robot_node"} <= {
        option.name for option in command.params if isinstance(option, click.Option)
    }
