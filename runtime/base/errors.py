"""Exceptions of diffpbd.

A message is one paragraph: what is wrong, where, what was found, what was expected, what to do.
"""


class DiffpbdError(Exception):
    """Base of every error that diffpbd raises on purpose."""


class InputError(DiffpbdError):
    """Bad input from the user: a file, an option or an array argument; the commands exit with 1."""


class SolverError(DiffpbdError):
    """A numerical solve did not succeed; the message names the status."""


class RefusedError(DiffpbdError):
    """The software refuses to arm: a precondition of safe motion does not hold."""


class LogError(DiffpbdError):
    """The log of a run could not be written or read."""


class MessageError(DiffpbdError):
    """Bytes that are not the message they should be, or a message that cannot be used."""


class GraphError(DiffpbdError):
    """The robot's network did not answer or refused: no master, no publisher, another message type."""


class GoneError(GraphError):
    """A machine answered that nothing listens at an address: whoever was there has ended."""
