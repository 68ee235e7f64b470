"""The control experiments of `diffpbd reproduce`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.derived import job
from diffpbd.runtime.commands.locate import files_in, open_robot, robot_files
from diffpbd.runtime.commands.numbers import AMOUNT, DURATION, RATE, Real
from diffpbd.runtime.commands.outputs import (
    RECORDED,
    STEP_NAMES,
    StepName,
    picture_and_table,
    step_option,
    table_beside,
)
from diffpbd.runtime.commands.results import finish, json_option, note, tabled, tables
from diffpbd.runtime.folder.locate import find_description, robot_folders
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from diffpbd.runtime.reproduce.impedance import Experiment

__all__ = ["circle", "impedance", "net_torque_map", "push", "replay"]

ONE_JOINT = "baxter_s1"
HELD = ("left_s0", "left_e0", "left_e1", "left_w0", "left_w1", "left_w2")
VARIANTS, FUNCTIONS = "published", ("default", "vjp_step")
MAKE_ONE_JOINT = (
    f"diffpbd generate baxter {' '.join(f'--hold {joint}' for joint in HELD)} --variants {VARIANTS} "
    f"--functions {','.join(FUNCTIONS)} --out generated/{ONE_JOINT}"
)
RECORDING = "test_circle_XY_T2_r10.csv.gz"  # of a physical left arm; it has no time column
PAPER_STEP = "paper_direct"
WIDEST = 10.0  # m; beyond any arm


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


@click.command("impedance", context_settings={"show_default": True})
@click.argument("robot", default=ONE_JOINT)
@job("experiment", Experiment)
@step_option
@click.option("--motion", is_flag=True, help="Also the map fed with the last tick's motion; diverges.")
@json_option
@picture_and_table("impedance.png", "The traces")
def impedance(
    robot: str, experiment: Experiment, steps: tuple[str, ...], printed: str | None, motion: bool, out: str,
    table_path: str | None,
) -> None:  # fmt: skip
    """The paper's simulated experiment: s1 holds −0.45 rad against 5 and 10 N·m, by PD and by impedance.

    ROBOT has one joint; the others are welded. docs/impedance.md says what the paper leaves open.
    """
    from diffpbd.runtime.control.net_torque import sample_map
    from diffpbd.runtime.reproduce.columns import columns
    from diffpbd.runtime.reproduce.impedance import PHASES, plot, run
    from diffpbd.runtime.reproduce.joint_law import Trace, merits, motor_limit, write_traces
    from diffpbd.runtime.reproduce.one_step import function_of

    opened = _one_joint(robot)
    numbers = table_beside(out, table_path, robot_files(robot))
    rows: list[list[str]] = []
    shown: list[Trace] = []
    for k, column in enumerate(columns(opened, steps, open_robot(printed) if printed else None)):
        found = sample_map(column.robot, opened.joints[0], step=function_of(column.robot, column.step))
        made = run(opened, found, experiment, motion=motion)
        shown = made if k == 0 else shown  # the picture is that of the first step, the published one by default
        plants = {f"{experiment.coulomb:g} N·m, {experiment.viscous:g} N·m·s/rad": made}
        if experiment.coulomb or experiment.viscous:
            plants["none"] = run(opened, found, replace(experiment, coulomb=0.0, viscous=0.0), motion=motion)
        for name, traces in plants.items():
            for trace in traces:
                if k and not trace.name.startswith("impedance"):
                    continue  # PD has no map
                law = f"{trace.name}, {column.label}" if trace.name.startswith("impedance") else trace.name
                for merit in merits(trace, experiment.goal, PHASES):
                    rows.append([
                        name, law, merit.phase, f"{1e3 * merit.offset:.2f}", f"{1e3 * merit.overshoot:.1f}",
                        "-" if merit.settling is None else f"{merit.settling:.2f}",
                    ])  # fmt: skip
    rows.sort(key=lambda row: row[0])
    title = f"{opened.joints[0]}: goal {experiment.goal} rad, K = {experiment.stiffness:g}, D = {experiment.damping:g}"
    plot(out, title, shown, experiment.goal, motor_limit(opened))  # first: it fails without matplotlib
    write_traces(numbers, shown)
    heads = ["friction", "law", "phase", "offset [mrad]", "overshoot [mrad]", "settling [s]"]
    tabled(heads, rows, left=3)
    finish(tables(), out, numbers)


@click.command("net-torque-map")
@click.argument("robot", default=ONE_JOINT)
@click.option("--step", type=StepName(STEP_NAMES), default=PAPER_STEP, show_default=True, help="That is solved.")
@json_option
@picture_and_table("net_torque_map.png", "The samples")
def net_torque_map(robot: str, step: str, out: str, table_path: str | None) -> None:
    """The paper's net torque map of s1, its distance from a plane, and from the closed form."""
    from diffpbd.runtime.control.net_torque import sample_map
    from diffpbd.runtime.reproduce.net_torque_map import closest_plane, plot, write_map
    from diffpbd.runtime.reproduce.one_step import function_of

    opened = _one_joint(robot)
    numbers = table_beside(out, table_path, robot_files(robot))
    found = sample_map(opened, opened.joints[0], step=function_of(opened, step))
    plot(out, found)
    write_map(numbers, found)
    stiffness, damping, rest = closest_plane(found)
    mass = opened.mass_matrix(found.pose).item()
    rows = [
        ["largest torque [N·m]", number(float(abs(found.torque).max()), 5), ""],
        ["slope over displacement [N·m/rad]", number(stiffness, 5), f"M/h² = {mass / found.h**2:.5g}"],
        ["slope over velocity [N·m·s/rad]", number(damping, 5), f"−M/h = {-mass / found.h:.5g}"],
        ["farthest from a plane [N·m]", number(float(abs(rest).max()), 3), ""],
    ]
    tabled([f"{found.joint}, {found.step}", "map", "closed form, first order"], rows)
    finish(tables(), out, numbers)


@click.command("push")
@click.argument("robot", default=ONE_JOINT)
@click.option(
    "--description",
    default="baxter",
    show_default=True,
    metavar="ROBOT",
    help="Of the simulated robot: a name or a URDF file.",
)
@click.option("--scaling", type=AMOUNT, default=0.6, show_default=True, help="Of the net torque.")
@click.option("--strength", type=AMOUNT, default=40.0, show_default=True, help="Of the hand [N·m].")
@click.option("--step", type=StepName(STEP_NAMES), default=PAPER_STEP, show_default=True,
              help="That the map is solved with.")  # fmt: skip
@json_option
@picture_and_table("push.png", "The traces")
def push(
    robot: str, description: str, scaling: float, strength: float, step: str, out: str, table_path: str | None
) -> None:
    """The paper's experiment on the robot, on the simulated one: a hand pushes s1 to about 0 rad and lets go."""
    from diffpbd.runtime.control.net_torque import sample_map
    from diffpbd.runtime.reproduce.joint_law import motor_limit, write_traces
    from diffpbd.runtime.reproduce.one_step import function_of
    from diffpbd.runtime.reproduce.push import GOAL, Hand, plot, run_all, summary

    opened = _one_joint(robot)
    urdf = find_description(description)
    numbers = table_beside(out, table_path, [*robot_files(robot), ("--description", urdf)])
    found = sample_map(opened, opened.joints[0], step=function_of(opened, step))
    mass = opened.mass_matrix(found.pose).item()
    traces = run_all(urdf, found, mass, scaling, Hand(strength=strength))
    plot(out, f"{found.joint}: goal {GOAL} rad, pushed and let go", traces, motor_limit(opened))
    write_traces(numbers, traces)
    heads, rows = summary(traces)
    tabled(heads, rows)
    finish(tables(), out, numbers)


@click.command("circle")
@click.argument("robot", default="baxter")
@click.option(
    "--description",
    default="baxter",
    show_default=True,
    metavar="ROBOT",
    help="Of MuJoCo's arm: a name or a URDF file.",
)
@click.option(
    "--diameter", type=Real(0.0, WIDEST, min_open=True), default=0.3, show_default=True, help="Of the circle [m]."
)
@click.option("--lap", type=DURATION, default=4.0, show_default=True, help="Of a round [s].")
@click.option("--law", type=click.Choice(["computed-torque", "mpc"]), default="computed-torque", show_default=True,
              help="Inverse dynamics with feedback, or predictive control.")  # fmt: skip
@click.option("--disturbance/--no-disturbance", default=True, show_default=True,
              help="Estimate and compensate unmodelled joint torques.")  # fmt: skip
@click.option("--push-at", type=AMOUNT, default=2.0, show_default=True, help="When the pushes begin [s].")
@json_option
@picture_and_table("circle.png", "The runs")
def circle(
    robot: str, description: str, diameter: float, lap: float, law: str, disturbance: bool, push_at: float, out: str,
    table_path: str | None,
) -> None:  # fmt: skip
    """ROBOT's tip on a circle against MuJoCo's arm, by --law: undisturbed, pushed from six sides (30 N for 0.2 s, world axes),
    and with other payloads than it knows.

    position, speed and torque say how near to a limit the run came: 0 at a limit, 1 in the middle or at rest, below 0 beyond
    it. The second table says what a push does to the joints, and how near to a speed limit it brings them before any law that
    sees it in the measurements can act.
    """
    from diffpbd.runtime.reproduce.circle import plot, pushes, run, summary, write_tracks

    urdf = find_description(description)
    numbers = table_beside(out, table_path, [*robot_files(robot), ("--description", urdf)])
    opened = open_robot(robot)
    tracks = run(opened, urdf, diameter=diameter, lap=lap, law=law, disturbance=disturbance, begin=push_at)
    observed = "observed" if disturbance else "not observed"
    plot(out, f"circle of {diameter:g} m in {lap:g} s, {law} at 100 Hz, disturbances {observed}", tracks)
    write_tracks(numbers, tracks)
    tabled(*summary(opened, tracks))
    note("")
    tabled(*pushes(opened, tracks, push_at))
    finish(tables(), out, numbers)


@click.command("replay")
@click.argument("robot", default="baxter")
@click.option("--data", required=True, metavar="DIR", help="Folder of the recordings.")
@click.option("--log", default=RECORDING, show_default=True, metavar="FILE", help="The recording in it.")
@click.option("--rate", type=RATE,
              help=f"Samples a second of a log without times (default: {RECORDED:g} for {RECORDING}).")  # fmt: skip
@click.option("--window", type=DURATION, default=1.0, show_default=True,
              help="Seconds until a run without feedback starts again on the recording.")  # fmt: skip
@click.option(
    "--params", metavar="FILE", help="Values such as params.json of identify; also replays the measured torques."
)
@json_option
@picture_and_table("replay.png", "The paths")
def replay(
    robot: str,
    data: str,
    log: str,
    rate: float | None,
    window: float,
    params: str | None,
    out: str,
    table_path: str | None,
) -> None:
    """A recording beside its simulation: the tip's path as measured, and as simulated under torque."""
    from diffpbd.runtime.reproduce.replay import plot, read_recording, summary, write_paths
    from diffpbd.runtime.reproduce.replay import replay as simulate

    path = Path(data) / log
    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data), ("--params", params)])
    opened = open_robot(robot)
    samples = read_recording(path, opened, RECORDED if rate is None and log == RECORDING else rate)
    found = simulate(opened, samples, alpha=opened.alpha.vector(params), window=window, measured=params is not None)
    plot(out, f"{log}: measured, and simulated with {opened.name}", found)
    write_paths(numbers, found)
    heads, rows = summary(found)
    tabled(heads, rows)
    finish(tables(), out, numbers)
