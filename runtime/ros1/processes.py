"""Which process of this machine listens at an address: one that is halted answers no call, and can be named all the same."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from urllib.parse import urlparse

__all__ = ["process_at"]

LISTENING = "0A"
"""The state of a listening socket in /proc/net/tcp."""


def process_at(uri: str) -> str:
    """The process behind a node's URI in words with its state, or empty if it is on another machine or another user's."""
    parts = urlparse(uri)
    try:
        port, address = parts.port, socket.gethostbyname(parts.hostname or "")
        with socket.socket() as probe:
            probe.bind((address, 0))  # an address of this machine
    except (OSError, ValueError):
        return ""
    sockets = {f"socket:[{inode}]" for inode in _listening(port or 0)}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(os.readlink(handle) in sockets for handle in (folder / "fd").iterdir()):
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                return f"process {folder.name}{', halted' if state in 'Tt' else ''}"
    return ""


def _listening(port: int) -> list[str]:
    """Inodes of the sockets that listen at a port."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTENING and int(words[1].rpartition(":")[2], 16) == port:
                    found.append(words[9])
    return found
