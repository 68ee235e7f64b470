"""`diffpbd mpc ROBOT`."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.closed import driven
from diffpbd.runtime.commands.locate import open_robot, parse_state, robot_files, state_file
from diffpbd.runtime.commands.mending_options import MendWords, mending_options
from diffpbd.runtime.commands.numbers import COUNT, DURATION, RATE, SPEED
from diffpbd.runtime.commands.options import live_option, plot_option
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import Named, distinct, parse_json, read_json
from diffpbd.runtime.live import Loop, live_line
from diffpbd.runtime.logs.csv import read_column_map, write_log
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.loop.clearance import expect_above
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT
from diffpbd.runtime.mpc.options import BACKENDS, MpcOptions
from diffpbd.runtime.mpc.passive import closed_start, expect_motors
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Bounds, Weights
from diffpbd.runtime.mpc.reference import GoalReference, Reference
from diffpbd.runtime.mpc.reference_check import check_goal, read_reference
from diffpbd.runtime.mpc.simulation import ClosedLoop, Plant, run_closed_loop
from diffpbd.runtime.report.tables import table
from diffpbd.runtime.robot import Robot

__all__ = ["command", "parse_weights"]

WEIGHTS = tuple(field.name for field in dataclasses.fields(Weights))
MS = 1e3  # milliseconds a second


@click.command("mpc", context_settings={"show_default": True})
@click.argument("robot")
@click.option("--reference", metavar="LOG.csv", help="Log whose q_ [rad] and dq_ [rad/s] columns are followed.")
@click.option(
    "--goal", metavar="JSON", help="Or a goal [rad]: a list, an object of joint names (others stay), or a file."
)
@click.option("--goal-speed", type=SPEED, default=0.5, help="Speed towards the goal or the log's first sample [rad/s].")
@click.option("--rate", type=RATE, metavar="HZ", help="Sampling rate of a LOG without a time column.")
@click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of LOG.")
@click.option("--q0", metavar="JSON", help="Start [rad]; default: the log's first sample, or zero.")
@click.option("--horizon", type=click.IntRange(1, 50), default=20, help="Steps planned ahead.")
@click.option("--duration", type=DURATION, metavar="S", help="Default: the log's length, or 1 s.")
@click.option("--h", type=DURATION, metavar="S", help="Step and tick (default: the recipe's).")
@click.option("--backend", type=click.Choice(BACKENDS), default="embedded", help="Solver of a tick.")
@click.option("--programs", type=COUNT, default=1, help="Quadratic programs a tick.")
@click.option("--time-limit", type=DURATION, metavar="S", help="No program begins later than this in a tick.")
@click.option("--delay", type=click.IntRange(0, 10), default=0, help="Steps until a torque acts; it is compensated.")
@click.option("--disturbance/--no-disturbance", default=False, help="Balance joint torques that an observer finds.")
@click.option(
    "--load", metavar="JSON", help="Torques [N·m] by joint that act on the simulated robot, unknown to the plan."
)
@click.option(
    "--weights", metavar="JSON", help='Cost: p, pd, u, du, tip, end, such as {"p": 1, "pd": 0.02, "du": 2e-7}.'
)
@click.option("--bounds", metavar="JSON", help="u, du, pd: a number or a list each [N·m, N·m a step, rad/s].")
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--out", required=True, metavar="RUN.csv", help="The log to write (.gz allowed).")
@click.option(
    "--bridge-jumps", is_flag=True, help="Go over jumps of LOG, and to its first sample, at --goal-speed; else refused."
)
@mending_options
@plot_option("Positions with their references, and torques.")
@live_option
def command(robot: str, out: str, plot: str | None, live: bool, mends: MendWords, **options: Any) -> None:
    """Predictive control of the generated ROBOT, simulated by its own step, along a log or to a goal.

    Prints the ticks' time, the tracking error and what the ticks came to. Writes time, q_, dq_ and tau_ columns.
    """
    if (options["reference"] is None) == (options["goal"] is None):
        raise click.UsageError("Expected one of --reference LOG.csv and --goal JSON.")
    if options["reference"] is None:
        if options["bridge_jumps"]:
            raise click.UsageError("--bridge-jumps goes over jumps of a log; expected --reference LOG.csv with it.")
        mends.expect_log("--reference LOG.csv")
    named: list[Named] = [(f"--{key}", options[key]) for key in ("reference", "params")]
    named += [("--map", options["column_map"])]
    named += [(f"--{key}", state_file(options[key])) for key in ("goal", "q0", "load", "weights", "bounds")]
    distinct([("--out", out), ("--plot", plot)], [*named, *robot_files(robot)])
    loaded = open_robot(robot)
    reference, start, duration = _reference(loaded, options, mends)
    h = loaded.h if options["h"] is None else options["h"]
    for option, value in (("--duration", duration), ("--h", h)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{option}: expected a number above 0 s, found {value}.")
    alpha = loaded.alpha.vector(options["params"])
    mpc = Mpc(
        loaded, options["horizon"], h=h, alpha=alpha,
        weights=None if options["weights"] is None else Weights(**parse_weights(options["weights"])),
        bounds=_bounds(loaded, h, options["bounds"]),
        options=MpcOptions(
            options["backend"], options["programs"], options["time_limit"], options["delay"],
            disturbance=TIME_CONSTANT if options["disturbance"] else None,
            transition=TRANSITION if options["disturbance"] else 0.0,
        ),
    )  # fmt: skip
    load = None if options["load"] is None else np.array(parse_state(options["load"], "--load", loaded.joints))
    loop = Loop(round(duration / h), "tick", remark=lambda: ", ".join(_counts(mpc)))
    with live_line(loop, wanted=live):
        run = run_closed_loop(mpc, reference, start, duration, plant=Plant(load=load), loop=loop)
    if plot is not None:
        from diffpbd.runtime.report.mpc_plot import plot_closed_loop

        plot_closed_loop(
            run, plot, title=f"{loaded.name}, horizon {options['horizon']} × {h:g} s, {options['backend']}"
        )
    write_log(out, run.log())
    click.echo(summary(loaded, run))
    click.echo(ending(loaded, run, mpc.problem.bounds, reference))
    click.echo(f"written: {out}" + (f", {plot}" if plot else ""))


def _counts(mpc: Mpc) -> list[str]:
    """Where the ticks' torques came from."""
    return [f"{mpc.counts[source]} {source.value}" for source in PlanSource if mpc.counts[source]]


def _reference(robot: Robot, options: dict[str, Any], mends: MendWords) -> tuple[Reference, Any, float]:
    """What to follow, the start pose, and for how long; none of it outside of limits or in the table of the recipe."""
    start = None if options["q0"] is None else np.array(parse_state(options["q0"], "--q0", robot.joints))
    table, alpha = robot.manifest.recipe.table, robot.alpha.vector(options["params"])
    if start is not None:
        check_goal(robot, start, "--q0")
        expect_above(robot, alpha, table, [start], "start of --q0")
    if options["goal"] is not None:
        text = options["goal"]
        goal = np.array(parse_state(text, "--goal", robot.joints))
        data = parse_json(text, "--goal") if state_file(text) is None else read_json(text)
        if isinstance(data, dict):
            goal = np.array([goal[k] if joint in data else np.nan for k, joint in enumerate(robot.joints)])
        expect_motors(robot, goal)
        check_goal(robot, goal)
        start = closed_start(robot, start, alpha)
        expect_above(robot, alpha, table, [np.where(np.isnan(goal), start, goal)], "goal")
        duration = options["duration"] or 1.0
        away = np.abs(np.where(np.isnan(goal), start, goal) - start)
        if (needed := float(away.max()) / options["goal_speed"]) > duration:
            k = int(np.argmax(away))
            click.echo(
                f"note: the goal of {robot.joints[k]} is {away[k]:.4g} away, which takes {needed:.4g} s at --goal-speed "
                f"{options['goal_speed']:g}; --duration is {duration:g} s"
            )
        return GoalReference(goal, options["goal_speed"]), start, duration
    columns = {} if options["column_map"] is None else read_column_map(options["column_map"])
    reading = Reading(options["rate"], columns, mending=mends.mending(), accept=mends.accepted())
    found, notes = read_reference(
        options["reference"], robot, reading, options["goal_speed"], bridge=options["bridge_jumps"], alpha=alpha,
    )  # fmt: skip
    expect_above(robot, alpha, table, found.q, "reference")
    for note in notes:
        click.echo(note)
    length = float(found.time[-1] - found.time[0])
    start = closed_start(robot, found.q[0] if start is None else start, alpha)
    return found, start, length if options["duration"] is None else options["duration"]


def parse_weights(text: str) -> dict[str, Any]:
    """An object of cost weights by name."""
    data = parse_json(text, "--weights") if state_file(text) is None else read_json(text)
    if not isinstance(data, dict) or set(data) - set(WEIGHTS):
        raise InputError(f"--weights: expected an object with some of {', '.join(WEIGHTS)}, found {data!r}.")
    for name, value in data.items():
        numbers = value if isinstance(value, list) and name != "end" else [value]
        if any(isinstance(number, bool) or not isinstance(number, (int, float)) for number in numbers):
            raise InputError(f"--weights: {name}: expected a number or a list of numbers, found {value!r}.")
    return data


def _bounds(robot: Robot, h: float, text: str | None) -> Bounds:
    limits = Bounds.of(robot, h)
    if text is None:
        return limits
    data = parse_json(text, "--bounds") if state_file(text) is None else read_json(text)
    if not isinstance(data, dict) or set(data) - {"u", "du", "pd"}:
        raise InputError(f"--bounds: expected an object with some of u, du, pd, found {data!r}.")
    given: dict[str, Any] = {}
    for name, value in data.items():
        try:
            numbers = np.array(value, dtype=np.float64)
            if numbers.shape not in ((), (robot.n,)):
                raise ValueError
            if numbers.shape == () and name != "pd":
                numbers = np.where(driven(robot), numbers, np.inf)
            numbers = np.broadcast_to(numbers, (robot.n,))
        except (TypeError, ValueError):
            raise InputError(f"--bounds: {name}: expected a number or {robot.n} of them, found {value!r}.") from None
        if name == "u":
            given |= {"u_upper": np.minimum(numbers, limits.u_upper), "u_lower": np.maximum(-numbers, limits.u_lower)}
        else:
            given[name] = np.minimum(numbers, getattr(limits, name))
    return dataclasses.replace(limits, **given)


def ending(robot: Robot, run: ClosedLoop, bounds: FloatArray, reference: Reference) -> str:
    """How far the end is from where it should be, and which joints were at a bound of the plan, and for how long."""
    what, wanted = "its reference", run.reference[-1]
    if isinstance(reference, GoalReference):
        what, wanted = "the goal", np.where(np.isnan(reference.goal), run.q[0], reference.goal)
    away = np.abs(run.q[-1] - wanted)
    k = int(np.argmax(away))
    unit = robot.manifest.robot.joints[k].unit
    lines = [f"at the end {robot.joints[k]} is {away[k]:.4g} {unit} from {what}"]
    slack = 1e-3 * np.maximum(1.0, np.abs(bounds))
    held = (
        ("torque", run.tau[:-1] >= bounds[1] - slack[1], run.tau[:-1] <= bounds[0] + slack[0]),
        ("position", run.q >= bounds[4] - slack[4], run.q <= bounds[3] + slack[3]),
        ("speed", run.dq >= bounds[5] - slack[5], run.dq <= -bounds[5] + slack[5]),
    )
    for kind, above, below in held:
        for j, count in enumerate((above | below).sum(axis=0).tolist()):
            if count:
                lines.append(
                    f"{robot.joints[j]} was at its {kind} bound for {count * run.h:.3g} s of {run.time[-1]:.3g} s"
                )
    return "\n".join(lines)


def summary(robot: Robot, run: ClosedLoop) -> str:
    """Tick times, tracking error, sources and statuses of the ticks."""
    times = MS * run.seconds
    sources = ", ".join(f"{run.sources[source]} {source.value}" for source in PlanSource if run.sources[source])
    statuses = ", ".join(
        f"{count} {status.name.lower().replace('_', ' ')}" for status, count in sorted(run.statuses.items())
    )
    solver = MS * run.solver[np.isfinite(run.solver)]
    own = "solver alone: no time known"
    if solver.size:
        own = (
            f"solver alone: median {np.median(solver):.3f} ms, p99 {np.quantile(solver, 0.99):.3f} ms, longest "
            f"{solver.max():.3f} ms; at most {run.iterations.max():.0f} interior-point iterations, none in "
            f"{(run.iterations == 0).mean():.0%} of the ticks"
        )
    lines = [
        f"{robot.name}: {len(run.seconds)} ticks of {run.h:g} s: {sources}; solver: {statuses}",
        f"tick: median {np.median(times):.3f} ms, p99 {np.quantile(times, 0.99):.3f} ms, longest {times.max():.3f} ms",
        own,
        f"tracking: RMS {run.rms.max():.3g} at the worst joint; largest excess over position or speed limits "
        f"{run.violation:.3g}",
        "",
    ]
    if run.disturbance.any():
        lines.insert(
            -1, f"disturbance estimated at the end: {np.round(run.disturbance[-1], 3).tolist()} N·m (N for slides)"
        )
    units = [joint.unit for joint in robot.manifest.robot.joints]
    rows = [
        [joint, f"{run.rms[k]:.3e}", f"{run.q[-1, k]:.6f}", f"{abs(run.tau[:, k]).max():.3f}", units[k]]
        for k, joint in enumerate(robot.joints)
    ]
    return "\n".join([*lines, table(["joint", "RMS error", "q at the end", "largest tau", "unit"], rows)])
