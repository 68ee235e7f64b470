"""TCPROS on the wire: connection headers and framed messages."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Mapping

from diffpbd.runtime.base.errors import GraphError

__all__ = [
    "LENGTH", "MAXIMUM_MESSAGE", "FrameReader", "decode_header", "encode_header", "read_header",
    "set_options",
]  # fmt: skip

LENGTH = struct.Struct("<I")
MAXIMUM_HEADER = 1 << 20  # bytes; a longer header is invalid
MAXIMUM_MESSAGE = 1 << 24  # bytes; far above any message of a Baxter: a longer one is a broken stream
RECEIVE_SIZE = 1 << 16  # bytes a read


def encode_header(fields: Mapping[str, str]) -> bytes:
    """A connection header with its length in front."""
    entries = b""
    for name, value in fields.items():
        entry = f"{name}={value}".encode()
        entries += LENGTH.pack(len(entry)) + entry
    return LENGTH.pack(len(entries)) + entries


def decode_header(data: bytes) -> dict[str, str]:
    """The fields of a connection header, without its length."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise GraphError("A TCPROS header ends inside a field; the peer is not a ROS 1 node.")
        (length,) = LENGTH.unpack_from(data, at)
        entry = data[at + 4 : at + 4 + length]
        name, equals, value = entry.decode("utf-8", "replace").partition("=")
        if len(entry) != length or not equals:
            raise GraphError("A TCPROS header has a broken field; the peer is not a ROS 1 node.")
        fields[name] = value
        at += 4 + length
    return fields


def _receive_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise GraphError("The peer closed the connection during the TCPROS handshake.")
        data += part
    return data


def read_header(connection: socket.socket) -> dict[str, str]:
    """Read a header from a blocking socket; its timeout applies to each read."""
    (length,) = LENGTH.unpack(_receive_exactly(connection, 4))
    if length > MAXIMUM_HEADER:
        raise GraphError(f"A TCPROS header of {length} bytes was announced; the peer is not a ROS 1 node.")
    return decode_header(_receive_exactly(connection, length))


def set_options(connection: socket.socket) -> None:
    """No Nagle delay; a dead peer is noticed by keep-alive."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    with contextlib.suppress(OSError, AttributeError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)


class FrameReader:
    """Cuts a stream into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def receive(self, connection: socket.socket) -> list[bytes] | None:
        """The messages completed by one read of a ready socket; None at the end of the stream."""
        try:
            part = connection.recv(RECEIVE_SIZE)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            return None
        return self.feed(part) if part else None

    def feed(self, part: bytes) -> list[bytes]:
        """The messages completed by these bytes; a broken length is a GraphError."""
        buffer = self._buffer
        buffer += part
        frames = []
        at = 0
        while len(buffer) - at >= 4:
            (length,) = LENGTH.unpack_from(buffer, at)
            if length > MAXIMUM_MESSAGE:
                raise GraphError(f"A message of {length} bytes was announced: the stream is broken.")
            if len(buffer) - at - 4 < length:
                break
            frames.append(bytes(buffer[at + 4 : at + 4 + length]))
            at += 4 + length
        if at:
            del buffer[:at]
        return frames
