"""Float: the arm can be led by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.common import DAMPING, DampingWords, gains
from diffpbd.runtime.control.law import Given, Law, PerJoint, Setup, bounded
from diffpbd.runtime.interface.controller import Mode

__all__ = ["Gravity", "GravityController"]

LEAD_DAMPING = 0.2
"""Share of the usual damping that is kept, so that a led arm does not coast."""


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Gravity(Law):
    """`damping` [N·m·s/rad] a joint."""

    name: ClassVar[str] = "gravity"
    words: ClassVar[type[DampingWords]] = DampingWords
    damping: PerJoint = bounded(DAMPING)

    @classmethod
    def told(cls, words: DampingWords, given: Given) -> Gravity:
        """Without a damping a share of the arm's usual one."""
        found = gains(words, given, "damping")
        return cls(**found) if words.damping is not None else cls(damping=(LEAD_DAMPING * given.damping).tolist())

    def make(self, setup: Setup) -> GravityController:
        """The controller."""
        return GravityController(self.damping)
