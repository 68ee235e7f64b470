"""Which figures a cause can have: one beyond them looks like something else, and following it would mend nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.causes.causes import LOAD, STEPS, Cause, Table
from diffpbd.runtime.identify.result.sensors import DELAY, GAIN, SENSOR

__all__ = ["CARRIED", "carried", "possible"]

CARRIED: Final = 0.5
"""[1] Part of a torque's deviation that the rigid body must make for a gain or a scale to be judged: of the rest it is
friction's."""
STRETCHED: Final = 0.5
"""[1] Largest error of an encoder's scale that the differences behind it still tell."""
STEPPED: Final = 0.3
"""[1] Most that friction's impulse may differ from that of half a step, as part of it, to be a simulation's."""
FARTHEST: Final = 1.0
"""[rad or m] Largest error of an encoder's zero that the differences behind it still tell."""


def carried(tables: Sequence[Table], phi: FloatArray, bodies: int) -> FloatArray:
    """Deviation (n,) of the torque of the first `bodies` columns, those of links, as part of the measured one's."""
    rigid = np.concatenate([t.columns[..., :bodies] @ phi[:bodies] for t in tables])
    read = np.concatenate([t.predicted + t.residual for t in tables])
    return np.asarray(rigid.std(axis=0) / np.maximum(read.std(axis=0), np.finfo(float).tiny), dtype=np.float64)


def possible(cause: Cause, figure: float, part: FloatArray, joints: Sequence[str]) -> bool:
    """Whether a figure is one that the cause can have, where the rigid body makes this `part` (n,) of the torques."""
    if cause.kind in (LOAD, "rotor"):
        return figure > 0.0
    if cause.kind == STEPS:
        return abs(figure - 1.0) < STEPPED
    if cause.kind == "gain":
        low, high = SENSOR[GAIN][1:3]
        return low < 1.0 + figure < high
    if cause.kind == "delay":
        low, high = SENSOR[DELAY][1:3]
        return low < figure < high
    if cause.kind == "scale":
        return abs(figure) < STRETCHED and bool(part[joints.index(cause.joint)] > CARRIED)
    return cause.kind != "zero" or abs(figure) < FARTHEST
