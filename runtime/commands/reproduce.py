"""`diffpbd reproduce FIGURE`."""

from __future__ import annotations

import click

from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.commands.locate import files_in, robot_files
from diffpbd.runtime.commands.numbers import AMOUNT, COUNT, LONGEST, SEED, Real
from diffpbd.runtime.commands.outputs import picture_and_table, recorded_rate, step_option, table_beside
from diffpbd.runtime.commands.reproduce_all import command as everything
from diffpbd.runtime.commands.reproduce_control import circle, impedance, net_torque_map, push, replay
from diffpbd.runtime.commands.reproduce_design import double_pendulum, gravity_compensation, spring
from diffpbd.runtime.commands.reproduce_sweeps import sweeps, variables
from diffpbd.runtime.commands.results import finish, json_option, tabled, tables
from diffpbd.runtime.report.tables import number

__all__ = ["command"]


@click.group("reproduce")
def command() -> None:
    """Reproduce the paper's figures and tables."""


command.add_command(everything)
command.add_command(double_pendulum)
command.add_command(gravity_compensation)
command.add_command(spring)
command.add_command(sweeps)
command.add_command(variables)


@command.command("convergence")
@click.argument("robot", default="baxter_bare")
@click.option("--sweeps", type=COUNT, default=30, show_default=True, help="Sweeps of every solver.")
@click.option(
    "--multiplier",
    type=click.Choice(["block", "scalar", "both"]),
    default="both",
    show_default=True,
    help="Rows of a joint in a sweep: all at once, or along the residual and in the order that the paper prints.",
)
@click.option("--shift", type=AMOUNT, default=0.05, show_default=True, help="Detachment [m].")
@click.option("--turn", type=Real(0.0, 1.0), default=0.2, show_default=True, help="Detachment [rad].")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of the detachment.")
@json_option
@picture_and_table("convergence.png", "The numbers")
def convergence(
    robot: str, sweeps: int, multiplier: str, shift: float, turn: float, seed: int, out: str, table_path: str | None
) -> None:
    """Residual of ROBOT's joints over the sweeps of Gauss-Seidel, Jacobi and the direct solve, from detached links."""
    from diffpbd.codegen.convergence import converge
    from diffpbd.runtime.reproduce.convergence import plot, write_table

    numbers = table_beside(out, table_path, [("ROBOT", robot)])
    found = converge(robot, sweeps=sweeps, shift=shift, turn=turn, seed=seed, multiplier=multiplier)
    plot(out, found.robot, found.projections)  # first: it fails without matplotlib
    write_table(numbers, found.links, found.projections)
    shown = sorted({k for k in (0, 1, 2, 3, 5, 10, 20, 30) if k < sweeps} | {sweeps})
    rows = [
        [str(k), *(number(x, 3) for solved in found.projections for x in (solved.gap[k], solved.tilt[k]))]
        for k in shown
    ]
    heads = [f"{solved.solver} {what}" for solved in found.projections for what in ("gap [m]", "tilt [rad]")]
    tabled(["sweeps", *heads], rows)
    finish(tables(), out, numbers)


for experiment in (impedance, net_torque_map, push, circle, replay):
    command.add_command(experiment)


@command.command("torque-table")
@click.argument("robot", default="baxter_bare")
@click.option("--data", required=True, metavar="DIR", help="Folder of the recordings; see docs/torque-estimation.md.")
@click.option(
    "--train",
    default="train_*",
    show_default=True,
    metavar="GLOB",
    help="Names of the recordings to identify the model on.",
)
@click.option(
    "--test",
    default="test_*",
    show_default=True,
    metavar="GLOB",
    help="Name of the recording whose torques are estimated.",
)
@recorded_rate
@click.option("--params", metavar="FILE", help="The identified model, instead of identifying it on --train.")
@click.option(
    "--adam",
    "seconds",
    type=Real(0.0, LONGEST),
    default=2.0,
    show_default=True,
    metavar="S",
    help="Stretch of the recording for the published descent; 0: leave it out.",
)
@click.option(
    "--adam-solver",
    "solver",
    type=click.Choice(["gauss_seidel", "jacobi", "both"]),
    default="both",
    show_default=True,
    help="Sweeps of its steps.",
)
@click.option(
    "--adam-iterations",
    "iterations",
    type=COUNT,
    default=120,
    show_default=True,
    help="Its iterations from zero torque; the paper says 80 or 120.",
)
@click.option("--full", is_flag=True, help="Every scheme of the descent over the whole recording: hours.")
@step_option
@json_option
@click.option("--out", default="torque_table.csv", show_default=True, metavar="FILE.csv", help="Every number.")
@click.option(
    "--plot", default="torque_joints.png", show_default=True, metavar="FILE.png", help="Torques by scheme over time."
)
@click.option(
    "--whole",
    default="torque_whole.png",
    show_default=True,
    metavar="FILE.png",
    help="The descent over the whole recording.",
)
@click.option(
    "--violin", default="torque_violin.png", show_default=True, metavar="FILE.png", help="Torque errors by scheme."
)
@click.option(
    "--angles",
    default="torque_angles.png",
    show_default=True,
    metavar="FILE.png",
    help="Joint angles under the torques.",
)
@click.option(
    "--path",
    default="torque_path.png",
    show_default=True,
    metavar="FILE.png",
    help="The tip under windows of three steps.",
)
def torque_table(
    robot: str, data: str, train: str, test: str, rate: float, params: str | None, seconds: float, solver: str,
    iterations: int, full: bool, steps: tuple[str, ...], printed: str | None, out: str, plot: str, whole: str, violin: str,
    angles: str, path: str,
) -> None:  # fmt: skip
    """RMSE [N·m] of joint torques estimated from a recording by the published schemes: three starts, three losses, windows of
    three steps; with the description of the generated ROBOT alone and with friction and springs identified; and the optimum of
    each loss on every --step over the stretch of the descent."""
    from diffpbd.runtime.commands.reproduce_torques import Inputs, Robots, reproduce
    from diffpbd.runtime.reproduce.torque_drawing import Files
    from diffpbd.runtime.reproduce.torque_table import Descending

    files = Files(out, plot, whole, violin, angles, path)
    outputs = [(f"--{name}", path) for name, path in vars(files).items()]
    distinct(outputs, [("--params", params), *files_in("--data", data), *robot_files(robot)])
    solvers = ["gauss_seidel", "jacobi"] if solver == "both" else [solver]
    reproduce(
        Robots(robot, printed, steps), Inputs(data, train, test, rate, params),
        Descending(seconds, solvers[0], iterations, full), solvers, files,
    )  # fmt: skip
