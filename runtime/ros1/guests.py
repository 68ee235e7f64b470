"""Connections of strangers: so many at once, each for so long. Who says nothing does not keep a thread or a place."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

__all__ = ["Guests"]


class Guests:
    """Sockets of peers that have not yet said what they want; the oldest gives way to the newest.

    An honest peer is served in milliseconds, so the one that waits longest is the one to lose. Ending a socket wakes the
    thread that reads it.
    """

    def __init__(self, most: int, longest: float) -> None:
        """At most `most` sockets, each `longest` seconds."""
        self._most = most
        self._longest = longest
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}

    def admit(self, guest: socket.socket) -> None:
        """Let one in."""
        with self._lock:
            while len(self._since) >= self._most:
                self._end(next(iter(self._since)))
            self._since[guest] = time.monotonic()

    def leave(self, guest: socket.socket) -> bool:
        """One has been served; False if it was ended before."""
        with self._lock:
            return self._since.pop(guest, None) is not None

    def expire(self) -> None:
        """End those whose time is over; to be called now and then."""
        latest = time.monotonic() - self._longest
        with self._lock:
            for guest in [guest for guest, since in self._since.items() if since < latest]:
                self._end(guest)

    def _end(self, guest: socket.socket) -> None:
        del self._since[guest]
        with contextlib.suppress(OSError):
            guest.shutdown(socket.SHUT_RDWR)
