"""Messages that anybody on the network may send to the ports of a run, and answers of a broken master."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urlparse

import pytest

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.ros1 import Node, master
from diffpbd.runtime.ros1 import node as node_module
from diffpbd.runtime.ros1.addresses import own_interface
from diffpbd.runtime.ros1.guests import Guests
from diffpbd.runtime.ros1.master import LARGEST_CALL, MOST_CALLERS, Master, SlaveServer, call
from diffpbd.runtime.ros1.master_server import LocalMaster
from diffpbd.runtime.ros1.messages import Float64
from diffpbd.runtime.ros1.node import MOST_GUESTS, MOST_PUBLISHERS

STRANGERS = 100
PATIENCE = 30.0
"""s for what must happen, on a machine with other work; what is not bounded would go on for ever."""


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalMaster]:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    found = LocalMaster()
    yield found
    found.close()


@pytest.fixture
def node(graph: LocalMaster) -> Iterator[Node]:
    with Node("node", master=graph.uri) as found:
        yield found


@pytest.fixture
def tracebacks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    found: list[object] = []
    monkeypatch.setattr(threading, "excepthook", found.append)
    return found


def answer(node: Node, headers: dict[str, str], body: bytes = b"") -> int:
    parts = urlparse(node.uri)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=2.0)
    try:
        connection.putrequest("POST", "/")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


GET_PID = b"<methodCall><methodName>getPid</methodName><params><param><value>x</value></param></params></methodCall>"


@pytest.mark.parametrize(("headers", "status"), [
    ({"Content-Length": str(len(GET_PID))}, 200),
    ({"Content-Length": str(LARGEST_CALL + 1)}, 413),
    ({"Content-Length": "1400000000"}, 413),
    ({"Content-Length": "-1"}, 400),
    ({"Content-Length": "9" * 400}, 400),
    ({"Content-Length": "x"}, 400),
    ({}, 400),
    ({"Content-Length": str(len(GET_PID)), "Content-Encoding": "gzip"}, 400),
])  # fmt: skip
def test_a_call_says_how_long_it_is(node: Node, headers: dict[str, str], status: int) -> None:
    assert answer(node, headers, GET_PID if status == 200 else b"") == status


def test_a_call_of_the_largest_size_is_read(node: Node) -> None:
    body = GET_PID + b" " * (LARGEST_CALL - len(GET_PID))
    assert answer(node, {"Content-Length": str(len(body))}, body) == 200


@pytest.mark.parametrize("port", ["calls", "topics"])
def test_silent_connections_keep_no_threads(node: Node, port: str) -> None:
    publisher = node.publish("/t", Float64)
    host, listening = "127.0.0.1", node._server.port if port == "calls" else node._listener.getsockname()[1]
    before = threading.active_count()
    silent = [socket.create_connection((host, listening), 10.0) for _ in range(STRANGERS)]
    most = MOST_CALLERS if port == "calls" else MOST_GUESTS
    assert until(lambda: threading.active_count() <= before + most + 1)
    # Meanwhile the graph goes on.
    with Node("reader", master=node.master.uri) as reader:
        got: list[float] = []
        reader.subscribe("/t", Float64, lambda message, receipt: got.append(message.data))
        assert until(lambda: publisher.subscribers)
        publisher.publish(Float64(1.0))
        assert until(lambda: got == [1.0])
    for connection in silent:
        connection.close()


def test_a_peer_that_drips_is_ended(graph: LocalMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "LONGEST_CALL", 0.3)
    server = SlaveServer("127.0.0.1", {})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    with socket.create_connection(("127.0.0.1", server.port), 1.0) as connection:
        start = time.monotonic()

        def dripped() -> bool:
            try:
                connection.sendall(b"P")
            except OSError:
                return True
            return False

        assert until(dripped) and time.monotonic() - start > 0.2
    server.shutdown()
    server.server_close()


def test_the_oldest_guest_gives_way() -> None:
    guests = Guests(2, 60.0)
    pairs = [socket.socketpair() for _ in range(3)]
    for ours, _ in pairs:
        guests.admit(ours)
    assert [guests.leave(ours) for ours, _ in pairs] == [False, True, True]
    assert pairs[0][1].recv(1) == b""
    for pair in pairs:
        for end in pair:
            end.close()


BAD_PORTS = [0, -1, 70000, 1 << 31, "x", "", [], 1.5, True]


def test_bad_ports_are_asked_again_without_a_traceback(
    graph: LocalMaster, node: Node, tracebacks: list[object]
) -> None:
    asked: Counter[str] = Counter()

    def answered(caller: str, topic: str, protocols: object) -> list[object]:
        asked[topic] += 1
        return ["TCPROS", "127.0.0.1", BAD_PORTS[int(topic.removeprefix("/t"))]]

    server = SlaveServer("127.0.0.1", {"requestTopic": answered})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    uri = f"http://127.0.0.1:{server.port}/"
    for k in range(len(BAD_PORTS)):
        call(graph.uri, "registerPublisher", "/liar", f"/t{k}", "std_msgs/Float64", uri, timeout=PATIENCE)
        node.subscribe(f"/t{k}", Float64, lambda message, receipt: None)
    assert until(lambda: all(asked[f"/t{k}"] >= 2 for k in range(len(BAD_PORTS)))), f"not asked again: {asked}"
    assert not tracebacks
    server.shutdown()
    server.server_close()


def test_bad_uris_of_publishers_leave_no_traceback(node: Node, tracebacks: list[object]) -> None:
    uris = ["", "x", "http://", "http://[", "http://a..b:1/", "ftp://127.0.0.1:1/", "http://127.0.0.1:x/"]
    subscribers = [node.subscribe(f"/t{k}", Float64, lambda message, receipt: None) for k in range(len(uris))]
    for k, uri in enumerate(uris):
        call(node.uri, "publisherUpdate", "/anybody", f"/t{k}", [uri], timeout=PATIENCE)
    time.sleep(0.3)
    assert [one.connecting for one in subscribers] == [{uri} for uri in uris] and not tracebacks


def test_many_publishers_are_not_many_threads(node: Node) -> None:
    node.subscribe("/t", Float64, lambda message, receipt: None)
    before = threading.active_count()
    call(
        node.uri, "publisherUpdate", "/anybody", "/t", [f"http://127.0.0.1:9/{k}" for k in range(500)], timeout=PATIENCE
    )
    assert threading.active_count() <= before + MOST_PUBLISHERS + 1


def test_subscribers_of_a_topic_are_counted(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "MOST_SUBSCRIBERS", 1)
    publisher = node.publish("/t", Float64)
    with Node("one", master=node.master.uri) as one, Node("two", master=node.master.uri) as two:
        one.subscribe("/t", Float64, lambda message, receipt: None)
        assert until(lambda: publisher.subscribers == ("/one",))
        two.subscribe("/t", Float64, lambda message, receipt: None)
        assert not until(lambda: len(publisher.subscribers) > 1, 0.5)


def test_wrong_arguments_are_answered(node: Node) -> None:
    for method, arguments in (
        ("requestTopic", [[1], "/t", 3]),
        ("publisherUpdate", ["/m", "/t"]),
        ("requestTopic", ["/m", {}, []]),
    ):
        with pytest.raises(GraphError, match="refused"):
            call(node.uri, method, *arguments, timeout=PATIENCE)


def whole_call(connection: socket.socket) -> None:
    """Reads head and body, which come in two pieces: a close with unread bytes would reset what the caller has not read."""

    def more() -> bytes:
        found = connection.recv(1 << 16)
        if not found:
            raise ConnectionResetError
        return found

    text = b""
    while b"\r\n\r\n" not in text:
        text += more()
    head, _, body = text.partition(b"\r\n\r\n")
    (length,) = (
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
    )
    while len(body) < length:
        body += more()


def served(
    body: bytes, head: bytes = b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n", endless: bool = False
) -> Master:
    """A master that answers every call with these bytes."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    whole_call(connection)
                    connection.sendall(head + body)
                    while endless:
                        connection.sendall(b" " * 4096)
                        time.sleep(0.001)
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()
    return Master(
        f"http://127.0.0.1:{server.getsockname()[1]}/", "/node", "http://127.0.0.1:9/", 0.5 if endless else PATIENCE
    )


def value(text: str) -> bytes:
    return f"<methodResponse><params><param><value>{text}</value></param></params></methodResponse>".encode()


def success(text: str) -> bytes:
    return value(f"<array><data><value><int>1</int></value><value></value><value>{text}</value></data></array>")


BROKEN = {
    "nothing": b"",
    "no XML": b"hello",
    "cut": value("<int>1</int>")[:60],
    "no value": b"<methodResponse></methodResponse>",
    "an end without a beginning": b"<methodResponse><params></array></params></methodResponse>",
    "an unknown type": value("<thing>1</thing>"),
    "no number": value("<int>x</int>"),
    "a bare number": value("<int>1</int>"),
    "a number as the value": success("<int>7</int>"),
    "a text as the value": success("<string>x\x9by</string>"),
    "an empty list": success("<array><data></data></array>"),
    "lists of numbers": success("<array><data><value><int>1</int></value></data></array>"),
    "too much": success(f"<string>{'x' * (1 << 16)}</string>"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_whatever_a_master_answers_is_one_kind_of_error(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "LARGEST_ANSWER", 1 << 15)
    broken = served(BROKEN[what])
    harmless = {
        "a number as the value": ("process",), "an empty list": ("register_subscriber",),
        "a text as the value": ("register_subscriber",), "lists of numbers": ("register_subscriber",),
    }.get(what, ())  # fmt: skip
    asked = {"process": (), "publishers": ("/t",), "register_subscriber": ("/t", "k")}
    for method, arguments in asked.items():
        try:
            getattr(broken, method)(*arguments)
        except GraphError as error:
            assert str(error).isprintable()
        else:
            assert method in harmless


@pytest.mark.parametrize("head", [
    b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\n\r\n", b"HTTP/1.0 500 No\r\n\r\n", b"\xff\r\n",
])  # fmt: skip
def test_other_answers(head: bytes) -> None:
    with pytest.raises(GraphError, match="does not answer getPid"):
        served(success("<int>7</int>"), head).process()
    assert served(success("<int>7</int>")).process() == 7


def test_an_answer_without_an_end_is_given_up() -> None:
    start = time.monotonic()
    with pytest.raises(GraphError, match="takes too long"):
        served(b"<methodResponse>", endless=True).process()
    assert time.monotonic() - start < PATIENCE


def own_addresses() -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return []
        found = str(probe.getsockname()[0])
    return [] if found.startswith("127.") else [found]


@pytest.mark.parametrize("ours", ["127.0.0.1", *own_addresses()])
def test_it_listens_where_ros_ip_says_and_nowhere_else(
    graph: LocalMaster, monkeypatch: pytest.MonkeyPatch, ours: str
) -> None:
    monkeypatch.setenv("ROS_IP", ours)
    with Node("node", master=graph.uri) as node:
        for port in (node._server.port, node._listener.getsockname()[1]):
            socket.create_connection((ours, port), 1.0).close()
            for other in {"127.0.0.1", "127.0.0.2", *own_addresses()} - {ours}:
                with pytest.raises(OSError):
                    socket.create_connection((other, port), 1.0).close()


def test_an_address_of_another_machine_is_refused(graph: LocalMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_IP", "192.0.2.1")
    with pytest.raises(GraphError, match=r"names 192\.0\.2\.1, where this machine cannot listen.*Set ROS_IP"):
        Node("node", master=graph.uri)


def test_a_machine_s_name_for_itself_is_not_its_address_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostbyname", lambda name: {"pc": "127.0.1.1", "lan": "10.0.0.5"}[name])
    way = own_addresses()
    assert own_interface("lan", "http://localhost:1") == "10.0.0.5"
    assert own_interface("pc", "http://127.0.0.1:1") == "127.0.1.1"  # the master is here: so are all who ask
    if way:
        assert own_interface("pc", "http://192.0.2.1:1") == way[0]
