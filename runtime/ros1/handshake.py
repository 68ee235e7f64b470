"""The two sides of a TCPROS handshake."""

from __future__ import annotations

import socket

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.records.definitions import Definition
from diffpbd.runtime.ros1.master import CALL_TIMEOUT, call
from diffpbd.runtime.ros1.publisher import Publisher
from diffpbd.runtime.ros1.subscriber import Subscriber
from diffpbd.runtime.ros1.wire import encode_header, read_header, set_options

__all__ = ["answer_subscriber", "ask_publisher"]


def _fields(name: str, topic: str, definition: Definition) -> dict[str, str]:
    return {
        "callerid": name, "topic": topic, "type": definition.name, "md5sum": definition.md5,
        "message_definition": definition.full_text,
    }  # fmt: skip


def ask_publisher(name: str, subscriber: Subscriber, uri: str) -> tuple[socket.socket, str]:
    """Connect to a publisher: the socket, and the publisher's name.

    A GraphError if it does not answer, or if it refuses us or carries another message, which is then stored in
    the subscriber's refusals.
    """
    answer = call(uri, "requestTopic", name, subscriber.topic, [["TCPROS"]], timeout=CALL_TIMEOUT)
    if not isinstance(answer, list) or len(answer) != 3 or answer[0] != "TCPROS":
        raise GraphError(f"{uri} offered {answer!r} for {subscriber.topic}; expected TCPROS.")
    definition = subscriber.kind.DEFINITION
    try:
        connection = socket.create_connection((str(answer[1]), int(answer[2])), CALL_TIMEOUT)
    except (TypeError, ValueError, OverflowError) as error:  # no port, or no name of a machine
        raise GraphError(f"{uri} offered {answer!r} for {subscriber.topic}: {error}.") from None
    try:
        set_options(connection)
        header = _fields(name, subscriber.topic, definition) | {"tcp_nodelay": "1"}
        connection.sendall(encode_header(header))
        fields = read_header(connection)
        wrong = fields.get("error", "")
        if not wrong and fields.get("md5sum", "*") not in (definition.md5, "*"):
            wrong = f"md5 sum {fields['md5sum']} instead of {definition.md5}"
        if wrong:
            subscriber.refusals[uri] = wrong
            raise GraphError(f"{subscriber.topic} from {uri}: {wrong}.")
    except BaseException:
        connection.close()
        raise
    connection.setblocking(False)
    return connection, fields.get("callerid", uri)


def answer_subscriber(
    name: str, connection: socket.socket, publishers: dict[str, Publisher]
) -> tuple[Publisher, str] | None:
    """Answer a subscriber's header: the topic it gets and its name, or None if it was refused and closed."""
    try:
        connection.settimeout(CALL_TIMEOUT)
        set_options(connection)
        fields = read_header(connection)
        publisher = publishers.get(fields.get("topic", ""))
        if publisher is None:
            problem = f"{name} does not publish {fields.get('topic')}"
        else:
            problem = _misfit(publisher, fields)
        if publisher is None or problem:
            connection.sendall(encode_header({"error": problem}))
            connection.close()
            return None
        header = _fields(name, publisher.topic, publisher.kind.DEFINITION)
        connection.sendall(encode_header(header | {"latching": "1" if publisher.latch else "0"}))
    except (GraphError, OSError):
        connection.close()
        return None
    return publisher, fields.get("callerid", "?")


def _misfit(publisher: Publisher, fields: dict[str, str]) -> str:
    definition = publisher.kind.DEFINITION
    if fields.get("md5sum") in (definition.md5, "*") and fields.get("type", "*") in (definition.name, "*"):
        return ""
    return f"{publisher.topic} is {definition.name} {definition.md5}, not {fields.get('type')} {fields.get('md5sum')}"
