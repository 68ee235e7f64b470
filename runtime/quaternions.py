"""Orientation of a floating base in a position: numbers 3 to 6 are a unit quaternion w x y z."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import numpy as np

from diffpbd.runtime.errors import InputError

__all__ = ["expect_unit"]

PLACE: Final = slice(3, 7)
NOT_UNIT: Final = 1e-6
"""[1] How far the square of a quaternion's length may be off 1, as in the C text."""


def expect_unit(function: str, argument: str, position: Any) -> None:
    """Refuses positions (…, n_p) whose quaternion has another length; what has no such numbers is refused elsewhere."""
    with contextlib.suppress(TypeError, ValueError):
        q = np.asarray(position, dtype=float)[..., PLACE]
        with np.errstate(over="ignore"):
            square = np.ravel(np.sum(q * q, axis=-1))
        if q.shape[-1] == 4 and not (np.abs(square - 1.0) <= NOT_UNIT).all():
            found = square[np.argmax(np.abs(square - 1.0))] ** 0.5
            raise InputError(
                f"{function}: argument {argument!r}: expected a unit quaternion (w, x, y, z) of the base in numbers 3 to 6, "
                f"found one of length {found:.10g}."
            )
