"""Registrations of nodes that live, that were killed, and that hang."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

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
        assert {one.name for one in withdraw(node.master, TOPIC)} == {"/killed", "/hung"}
        assert set(node.master.publishers(TOPIC)) == {"/alive", node.name}
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


def test_a_program_that_hangs_refuses_until_it_is_withdrawn(graph: LocalMaster, node: Node, silent: None) -> None:
    with pytest.raises(RefusedError, match=r"commanded by /hung \(http.*\) does not answer\. .*--clean-dead"):
        alone(node)
    alone(node, allow_others=True)
    alone(node, clean_dead=True)
    alone(node)


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
