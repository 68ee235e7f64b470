"""`python -m experiments double-pendulum`, `gravity-compensation` and `spring`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.options import option
from diffpbd.runtime.commands.options.locate import files_in, open_robot
from diffpbd.runtime.commands.options.numbers import Real
from diffpbd.runtime.commands.results.results import note, tabled
from diffpbd.runtime.folder.locate import locate
from diffpbd.runtime.model.robot import Robot, load
from diffpbd.runtime.report.tables import number
from experiments.columns import AS_PRINTED, Column, Steps, columns
from experiments.command import Outputs, experiment
from experiments.one_step import JOINT
from experiments.poses import INSIDE, Poses

if TYPE_CHECKING:
    from experiments.design.spring import Scheme

__all__ = ["double_pendulum", "gravity_compensation", "spring"]

PENDULUM = Path("generated") / "double_pendulum_lengths"
PRINTED_PENDULUM = Path("generated") / "double_pendulum_lengths_printed"
ARM_LENGTH = Real(0.0, 100.0, min_open=True)  # m


def _say(line: str) -> None:
    """Progress, which is no part of the result."""
    click.echo(line, err=True)


def _is_followed(column: Column, robot: Robot) -> bool:
    """Whether ADAM's curve is made, too: for ours, and for the paper's own setting, Jacobi as printed."""
    return column.step == JOINT or (column.robot is not robot and column.step == AS_PRINTED["printed_jacobi"])


LENGTHS = ("origin", "mass", "com", "inertia")


def _assumptions(lines: Sequence[str]) -> None:
    note("\nWhat the paper leaves open, and what is taken here:")
    for line in lines:
        note(f"  - {line}")


@dataclass(frozen=True, kw_only=True)
class Pendulum(Steps):
    """Choices of a pendulum: the generated robot, lengths [m] and period [s] at the start."""

    folder: str | None = option(
        f"The pendulum with symbolic lengths (default: {PENDULUM}, made if missing).", None, flag="--robot",
        metavar="ROBOT", reads=locate,
    )  # fmt: skip
    start: tuple[float, float] = option("Lengths l1, l2 [m].", (3.0, 0.1), kind=(ARM_LENGTH, ARM_LENGTH))
    period: float = option("Of the circle [s].", 3.0, span=(0.1, 60.0))
    open: bool = option(
        "Also which period, masses and gravity come nearest to all four printed numbers.", True, flag="--open/--no-open"
    )


@experiment("double-pendulum", Pendulum, "", "The trajectories")
def double_pendulum(own: Pendulum, out: Outputs) -> None:
    """Link lengths of a double pendulum that follows a circle with the least distance and work."""
    from experiments.design import double_pendulum as design
    from experiments.design import double_pendulum_open
    from experiments.design.double_pendulum_figure import plot, write_table

    distinct([("--out", out.picture), ("--table", out.table)], files_in("--robot", PENDULUM))
    robot, twin = (
        open_robot(own.folder) if own.folder else _pendulum(),
        open_robot(own.printed) if own.printed else None,
    )
    if not (own.folder or own.printed) and (not own.steps or set(own.steps) & set(AS_PRINTED)):
        twin = _pendulum(PRINTED_PENDULUM, multiplier="scalar", sweep_order="printed")
    found = {}
    for column in columns(robot, own.steps, twin):
        _say(f"{column.label}:")
        found[column.label] = design.improve(
            column.robot, design.Task(period=own.period), own.start, progress=_say, step=column.step,
            adam=_is_followed(column, robot),
        )  # fmt: skip
    plot(out.picture, found)
    write_table(out.table, found)
    tabled(*design.summary(found), left=2)
    for label, one in found.items():
        adam = (
            "" if one.descent is None else f"; ADAM's loss after {len(one.descent) - 1}: {number(one.descent[-1], 4)}"
        )
        note(f"{label}: IPOPT, {one.status}, {one.iterations} iterations{adam}.")
    _assumptions(design.ASSUMPTIONS)
    if own.open:
        count = len(double_pendulum_open.CHOICES)
        note(
            f"\nThe printed lengths on joint_step with {count} choices of period, masses and gravity, the nearest first"
        )
        tried = double_pendulum_open.try_all(robot)
        tabled(*double_pendulum_open.summary(double_pendulum_open.nearest(robot, tried)))


def _pendulum(folder: Path = PENDULUM, **options: Any) -> Robot:
    from diffpbd.codegen.generate import generate

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


@dataclass(frozen=True, kw_only=True)
class Holding(Steps, Poses):
    """Poses, and the steps that hold them."""


@experiment("gravity-compensation", Holding, "baxter", "The torques of every pose")
def gravity_compensation(robot: Robot, own: Holding, out: Outputs) -> None:
    """Torque that holds static poses, by optimisation over one step of ROBOT, against Euler-Lagrange."""
    from experiments.design import gravity_compensation as compensation

    poses, alpha = own.of(robot), robot.alpha.vector({"gravity.z": -9.8})
    found = {
        column.label: compensation.holding_torques(
            column.robot, poses, alpha, column.step, adam=_is_followed(column, robot)
        )
        for column in own.columns(robot)
    }
    compensation.plot(out.picture, found)
    compensation.write_table(out.table, found)
    note(f"{own.count} poses")
    tabled(*compensation.summary(found), left=2)
    for label, one in found.items():
        note(
            f"{label}: largest MAE of all joints {one.statistics['MAE'].max():.2g} N·m, largest loss {one.loss:.2g}"
            + (f"; {one.unsettled} poses had not settled after {one.iterations} iterations" if one.unsettled else "")
            + ("" if one.descent is None else f"; mean loss {one.optimum:.2g}, ADAM's after {len(one.descent) - 1} "
               f"iterations {one.descent[-1]:.2g}")
        )  # fmt: skip
    for line in compensation.reach(robot, alpha):
        note(line)
    where = (
        f"no recordings were given (--data): poses drawn uniformly in the middle {INSIDE:.0%} of the joint limits, seed "
        f"{own.seed}"
        if own.data is None
        else f"poses are {own.count} frames equally spaced over the recordings in {own.data}, taken at rest"
    )
    _assumptions((where, *compensation.ASSUMPTIONS))


@dataclass(frozen=True, kw_only=True)
class Springs(Steps, Poses):
    """The joint with the spring, and the poses that its motor holds."""

    joint: str | None = option("The joint with the spring (default: that of the recipe).", None, metavar="NAME")
    data: str | None = option(
        "Recordings: the spring's slope and zero that they determine, as well.", None, metavar="DIR", reads=Path
    )
    count: int = option("How many static poses.", 30, flag="--poses", span=(5, 10000))
    seed: int = option("Of the poses.", 1, span=(0, 2**32 - 1))


@experiment("spring", Springs, "baxter", "The schemes")
def spring(robot: Robot, own: Springs, out: Outputs) -> None:
    """Stiffness of a lever spring on a joint of ROBOT: curve fitting and differentiable simulation."""
    from experiments.design import spring as lever_spring
    from experiments.design.spring_figure import plot, write_table
    from experiments.design.spring_recordings import report

    named = own.joint or next(iter(robot.manifest.recipe.springs), None)
    if named is None:
        raise InputError(
            f"{robot.name} has no spring in its recipe: name a joint with --joint, of {', '.join(robot.joints)}."
        )
    if named not in robot.joints:
        raise InputError(f"--joint: expected a joint of {robot.name} ({', '.join(robot.joints)}), found {named}.")
    measured = lever_spring.measurements(robot, robot.joints.index(named), own.count, own.seed)
    blocks: dict[tuple[str, str], list[Scheme]] = {}
    truth = lever_spring.TRUTH
    for column in own.columns(robot):
        for words, off in (("exact", 0.0), ("deviating", 1.0)):
            lengths = {k: getattr(truth, k) * (1.0 + off * part) for k, part in lever_spring.DEVIATION.items()}
            lever = replace(truth, stiffness=lever_spring.START, **lengths)
            blocks[column.label, words] = lever_spring.estimate(column.robot, measured, lever, column.step)
    last = list(blocks.values())[-1]
    plot(out.picture, robot, measured, truth, last)
    write_table(out.table, blocks)
    rows = [_row("", "the truth", "", "", "", truth.numbers())]
    for (step, words), schemes in blocks.items():
        for scheme in schemes:
            name = f"{scheme.name}, at a bound" if scheme.lever.at_bound() else scheme.name
            rows.append(_row(step, words, name, scheme.lengths, number(scheme.loss, 3), scheme.lever.numbers()))
    head = ["step", "measured lengths", "scheme", "lengths used", "loss", "k [N/m]", "l1 [m]", "l2 [m]", "α [rad]"]
    tabled(head, rows, left=4)
    _assumptions((*lever_spring.ASSUMPTIONS, f"the deviating lengths: {_percent(lever_spring.DEVIATION)}"))
    if own.data is not None:
        note("\n" + report(robot, named, own.data, own.rate))


def _percent(deviation: dict[str, float]) -> str:
    return ", ".join(f"{name} {part:+.1%}" for name, part in deviation.items())


def _row(step: str, words: str, name: str, lengths: str, loss: str, numbers: tuple[float, ...]) -> list[str]:
    return [step, words, name, lengths, loss, *(number(x, 6) for x in numbers[:4])]
