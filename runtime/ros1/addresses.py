"""The address that others use for this machine, and the one to listen at."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlparse

from diffpbd.runtime.base.errors import GraphError

__all__ = ["own_address", "own_interface"]


def own_address(master: str) -> str:
    """ROS_HOSTNAME or ROS_IP, or this machine's address on the way to the master."""
    return os.environ.get("ROS_HOSTNAME") or os.environ.get("ROS_IP") or _way_to(master)


def _way_to(master: str) -> str:
    """This machine's address on the way to the master."""
    parts = urlparse(master)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((parts.hostname or "localhost", parts.port or 11311))
        except OSError as error:
            raise GraphError(
                f"The master's address {master} cannot be reached ({error}). Check the network, the name, "
                "and ROS_MASTER_URI."
            ) from None
        return str(probe.getsockname()[0])


def own_interface(address: str, master: str) -> str:
    """The address to listen at: only the one that others use for us.

    A machine's own name often means a loopback address on that machine, and another one elsewhere; then it is the one on
    the way to the master.
    """
    try:
        found = socket.gethostbyname(address)
    except (OSError, UnicodeError):  # a name unknown on this machine
        return _way_to(master)
    if found.startswith("127.") and address != "localhost" and not address.startswith("127."):
        way = _way_to(master)
        return found if way.startswith("127.") else way
    return found
