"""`diffpbd net-torque-map ROBOT`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import distinct, write_atomic
from diffpbd.runtime.commands.locate import open_robot, parse_state, robot_files, state_file
from diffpbd.runtime.commands.numbers import DURATION, SPEED, Real, Whole
from diffpbd.runtime.commands.options import plot_option
from diffpbd.runtime.commands.results import json_option, result
from diffpbd.runtime.control.net_torque import DISPLACEMENT, VELOCITY, sample_map
from diffpbd.runtime.control.net_torque_c import c_name, c_sources
from diffpbd.runtime.report.tables import number

__all__ = ["command"]

LARGEST_STEP = 10.0  # rad or m


@click.command("net-torque-map")
@click.argument("robot")
@click.option("--joint", metavar="NAME", help="The joint that moves (default: the only one).")
@click.option("--pose", metavar="JSON", help="Where all joints stand [rad or m]: a list, by joint, or a file.")
@click.option(
    "--grid", nargs=2, type=Whole(2, 1001), default=(25, 25), show_default=True,
    metavar="ROWS COLUMNS", help="Samples over displacement and over velocity.",
)  # fmt: skip
@click.option(
    "--displacement", type=Real(0.0, LARGEST_STEP, min_open=True), default=DISPLACEMENT, show_default=True,
    help="Largest displacement in one step [rad or m].",
)  # fmt: skip
@click.option(
    "--velocity", type=SPEED, default=VELOCITY, show_default=True,
    help="Largest velocity [rad/s or m/s].",
)  # fmt: skip
@click.option("--h", type=DURATION, help="Step [s] (default: the robot's).")
@click.option(
    "--step", default="joint_step", show_default=True, metavar="FUNCTION",
    help="Generated step to solve; step_paper_direct is the paper's, for a robot with one joint.",
)  # fmt: skip
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option(
    "--out", required=True, metavar="DIR", help="Folder for the C files and the map as JSON; made if missing."
)
@json_option
@plot_option("A picture of the map.")
def command(
    robot: str, joint: str | None, pose: str | None, grid: tuple[int, int], displacement: float, velocity: float,
    h: float | None, step: str, params: str | None, out: str, plot: str | None,
) -> None:  # fmt: skip
    """The torque that moves a joint of ROBOT by a displacement in one step, from a velocity, as a C table.

    The other joints are locked where --pose puts them. Gravity and springs are left out: the robot compensates them.
    """
    opened = open_robot(robot)
    if joint is None and opened.n != 1:
        raise InputError(f"{opened.name} has {opened.n} joints: name one with --joint, of {', '.join(opened.joints)}.")
    distinct([("--plot", plot)], [*robot_files(robot), ("--pose", state_file(pose)), ("--params", params)])
    table = sample_map(
        opened, opened.joints[0] if joint is None else joint,
        pose=None if pose is None else parse_state(pose, "--pose", opened.joints), step=step, grid=grid,
        extent=(displacement, velocity), h=h, alpha=opened.alpha.vector(params),
    )  # fmt: skip
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror or error}.") from None
    files = {**c_sources(table), f"{c_name(table)}.json": json.dumps(table.to_json(), indent=1) + "\n"}
    distinct([("--out", folder / name) for name in files], [*robot_files(robot), ("--plot", plot)])
    if plot is not None:
        from diffpbd.runtime.reproduce.net_torque_map import plot as draw

        draw(plot, table)
    for name, text in files.items():
        write_atomic(folder / name, text)
    largest = float(abs(table.torque).max())
    words = f"{table.joint}: {grid[0]} × {grid[1]} samples of {table.step}, up to {number(largest, 4)} N·m (or N)"
    data = {"joint": table.joint, "step": table.step, "grid": grid, "h": table.h, "largest_torque": largest}
    result(words, data, *(str(folder / name) for name in files), plot)
