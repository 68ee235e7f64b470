"""Limits the number and duration of connections from unknown peers, so that silent ones do not block threads."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

__all__ = ["Guests"]


class Guests:
    """Sockets of peers before their handshake; if there are too many the oldest is closed.

    An honest peer is served in milliseconds, so the oldest is the one to drop. Closing a socket wakes the thread that
    reads it.
    """

    def __init__(self, most: int, longest: float) -> None:
        """At most `most` sockets, each `longest` seconds."""
        self._most = most
        self._longest = longest
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}

    def admit(self, guest: socket.socket) -> None:
        """Add one."""
        with self._lock:
            while len(self._since) >= self._most:
                self._end(next(iter(self._since)))
            self._since[guest] = time.monotonic()

    def leave(self, guest: socket.socket) -> bool:
        """One has been served; False if it was closed before."""
        with self._lock:
            return self._since.pop(guest, None) is not None

    def expire(self) -> None:
        """Close those whose time is over; to be called regularly."""
        latest = time.monotonic() - self._longest
        with self._lock:
            for guest in [guest for guest, since in self._since.items() if since < latest]:
                self._end(guest)

    def _end(self, guest: socket.socket) -> None:
        del self._since[guest]
        with contextlib.suppress(OSError):
            guest.shutdown(socket.SHUT_RDWR)
