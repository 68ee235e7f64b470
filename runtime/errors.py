"""Exceptions of diffpbd.

A message is one paragraph: what is wrong, where, what was found, what was expected, what to do.
"""


class DiffpbdError(Exception):
    """Base of every error that diffpbd raises on purpose."""


class InputError(DiffpbdError):
    """Bad input from the user: a file, an option or an array argument; the commands exit with 1."""


class SolverError(DiffpbdError):
    """A numerical solve did not succeed; the message names the status."""
