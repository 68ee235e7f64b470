"""`diffpbd reproduce double-pendulum`, `gravity-compensation` and `spring`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diffpbd.runtime.commands.locate import files_in, open_robot, robot_files
from diffpbd.runtime.commands.numbers import RATE, SEED, Real
from diffpbd.runtime.commands.outputs import picture_and_table, table_beside
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.report.tables import number, table

if TYPE_CHECKING:
    from diffpbd.runtime.reproduce.spring import Scheme
    from diffpbd.runtime.robot import Robot

__all__ = ["double_pendulum", "gravity_compensation", "spring"]

PENDULUM = Path("generated") / "double_pendulum_lengths"
ARM_LENGTH = Real(0.0, 100.0, min_open=True)  # m
LENGTHS = ("origin", "mass", "com", "inertia")


def _assumptions(lines: Sequence[str]) -> None:
    click.echo("\nWhat the paper leaves open, and what is taken here:")
    for line in lines:
        click.echo(f"  - {line}")


@click.command("double-pendulum")
@click.option("--robot", "folder", help=f"The pendulum with symbolic lengths (default: {PENDULUM}, made if missing).")
@click.option("--start", nargs=2, type=ARM_LENGTH, default=(3.0, 0.1), show_default=True, help="l1, l2 [m].")
@click.option("--period", type=Real(0.1, 60.0), default=3.0, show_default=True, help="Of the circle [s].")
@picture_and_table("double-pendulum.png", "The trajectories")
def double_pendulum(
    folder: str | None, start: tuple[float, float], period: float, out: str, table_path: str | None
) -> None:
    """Link lengths of a double pendulum that follows a circle with the least distance and work."""
    from diffpbd.runtime.reproduce import double_pendulum as experiment
    from diffpbd.runtime.reproduce.double_pendulum_figure import plot, write_table

    numbers = table_beside(out, table_path, robot_files(folder) if folder else files_in("--robot", PENDULUM))
    robot = open_robot(folder) if folder else _pendulum()
    found = experiment.improve(robot, experiment.Task(period=period), start, progress=click.echo)
    plot(out, found)
    write_table(numbers, found)
    rows = []
    for word, walk in (("before", found.before), ("after", found.after)):
        paper = experiment.PAPER[word]
        ours = (*walk.lengths, walk.loss, walk.work)
        rows.append(
            [word, *(text for x, y in zip(ours, paper, strict=True) for text in (number(float(x), 5), number(y, 5)))]
        )
    before, after = found.before, found.after
    gains = [text for a, b, p in ((before.loss, after.loss, 2), (before.work, after.work, 3)) for text in (
        f"{a / b:.2f}×", f"{experiment.PAPER['before'][p] / experiment.PAPER['after'][p]:.2f}×")]  # fmt: skip
    rows.append(["improvement", "", "", "", "", *gains])
    click.echo(table(["", "l1 [m]", "paper", "l2 [m]", "paper", "loss", "paper", "work [J]", "paper"], rows))
    click.echo(f"{found.status}, {found.iterations} iterations.")
    _assumptions(experiment.ASSUMPTIONS)
    click.echo(f"{out}, {numbers}")


def _pendulum() -> Robot:
    from diffpbd.codegen.generate import generate
    from diffpbd.runtime.robot import load

    generate("double_pendulum", out=PENDULUM, symbolic=LENGTHS, progress=lambda line: click.echo(line, err=True))
    return load(PENDULUM)


@click.command("gravity-compensation")
@click.argument("robot", default="baxter")
@click.option("--data", metavar="DIR", help="Recordings that the poses are taken from; else drawn inside the limits.")
@click.option(
    "--rate", type=RATE, default=99.0099, show_default=True, metavar="HZ", help="Of logs without a time column."
)
@click.option("--poses", "count", type=click.IntRange(1, 100000), default=30, show_default=True, help="How many.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of drawn poses.")
@picture_and_table("gravity-compensation.png", "The torques of every pose")
def gravity_compensation(
    robot: str, data: str | None, rate: float, count: int, seed: int, out: str, table_path: str | None
) -> None:
    """Torque that holds static poses, by optimisation over one step of ROBOT, against Euler-Lagrange."""
    from diffpbd.runtime.reproduce import gravity_compensation as experiment
    from diffpbd.runtime.reproduce.poses import INSIDE, draw, draw_from, find_logs

    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data)])
    loaded = open_robot(robot)
    poses = draw(loaded, count, seed) if data is None else draw_from(loaded, find_logs(data), count, rate)
    alpha = loaded.alpha.vector({"gravity.z": -9.8})
    found = experiment.holding_torques(loaded, poses, alpha)
    experiment.plot(out, found)
    experiment.write_table(numbers, found)
    shown = experiment.shown_joints(found.joints)
    statistics = found.statistics
    paper = len(shown) == len(experiment.PAPER_JOINTS) and found.joints[shown[0]].endswith(experiment.PAPER_JOINTS[0])
    rows = []
    for key, values in statistics.items():
        cells = [key]
        for k, j in enumerate(shown):
            cells += [number(float(values[j]), 4), number(experiment.PAPER[key][k], 4) if paper else "-"]
        rows.append(cells)
    heads = [text for j in shown for text in (f"{found.joints[j]} [N·m]", "paper")]
    click.echo(table([f"{count} poses", *heads], rows))
    click.echo(
        f"Largest MAE of all joints {statistics['MAE'].max():.2g} N·m; {found.iterations} Gauss-Newton iterations; "
        f"largest loss {found.loss:.2g}."
    )
    where = (
        f"no recordings were given (--data): poses drawn uniformly in the middle {INSIDE:.0%} of the joint limits, seed {seed}"
        if data is None
        else f"poses are {count} frames equally spaced over the recordings in {data}, taken at rest"
    )
    _assumptions((where, *experiment.ASSUMPTIONS))
    click.echo(f"{out}, {numbers}")


@click.command("spring")
@click.argument("robot", default="baxter")
@click.option("--joint", help="The joint with the spring (default: that of the recipe).")
@click.option("--data", metavar="DIR", help="Recordings: the spring's slope and zero that they determine, as well.")
@click.option(
    "--rate", type=RATE, default=99.0099, show_default=True, metavar="HZ", help="Of logs without a time column."
)
@click.option(
    "--poses", "count", type=click.IntRange(5, 10000), default=30, show_default=True, help="How many static poses."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of the poses.")
@picture_and_table("spring.png", "The schemes")
def spring(
    robot: str,
    joint: str | None,
    data: str | None,
    rate: float,
    count: int,
    seed: int,
    out: str,
    table_path: str | None,
) -> None:
    """Stiffness of a lever spring on a joint of ROBOT: curve fitting and differentiable simulation."""
    from diffpbd.runtime.reproduce import spring as experiment
    from diffpbd.runtime.reproduce.spring_figure import plot, write_table
    from diffpbd.runtime.reproduce.spring_recordings import report

    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data)])
    loaded = open_robot(robot)
    named = joint or next(iter(loaded.manifest.recipe.springs), None)
    if named not in loaded.joints:
        raise InputError(f"--joint: expected a joint of {loaded.name} ({', '.join(loaded.joints)}), found {named}.")
    measured = experiment.measurements(loaded, loaded.joints.index(named), count, seed)
    blocks = []
    for words, off in (("exact", 0.0), ("deviating", 1.0)):
        lever = replace(
            experiment.TRUTH,
            stiffness=experiment.START,
            **{k: getattr(experiment.TRUTH, k) * (1.0 + off * part) for k, part in experiment.DEVIATION.items()},
        )
        blocks.append((words, experiment.estimate(loaded, measured, lever)))
    plot(out, loaded, measured, experiment.TRUTH, blocks[1][1])
    write_table(numbers, blocks)
    rows = [_row("the truth", "", "", "", experiment.TRUTH.numbers())]
    for words, schemes in blocks:
        rows += [_scheme(words, s) for s in schemes]
    head = ["measured lengths", "scheme", "lengths used", "loss", "k [N/m]", "l1 [m]", "l2 [m]", "α [rad]"]
    click.echo(table(head, rows, left=3))
    _assumptions((*experiment.ASSUMPTIONS, f"the deviating lengths: {_percent(experiment.DEVIATION)}"))
    if data is not None:
        click.echo("\n" + report(loaded, named, data, rate))
    click.echo(f"{out}, {numbers}")


def _percent(deviation: dict[str, float]) -> str:
    return ", ".join(f"{name} {part:+.1%}" for name, part in deviation.items())


def _row(first: str, second: str, third: str, loss: str, numbers: tuple[float, ...]) -> list[str]:
    return [first, second, third, loss, *(number(x, 6) for x in numbers[:4])]


def _scheme(words: str, scheme: Scheme) -> list[str]:
    return _row(words, scheme.name, scheme.lengths, number(scheme.loss, 3), scheme.lever.numbers())
