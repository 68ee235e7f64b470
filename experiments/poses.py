"""Static poses for the experiments: frames of recordings, or drawn inside the joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.table import RATES
from diffpbd.runtime.model.robot import Robot

__all__ = ["INSIDE", "RECORDED", "Poses", "draw", "draw_from", "draw_loaded", "find_logs"]

INSIDE = 0.8
"""[1] Part of a joint's range, about its middle, that drawn poses keep to."""
MOST_DRAWN = 100
"""[1] Poses drawn for one that is kept."""
UNBOUNDED = 3.0  # rad or m: half the range of joints without limits
RECORDED = 99.0099
"""[Hz] Of the recordings in docs/torque-estimation.md, which have no time column."""


@dataclass(frozen=True, kw_only=True)
class Poses:
    """Static poses of an experiment; `rate` [Hz]."""

    data: str | None = option(
        "Recordings to take the poses from (default: drawn inside the limits).", None, metavar="DIR", reads=Path
    )
    rate: float = option("Of logs without a time column.", RECORDED, metavar="HZ", span=RATES)
    count: int = option("How many.", 30, flag="--poses", span=(1, 100000))
    seed: int = option("Of drawn poses.", 1, span=(0, 2**32 - 1))

    def of(self, robot: Robot) -> FloatArray:
        """Poses (count, n) [rad or m]."""
        if self.data is None:
            return draw(robot, self.count, self.seed)
        return draw_from(robot, find_logs(self.data), self.count, self.rate)


def draw(robot: Robot, count: int, seed: int) -> FloatArray:
    """Poses (count, n) [rad or m], uniform inside the joint limits."""
    rng = np.random.default_rng(seed)
    poses = np.empty((count, robot.n))
    for j, joint in enumerate(robot.manifest.robot.joints):
        low = -UNBOUNDED if joint.lower is None else joint.lower
        high = UNBOUNDED if joint.upper is None else joint.upper
        middle, half = (low + high) / 2, INSIDE * (high - low) / 2
        poses[:, j] = rng.uniform(middle - half, middle + half, count)
    return poses


def draw_loaded(
    robot: Robot, count: int, seed: int, alpha: FloatArray, joints: Sequence[int], low: Sequence[float], high: Sequence[float]
) -> FloatArray:  # fmt: skip
    """Drawn poses (count, n) whose gravity torques [N·m] at some joints lie between `low` and `high`."""
    poses = draw(robot, MOST_DRAWN * count, seed)
    torque = np.asarray(robot.gravity(poses, alpha))[:, list(joints)]
    inside = poses[((np.asarray(low) <= torque) & (torque <= np.asarray(high))).all(axis=1)]
    if len(inside) < count:
        raise InputError(
            f"{robot.name}: of {len(poses)} drawn poses {len(inside)} are loaded like the paper's; expected {count}."
        )
    return inside[:count]


def find_logs(folder: str | Path) -> list[Path]:
    """The logs (.csv, .csv.gz) of a folder, by name."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"--data {folder}: expected a folder of recordings.")
    logs = sorted([*path.glob("*.csv"), *path.glob("*.csv.gz")])
    if not logs:
        raise InputError(f"--data {folder}: there are no logs (.csv or .csv.gz) in it.")
    return logs


def draw_from(robot: Robot, logs: Sequence[Path], count: int, rate: float | None) -> FloatArray:
    """Frames (count, n) of recordings, equally spaced over all of them together."""
    recorded = np.vstack([read_log(path, untimed=rate).select(robot.joints).q for path in logs])
    if len(recorded) < count:
        raise InputError(f"--data: {len(recorded)} samples in all; expected at least {count}.")
    return np.asarray(recorded[np.linspace(0, len(recorded) - 1, count).round().astype(int)], dtype=np.float64)
