"""`python -m experiments impedance` and `push`."""

from __future__ import annotations

from dataclasses import replace

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.options.locate import open_robot
from diffpbd.runtime.commands.results.results import note, tabled, written
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.folder.locate import find_description, robot_folders
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.net_torque_map import closest_plane
from diffpbd.runtime.report.tables import number
from experiments.command import Outputs, experiment
from experiments.control.impedance import Experiment
from experiments.control.push import Push

__all__ = ["impedance", "push"]

ONE_JOINT = "baxter_s1"
HELD = ("left_s0", "left_e0", "left_e1", "left_w0", "left_w1", "left_w2")
VARIANTS, FUNCTIONS = "published", ("default", "vjp_step")
MAKE_ONE_JOINT = (
    f"diffpbd generate baxter {' '.join(f'--hold {joint}' for joint in HELD)} --variants {VARIANTS} "
    f"--functions {','.join(FUNCTIONS)} --out generated/{ONE_JOINT}"
)


MAPPED = "paper_direct"
"""The step whose map is drawn: the published one with the direct solve, or the first that there is."""


def _one_joint(robot: str) -> Robot:
    """The arm with one joint left; the one that is taken by default is made where it is not there."""
    if robot == ONE_JOINT and not any((folder / robot).is_dir() for folder in robot_folders()):
        from diffpbd.codegen.generate import generate

        click.echo(f"{ONE_JOINT} is not there yet: {MAKE_ONE_JOINT}", err=True)
        generate(
            "baxter", out=robot_folders()[0] / ONE_JOINT, progress=lambda line: click.echo(line, err=True),
            hold=HELD, variants=(VARIANTS,), functions=FUNCTIONS,
        )  # fmt: skip
    opened = open_robot(robot)
    if opened.n != 1:
        raise InputError(f"{opened.name} has {opened.n} joints; expected one, the others welded: `{MAKE_ONE_JOINT}`.")
    return opened


@experiment("impedance", Experiment, ONE_JOINT, "The traces", opened=_one_joint)
def impedance(robot: Robot, own: Experiment, out: Outputs) -> None:
    """The paper's net torque map of s1, and its simulated experiment: s1 holds −0.45 rad against 5 and 10 N·m, by PD and by
    impedance. Each map's distance from a plane, and the closed form of first order, stand in a table.

    ROBOT has one joint; the others are welded. docs/impedance.md says what the paper leaves open.
    """
    from diffpbd.runtime.control.net_torque import sample_map
    from diffpbd.runtime.report.net_torque_map import plot as plot_map
    from experiments.control.impedance import PHASES, plot, run
    from experiments.control.joint_law import Trace, merits, motor_limit, write_traces
    from experiments.one_step import function_of

    rows: list[list[str]] = []
    maps: list[list[str]] = []
    shown: list[Trace] = []
    for k, column in enumerate(own.columns(robot)):
        found = sample_map(column.robot, robot.joints[0], step=function_of(column.robot, column.step))
        if column.step == MAPPED or not maps:
            plot_map(own.map, found)
        maps.append(_map_row(column.label, column.robot, found))
        made = run(robot, found, own)
        shown = made if k == 0 else shown  # the picture is that of the first step, the published one by default
        plants = {f"{own.coulomb:g} N·m, {own.viscous:g} N·m·s/rad": made}
        if own.coulomb or own.viscous:
            plants["none"] = run(robot, found, replace(own, coulomb=0.0, viscous=0.0))
        for name, traces in plants.items():
            for trace in traces:
                if k and not trace.name.startswith("impedance"):
                    continue  # PD has no map
                law = f"{trace.name}, {column.label}" if trace.name.startswith("impedance") else trace.name
                for merit in merits(trace, own.goal, PHASES):
                    rows.append([
                        name, law, merit.phase, f"{1e3 * merit.offset:.2f}", f"{1e3 * merit.overshoot:.1f}",
                        "-" if merit.settling is None else f"{merit.settling:.2f}",
                    ])  # fmt: skip
    rows.sort(key=lambda row: row[0])
    title = f"{robot.joints[0]}: goal {own.goal} rad, K = {own.stiffness:g}, D = {own.damping:g}"
    plot(out.picture, title, shown, own.goal, motor_limit(robot))  # first: it fails without matplotlib
    write_traces(out.table, shown)
    head = [
        "net torque map",
        "largest [N·m]",
        "∂/∂displacement [N·m/rad]",
        "∂/∂velocity [N·m·s/rad]",
        "off a plane [N·m]",
    ]
    tabled(head, maps)
    note("")
    tabled(["friction", "law", "phase", "offset [mrad]", "overshoot [mrad]", "settling [s]"], rows, left=3)
    written(own.map)


def _map_row(name: str, robot: Robot, found: NetTorqueMap) -> list[str]:
    """Largest torque, slopes of the closest plane with those of first order (M/h², −M/h) in brackets, and the rest."""
    stiffness, damping, rest = closest_plane(found)
    mass = robot.mass_matrix(found.pose).item()
    return [
        name,
        number(float(abs(found.torque).max()), 5),
        f"{number(stiffness, 5)} ({mass / found.h**2:.5g})",
        f"{number(damping, 5)} ({-mass / found.h:.5g})",
        number(float(abs(rest).max()), 3),
    ]


@experiment("push", Push, ONE_JOINT, "The traces", opened=_one_joint)
def push(robot: Robot, own: Push, out: Outputs) -> None:
    """The paper's experiment on the robot, on the simulated one: a hand pushes s1 to about 0 rad and lets go."""
    from experiments.control.joint_law import motor_limit, write_traces
    from experiments.control.push import GOAL, Hand, plot, run_all, summary

    found = own.map(robot)
    mass = robot.mass_matrix(found.pose).item()
    traces = run_all(find_description(own.description), found, mass, own.scaling, Hand(strength=own.strength))
    plot(out.picture, f"{found.joint}: goal {GOAL} rad, pushed and let go", traces, motor_limit(robot))
    write_traces(out.table, traces)
    tabled(*summary(traces))
