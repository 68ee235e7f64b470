"""The control experiments of `diffpbd reproduce`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.experiment import Outputs, experiment
from diffpbd.runtime.commands.locate import open_robot
from diffpbd.runtime.commands.results import note, tabled
from diffpbd.runtime.folder.locate import find_description, robot_folders
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from diffpbd.runtime.reproduce.circle import Circle
from diffpbd.runtime.reproduce.columns import OneStep
from diffpbd.runtime.reproduce.impedance import Experiment
from diffpbd.runtime.reproduce.push import Push
from diffpbd.runtime.reproduce.replay import Replaying

__all__ = ["circle", "impedance", "net_torque_map", "push", "replay"]

ONE_JOINT = "baxter_s1"
HELD = ("left_s0", "left_e0", "left_e1", "left_w0", "left_w1", "left_w2")
VARIANTS, FUNCTIONS = "published", ("default", "vjp_step")
MAKE_ONE_JOINT = (
    f"diffpbd generate baxter {' '.join(f'--hold {joint}' for joint in HELD)} --variants {VARIANTS} "
    f"--functions {','.join(FUNCTIONS)} --out generated/{ONE_JOINT}"
)


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
    """The paper's simulated experiment: s1 holds −0.45 rad against 5 and 10 N·m, by PD and by impedance.

    ROBOT has one joint; the others are welded. docs/impedance.md says what the paper leaves open.
    """
    from diffpbd.runtime.control.net_torque import sample_map
    from diffpbd.runtime.reproduce.impedance import PHASES, plot, run
    from diffpbd.runtime.reproduce.joint_law import Trace, merits, motor_limit, write_traces
    from diffpbd.runtime.reproduce.one_step import function_of

    rows: list[list[str]] = []
    shown: list[Trace] = []
    for k, column in enumerate(own.columns(robot)):
        found = sample_map(column.robot, robot.joints[0], step=function_of(column.robot, column.step))
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
    tabled(["friction", "law", "phase", "offset [mrad]", "overshoot [mrad]", "settling [s]"], rows, left=3)


@experiment(
    "net-torque-map", OneStep, ONE_JOINT, "The samples", picture="net_torque_map.png", opened=_one_joint,
)  # fmt: skip
def net_torque_map(robot: Robot, own: OneStep, out: Outputs) -> None:
    """The paper's net torque map of s1, its distance from a plane, and from the closed form."""
    from diffpbd.runtime.reproduce.net_torque_map import closest_plane, plot, write_map

    found = own.map(robot)
    plot(out.picture, found)
    write_map(out.table, found)
    stiffness, damping, rest = closest_plane(found)
    mass = robot.mass_matrix(found.pose).item()
    rows = [
        ["largest torque [N·m]", number(float(abs(found.torque).max()), 5), ""],
        ["slope over displacement [N·m/rad]", number(stiffness, 5), f"M/h² = {mass / found.h**2:.5g}"],
        ["slope over velocity [N·m·s/rad]", number(damping, 5), f"−M/h = {-mass / found.h:.5g}"],
        ["farthest from a plane [N·m]", number(float(abs(rest).max()), 3), ""],
    ]
    tabled([f"{found.joint}, {found.step}", "map", "closed form, first order"], rows)


@experiment("push", Push, ONE_JOINT, "The traces", opened=_one_joint)
def push(robot: Robot, own: Push, out: Outputs) -> None:
    """The paper's experiment on the robot, on the simulated one: a hand pushes s1 to about 0 rad and lets go."""
    from diffpbd.runtime.reproduce.joint_law import motor_limit, write_traces
    from diffpbd.runtime.reproduce.push import GOAL, Hand, plot, run_all, summary

    found = own.map(robot)
    mass = robot.mass_matrix(found.pose).item()
    traces = run_all(find_description(own.description), found, mass, own.scaling, Hand(strength=own.strength))
    plot(out.picture, f"{found.joint}: goal {GOAL} rad, pushed and let go", traces, motor_limit(robot))
    write_traces(out.table, traces)
    tabled(*summary(traces))


@experiment("circle", Circle, "baxter", "The runs")
def circle(robot: Robot, own: Circle, out: Outputs) -> None:
    """ROBOT's tip on a circle against MuJoCo's arm, by --law: undisturbed, pushed from six sides (30 N for 0.2 s, world axes),
    and with other payloads than it knows.

    position, speed and torque say how near to a limit the run came: 0 at a limit, 1 in the middle or at rest, below 0 beyond
    it. The second table says what a push does to the joints, and how near to a speed limit it brings them before any law that
    sees it in the measurements can act.
    """
    from diffpbd.runtime.reproduce.circle import plot, pushes, run, summary, write_tracks

    tracks = run(robot, find_description(own.description), own)
    observed = "observed" if own.disturbance else "not observed"
    title = f"circle of {own.diameter:g} m in {own.lap:g} s, {own.law} at 100 Hz, disturbances {observed}"
    plot(out.picture, title, tracks)
    write_tracks(out.table, tracks)
    tabled(*summary(robot, tracks))
    note("")
    tabled(*pushes(robot, tracks, own.push_at))


@experiment("replay", Replaying, "baxter", "The paths")
def replay(robot: Robot, own: Replaying, out: Outputs) -> None:
    """A recording beside its simulation: the tip's path as measured, and as simulated under torque."""
    from diffpbd.runtime.reproduce.replay import plot, read_recording, summary, write_paths
    from diffpbd.runtime.reproduce.replay import replay as simulate

    samples = read_recording(Path(own.data) / own.log, robot, own.untimed)
    alpha = robot.alpha.vector(own.params)
    found = simulate(robot, samples, alpha=alpha, window=own.window, measured=own.params is not None)
    plot(out.picture, f"{own.log}: measured, and simulated with {robot.name}", found)
    write_paths(out.table, found)
    tabled(*summary(found))
