"""Numbers in a description: a decimal point whatever the locale, XML white space between, nothing else."""

from __future__ import annotations

import math
import re
from typing import Final

from diffpbd.codegen.description.report import quoted

LARGEST: Final = 1e12
"""[SI units] No length, angle, mass or inertia of a machine comes near; far beyond it products overflow."""

XACRO: Final = "is left over from xacro: the file has to be expanded first"

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE: Final = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE | re.ASCII)
_WHITE_SPACE: Final = re.compile(r"[ \t\r\n]+")


class NumberError(ValueError):
    """A text that is not the number or vector expected; the message quotes it and says what was expected."""


def read_number(text: str) -> float:
    """A finite decimal number of moderate size."""
    value = _read(text.strip(" \t\r\n"), text)
    if abs(value) > LARGEST:
        raise NumberError(f"{quoted(text)} is out of range: at most {LARGEST:g} is accepted")
    return value


def read_limit(text: str) -> float:
    """A decimal number or an infinity, which means unbounded; so does `LARGEST`, for readers that know no infinity."""
    stripped = text.strip(" \t\r\n")
    infinite = _INFINITE.fullmatch(stripped)
    if infinite:
        return -math.inf if infinite.group(1) == "-" else math.inf
    value = _read(stripped, text)
    return value if abs(value) < LARGEST else math.copysign(math.inf, value)


def read_vector(text: str) -> tuple[float, float, float]:
    """Three numbers separated by white space."""
    words = [word for word in _WHITE_SPACE.split(text) if word]
    if len(words) != 3:
        raise NumberError(f"{quoted(text)} has {len(words)} instead of 3 numbers separated by blanks")
    x, y, z = (read_number(word) for word in words)
    return (x, y, z)


def _read(word: str, text: str) -> float:
    if "${" in text or "$(" in text:
        raise NumberError(f"{quoted(text)} {XACRO}")
    if not _DECIMAL.fullmatch(word):
        reason = "is not a number"
        if _DECIMAL.fullmatch(word.replace(",", ".", 1)):
            reason += ": decimals are written with a point, whatever the locale"
        elif word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            reason = "is not a finite number"
        raise NumberError(f"{quoted(text)} {reason}")
    return float(word)
