"""Exceptions of the robot side; messages are one paragraph, as everywhere."""

from __future__ import annotations

from diffpbd.runtime.errors import DiffpbdError

__all__ = ["GoneError", "GraphError", "LogError", "MessageError", "RefusedError"]


class GraphError(DiffpbdError):
    """The ROS graph did not answer or refused: no master, no publisher, another message type."""


class GoneError(GraphError):
    """A machine answered that nothing listens at an address: whoever was there has ended."""


class MessageError(DiffpbdError):
    """Bytes that are not the message they should be, or a message that cannot be used."""


class RefusedError(DiffpbdError):
    """The software refuses to arm: a precondition of safe motion does not hold."""


class LogError(DiffpbdError):
    """The log could not be written or read."""
