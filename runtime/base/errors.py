"""Exceptions of diffpbd, and the arguments that their messages name.

A message is one paragraph: what is wrong, where, what was found, what was expected, what to do. An argument is spelt as the
caller gave it, `--form torque` on a command line, form='torque' in Python:

    raise InputError(f"{arg.total_mass} belongs to {arg.form('torque')}.")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

IN_PYTHON: ContextVar[bool] = ContextVar("IN_PYTHON", default=False)
"""Whether Python called, not a command."""


@dataclass(frozen=True)
class Argument:
    """A keyword in Python, and its option."""

    name: str
    flag: str

    def __str__(self) -> str:
        return self.name if IN_PYTHON.get() else self.flag

    def __call__(self, value: str | bool) -> str:
        """With a value; False refuses what is on by itself."""
        if IN_PYTHON.get():
            return f"{self.name}={value!r}"
        return f"{self.flag} {value}" if value else f"--no-{self.flag.removeprefix('--')}"


class _Arguments:
    """By keyword: options whose words are others, and the rule for all others."""

    acceleration = Argument("acceleration", "--max-acceleration")
    start = Argument("start", "--params")
    columns = Argument("columns", "--map")
    cross_validate = Argument("cross_validate", "--leave-one-out")
    torques = Argument("torques", "--unknown-torque")
    fixed = Argument("fixed", "--fix")
    least_height = Argument("least_height", "--min-tip-height")

    def __getattr__(self, name: str) -> Argument:
        return Argument(name, f"--{name.replace('_', '-')}")


arg = _Arguments()


class DiffpbdError(Exception):
    """Base of every error that diffpbd raises on purpose."""


class InputError(DiffpbdError):
    """Bad input from the user: a file, an option or an array argument; the commands exit with 1."""


class ArgumentError(InputError):
    """Arguments that are wrong by themselves, whatever robot and files they name; the commands exit with 2."""


@contextmanager
def of_arguments() -> Iterator[None]:
    """Context in which whatever is refused is an ArgumentError: wrong by the arguments alone."""
    try:
        yield
    except InputError as error:
        raise ArgumentError(str(error)) from None


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
