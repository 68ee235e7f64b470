"""The last check before the wire, independent of every controller: refuse rather than send."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.controller import Mode
from diffpbd.runtime.limits import Limits

__all__ = ["CommandGate"]

EFFORT_TOLERANCE = 1e-9  # N·m; rounding of a clipped sum


@dataclass(frozen=True)
class CommandGate:
    """Refuses commands that are not finite, beyond a limit, or made from an old state.

    `stale_after` [s] is the age of a state from which on no command may follow from it.
    """

    limits: Limits
    stale_after: float

    def refusal(self, mode: Mode, values: FloatArray, age: float) -> str:
        """Why this command must not be sent; empty if it may."""
        if values.shape != self.limits.effort.shape:
            return f"a command of shape {values.shape} for {len(self.limits.effort)} joints"
        if not np.isfinite(values).all():
            return "a command that is not finite"
        if not age <= self.stale_after:
            return f"a command from a state {age:.3f} s old (at most {self.stale_after:g} s)"
        if mode is Mode.TORQUE:
            if (np.abs(values) > self.limits.effort + EFFORT_TOLERANCE).any():
                return "a torque beyond the effort limits"
            return ""
        if mode is Mode.POSITION:
            if (values < self.limits.lower).any() or (values > self.limits.upper).any():
                return "a position beyond the limits"
            return ""
        return f"{mode.name.lower()} mode is not used"
