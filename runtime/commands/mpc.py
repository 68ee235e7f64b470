"""`diffpbd mpc ROBOT`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.base.live import Loop
from diffpbd.runtime.commands.locate import json_or_file, open_robot, parse_point, parse_state, robot_files, state_file
from diffpbd.runtime.commands.mending_options import MendWords, mending_options
from diffpbd.runtime.commands.motion import expect_meshes, filmed, played, reported
from diffpbd.runtime.commands.mpc_words import ending, facts, summary, tip_away
from diffpbd.runtime.commands.numbers import AMOUNT, COUNT, DURATION, RATE, SEED, SPEED, Whole
from diffpbd.runtime.commands.options import (
    asked_apart,
    distances_options,
    goal_options,
    live_option,
    meshes_option,
    movie_option,
    plot_option,
    report_option,
    view_option,
)
from diffpbd.runtime.commands.progress import watched
from diffpbd.runtime.commands.results import json_option, note, result
from diffpbd.runtime.logs.csv import read_column_map, write_log
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.loop.clearance import expect_above
from diffpbd.runtime.model.clearance import expect_apart, least_distance
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT
from diffpbd.runtime.mpc.options import BACKENDS, MpcOptions
from diffpbd.runtime.mpc.passive import arrived, closed_start, expect_motors
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Bounds, Weights, bounds_by_name
from diffpbd.runtime.mpc.reference import GoalReference, Reference, goal_reference
from diffpbd.runtime.mpc.reference_check import check_goal, read_reference
from diffpbd.runtime.mpc.simulation import SETTLING, ClosedLoop, Plant, run_closed_loop
from diffpbd.runtime.mpc.tip_goal import pose_at

__all__ = ["command", "parse_weights"]

LOOKS = 101
"""[1] Poses of the way to a goal that are looked at."""
WEIGHTS = tuple(field.name for field in dataclasses.fields(Weights))


@click.command("mpc", context_settings={"show_default": True})
@click.argument("robot")
@click.option("--reference", metavar="LOG.csv", help="Log whose q_ [rad] and dq_ [rad/s] columns are followed.")
@click.option(
    "--goal",
    metavar="JSON",
    help="Or a goal [rad or m]: a list, an object of names of joints or of a base's positions (others stay), or a file.",
)
@click.option("--tip-goal", metavar="[X,Y,Z]", help="Or a goal for the tip's origin, in the world [m].")
@click.option(
    "--stop-within", type=AMOUNT, metavar="RAD", help="Stop when all joints rest this near the goal [rad or m]."
)
@click.option("--plant", metavar="FILE", help="Values of alpha of the simulated robot that the plan does not know.")
@click.option("--noise", type=AMOUNT, default=0.0, help="Noise of measured positions, standard deviation [rad or m].")
@click.option("--rate-noise", type=AMOUNT, default=0.0, help="Noise of measured velocities, standard deviation.")
@click.option("--seed", type=SEED, default=0, help="Seed of the noise.")
@click.option("--goal-speed", type=SPEED, default=0.5, help="Speed towards the goal or the log's first sample [rad/s].")
@goal_options
@click.option(
    "--rate", type=RATE, metavar="HZ", help="Sampling rate of a LOG without time stamps, or to replace its stamps."
)
@click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of LOG.")
@click.option("--q0", metavar="JSON", help="Start [rad]; default: the log's first sample, or zero.")
@click.option("--horizon", type=Whole(1, 50), default=20, help="Steps planned ahead.")
@click.option(
    "--duration", type=DURATION, metavar="S", help="Default: the log's length, or the way to the goal and 1 s."
)
@click.option("--h", type=DURATION, metavar="S", help="Step and tick (default: the recipe's).")
@click.option("--backend", type=click.Choice(BACKENDS), default="embedded", help="Solver of a tick.")
@click.option("--programs", type=COUNT, default=1, help="Quadratic programs a tick.")
@click.option("--time-limit", type=DURATION, metavar="S", help="No quadratic program of a tick starts later than this.")
@click.option("--delay", type=Whole(0, 10), default=0, help="Steps until a torque acts; it is compensated.")
@click.option("--disturbance/--no-disturbance", default=False, help="Estimate and compensate unmodelled joint torques.")
@click.option(
    "--load", metavar="JSON", help="Torques [N·m] by joint that act on the simulated robot, unknown to the plan."
)
@click.option(
    "--weights", metavar="JSON", help='Cost: p, pd, u, du, tip, end, such as {"p": 1, "pd": 0.02, "du": 2e-7}.'
)
@click.option("--bounds", metavar="JSON", help="Of u, du, pd: a number or a list each [N·m, N·m a step, rad/s].")
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--out", required=True, metavar="RUN.csv", help="The log to write (.gz allowed).")
@click.option(
    "--bridge-jumps",
    is_flag=True,
    help="Cross jumps of LOG, and approach its first sample, at --goal-speed; without this they are errors.",
)
@distances_options
@mending_options
@json_option
@view_option
@movie_option
@meshes_option
@report_option
@plot_option("Positions with their references, and torques.")
@live_option
def command(
    robot: str,
    out: str,
    plot: str | None,
    movie: str | None,
    meshes: str | None,
    report: str | None,
    view: bool,
    live: bool,
    mends: MendWords,
    **options: Any,
) -> None:
    """Predictive control of the generated ROBOT, simulated by its own step, along a log or to a goal.

    Prints the ticks' time, the tracking error and the status of the ticks. Writes time, q_, dq_ and tau_ columns.
    """
    _expect_one_aim(options, mends)
    named: list[Named] = [(f"--{key}", options[key]) for key in ("reference", "params", "plant")]
    named += [("--map", options["column_map"]), ("--meshes", meshes)]
    named += [(f"--{key}", state_file(options[key])) for key in ("goal", "q0", "load", "weights", "bounds")]
    distinct(
        [("--out", out), ("--plot", plot), ("--movie", movie), ("--report", report)], [*named, *robot_files(robot)]
    )
    loaded = open_robot(robot)
    expect_meshes(loaded, meshes, movie, view)
    reference, start, duration = _reference(loaded, options, mends)
    h = loaded.h if options["h"] is None else options["h"]
    for option, value in (("--duration", duration), ("--h", h)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{option}: expected a number above 0 s, found {value}.")
    alpha = loaded.alpha.vector(options["params"])
    mpc = _planner(loaded, h, alpha, options)
    loop = Loop(round(duration / h), "tick", remark=lambda: ", ".join(_counts(mpc)))
    with watched(loop, live):
        run = run_closed_loop(
            mpc, reference, start, duration, plant=_plant(loaded, alpha, options), loop=loop,
            stop=_stop(loaded, reference, options["stop_within"]),
        )  # fmt: skip
    if plot is not None:
        from diffpbd.runtime.report.mpc_plot import plot_closed_loop

        title = f"{loaded.name}, horizon {options['horizon']} × {h:g} s, {options['backend']}"
        plot_closed_loop(run, plot, title=title, bounds=mpc.problem.bounds)
    filmed(loaded, run, movie, meshes)
    write_log(out, run.log())
    goal = parse_point(options["tip_goal"], "--tip-goal")
    away = {} if goal is None else tip_away(loaded, run, goal, alpha)
    words = f"{summary(loaded, run)}\n{ending(loaded, run, mpc.problem.bounds, reference)}"
    words += f"\nat the end the tip is {away['tip_away']:.3g} m from its goal" if away else ""
    reported(loaded, run, words, report, run.reference)
    result(words, {**facts(loaded, run, reference), **away}, out, plot, movie, report)
    _expect_plans(run)
    if view:
        played(loaded, run, meshes)


def _planner(robot: Robot, h: float, alpha: FloatArray, options: dict[str, Any]) -> Mpc:
    return Mpc(
        robot, options["horizon"], h=h, alpha=alpha,
        weights=None if options["weights"] is None else Weights(**parse_weights(options["weights"])),
        bounds=_bounds(robot, h, options["bounds"]),
        options=MpcOptions(
            options["backend"], options["programs"], options["time_limit"], options["delay"],
            disturbance=TIME_CONSTANT if options["disturbance"] else None,
            transition=TRANSITION if options["disturbance"] else 0.0, **asked_apart(options),
        ),
    )  # fmt: skip


def _expect_one_aim(options: dict[str, Any], mends: MendWords) -> None:
    """Refuses none or several of a log, a goal and a goal of the tip, and what belongs to another."""
    aims = [name for name in ("reference", "goal", "tip_goal") if options[name] is not None]
    if len(aims) != 1:
        raise click.UsageError("Expected one of --reference LOG.csv, --goal JSON and --tip-goal [X,Y,Z].")
    if options["reference"] is not None and options["stop_within"] is not None:
        raise click.UsageError("--stop-within ends a run at its goal; expected --goal or --tip-goal with it.")
    if options["reference"] is None:
        if options["bridge_jumps"]:
            raise click.UsageError("--bridge-jumps goes over jumps of a log; expected --reference LOG.csv with it.")
        mends.expect_log("--reference LOG.csv")


def _expect_plans(run: ClosedLoop) -> None:
    if run.sources[PlanSource.FALL_BACK] == len(run.seconds):
        raise SolverError(
            "No tick had a plan: every torque was the damped hold. The solver's statuses above say why; a start within the "
            "limits, weaker bounds or another --h may help."
        )


def _counts(mpc: Mpc) -> list[str]:
    """Where the ticks' torques came from."""
    return [f"{mpc.counts[source]} {source.value}" for source in PlanSource if mpc.counts[source]]


def _reference(robot: Robot, options: dict[str, Any], mends: MendWords) -> tuple[Reference, Any, float]:
    """What to follow, the start pose, and for how long; none of it out of limits, in the recipe's table or the robot."""
    q0 = options["q0"]
    start = None if q0 is None else np.array(parse_state(q0, "--q0", robot.positions, robot.neutral))
    alpha, least = robot.alpha.vector(options["params"]), least_distance(robot, options["clearance"])

    def expect_clear(poses: Iterable[FloatArray], what: str) -> None:
        every = list(poses)
        expect_above(robot, alpha, robot.manifest.recipe.table, every, what)
        expect_apart(robot, alpha, least, every, what)

    if start is not None:
        check_goal(robot, start, "--q0")
        expect_clear([start], "start of --q0")
    if options["reference"] is None:
        if start is None:
            check_goal(robot, robot.neutral, "the start, which is zero without --q0")
        start = closed_start(robot, start, alpha)
        goal = _goal(robot, options, start, alpha)
        expect_clear([np.where(np.isnan(goal), start, goal)], "goal")
        reference = goal_reference(robot, goal, options)
        needed = reference.takes(start)
        reference.start(start)
        way = np.linspace(0.0, needed, LOOKS if options["clearance"] is None else 1)  # with it the plan goes around
        expect_clear(reference.at(way)[0], "straight way to the goal")
        duration = options["duration"] or needed + SETTLING
        if needed > duration:
            k = int(np.argmax(np.abs(reference.way(start))))
            note(
                f"note: the goal of {robot.joints[k]} is {abs(reference.way(start)[k]):.4g} away, which takes {needed:.4g} s "
                f"at --goal-speed {options['goal_speed']:g}; --duration is {duration:g} s"
            )
        return reference, start, duration
    if robot.manifest.robot.floating:
        raise InputError("--reference: a log is not followed with a floating base; expected --goal.")
    columns = {} if options["column_map"] is None else read_column_map(options["column_map"])
    reading = Reading(options["rate"], columns, mending=mends.mending(), accept=mends.accepted())
    found, notes = read_reference(
        options["reference"], robot, reading, options["goal_speed"], bridge=options["bridge_jumps"], alpha=alpha,
    )  # fmt: skip
    expect_clear(found.q, "reference")
    for said in notes:
        note(said)
    length = float(found.time[-1] - found.time[0])
    start = closed_start(robot, found.q[0] if start is None else start, alpha)
    return found, start, length if options["duration"] is None else options["duration"]


def _goal(robot: Robot, options: dict[str, Any], start: FloatArray, alpha: FloatArray) -> FloatArray:
    """The pose (n_p,) of --goal, NaN for joints that stay, or one for --tip-goal."""
    if (tip := parse_point(options["tip_goal"], "--tip-goal")) is not None:
        return pose_at(robot, tip, start, alpha, options["clearance"])
    goal = np.array(parse_state(options["goal"], "--goal", robot.positions, np.nan))
    expect_motors(robot, goal)
    check_goal(robot, goal)
    return goal


def _plant(robot: Robot, alpha: FloatArray, options: dict[str, Any]) -> Plant:
    load = None if options["load"] is None else np.array(parse_state(options["load"], "--load", robot.joints))
    own = None if options["plant"] is None else robot.alpha.vector(options["plant"], base=alpha)
    return Plant(own, load, options["noise"], options["rate_noise"], options["seed"])


def _stop(
    robot: Robot, reference: Reference, within: float | None
) -> Callable[[float, FloatArray, FloatArray], bool] | None:
    if within is None or not isinstance(reference, GoalReference):
        return None
    return arrived(robot, reference, within)


def parse_weights(text: str) -> dict[str, Any]:
    """An object of cost weights by name."""
    data = json_or_file(text, "--weights")
    if not isinstance(data, dict) or set(data) - set(WEIGHTS):
        raise InputError(f"--weights: expected an object with some of {', '.join(WEIGHTS)}, found {data!r}.")
    for name, value in data.items():
        numbers = value if isinstance(value, list) and name != "end" else [value]
        if any(isinstance(number, bool) or not isinstance(number, (int, float)) for number in numbers):
            raise InputError(f"--weights: {name}: expected a number or a list of numbers, found {value!r}.")
    return data


def _bounds(robot: Robot, h: float, text: str | None) -> Bounds:
    if text is None:
        return Bounds.of(robot, h)
    return bounds_by_name(robot, h, json_or_file(text, "--bounds"), "--bounds")
