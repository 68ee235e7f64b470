"""`diffpbd mpc ROBOT`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.base.live import Loop
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import json_or_file, parse_point, parse_state, state_file
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.mending import FollowWords
from diffpbd.runtime.commands.options.numbers import AMOUNT, DURATION, Whole
from diffpbd.runtime.commands.options.obstacles import ObstacleWords
from diffpbd.runtime.commands.options.shared import (
    live_option,
    meshes_option,
    movie_option,
    plot_option,
    report_option,
    view_option,
)
from diffpbd.runtime.commands.results.motion import expect_meshes, filmed, nearest, played, reported
from diffpbd.runtime.commands.results.mpc import ending, facts, summary, tip_away
from diffpbd.runtime.commands.results.progress import watched
from diffpbd.runtime.commands.results.results import json_option, note, result
from diffpbd.runtime.logs.csv import write_log
from diffpbd.runtime.loop.clearance import expect_above
from diffpbd.runtime.model.clearance import distances_of, expect_apart, least_distance
from diffpbd.runtime.model.obstacles import Placed
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.apart import place
from diffpbd.runtime.mpc.options import MpcOptions, parse_weights
from diffpbd.runtime.mpc.passive import arrived, closed_start, expect_motors
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Bounds, Weights, bounds_by_name
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import GoalReference, Reference, goal_reference
from diffpbd.runtime.mpc.reference_check import check_goal, read_reference
from diffpbd.runtime.mpc.simulation import MAX_TICKS, SETTLING, ClosedLoop, Plant, run_closed_loop
from diffpbd.runtime.mpc.tip_goal import pose_at
from diffpbd.runtime.simulate.simulation import step_count

__all__ = ["command"]

LOOKS = 101
"""[1] Poses of the way to a goal that are looked at."""


@dataclass(frozen=True, kw_only=True)
class _Words(FollowWords):
    """Options of what is followed, from where, and files."""

    reference: str | None = option("Log whose q_ [rad] and dq_ [rad/s] columns are followed.", None, metavar="LOG.csv")
    goal: str | None = option(
        "Or a goal [rad or m]: a list, an object of names of joints or of a base's positions (others stay), or a file.", None,
        metavar="JSON",
    )  # fmt: skip
    tip_goal: str | None = option("Or a goal for the tip's origin, in the world [m].", None, metavar="[X,Y,Z]")
    stop_within: float | None = option(
        "Stop when all joints rest this near the goal [rad or m].", None, metavar="RAD", kind=AMOUNT
    )
    plant: str | None = option(
        "Values of alpha of the simulated robot that the plan does not know.", None, metavar="FILE"
    )
    q0: str | None = option("Start [rad]; default: the log's first sample, or zero.", None, metavar="JSON")
    horizon: int = option("Steps planned ahead.", 20, kind=Whole(1, 50))
    duration: float | None = option(
        "Default: the log's length, or the way to the goal and 1 s.", None, metavar="S", kind=DURATION
    )
    h: float | None = option("Step and tick (default: the recipe's).", None, metavar="S", kind=DURATION)
    load: str | None = option(
        "Torques [N·m] by joint that act on the simulated robot, unknown to the plan.", None, metavar="JSON"
    )
    weights: str | None = option(
        'Cost: p, pd, u, du, tip, end, such as {"p": 1, "pd": 0.02, "du": 2e-7}.', None, metavar="JSON"
    )
    bounds: str | None = option(
        "Bounds of u, du, pd: a number or a list each [N·m, N·m a step, rad/s].", None, metavar="JSON"
    )
    params: str | None = option("Values of alpha by name, such as params.json of identify.", None, metavar="FILE")
    out: str = option("The log to write (.gz allowed).", metavar="RUN.csv")

    def __post_init__(self) -> None:
        """Refuses a duration that is none of steps."""
        super().__post_init__()
        if self.duration is not None and self.h is not None:
            step_count(self.duration, self.h, MAX_TICKS)

    def files(self) -> list[Named]:
        """The file that is read."""
        states = [(f"--{key}", state_file(getattr(self, key))) for key in ("goal", "q0", "load", "weights", "bounds")]
        named = [(f"--{key}", getattr(self, key)) for key in ("reference", "params", "plant")]
        return [*named, ("--map", self.column_map), *states]


@click.command("mpc", context_settings={"show_default": True})
@click.argument("robot")
@job("words", _Words)
@job("approach", Approach)
@job("solve", MpcOptions)
@job("noise", Plant)
@job("around", ObstacleWords)
@json_option
@view_option
@movie_option
@meshes_option
@report_option
@plot_option("Positions with their references, and torques.")
@live_option
def command(
    robot: str, words: _Words, approach: Approach, solve: MpcOptions, noise: Plant, around: ObstacleWords, plot: str | None,
    movie: str | None, meshes: str | None, report: str | None, view: bool, live: bool,
) -> None:  # fmt: skip
    """Predictive control of the generated ROBOT, simulated by its own step, along a log or to a goal.

    Prints the ticks' time, the tracking error and the status of the ticks. Writes time, q_, dq_ and tau_ columns.
    """
    _expect_one_aim(words)
    weights = None if words.weights is None else Weights(**parse_weights(words.weights))
    distinct(
        [("--out", words.out), ("--plot", plot), ("--movie", movie), ("--report", report)],
        [*words.files(), ("--meshes", meshes), ("--obstacles", around.obstacles), *robot_files(robot)],
    )
    around.expect_distance(solve.clearance)
    loaded, placed = open_robot(robot), around.placed()
    expect_meshes(loaded, meshes, movie, view)
    reference, start, duration = _reference(loaded, words, approach, solve.clearance, placed)
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(f"--duration: expected a number above 0 s, found {duration}.")
    h = loaded.h if words.h is None else words.h
    alpha = loaded.alpha.vector(words.params)
    mpc = Mpc(
        loaded, words.horizon, h=h, alpha=alpha, bounds=_bounds(loaded, h, words.bounds),
        weights=weights,
        options=replace(solve, transition=0.0 if solve.disturbance is None else TRANSITION),
    )  # fmt: skip
    place(loaded, mpc.problem.apart, placed)
    loop = Loop(round(duration / h), "tick", remark=lambda: ", ".join(_counts(mpc)))
    with watched(loop, live):
        run = run_closed_loop(
            mpc, reference, start, duration, plant=_plant(loaded, alpha, words, noise), loop=loop,
            stop=_stop(loaded, reference, words.stop_within),
        )  # fmt: skip
    if plot is not None:
        from diffpbd.runtime.report.mpc_plot import plot_closed_loop

        title = f"{loaded.name}, horizon {words.horizon} × {h:g} s, {solve.backend}"
        plot_closed_loop(run, plot, title=title, bounds=mpc.problem.bounds)
    filmed(loaded, run, movie, meshes)
    write_log(words.out, run.log())
    goal = parse_point(words.tip_goal, "--tip-goal")
    away = {} if goal is None else tip_away(loaded, run, goal, alpha)
    said, near = nearest(distances_of(loaded, alpha, placed), run.time, run.q)
    text = "\n".join(filter(None, (summary(loaded, run), ending(loaded, run, mpc.problem.bounds, reference), said)))
    text += f"\nat the end the tip is {away['tip_away']:.3g} m from its goal" if away else ""
    reported(loaded, run, text, report, run.reference)
    result(text, {**facts(loaded, run, reference), **near, **away}, words.out, plot, movie, report)
    _expect_plans(run)
    if view:
        played(loaded, run, meshes)


def _expect_one_aim(words: _Words) -> None:
    """Refuses none or several of a log, a goal and a goal of the tip, and what belongs to another."""
    if sum(aim is not None for aim in (words.reference, words.goal, words.tip_goal)) != 1:
        raise click.UsageError("Expected one of --reference LOG.csv, --goal JSON and --tip-goal [X,Y,Z].")
    if words.reference is not None and words.stop_within is not None:
        raise click.UsageError("--stop-within ends a run at its goal; expected --goal or --tip-goal with it.")
    if words.reference is None:
        words.expect_log("--reference LOG.csv")


def _expect_plans(run: ClosedLoop) -> None:
    if run.sources[PlanSource.FALL_BACK] == len(run.seconds):
        raise SolverError(
            "No tick had a plan: every torque was the damped hold. The solver's statuses above say why; a start within the "
            "limits, weaker bounds or another --h may help."
        )


def _counts(mpc: Mpc) -> list[str]:
    """Where the ticks' torques came from."""
    return [f"{mpc.counts[source]} {source.value}" for source in PlanSource if mpc.counts[source]]


def _reference(
    robot: Robot, words: _Words, approach: Approach, clearance: float | None, placed: Placed
) -> tuple[Reference, Any, float]:
    """Reference, start pose and duration; none of it out of limits, in the recipe's table or the robot."""
    start = None if words.q0 is None else np.array(parse_state(words.q0, "--q0", robot.positions, robot.neutral))
    alpha, least = robot.alpha.vector(words.params), least_distance(robot, clearance, placed=placed)

    def expect_clear(poses: Iterable[FloatArray], what: str) -> None:
        every = list(poses)
        expect_above(robot, alpha, robot.manifest.recipe.table, every, what)
        expect_apart(robot, alpha, least, every, what, placed)

    if start is not None:
        check_goal(robot, start, "--q0")
        expect_clear([start], "start of --q0")
    if words.reference is None:
        if start is None:
            check_goal(robot, robot.neutral, "the start, which is zero without --q0")
        start = closed_start(robot, start, alpha)
        goal = _goal(robot, words, start, alpha, (clearance, placed))
        expect_clear([np.where(np.isnan(goal), start, goal)], "goal")
        reference = goal_reference(robot, goal, approach)
        needed = reference.takes(start)
        reference.start(start)
        way = np.linspace(0.0, needed, LOOKS if clearance is None else 1)  # with it the plan goes around
        expect_clear(reference.at(way)[0], "straight way to the goal")
        duration = words.duration or needed + SETTLING
        if needed > duration:
            k = int(np.argmax(np.abs(reference.way(start))))
            note(
                f"note: the goal of {robot.joints[k]} is {abs(reference.way(start)[k]):.4g} away, which takes {needed:.4g} s "
                f"at --goal-speed {approach.speed:g}; --duration is {duration:g} s"
            )
        return reference, start, duration
    if robot.manifest.robot.floating:
        raise InputError("--reference: a log is not followed with a floating base; expected --goal.")
    found, notes = read_reference(
        words.reference, robot, words.reading(), approach, bridge=words.bridge_jumps, alpha=alpha
    )
    expect_clear(found.q, "reference")
    for said in notes:
        note(said)
    length = float(found.time[-1] - found.time[0])
    start = closed_start(robot, found.q[0] if start is None else start, alpha)
    return found, start, length if words.duration is None else words.duration


def _goal(
    robot: Robot, words: _Words, start: FloatArray, alpha: FloatArray, kept: tuple[float | None, Placed]
) -> FloatArray:
    """The pose (n_p,) of --goal, NaN for joints that stay, or one for --tip-goal."""
    if (tip := parse_point(words.tip_goal, "--tip-goal")) is not None:
        return pose_at(robot, tip, start, alpha, *kept)
    goal = np.array(parse_state(str(words.goal), "--goal", robot.positions, np.nan))
    expect_motors(robot, goal)
    check_goal(robot, goal)
    return goal


def _plant(robot: Robot, alpha: FloatArray, words: _Words, noise: Plant) -> Plant:
    load = None if words.load is None else np.array(parse_state(words.load, "--load", robot.joints))
    own = None if words.plant is None else robot.alpha.vector(words.plant, base=alpha)
    return replace(noise, alpha=own, load=load)


def _stop(
    robot: Robot, reference: Reference, within: float | None
) -> Callable[[float, FloatArray, FloatArray], bool] | None:
    if within is None or not isinstance(reference, GoalReference):
        return None
    return arrived(robot, reference, within)


def _bounds(robot: Robot, h: float, text: str | None) -> Bounds:
    if text is None:
        return Bounds.of(robot, h)
    return bounds_by_name(robot, h, json_or_file(text, "--bounds"), "--bounds")
