"""`diffpbd reproduce FIGURE`."""

from __future__ import annotations

import click

from diffpbd.runtime.commands.numbers import AMOUNT, COUNT, SEED, Real
from diffpbd.runtime.commands.outputs import picture_and_table, table_beside
from diffpbd.runtime.commands.reproduce_all import command as everything
from diffpbd.runtime.commands.reproduce_control import circle, impedance, net_torque_map, push, replay
from diffpbd.runtime.commands.reproduce_design import double_pendulum, gravity_compensation, spring
from diffpbd.runtime.commands.reproduce_sweeps import sweeps, variables
from diffpbd.runtime.commands.reproduce_torques import command as torque_table
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


for experiment in (impedance, net_torque_map, push, circle, replay, torque_table):
    command.add_command(experiment)
