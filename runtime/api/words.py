"""Messages of functions that commands share, in the words of Python: `form='torque'` for `--form torque`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

from diffpbd.runtime.errors import DiffpbdError

__all__ = ["in_python", "python_words"]

Called = TypeVar("Called", bound=Callable[..., Any])

ARGUMENTS = {
    "params": "start", "map": "columns", "leave-one-out": "cross_validate", "unknown-torque": "torques", "fix": "fixed",
}  # fmt: skip
"""Options whose argument has another name; the others have their own, with underscores."""
VALUES = "torque|shooting|simultaneous|positions|position|auto|huber|nodes|adam|all"
"""Words that are an option's value where they follow one."""
OPTION = re.compile(rf"`[^`]*`|(?<![\w-])--(no-)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: ({VALUES})\b)?")
"""A command in backticks, which stays as it is, or an option."""


def python_words(text: str) -> str:
    """The message with options as arguments."""
    return OPTION.sub(_argument, text)


def _argument(match: re.Match[str]) -> str:
    refused, option, value = match.groups()
    if option is None:
        return match[0]
    name = ARGUMENTS.get(option, option.replace("-", "_"))
    if refused:
        return f"{name}=False"
    return name if value is None else f"{name}={value!r}"


def in_python(function: Called) -> Called:
    """The function, whose errors say what to do in Python."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except DiffpbdError as error:
            error.args = tuple(python_words(arg) if isinstance(arg, str) else arg for arg in error.args)
            raise

    return call  # type: ignore[return-value]  # the same arguments and result
