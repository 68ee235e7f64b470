"""Gravity of an unknown direction."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["tilted"]


def tilted(gravity: FloatArray, tilt: Any) -> Any:
    """Gravity turned by two slopes normal to it, with its magnitude."""
    size = float(np.linalg.norm(gravity))
    normal = np.linalg.svd(gravity.reshape(1, 3))[2][1:].T
    along = casadi.DM(gravity / size) + casadi.mtimes(casadi.DM(normal), tilt)
    return size * along / casadi.norm_2(along)
