"""`diffpbd net-torque-map ROBOT`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import distinct, write_atomic
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import parse_state, state_file
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.numbers import DURATION, SPEED, Whole
from diffpbd.runtime.commands.options.shared import plot_option
from diffpbd.runtime.commands.results.results import json_option, result
from diffpbd.runtime.control.net_torque import DISPLACEMENT, VELOCITY, sample_map
from diffpbd.runtime.control.net_torque_c import c_name, c_sources
from diffpbd.runtime.report.tables import number

__all__ = ["command"]

GRID = Whole(2, 1001)


@dataclass(frozen=True, kw_only=True)
class _Words:
    joint: str | None = option("The joint that moves (default: the only one).", None, metavar="NAME")
    pose: str | None = option("Where all joints stand [rad or m]: a list, by joint, or a file.", None, metavar="JSON")
    grid: tuple[int, int] = option(
        "Samples over displacement and over velocity (25 25).", (25, 25), metavar="ROWS COLUMNS", kind=click.Tuple([GRID, GRID])
    )  # fmt: skip
    displacement: float = option(
        f"Largest displacement in one step [rad or m] ({DISPLACEMENT:g}).", DISPLACEMENT, span=(0.0, 10.0), open=True
    )
    velocity: float = option(f"Largest velocity [rad/s or m/s] ({VELOCITY:g}).", VELOCITY, kind=SPEED)
    h: float | None = option("Step [s] (default: the robot's).", None, kind=DURATION)
    step: str = option(
        "Generated step to solve (joint_step); step_paper_direct is the paper's, for a robot with one joint.", "joint_step",
        metavar="FUNCTION",
    )  # fmt: skip
    params: str | None = option("Values of alpha by name, such as params.json of identify.", None, metavar="FILE")
    out: str = option("Folder for the C files and the map as JSON; made if missing.", metavar="DIR")


@click.command("net-torque-map")
@click.argument("robot")
@job("words", _Words)
@json_option
@plot_option("A picture of the map.")
def command(robot: str, words: _Words, plot: str | None) -> None:
    """The torque that moves a joint of ROBOT by a displacement in one step, from a velocity, as a C table.

    The other joints are locked where --pose puts them. Gravity and springs are left out: the robot compensates them.
    """
    opened = open_robot(robot)
    if words.joint is None and opened.n != 1:
        raise InputError(f"{opened.name} has {opened.n} joints: name one with --joint, of {', '.join(opened.joints)}.")
    distinct([("--plot", plot)], [*robot_files(robot), ("--pose", state_file(words.pose)), ("--params", words.params)])
    table = sample_map(
        opened, words.joint or opened.joints[0],
        pose=None if words.pose is None else parse_state(words.pose, "--pose", opened.joints), step=words.step, grid=words.grid,
        extent=(words.displacement, words.velocity), h=words.h, alpha=opened.alpha.vector(words.params),
    )  # fmt: skip
    folder = Path(words.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {words.out}: {error.strerror or error}.") from None
    files = {**c_sources(table), f"{c_name(table)}.json": json.dumps(table.to_json(), indent=1) + "\n"}
    distinct([("--out", folder / name) for name in files], [*robot_files(robot), ("--plot", plot)])
    if plot is not None:
        from diffpbd.runtime.report.net_torque_map import plot as draw

        draw(plot, table)
    for name, text in files.items():
        write_atomic(folder / name, text)
    largest = float(abs(table.torque).max())
    rows, columns = words.grid
    text = f"{table.joint}: {rows} × {columns} samples of {table.step}, up to {number(largest, 4)} N·m (or N)"
    data = {"joint": table.joint, "step": table.step, "grid": words.grid, "h": table.h, "largest_torque": largest}
    result(text, data, *(str(folder / name) for name in files), plot)
