"""`python -m experiments links` and `sweeps`, whose numbers the generator derives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.options import option
from diffpbd.runtime.commands.results.results import note, tabled, written
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from experiments.command import Outputs, experiment
from experiments.method.sweeps import Sweeping

__all__ = ["links", "sweeps"]

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
    drawings: str = option(
        "Picture of a link's variables, the flow of windows and the spring.", "variables.png", metavar="FILE.png"
    )


@experiment("links", Detached, "baxter_bare", "Residuals and poses after every sweep", opened=str)
def links(robot: str, own: Detached, out: Outputs) -> None:
    """The paper's nomenclature with ROBOT's numbers and its drawings, and the residual of ROBOT's joints over the sweeps of
    Gauss-Seidel, Jacobi and the direct solve, from detached links."""
    from experiments.method import convergence_figure, diagrams
    from experiments.method.convergence import converge
    from experiments.method.link_variables import link_variables

    distinct([("--out", out.picture), ("--table", out.table), ("--drawings", own.drawings)], [])
    letters = link_variables(robot)
    found = converge(robot, sweeps=own.sweeps, multiplier=own.multiplier, shift=own.shift, turn=own.turn, seed=own.seed)
    diagrams.plot(own.drawings, letters)  # first: it fails without matplotlib
    convergence_figure.plot(out.picture, found.robot, found.projections)
    convergence_figure.write_table(out.table, found.links, found.projections)
    tabled(*diagrams.nomenclature(letters), left=2)
    note("")
    rows = [
        [str(k), *(number(x, 3) for solved in found.projections for x in (solved.gap[k], solved.tilt[k]))]
        for k in sorted({k for k in SHOWN if k < own.sweeps} | {own.sweeps})
    ]
    heads = [f"{solved.solver} {what}" for solved in found.projections for what in ("gap [m]", "tilt [rad]")]
    tabled(["sweeps", *heads], rows)
    written(own.drawings)


@experiment("sweeps", Sweeping, "baxter_bare", "The errors")
def sweeps(robot: Robot, own: Sweeping, out: Outputs) -> None:
    """Error of the holding torque over the sweeps of the published step, and by its settings, on poses loaded like the paper's.
    ROBOT is a name that is shipped and generated, or a description beside its generated folder of the
    same name.
    """
    from experiments.design.gravity_compensation import shown_joints
    from experiments.method import sweeps as study
    from experiments.method.sweep_study import Setting, setting_graphs, settings

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
