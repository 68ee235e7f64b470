"""Arguments in messages, spelt as the caller gave them: `--form torque` on a command line, form='torque' in Python.

raise InputError(f"{arg.total_mass} belongs to {arg.form('torque')}.")
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["IN_PYTHON", "Argument", "arg"]

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

    start = Argument("start", "--params")
    columns = Argument("columns", "--map")
    cross_validate = Argument("cross_validate", "--leave-one-out")
    torques = Argument("torques", "--unknown-torque")
    fixed = Argument("fixed", "--fix")
    least_height = Argument("least_height", "--min-tip-height")

    def __getattr__(self, name: str) -> Argument:
        return Argument(name, f"--{name.replace('_', '-')}")


arg = _Arguments()
