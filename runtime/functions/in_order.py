"""Arrays by name in the order in which a C function takes them, checked before C reads or writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Argument

__all__ = ["in_order"]


def in_order(
    function: str, arguments: Sequence[Argument], given: Mapping[str, FloatArray], steps: int = 0
) -> list[FloatArray]:
    """The arrays in the manifest's order; an InputError names one that is missing, unknown, or not contiguous float64 of the
    argument's size."""
    names = [argument.name for argument in arguments]
    if missing := [name for name in names if name not in given]:
        raise InputError(f"{function}: argument {missing[0]!r} is missing: it takes {', '.join(names)}.")
    if strange := [name for name in given if name not in names]:
        raise InputError(f"{function}: has no argument {strange[0]!r}: it takes {', '.join(names)}.")
    return [_checked(function, argument, given[argument.name], steps) for argument in arguments]


def _checked(function: str, argument: Argument, array: FloatArray, steps: int) -> FloatArray:
    place, size = f"{function}: argument {argument.name!r}", argument.size(steps)
    if array.dtype != np.float64 or not (array.flags.c_contiguous and array.flags.aligned):
        raise InputError(
            f"{place}: expected a contiguous array of float64, found {array.dtype} of strides {array.strides}."
        )
    if array.size != size:
        raise InputError(
            f"{place}: expected {size} numbers ({argument.rows} x {argument.columns(steps)}), found {array.size} of shape "
            f"{array.shape}."
        )
    return array
