"""`diffpbd reproduce convergence`, `sweeps` and `variables`, whose numbers the generator derives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from diffpbd.runtime.base.options import option
from diffpbd.runtime.commands.experiment import Outputs, experiment
from diffpbd.runtime.commands.results import note, tabled
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from diffpbd.runtime.reproduce.sweeps import Sweeping

__all__ = ["convergence", "sweeps", "variables"]

SHOWN = (0, 1, 2, 3, 5, 10, 20, 30)
"""Sweeps of the printed table."""


@dataclass(frozen=True, kw_only=True)
class Detached:
    """How links are detached, and pulled together."""

    sweeps: int = option("Sweeps of every solver.", 30, span=(1, 1000))
    multiplier: str = option(
        "Rows of a joint in a sweep: all at once, or along the residual and in the order that the paper prints.", "both",
        choices=("block", "scalar", "both"),
    )  # fmt: skip
    shift: float = option("Detachment [m].", 0.05, span=(0.0, 1e3))
    turn: float = option("Detachment [rad].", 0.2, span=(0.0, 1.0))
    seed: int = option("Of the detachment.", 1, span=(0, 2**32 - 1))


@experiment("convergence", Detached, "baxter_bare", "The numbers", opened=str)
def convergence(robot: str, own: Detached, out: Outputs) -> None:
    """Residual of ROBOT's joints over the sweeps of Gauss-Seidel, Jacobi and the direct solve, from detached links."""
    from diffpbd.codegen.convergence import converge
    from diffpbd.runtime.reproduce.convergence import plot, write_table

    found = converge(robot, **vars(own))
    plot(out.picture, found.robot, found.projections)  # first: it fails without matplotlib
    write_table(out.table, found.links, found.projections)
    rows = [
        [str(k), *(number(x, 3) for solved in found.projections for x in (solved.gap[k], solved.tilt[k]))]
        for k in sorted({k for k in SHOWN if k < own.sweeps} | {own.sweeps})
    ]
    heads = [f"{solved.solver} {what}" for solved in found.projections for what in ("gap [m]", "tilt [rad]")]
    tabled(["sweeps", *heads], rows)


@experiment("sweeps", Sweeping, "baxter_bare", "The errors")
def sweeps(robot: Robot, own: Sweeping, out: Outputs) -> None:
    """Error of the holding torque over the sweeps of the published step, and by its settings, on poses loaded like the paper's.
    ROBOT is a name that is shipped and generated, or a description beside its generated folder of the
    same name.
    """
    from diffpbd.codegen.sweep_study import Setting, setting_graphs, settings
    from diffpbd.runtime.reproduce import sweeps as study
    from diffpbd.runtime.reproduce.gravity_compensation import shown_joints

    def say(text: str) -> None:
        click.echo(text, err=True)

    alpha = robot.alpha.vector({"gravity.z": -9.8})
    poses = own.of(robot, alpha)
    solvers = (
        Setting("Jacobi as printed", "paper_jacobi"), Setting("Gauss–Seidel as printed"),
        Setting("Jacobi, block multiplier", "paper_jacobi", printed=()),
        Setting("Gauss–Seidel, block multiplier", printed=()),
    )  # fmt: skip
    found: dict[str, dict[int, study.Errors]] = {}
    for solver in solvers:
        say(f"{solver.name}:")
        counts = [replace(solver, sweeps=count) for count in sorted(set(own.counts)) or study.COUNTS]
        for one, graph, ahead in setting_graphs(robot.name, counts):
            say(f"{one.sweeps} sweeps")
            found.setdefault(solver.name, {})[one.sweeps] = study.errors(robot, poses, alpha, graph, ahead)
    study.plot(out.picture, robot, found)
    study.write_table(out.table, robot.joints, found)
    shown = shown_joints(robot.joints)
    note(
        f"{own.draws} sets of {own.count} poses, seeds from {own.seed}; mean absolute error [N·m] at "
        f"{', '.join(robot.joints[j] for j in shown)}, in brackets from the least to the largest mean of a set"
    )
    tabled(*study.summary(robot, found))
    if own.settings and robot.n > 2:
        graphs = setting_graphs(robot.name, settings(robot.joints[shown[-1]]))
        note("\nWhat the step may have been, 30 sweeps unless said; the same poses and errors")
        tabled(*study.by_setting(robot, poses, alpha, graphs, say))


@experiment("variables", None, "baxter_bare", "The vectors", opened=str)
def variables(robot: str, out: Outputs) -> None:
    """The paper's nomenclature with ROBOT's numbers, and its drawings: a link's variables, the flow of windows, the spring."""
    from diffpbd.codegen.link_variables import link_variables
    from diffpbd.runtime.base.rows import write_rows
    from diffpbd.runtime.reproduce.diagrams import nomenclature, plot

    found = link_variables(robot)
    plot(out.picture, found)
    head, rows = nomenclature(found)
    write_rows(out.table, head, rows)
    tabled(head, rows, left=2)
