"""An arm of the reality bench behind the topics of an effort interface; its own gravity compensation stays off."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.model.limits import Limits
from support.arms.bench_ros2 import OverRos2
from support.reality.bench import BenchReal
from support.reality.differences import Differences


class RealRos2(OverRos2, BenchReal):
    """Like `BenchReal`; `attach` gives it the model's gravity and inertia before a run."""

    def __init__(
        self, robot: str, limits: Limits, q: Sequence[float], differences: Differences, *, rate: float
    ) -> None:
        BenchReal.__init__(self, robot, limits, q, differences, rate=rate)

    def _move(self) -> None:
        self.robot.suppress(self.time)
        BenchReal._move(self)
