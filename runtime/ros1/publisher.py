"""One published topic: sends from the calling thread, never blocks, and drops old messages.

A connection queues at most one message beyond the kernel's buffer. While that is full a newer message replaces
the queued one, so a late message is never older than the link's own buffer.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
import threading
from dataclasses import dataclass

from diffpbd.runtime.records.messages import Message
from diffpbd.runtime.ros1.wire import LENGTH

__all__ = ["Connection", "Publisher"]

SIOCOUTQNSD = 0x894B  # of Linux: bytes of a TCP socket that were not yet put on the wire


def _unsent(connection: socket.socket) -> int:
    """Bytes in the kernel's buffer that are not yet sent; 0 if unknown.

    Unacknowledged ones do not count: a peer may acknowledge received small messages up to 40 ms late.
    """
    try:
        return int(struct.unpack("i", fcntl.ioctl(connection.fileno(), SIOCOUTQNSD, b"\0\0\0\0"))[0])
    except OSError:
        return 0


@dataclass
class Connection:
    """A connection to one subscriber."""

    socket: socket.socket
    peer: str
    partial: bytes = b""
    """The rest of a partly sent message, which must go first."""
    waiting: bytes = b""
    """The queued message."""
    dropped: int = 0
    sent: int = 0

    def send(self, frame: bytes) -> None:
        """Send now if the link is free; otherwise queue this frame in place of an older one."""
        if self.waiting:
            self.dropped += 1
        self.waiting = frame
        self.flush()

    def flush(self) -> None:
        """Send the queue as far as the kernel accepts it; an OSError if the connection is lost."""
        if self.partial:
            self.partial = self.partial[self._push(self.partial) :]
        if self.partial or not self.waiting:
            return
        if _unsent(self.socket) > 0:
            return
        frame, self.waiting = self.waiting, b""
        taken = self._push(frame)
        if taken == 0:
            self.waiting = frame
            return
        self.sent += 1
        self.partial = frame[taken:]

    def _push(self, data: bytes) -> int:
        try:
            return self.socket.send(data)
        except (BlockingIOError, InterruptedError):
            return 0


class Publisher:
    """A published topic; `publish` returns at once. With `latch` a new subscriber gets the last message."""

    def __init__(self, topic: str, kind: type[Message], *, latch: bool) -> None:
        self.topic = topic
        self.kind = kind
        self.latch = latch
        self._lock = threading.Lock()
        self._connections: list[Connection] = []
        self._last: bytes | None = None
        self.lost = 0
        """Connections that ended while we published."""

    @property
    def subscribers(self) -> tuple[str, ...]:
        """Names of the connected subscribers."""
        with self._lock:
            return tuple(connection.peer for connection in self._connections)

    @property
    def dropped(self) -> int:
        """Number of messages replaced by newer ones, over all connections."""
        with self._lock:
            return sum(connection.dropped for connection in self._connections)

    def publish(self, message: Message) -> int:
        """Send to every subscriber; returns the number of connections that sent it at once."""
        if not isinstance(message, self.kind):
            raise TypeError(f"{self.topic} carries {self.kind.__name__}, not {type(message).__name__}")
        data = message.encode()
        frame = LENGTH.pack(len(data)) + data
        taken = 0
        with self._lock:
            self._last = frame
            for connection in list(self._connections):
                try:
                    connection.send(frame)
                    taken += not connection.waiting
                except OSError:
                    self._remove(connection)
        return taken

    def flush(self) -> None:
        """Try again to send queued messages."""
        with self._lock:
            for connection in list(self._connections):
                try:
                    connection.flush()
                except OSError:
                    self._remove(connection)

    def attach(self, connection: socket.socket, peer: str) -> None:
        """Add a subscriber whose handshake is done."""
        connection.setblocking(False)
        entry = Connection(connection, peer)
        with self._lock:
            self._connections.append(entry)
            if self.latch and self._last is not None:
                with contextlib.suppress(OSError):
                    entry.send(self._last)

    def detach(self, connection: socket.socket) -> None:
        """Remove a connection that the peer closed."""
        with self._lock:
            for entry in list(self._connections):
                if entry.socket is connection:
                    self._remove(entry)

    def _remove(self, entry: Connection) -> None:
        self._connections.remove(entry)
        self.lost += 1
        # The I/O loop closes the socket: closing it here would let its number be reused while it is selected.
        with contextlib.suppress(OSError):
            entry.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Flush and drop every connection."""
        self.flush()
        with self._lock:
            for entry in list(self._connections):
                self._remove(entry)
            self.lost = 0
