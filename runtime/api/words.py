"""Messages of functions that commands share, in the words of Python: `form='torque'` for `--form torque`."""

from __future__ import annotations

import functools
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from diffpbd.runtime.errors import DiffpbdError, InputError
from diffpbd.runtime.names import hint
from diffpbd.runtime.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.arrays import FloatArray

__all__ = ["expect_known", "expect_robot", "in_python", "number", "python_words", "values_of"]

Called = TypeVar("Called", bound=Callable[..., Any])

ARGUMENTS = {
    "params": "start", "map": "columns", "leave-one-out": "cross_validate", "unknown-torque": "torques", "fix": "fixed",
    "min-tip-height": "least_height",
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


def expect_robot(robot: Any) -> None:
    """Refuses what is no generated robot, such as its name."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected what diffpbd.load or diffpbd.generate returns, found {robot!r}.")


def expect_known(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses arguments by name that `where` does not have."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InputError(f"{where}: there is no argument {name!r}. {hint(name, names)}")


def number(name: str, value: Any, least: float = -math.inf) -> float:
    """A finite number of at least `least`, or refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}: expected a number, found {value!r}.")
    found = float(value)
    if not (math.isfinite(found) and found >= least):
        least_of = "" if least == -math.inf else f" of at least {least:g}"
        raise InputError(f"{name}: expected a finite number{least_of}, found {found:g}.")
    return found


def values_of(robot: Robot, alpha: Any) -> FloatArray:
    """All of alpha (entries,) from a vector, from values by name, or from a file of them."""
    if alpha is None or isinstance(alpha, (Mapping, str, Path)):
        return robot.alpha.vector(alpha)
    try:
        vector = np.array(robot.alpha.checked(alpha), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"alpha of {robot.name}: expected a vector, or values by name, found {alpha!r}.") from None
    robot.alpha.by_name(vector)  # refuses another shape
    if not np.isfinite(vector).all():
        raise InputError(f"alpha of {robot.name}: expected finite numbers, found {vector[~np.isfinite(vector)][0]:g}.")
    return vector
