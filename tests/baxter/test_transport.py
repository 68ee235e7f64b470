"""The TCPROS client against Debian's rosmaster and against itself; rospy is the peer in test_faults."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.records.messages import String
from diffpbd.runtime.ros1 import Node, Publisher
from diffpbd.runtime.ros1.master import call
from diffpbd.runtime.ros1.messages import Float64
from diffpbd.runtime.ros1.wire import FrameReader, decode_header, encode_header

from .conftest import Graph, wait_until


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")


def test_latch_every_publisher_and_unregister(graph: Graph) -> None:
    got: list[tuple[str, float]] = []
    with Node("listener", master=graph.uri) as listener:
        with Node("one", master=graph.uri) as one, Node("two", master=graph.uri) as two:
            one.publish("/number", Float64, latch=True).publish(Float64(1.0))
            subscriber = listener.subscribe("/number", Float64, lambda m, r: got.append((r.publisher, m.data)))
            wait_until(lambda: got, "the latched message did not come")
            late = two.publish("/number", Float64)
            wait_until(lambda: late.subscribers, "the second publisher was not connected")
            late.publish(Float64(2.0))
            wait_until(lambda: len(got) == 2, "the second publisher's message did not come")
            assert got == [("/one", 1.0), ("/two", 2.0)]
            assert set(listener.master.publishers("/number")) == {"/one", "/two"}
            assert len(subscriber.publishers) == 2
        wait_until(lambda: not subscriber.publishers, "the publishers did not unregister")
        assert listener.master.publishers("/number") == ()


def test_connects_again_when_a_publisher_comes_back(graph: Graph) -> None:
    got: list[float] = []
    with Node("listener", master=graph.uri) as listener:
        listener.subscribe("/again", Float64, lambda m, r: got.append(m.data))
        for value in (1.0, 2.0):
            with Node("speaker", master=graph.uri) as speaker:
                speaker.publish("/again", Float64, latch=True).publish(Float64(value))
                wait_until(lambda value=value: got and got[-1] == value, "not connected")


def test_another_type_is_refused_on_both_sides(graph: Graph) -> None:
    with Node("listener", master=graph.uri) as listener, Node("speaker", master=graph.uri) as speaker:
        publisher = speaker.publish("/typed", String, latch=True)
        publisher.publish(String("no number"))
        subscriber = listener.subscribe("/typed", Float64, lambda m, r: pytest.fail("delivered"))
        wait_until(lambda: subscriber.refusals, "not refused")
        (text,) = subscriber.refusals.values()
        assert "std_msgs/String" in text and Float64.DEFINITION.md5 in text
        assert publisher.subscribers == ()


def test_garbage_on_the_ports_does_no_harm(graph: Graph) -> None:
    got: list[float] = []
    with Node("speaker", master=graph.uri) as speaker, Node("listener", master=graph.uri) as listener:
        publisher = speaker.publish("/sturdy", Float64)
        listener.subscribe("/sturdy", Float64, lambda m, r: got.append(m.data))
        _, host, port = call(speaker.uri, "requestTopic", "/t", "/sturdy", [["TCPROS"]], timeout=1.0)
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"\4\0\0\0\0\0\0\0", b""):
            with socket.create_connection((host, port), 1.0) as connection:
                connection.sendall(garbage)
        with pytest.raises(GraphError):
            call(speaker.uri, "requestTopic", "/t", "/nothing", [["TCPROS"]], timeout=1.0)
        with pytest.raises(GraphError):
            call(speaker.uri, "noSuchMethod", timeout=1.0)
        wait_until(lambda: publisher.subscribers, "not connected")
        publisher.publish(Float64(3.0))
        wait_until(lambda: got == [3.0], "not delivered")


def test_no_master_is_one_paragraph() -> None:
    with pytest.raises(GraphError, match="does not answer getPid.*ROS_MASTER_URI"):
        Node("alone", master="http://127.0.0.1:9")
    with pytest.raises(GraphError, match="expected http://HOST:PORT"):
        Node("alone", master="11311")


def test_shutdown_from_the_graph_is_seen(graph: Graph) -> None:
    with Node("speaker", master=graph.uri) as speaker:
        call(speaker.uri, "shutdown", "/master", "another node took the name", timeout=1.0)
        assert speaker.shut_down.is_set()


def test_a_slow_reader_gets_the_newest_and_never_delays_us() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ours = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
    publisher = Publisher("/t", String, latch=False)
    publisher.attach(ours, "slow")
    took = []
    for k in range(2000):
        start = time.monotonic()
        publisher.publish(String(f"{k:04d}" + "x" * 200))
        took.append(time.monotonic() - start)
    assert (
        sorted(took)[-20] < 0.05 and publisher.dropped > 1900
    )  # the machine may stall a few times, a full link always does
    reader, frames = FrameReader(), []

    def drain() -> None:
        while frames[-1:] != [b"1999"]:
            frames.extend(frame[4:8] for frame in reader.feed(peer.recv(65536)))

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    end = time.monotonic() + 5.0
    while thread.is_alive() and time.monotonic() < end:
        publisher.flush()
        time.sleep(0.001)
    numbers = [int(frame) for frame in frames]
    assert numbers == sorted(numbers) and numbers[-1] == 1999 and len(numbers) < 100
    publisher.close()
    ours.close()
    peer.close()


def test_headers_round_trip_and_broken_ones_are_refused() -> None:
    fields = {"callerid": "/a", "message_definition": "float64 x=1\n", "empty": ""}
    assert decode_header(encode_header(fields)[4:]) == fields
    for broken in (b"\1\0", b"\5\0\0\0ab=c", b"\2\0\0\0ab"):
        with pytest.raises(GraphError):
            decode_header(broken)


def test_frames_are_cut_at_any_place() -> None:
    stream = b"".join(len(part).to_bytes(4, "little") + part for part in (b"", b"abc", b"d" * 300))
    for step in (1, 3, 7, 1000):
        reader, frames = FrameReader(), []
        for at in range(0, len(stream), step):
            frames += reader.feed(stream[at : at + step])
        assert frames == [b"", b"abc", b"d" * 300]
    with pytest.raises(GraphError, match="broken"):
        FrameReader().feed(b"\xff\xff\xff\xff")
