"""Helpers of the Python interface: messages in its vocabulary, argument types by annotations, options by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from diffpbd.runtime.base.errors import IN_PYTHON, InputError
from diffpbd.runtime.base.extras import extra_of, missing
from diffpbd.runtime.base.fitting import checked, expect, shown
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["expect_options", "in_python", "values_of"]

Called = TypeVar("Called", bound=Callable[..., Any])


def in_python(function: Called) -> Called:
    """The function, whose arguments are of the types of its annotations and whose errors say what to do in Python."""

    fitting = checked(function)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        outside = IN_PYTHON.set(True)
        try:
            return fitting(*args, **named)
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            raise missing(f"diffpbd.{function.__qualname__.removesuffix('.__init__')}", error.name or "") from None
        finally:
            IN_PYTHON.reset(outside)

    return call  # type: ignore[return-value]  # the same arguments and result


def expect_options(where: str, given: Mapping[str, Any], annotations: Mapping[str, Any], *, none: bool = False) -> None:
    """Refuses options by name that `where` does not have, or of another type than their annotations say; with `none`, None
    stands for leaving one out."""
    for name, value in given.items():
        if name not in annotations:
            raise InputError(f"{where}: there is no argument {name!r}. {hint(name, annotations)}")
        if value is not None or not none:
            kind = annotations[name]
            expect(f"{where}: {name}", value, str(getattr(kind, "__forward_arg__", kind)))


def values_of(robot: Robot, alpha: Any) -> FloatArray:
    """All of alpha (entries,) from a vector, from values by name, or from a file of them."""
    if alpha is None or isinstance(alpha, (Mapping, str, Path)):
        return robot.alpha.vector(alpha)
    try:
        vector = np.array(robot.alpha.checked(alpha), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"alpha of {robot.name}: expected a vector, or values by name, found {shown(alpha)}."
        ) from None
    robot.alpha.by_name(vector)  # refuses another shape
    if not np.isfinite(vector).all():
        raise InputError(f"alpha of {robot.name}: expected finite numbers, found {vector[~np.isfinite(vector)][0]:g}.")
    return vector
