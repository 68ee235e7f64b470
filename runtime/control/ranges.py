"""Whether the numbers of a law lie in their ranges: for the command line, Python and logs, on every arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.control.law import Range
from diffpbd.runtime.control.laws import LAWS
from diffpbd.runtime.model.limits import Limits

__all__ = ["expect_options"]


def expect_options(law: Mapping[str, Any], joints: Sequence[str], limits: Limits) -> None:
    """An InputError that names the option, the joint, what was found and what is expected, for the settings of a law."""
    kind = LAWS.get(str(law.get("name")))
    for field in () if kind is None else dataclasses.fields(kind):
        one, value = field.metadata.get("range"), law.get(field.name)
        if one is None or value is None:
            continue
        if isinstance(value, Mapping):
            for name, part in value.items():
                _check(f"{one.option}: {name}", part, one, joints, limits)
        else:
            _check(one.option, value, one, joints, limits)


def _check(where: str, value: Any, one: Range, joints: Sequence[str], limits: Limits) -> None:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: expected numbers, found {value!r}.") from None
    most = one.upper(limits) if callable(one.upper) else one.upper
    for k, number, upper in _each(numbers, most):
        if (one.lower < number if one.open else one.lower <= number) and number <= upper:
            continue
        names = joints if len(joints) == numbers.size else [f"number {m + 1}" for m in range(numbers.size)]
        whose = f"{names[k]}: " if numbers.ndim else ""
        least = f"above {one.lower:g}" if one.open else f"from {one.lower:g}"
        below = not (one.lower < number if one.open else one.lower <= number)
        # Wrong by itself where no robot would take it: a robot's limits only bound from above.
        alone = below or not callable(one.upper)
        raise (ArgumentError if alone else InputError)(
            f"{where}: {whose}expected {least} to {upper:g}{one.unit and f' {one.unit}'} ({one.why}), found {number:g}. "
            "Give a number in that range."
        )


def _each(numbers: FloatArray, upper: npt.ArrayLike) -> Iterator[tuple[int, float, float]]:
    flat = numbers.reshape(-1)
    ends = np.broadcast_to(upper, flat.shape) if np.ndim(upper) == 0 or np.size(upper) == flat.size else np.max(upper)
    return zip(range(flat.size), flat.tolist(), np.broadcast_to(ends, flat.shape).tolist(), strict=True)
