"""A motion from which inertial parameters can be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.words import in_python
from diffpbd.runtime.excite import excitation
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.arrays import FloatArray

__all__ = ["Excitation", "excite"]


@dataclass(frozen=True, repr=False)
class Excitation(excitation.Excitation):
    """A motion: `time` [s], `q`, `dq`, `ddq`, `tau` (samples, n) in `motion`; condition numbers `before` and `after`."""

    robot: Robot = field(kw_only=True)

    def __repr__(self) -> str:
        m = self.motion
        return f"<Excitation of {self.robot.name}: {m.time[-1]:g} s, condition {self.before:.4g} to {self.after:.4g}>"

    def log(self) -> Log:
        """The motion as a log, with the predicted torque."""
        m = self.motion
        return Log(m.time, self.robot.joints, m.q, m.dq, m.ddq, m.tau)

    def save(self, path: str | Path) -> None:
        """The log as CSV (`.gz` allowed)."""
        write_log(path, self.log())

    def plot(self, path: str | Path | None = None) -> Picture:
        """Positions, rates and torques as part of their limits; also written to `path`."""
        from diffpbd.runtime.report.excitation_plot import plot_excitation

        return drawn(lambda file: plot_excitation(self, file, title=self.robot.name), path)


@in_python
def excite(
    robot: Robot,
    duration: float = 10.0,
    *,
    alpha: Any = None,
    progress: Callable[[str], None] | None = None,
    **wishes: Any,
) -> Excitation:
    """A motion of `duration` [s] within all limits whose base regressor has a small condition number.

    `wishes`: `harmonics` (5), `rate` [Hz] of the samples, `least_height` of the tip [m], `margin` (0.1) of every limit that
    is left free, `acceleration` limits (n,), `table` [m], `criterion` "condition" or "log-det". Needs the extra `solve`;
    takes seconds.
    """
    limits: FloatArray | None = None if wishes.get("acceleration") is None else np.asarray(wishes["acceleration"])
    if limits is not None:
        wishes["acceleration"] = np.broadcast_to(limits, (robot.n,))
    table = robot.manifest.recipe.table
    if table is not None and "table" not in wishes:
        from diffpbd.runtime.loop.clearance import RADIUS

        wishes["table"] = table + RADIUS
    values = robot.alpha.vector(alpha) if alpha is None or isinstance(alpha, (dict, str, Path)) else alpha
    found = excitation.excite(robot, excitation.Wishes(duration, **wishes), values, progress)
    return Excitation(**{f.name: getattr(found, f.name) for f in fields(found)}, robot=robot)
