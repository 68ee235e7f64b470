"""Arguments held against the annotations of what takes them, so that a wrong type is answered in words where it is given.

Annotations are the rule: numbers, whole numbers, flags, names, files, functions, mappings, arrays. What one says beyond these,
and the values themselves, is for the function to check.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import reprlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

import numpy as np

from diffpbd.runtime.base.errors import InputError

__all__ = ["checked", "expect", "number", "shown"]

Called = TypeVar("Called", bound=Callable[..., Any])

LARGEST: Final = 2**31
"""Whole numbers of which each stands for a step, a process or an iteration are below."""


class Kind(NamedTuple):
    """Values that a part of an annotation takes: in words, and as a test of one."""

    words: str
    fits: Callable[[Any], bool]
    item: str = ""
    """Values of a mapping, in words."""


def _real(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _whole(value: Any) -> bool:
    return _real(value) and isinstance(value, numbers.Integral) and abs(int(value)) < LARGEST


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _numbers(value: Any) -> bool:
    """An array, or what becomes one."""
    if isinstance(value, (str, bytes, Mapping)):
        return False
    try:
        return bool(np.asarray(value, dtype=np.float64).dtype == np.float64) and np.asarray(value).dtype.kind in "iufO"
    except (TypeError, ValueError, OverflowError):
        return False


def _sequence(value: Any, fits: Callable[[Any], bool]) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and all(map(fits, value.tolist()))
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and all(map(fits, value))


def _pair(value: Any) -> bool:
    return _sequence(value, _real) and len(value) == 2


def _span(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 3 and _text(value[0]) and _pair(value[1:])


def _mapping(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, Mapping) and all(map(_text, value)) and all(map(fits, value.values()))


KINDS: Final = {
    "None": Kind("None", lambda value: value is None),
    "int": Kind("a whole number", _whole),
    "float": Kind("a number", _real),
    "bool": Kind("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "str": Kind("a string", _text),
    "Path": Kind("a name or a path", lambda value: isinstance(value, Path) and _text(str(value))),
    "Callable": Kind("a function", callable),
    "npt.ArrayLike": Kind("numbers", _numbers),
    "FloatArray": Kind("numbers", _numbers),
    "Sequence[str]": Kind("names", lambda value: _sequence(value, _text)),
    "Mapping[str, str]": Kind("names by name", lambda value: _mapping(value, _text), "str"),
    "Mapping[str, int]": Kind("whole numbers by name", lambda value: _mapping(value, _whole), "int"),
    "Mapping[str, float]": Kind("numbers by name", lambda value: _mapping(value, _real), "float"),
    "Mapping[str, tuple[float, float]]": Kind(
        "two numbers by name", lambda value: _mapping(value, _pair), "tuple[float, float]"
    ),
    "Mapping[str, Any]": Kind("values by name", lambda value: _mapping(value, lambda _item: True)),
    "Mapping[str, npt.ArrayLike]": Kind("values by name", lambda value: _mapping(value, lambda _item: True)),
    "tuple[tuple[str, float, float], ...]": Kind("spans, each (file, from, to)", lambda value: _sequence(value, _span)),
    "tuple[float, float]": Kind("two numbers", _pair),
    "tuple[float, float, float]": Kind("three numbers", lambda value: _sequence(value, _real) and len(value) == 3),
}
"""By the text of the part; the words for a file win over those for a string."""


def expect(what: str, value: Any, annotation: str, names: Mapping[str, Any] | None = None) -> None:
    """Refuses a value that its annotation does not take; `names` are those that stand in the annotation."""
    kinds = _kinds(annotation, {} if names is None else names)
    if kinds is None or any(kind.fits(value) for kind in kinds):
        return
    items = [kind.item for kind in kinds if kind.item and isinstance(value, Mapping)]
    if items and all(map(_text, value)):
        for name, item in value.items():
            expect(f"{what}: {name}", item, " | ".join(items))
    words = list(dict.fromkeys(kind.words for kind in kinds if kind.words != "None"))
    if {"a name or a path", "names"} & set(words) and "a string" in words:
        words.remove("a string")
    raise InputError(f"{what}: expected {' or '.join(words)}, found {shown(value)}.")


def number(what: str, value: Any, least: float = -math.inf) -> float:
    """A finite number of at least `least`, or refused."""
    expect(what, value, "float")
    found = float(value)
    if not (math.isfinite(found) and found >= least):
        least_of = "" if least == -math.inf else f" of at least {least:g}"
        raise InputError(f"{what}: expected a finite number{least_of}, found {found:g}.")
    return found


def shown(value: Any) -> str:
    """A value in a message: short, an array by its shape."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = 60
    return brief.repr(value)


def checked(function: Called) -> Called:
    """The function, which first holds its arguments against its annotations."""
    signature = inspect.signature(function)
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*args, **named)
        except TypeError:  # a name that is not there, or none given: Python's own words say it
            return function(*args, **named)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and name != "self":
                expect(f"{called}: {name}", value, str(parameter.annotation), function.__globals__)
        return function(*args, **named)

    return call  # type: ignore[return-value]  # the same arguments and result


def _kinds(annotation: str, names: Mapping[str, Any]) -> list[Kind] | None:
    """Kinds that the parts take; None where one of them is not for us to judge."""
    found = []
    for part in _parts(annotation):
        kind = KINDS.get("Callable" if part.startswith("Callable") else part) or _named(part, names)
        if kind is None:
            return None
        found += kind if isinstance(kind, list) else [kind]
    return found


def _named(part: str, names: Mapping[str, Any]) -> Kind | list[Kind] | None:
    """A class, an alias of parts that we know, or a choice of words or numbers."""
    head, *rest = part.split(".")
    value = names.get(head)
    for attribute in rest:
        value = getattr(value, attribute, None)
    if isinstance(value, str):
        return _kinds(value, names)
    if get_origin(value) is not None and all(isinstance(choice, (str, int)) for choice in get_args(value)):
        choices = get_args(value)
        said = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
        return Kind(said, lambda given: isinstance(given, (str, int)) and given in choices)
    if isinstance(value, type) and value is not Any and not getattr(value, "_is_protocol", False):
        words = getattr(value, "IN_WORDS", f"a {value.__name__}")
        return Kind(words, lambda given: isinstance(given, value))
    return None


def _parts(annotation: str) -> list[str]:
    """At the bars that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for k, sign in enumerate(annotation):
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and depth == 0:
            parts.append(annotation[begin:k].strip())
            begin = k + 1
    return [*parts, annotation[begin:].strip()]
