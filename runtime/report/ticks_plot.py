"""A PNG of a run on the robot, from its log: positions, what was measured and commanded, and how punctual it was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.records.messages import Tick
from diffpbd.runtime.report.figures import new_figure, panel, save

__all__ = ["plot_ticks"]

SIZE_INCH = (10.0, 9.4)
MS = 1e3  # milliseconds a second


def plot_ticks(path: str | Path, configuration: Configuration, ticks: Iterable[Tick]) -> bool:
    """Draw the ticks of a log; without any there is no picture, and the answer is no.

    Dashed: measured torque. Dots at the foot of the last panel: ticks whose command was not the controller's own.
    """
    seen = [tick for tick in ticks if tick.mode]  # the others sent nothing
    if not seen:
        return False
    time = np.array([tick.time for tick in seen])
    torque = seen[0].mode == Mode.TORQUE
    figure = new_figure(*SIZE_INCH)
    name, period = configuration.controller["name"], configuration.settings.period
    figure.suptitle(f"{configuration.robot}: {name}, {len(seen)} ticks of {MS * period:g} ms")
    positions, commands, ages = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1.4))
    for k, joint in enumerate(configuration.joints):
        (line,) = positions.plot(time, [tick.position[k] for tick in seen], label=joint)
        color = line.get_color()
        commands.step(time, [tick.command[k] for tick in seen], where="post", color=color, linewidth=1.0)
        if torque and all(len(tick.effort) for tick in seen):
            commands.plot(time, [tick.effort[k] for tick in seen], "--", color=color, linewidth=0.7)
    panel(positions, "", "", "position [rad]")
    positions.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    beyond = "command beyond gravity" if configuration.owner is GravityOwner.ROBOT else "command"
    panel(commands, "", "", f"{beyond}, measured (dashed) [N·m]" if torque else "commanded position [rad]")
    ages.plot(time, MS * np.array([tick.age for tick in seen]), color="0.5", linewidth=0.7, label="age of the state")
    ages.plot(time[1:], MS * np.diff(time), color="C0", linewidth=0.7, label="between ticks")
    for status in TickStatus:
        at = time[[tick.status == status for tick in seen]]
        if status is not TickStatus.OK and len(at):
            word = status.name.lower().replace("_", " ")
            ages.plot(at, np.zeros(len(at)), ".", markersize=4, label=f"{word}: {len(at)}")
    panel(ages, "", "time [s]", "[ms]")
    ages.set_ylim(bottom=0.0)
    ages.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    save(path, figure)
    return True
