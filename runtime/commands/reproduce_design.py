"""`diffpbd reproduce double-pendulum`, `gravity-compensation` and `spring`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.locate import files_in, open_robot, robot_files
from diffpbd.runtime.commands.numbers import SEED, Real, Whole
from diffpbd.runtime.commands.outputs import picture_and_table, recorded_rate, step_option, table_beside
from diffpbd.runtime.commands.results import finish, json_option, note, tabled, tables
from diffpbd.runtime.report.tables import number

if TYPE_CHECKING:
    from diffpbd.runtime.model.robot import Robot
    from diffpbd.runtime.reproduce.spring import Scheme

__all__ = ["double_pendulum", "gravity_compensation", "spring"]

PENDULUM = Path("generated") / "double_pendulum_lengths"
PRINTED_PENDULUM = Path("generated") / "double_pendulum_lengths_printed"
ARM_LENGTH = Real(0.0, 100.0, min_open=True)  # m
LENGTHS = ("origin", "mass", "com", "inertia")


def _assumptions(lines: Sequence[str]) -> None:
    note("\nWhat the paper leaves open, and what is taken here:")
    for line in lines:
        note(f"  - {line}")


@click.command("double-pendulum")
@click.option(
    "--robot",
    "folder",
    metavar="ROBOT",
    help=f"The pendulum with symbolic lengths (default: {PENDULUM}, made if missing).",
)
@click.option("--start", nargs=2, type=ARM_LENGTH, default=(3.0, 0.1), show_default=True, help="Lengths l1, l2 [m].")
@click.option("--period", type=Real(0.1, 60.0), default=3.0, show_default=True, help="Of the circle [s].")
@click.option("--open/--no-open", "try_open", default=True, show_default=True,
              help="Also which period, masses and gravity come nearest to all four printed numbers.")  # fmt: skip
@step_option
@json_option
@picture_and_table("double-pendulum.png", "The trajectories")
def double_pendulum(
    folder: str | None, start: tuple[float, float], period: float, try_open: bool, steps: tuple[str, ...],
    printed: str | None, out: str, table_path: str | None,
) -> None:  # fmt: skip
    """Link lengths of a double pendulum that follows a circle with the least distance and work."""
    from diffpbd.runtime.reproduce import double_pendulum as experiment
    from diffpbd.runtime.reproduce import double_pendulum_open
    from diffpbd.runtime.reproduce.columns import AS_PRINTED, columns
    from diffpbd.runtime.reproduce.double_pendulum_figure import plot, write_table

    numbers = table_beside(out, table_path, robot_files(folder) if folder else files_in("--robot", PENDULUM))
    robot, twin = open_robot(folder) if folder else _pendulum(), open_robot(printed) if printed else None
    if not (folder or printed) and (not steps or set(steps) & set(AS_PRINTED)):
        twin = _pendulum(PRINTED_PENDULUM, multiplier="scalar", sweep_order="printed")
    found = {}
    for column in columns(robot, steps, twin):
        note(f"{column.label}:")
        found[column.label] = experiment.improve(
            column.robot, experiment.Task(period=period), start, progress=note, step=column.step
        )
    plot(out, found)
    write_table(numbers, found)
    tabled(*experiment.summary(found), left=2)
    for label, design in found.items():
        note(f"{label}: {design.status}, {design.iterations} iterations.")
    _assumptions(experiment.ASSUMPTIONS)
    if try_open:
        count = len(double_pendulum_open.CHOICES)
        note(
            f"\nThe printed lengths on joint_step with {count} choices of period, masses and gravity, the nearest first"
        )
        tried = double_pendulum_open.try_all(robot)
        tabled(*double_pendulum_open.summary(double_pendulum_open.nearest(robot, tried)))
    finish(tables(), out, numbers)


def _pendulum(folder: Path = PENDULUM, **options: Any) -> Robot:
    from diffpbd.codegen.generate import generate
    from diffpbd.runtime.model.robot import load

    generate(
        "double_pendulum",
        out=folder,
        symbolic=LENGTHS,
        variants=["published"],
        functions=["default", "vjp_step"],
        progress=lambda line: click.echo(line, err=True),
        **options,
    )
    return load(folder)


@click.command("gravity-compensation")
@click.argument("robot", default="baxter")
@click.option("--data", metavar="DIR", help="Recordings to take the poses from (default: drawn inside the limits).")
@recorded_rate
@click.option("--poses", "count", type=Whole(1, 100000), default=30, show_default=True, help="How many.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of drawn poses.")
@step_option
@json_option
@picture_and_table("gravity-compensation.png", "The torques of every pose")
def gravity_compensation(
    robot: str,
    data: str | None,
    rate: float,
    count: int,
    seed: int,
    steps: tuple[str, ...],
    printed: str | None,
    out: str,
    table_path: str | None,
) -> None:
    """Torque that holds static poses, by optimisation over one step of ROBOT, against Euler-Lagrange."""
    from diffpbd.runtime.reproduce import gravity_compensation as experiment
    from diffpbd.runtime.reproduce.columns import columns
    from diffpbd.runtime.reproduce.poses import INSIDE, draw, draw_from, find_logs

    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data)])
    loaded = open_robot(robot)
    poses = draw(loaded, count, seed) if data is None else draw_from(loaded, find_logs(data), count, rate)
    alpha = loaded.alpha.vector({"gravity.z": -9.8})
    found = {
        column.label: experiment.holding_torques(column.robot, poses, alpha, step=column.step)
        for column in columns(loaded, steps, open_robot(printed) if printed else None)
    }
    experiment.plot(out, found)
    experiment.write_table(numbers, found)
    note(f"{count} poses")
    tabled(*experiment.summary(found), left=2)
    for label, one in found.items():
        note(
            f"{label}: largest MAE of all joints {one.statistics['MAE'].max():.2g} N·m, largest loss {one.loss:.2g}"
            + (f"; {one.unsettled} poses had not settled after {one.iterations} iterations" if one.unsettled else "")
        )
    where = (
        f"no recordings were given (--data): poses drawn uniformly in the middle {INSIDE:.0%} of the joint limits, seed {seed}"
        if data is None
        else f"poses are {count} frames equally spaced over the recordings in {data}, taken at rest"
    )
    _assumptions((where, *experiment.ASSUMPTIONS))
    finish(tables(), out, numbers)


@click.command("spring")
@click.argument("robot", default="baxter")
@click.option("--joint", metavar="NAME", help="The joint with the spring (default: that of the recipe).")
@click.option("--data", metavar="DIR", help="Recordings: the spring's slope and zero that they determine, as well.")
@recorded_rate
@click.option("--poses", "count", type=Whole(5, 10000), default=30, show_default=True, help="How many static poses.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of the poses.")
@step_option
@json_option
@picture_and_table("spring.png", "The schemes")
def spring(
    robot: str,
    joint: str | None,
    data: str | None,
    rate: float,
    count: int,
    seed: int,
    steps: tuple[str, ...],
    printed: str | None,
    out: str,
    table_path: str | None,
) -> None:
    """Stiffness of a lever spring on a joint of ROBOT: curve fitting and differentiable simulation."""
    from diffpbd.runtime.reproduce import spring as experiment
    from diffpbd.runtime.reproduce.columns import columns
    from diffpbd.runtime.reproduce.spring_figure import plot, write_table
    from diffpbd.runtime.reproduce.spring_recordings import report

    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data)])
    loaded = open_robot(robot)
    named = joint or next(iter(loaded.manifest.recipe.springs), None)
    if named not in loaded.joints:
        raise InputError(f"--joint: expected a joint of {loaded.name} ({', '.join(loaded.joints)}), found {named}.")
    measured = experiment.measurements(loaded, loaded.joints.index(named), count, seed)
    blocks: dict[tuple[str, str], list[Scheme]] = {}
    for column in columns(loaded, steps, open_robot(printed) if printed else None):
        for words, off in (("exact", 0.0), ("deviating", 1.0)):
            lever = replace(
                experiment.TRUTH,
                stiffness=experiment.START,
                **{k: getattr(experiment.TRUTH, k) * (1.0 + off * part) for k, part in experiment.DEVIATION.items()},
            )
            blocks[column.label, words] = experiment.estimate(column.robot, measured, lever, column.step)
    last = list(blocks.values())[-1]
    plot(out, loaded, measured, experiment.TRUTH, last)
    write_table(numbers, blocks)
    rows = [_row("", "the truth", "", "", "", experiment.TRUTH.numbers())]
    for (step, words), schemes in blocks.items():
        for scheme in schemes:
            name = f"{scheme.name}, at a bound" if scheme.lever.at_bound() else scheme.name
            rows.append(_row(step, words, name, scheme.lengths, number(scheme.loss, 3), scheme.lever.numbers()))
    head = ["step", "measured lengths", "scheme", "lengths used", "loss", "k [N/m]", "l1 [m]", "l2 [m]", "α [rad]"]
    tabled(head, rows, left=4)
    _assumptions((*experiment.ASSUMPTIONS, f"the deviating lengths: {_percent(experiment.DEVIATION)}"))
    if data is not None:
        note("\n" + report(loaded, named, data, rate))
    finish(tables(), out, numbers)


def _percent(deviation: dict[str, float]) -> str:
    return ", ".join(f"{name} {part:+.1%}" for name, part in deviation.items())


def _row(step: str, words: str, name: str, lengths: str, loss: str, numbers: tuple[float, ...]) -> list[str]:
    return [step, words, name, lengths, loss, *(number(x, 6) for x in numbers[:4])]
