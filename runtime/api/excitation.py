"""Exciting motions for inertial parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.words import expect_options, in_python, values_of
from diffpbd.runtime.base.html import motion_table
from diffpbd.runtime.excite import excitation
from diffpbd.runtime.excite.wishes import Wishes
from diffpbd.runtime.functions.parameters import AlphaOrFile
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.model.clearance import KEPT, least_distance
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import ExciteHow

__all__ = ["Excitation", "excite"]


@dataclass(frozen=True, repr=False)
class Excitation(excitation.Excitation):
    """A motion: `time` [s], `q`, `dq`, `ddq`, `tau` (samples, n) in `motion`; condition numbers `before` and `after`."""

    robot: Robot = field(kw_only=True)

    def __repr__(self) -> str:
        m = self.motion
        return f"<Excitation of {self.robot.name}: {m.time[-1]:g} s, condition {self.before:.4g} to {self.after:.4g}>"

    def _repr_html_(self) -> str:
        m = self.motion
        caption = f"{self.robot.name}: {m.time[-1]:g} s, condition {self.before:.4g} to {self.after:.4g}"
        return motion_table(caption, self.robot.joints, m.q, m.tau)

    def log(self) -> Log:
        """The motion as a log, with the predicted torque."""
        m = self.motion
        return Log(m.time, self.robot.joints, m.q, m.dq, m.ddq, m.tau)

    @in_python
    def save(self, path: str | Path) -> None:
        """The log as CSV (`.gz` allowed)."""
        write_log(path, self.log())

    @in_python
    def plot(self, path: str | Path | None = None) -> Picture:
        """Positions, rates and torques as part of their limits; also written to `path`."""
        from diffpbd.runtime.report.excitation_plot import plot_excitation

        return drawn(lambda file: plot_excitation(self, file, title=self.robot.name), path)


@in_python
def excite(
    robot: Robot,
    duration: float = 10.0,
    *,
    alpha: AlphaOrFile | None = None,
    progress: Callable[[str], None] | None = None,
    **wishes: Unpack[ExciteHow],
) -> Excitation:
    """A motion of `duration` [s] within all limits whose base regressor has a small condition number.

    `wishes`: `harmonics` (5), `rate` [Hz] of the samples, `least_height` of the tip [m], `margin` (0.1) of every limit that
    is left free, `acceleration` limits (one, (n,) or by joint), `table` [m], `criterion` "condition" or "log-det",
    `clearance` [m] of links from each other (0.02 where the robot knows their shapes). Needs the extra `solve`; takes seconds.
    """
    expect_options("excite", wishes, keywords("ExciteHow"))
    asked: dict[str, Any] = {**wishes}
    table = robot.manifest.recipe.table
    if table is not None and "table" not in asked:
        from diffpbd.runtime.loop.clearance import RADIUS

        asked["table"] = table + RADIUS
    values = values_of(robot, alpha)
    asked.setdefault("clearance", least_distance(robot, None, KEPT))
    found = excitation.excite(robot, Wishes(duration, **asked), values, progress)
    return Excitation(**{f.name: getattr(found, f.name) for f in fields(found)}, robot=robot)
