"""Converts names of frames and references to the numbers of the header's enums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint

__all__ = ["REFERENCES", "chosen", "frame_number"]

REFERENCES: Final = ("world", "local", "local_world_aligned")
"""References of a motion, numbered as Pinocchio's ReferenceFrame."""
USUAL: Final = {"frame": "0, the tip", "reference": "2, local_world_aligned"}
"""Defaults, in words."""
TIP, ALIGNED = 0.0, 2.0


def frame_number(robot: str, frames: Sequence[str], name: Any, function: str) -> int:
    """The number of a frame by its name; InputError for one that was not generated."""
    if name in frames:
        return frames.index(name)
    raise InputError(
        f"{function}: {robot} was generated without a frame {name!r}. {hint(str(name), frames)} `generate --frames {name}` "
        "adds a link of the description, `--frames all` every one."
    )


def chosen(argument: str, value: Any, robot: str, frames: Sequence[str], function: str) -> Any:
    """The numbers of `frame` or `reference` from names, one or a row of them; numbers stay as they are, None is the default."""
    if value is None:
        return TIP if argument == "frame" else ALIGNED
    if isinstance(value, str):
        if argument == "frame":
            return float(frame_number(robot, frames, value, function))
        if value.lower() not in REFERENCES:
            raise InputError(f"{function}: reference: expected one of {', '.join(REFERENCES)}, found {value!r}.")
        return float(REFERENCES.index(value.lower()))
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [chosen(argument, one, robot, frames, function) for one in value]
    return value
