"""A terminal of the tests' own: what is drawn on it is read by a thread, as a terminal program would."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
import threading
from collections.abc import Iterator


class Terminal:
    """`slave` is the descriptor to draw on, `drawn` what came so far."""

    def __init__(self, columns: int = 160) -> None:
        self._master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.drawn = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the last descriptor of the other side was closed
            while part := os.read(self._master, 1 << 16):
                self.drawn += part.decode()

    def pictures(self) -> list[str]:
        """The texts that stood on the line, one after the other."""
        return self.drawn.split("\r\x1b[2K")[1:]

    def close(self) -> None:
        """Everything drawn is in `drawn` after this."""
        os.close(self.slave)
        self._thread.join(5.0)
        os.close(self._master)


@contextlib.contextmanager
def terminal(columns: int = 160) -> Iterator[Terminal]:
    """A terminal, closed at the end."""
    made = Terminal(columns)
    try:
        yield made
    finally:
        made.close()
