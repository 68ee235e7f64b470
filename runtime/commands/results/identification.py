"""Files that `diffpbd identify` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.base.options import option
from diffpbd.runtime.identify import Identification, write_torques
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.identification import page

__all__ = ["Outputs"]


@dataclass(frozen=True)
class Outputs:
    """Files to write."""

    out: str | None = option("Writes the parameters, for --params of other commands.", None, metavar="FILE.json")
    report: str | None = option("Writes one self-contained page with tables and figures.", None, metavar="OUT.html")
    torques_out: str | None = option(
        "Simultaneous: writes the estimated torques, CSV or NPZ by its ending.", None, metavar="FILE"
    )
    plot: str | None = option(
        "Measured and predicted torques of a LOG of --validate, or else of the fit.", None, metavar="OUT.png"
    )

    def named(self) -> list[tuple[str, str | None]]:
        """Each with its option."""
        return [(f"--{field.name.replace('_', '-')}", getattr(self, field.name)) for field in fields(self)]

    def write(self, robot: Robot, result: Identification, source: Mapping[str, Any]) -> None:
        """All of them; texts are made before the first is written."""
        made = ((self.out, result.to_json(source)), (self.report, page(result)))
        contents = [(path, content) for path, content in made if path is not None]
        if self.plot is not None:
            _draw(self.plot, robot, result)
        for path, content in contents:
            write_atomic(path, content)
        if self.torques_out is not None:
            write_torques(self.torques_out, result.joints, result.torques)

    def paths(self) -> list[str]:
        """Those that are asked for."""
        return [path for _, path in self.named() if path is not None]


def _draw(plot: str, robot: Robot, result: Identification) -> None:
    from diffpbd.runtime.report.torque_plots import plot_curves

    trace = (result.validate or result.train).traces[0]
    curves = {"measured": (trace.time, trace.measured), "predicted": (trace.time, trace.predicted)}
    use = "not used for the fit" if result.validate else "of the fit"
    shown = [robot.joints.index(joint) for joint in result.judged]
    what = "angle" if result.compared == "position" else "torque"
    plot_curves(plot, robot, shown, curves, f"{robot.name}: {result.compared}s of {trace.name}, {use}", what)
