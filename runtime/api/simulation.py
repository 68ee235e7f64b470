"""Simulations by the generated step."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.words import in_python, values_of
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import number
from diffpbd.runtime.base.html import motion_table
from diffpbd.runtime.functions.joint_values import JointValues
from diffpbd.runtime.functions.parameters import AlphaOrFile
from diffpbd.runtime.logs.csv import TorqueLog, read_torques, write_log
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.model.limits import beyond_effort
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.simulate import simulation
from diffpbd.runtime.simulate.orders import Order

__all__ = ["Run", "simulate"]


@dataclass(frozen=True, repr=False)
class Run(simulation.Run):
    """A simulation: `time` (steps + 1,) [s], `q`, `dq`, `tau` (steps + 1, n), `kinetic` and `potential` energy [J], `gap`."""

    robot: Robot = field(kw_only=True)

    @property
    def notes(self) -> list[str]:
        """Sentences on joints driven beyond their effort limits, which a simulation does not enforce."""
        return beyond_effort(self.robot.manifest.robot.joints, self.tau)

    def __repr__(self) -> str:
        said = "".join(f"; note: {text}" for text in self.notes[:1])
        return f"{super().__repr__().removesuffix('>')}{said}>"

    def _repr_html_(self) -> str:
        caption = f"{self.robot.name}: {len(self.time) - 1} steps of {self.h:g} s"
        return motion_table(caption, self.joints, self.q, self.tau, self.positions)

    @in_python
    def plot(self, path: str | Path | None = None) -> Picture:
        """Joint positions, energy and joint gaps over time; also written to `path`."""
        from diffpbd.runtime.report.run_plot import plot_run

        title = f"{self.robot.name}, {self.function}, h = {self.h:g} s"
        return drawn(lambda file: plot_run(self, file, title=title, robot=self.robot), path)

    @in_python
    def save(self, path: str | Path) -> None:
        """A log as CSV (`.gz` allowed): time, q_, dq_ and tau_ columns."""
        write_log(path, self.log())


@in_python
def simulate(
    robot: Robot,
    controller: simulation.Torque | str | Path | Recording = "zero",
    *,
    duration: float | None = None,
    q0: JointValues | None = None,
    dq0: JointValues | None = None,
    h: float | None = None,
    alpha: AlphaOrFile | None = None,
    order: Order = 2,
) -> Run:
    """Simulate `robot` by `joint_step` for `duration` [s] in steps of `h` [s] (default 1 s, the recipe's) from `q0`, `dq0`
    (zero; vectors, or by name: {"elbow": 0.3}).

    `controller` is "zero", "gravity", a function of (time, q, dq) that gives the torque (n,) [N·m or N], an array (n,) or
    (steps, n), or a log: a file, or a recording of `read_log`. Torques are held during each step. `alpha` is a vector, or
    values by name. `order` 4 and 6 are more exact and refuse friction. SolverError where a step fails.
    """
    torque: Any = controller
    if isinstance(controller, Path) or (isinstance(controller, str) and controller not in ("zero", "gravity")):
        simulation.expect_log(controller, "simulate: controller")
        torque = read_torques(controller)
    elif isinstance(controller, Recording):
        if controller.tau is None:
            raise InputError(f"{controller.path}: the recording has no torques.")
        torque = TorqueLog(controller.time, controller.joints, controller.tau)
    if duration is None:
        duration = float(torque.time[-1] - torque.time[0]) if isinstance(torque, TorqueLog) else 1.0
    duration, h = number("duration", duration), None if h is None else number("h", h)
    values = values_of(robot, alpha)
    run = simulation.simulate(robot, duration=duration, h=h, start=(q0, dq0), torque=torque, alpha=values, step=order)
    return Run(**{f.name: getattr(run, f.name) for f in fields(run)}, robot=robot)
