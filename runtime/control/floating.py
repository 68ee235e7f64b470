"""Float: the arm can be led by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.interface.controller import Mode

__all__ = ["GravityController"]


class GravityController:
    """Torque mode with no torque beyond gravity and a little damping: the arm can be led by hand."""

    name = "gravity"
    mode = Mode.TORQUE

    def __init__(self, damping: npt.ArrayLike) -> None:
        """`damping` [N·m·s/rad] a joint, at least 0."""
        self._damping = np.array(damping, dtype=np.float64)
        if not (np.isfinite(self._damping).all() and (self._damping >= 0.0).all()):
            raise InputError(f"Gravity: damping must be finite and at least 0, found {self._damping.tolist()}.")

    def start(self, q: FloatArray) -> None:
        """No state."""

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """-damping·dq [N·m]."""
        return -self._damping * dq

    def settings(self) -> dict[str, object]:
        """The damping."""
        return {"damping": self._damping.tolist()}
