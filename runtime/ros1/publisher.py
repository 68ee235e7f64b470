"""One topic that we publish: sends from the calling thread, never waits, and drops old messages.

A connection holds at most one message beyond what the kernel has taken. As long as the peer's side is full,
the kernel is given no further message: a newer one replaces the one that waits, so what arrives late is never
old by more than the link's own buffer.
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
    """Bytes that the kernel has taken and not yet put on the wire; 0 where it does not say.

    Not the unacknowledged ones: a peer may acknowledge small messages up to 40 ms late and still have them.
    """
    try:
        return int(struct.unpack("i", fcntl.ioctl(connection.fileno(), SIOCOUTQNSD, b"\0\0\0\0"))[0])
    except OSError:
        return 0


@dataclass
class Connection:
    """One subscriber of ours."""

    socket: socket.socket
    peer: str
    partial: bytes = b""
    """The rest of a message that the kernel took in part; it must go before any other."""
    waiting: bytes = b""
    """The newest message that the kernel has not been given."""
    dropped: int = 0
    sent: int = 0

    def send(self, frame: bytes) -> None:
        """Send now if the link is free; otherwise this frame waits and an older waiting one is dropped."""
        if self.waiting:
            self.dropped += 1
        self.waiting = frame
        self.flush()

    def flush(self) -> None:
        """Give the kernel what waits, as far as it takes it; an OSError when the connection is gone."""
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
    """A topic of ours; `publish` returns at once. With `latch` a new subscriber gets the last message."""

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
        """Messages that a newer one replaced before the link took them, over all connections."""
        with self._lock:
            return sum(connection.dropped for connection in self._connections)

    def publish(self, message: Message) -> int:
        """Send to every subscriber; the number of connections that took it at once."""
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
        """Try again to send what waits."""
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
        """Forget a connection that the peer closed."""
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
