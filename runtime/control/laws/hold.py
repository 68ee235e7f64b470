"""Hold the start pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.control.law import Law, Setup
from diffpbd.runtime.interface.controller import Mode

__all__ = ["Hold", "HoldController"]


class HoldController:
    """Position mode at the angles measured at the start."""

    name = "hold"
    mode = Mode.POSITION

    def __init__(self) -> None:
        self._held = np.empty(0)

    def start(self, q: FloatArray) -> None:
        """Take the pose to hold [rad]."""
        self._held = q.copy()

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The pose taken at the start [rad]."""
        return self._held


@dataclass(frozen=True, kw_only=True, eq=False)
class Hold(Law):
    """No settings."""

    name: ClassVar[str] = "hold"
    mode: ClassVar[Mode] = Mode.POSITION

    def make(self, setup: Setup) -> HoldController:
        """The controller."""
        return HoldController()
