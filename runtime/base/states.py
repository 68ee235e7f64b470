"""States, points and tables as a command line has them: JSON, or a file of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError, of_arguments
from diffpbd.runtime.base.files import parse_json, read_json
from diffpbd.runtime.base.names import hint

__all__ = ["json_or_file", "parse_friction", "parse_numbers", "parse_point", "parse_state", "state_file", "words_of"]


def state_file(text: str | None) -> str | None:
    """The file that --q0 or --dq0 names, None if it holds JSON."""
    return None if text is None or text.lstrip().startswith(("[", "{")) else text


def words_of(text: str, option: str) -> Any:
    """Value of a JSON text on the command line."""
    with of_arguments():
        return parse_json(text, option)


def json_or_file(text: str, option: str) -> Any:
    """The same, or of a file."""
    return words_of(text, option) if state_file(text) is None else read_json(text)


def parse_friction(text: str, option: str, joints: tuple[str, ...]) -> list[float]:
    """Friction as a state is given, at least 0: less would drive the arm."""
    found = parse_state(text, option, joints)
    for joint, value in zip(joints, found, strict=True):
        if value < 0.0:
            raise InputError(f"{option}: joint {joint}: expected a number of at least 0, found {value:g}.")
    return found


def parse_state(text: str, option: str, joints: tuple[str, ...], others: npt.ArrayLike = 0.0) -> list[float]:
    """--q0 and --dq0: a JSON list in joint order, an object of joint names (`others` the rest, NaN allowed), or a file."""
    rest = np.broadcast_to(np.asarray(others, float), len(joints)).tolist()
    path = state_file(text)
    if path is not None and not Path(path).is_file():
        raise InputError(f"{option}: expected a JSON list or object, or a file of one, found {text!r}.")
    data, named = json_or_file(text, option), joints
    if isinstance(data, dict):
        for name in data:
            if name not in joints:
                raise InputError(f"{option}: there is no joint {name!r}. {hint(name, joints)}")
        named = tuple(data)
        data = [data.get(joint, value) for joint, value in zip(joints, rest, strict=True)]
    if not isinstance(data, list) or len(data) != len(joints):
        found = f"a list of {len(data)}" if isinstance(data, list) else repr(data)
        raise InputError(
            f"{option}: expected a list of {len(joints)} numbers or an object of joint names, found {found}."
        )
    for joint, value in zip(joints, data, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{option}: joint {joint}: expected a number, found {value!r}.")
    return [
        _finite(value, f"{option}: joint {joint}") if joint in named else value
        for joint, value in zip(joints, data, strict=True)
    ]


def parse_point(text: str | None, option: str) -> FloatArray | None:
    """A point (3,) [m] as JSON, None without the option."""
    if text is None:
        return None
    point = words_of(text, option)
    numbers = isinstance(point, list) and len(point) == 3 and all(isinstance(x, (int, float)) for x in point)
    if not numbers or any(isinstance(x, bool) for x in point):
        raise ArgumentError(f"{option}: expected three numbers [m] such as [0.6, 0.2, 0.1], found {text}.")
    return np.array(point, dtype=np.float64)


def parse_numbers(text: str | None, option: str, default: tuple[float, ...]) -> list[float]:
    """A JSON list of as many numbers as the default has."""
    data = list(default) if text is None else words_of(text, option)
    if not (
        isinstance(data, list) and len(data) == len(default) and all(type(value) in (int, float) for value in data)
    ):
        raise ArgumentError(f"{option}: expected a list of {len(default)} numbers, found {data!r}.")
    return [float(value) for value in data]


def _finite(value: float, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{where}: expected a finite number, found one beyond 1.8e308.")
    return number
