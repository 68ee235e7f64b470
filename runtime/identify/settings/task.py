"""What every form of identification is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.settings.selection import Selection
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["Task"]


class Task(NamedTuple):
    """The entries of `selection` are fitted to the recordings `train`, all others are at `base`, alpha; `say` takes what is
    being done."""

    robot: Robot
    train: Sequence[Samples]
    validate: Sequence[Samples]
    selection: Selection
    base: FloatArray
    settings: Settings
    say: Callable[[str], None]
