"""The columns of an experiment: which steps of which robots stand side by side.

The published step by its three solvers and ours are functions of one robot. The step as printed (one multiplier a constraint,
all positional before all angular ones) is that of the same robot, generated once more with these options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.control.net_torque import NetTorqueMap, sample_map
from diffpbd.runtime.folder.locate import locate
from diffpbd.runtime.model.robot import Robot, load
from experiments.one_step import JOINT, OURS, STEPS, function_of, label_of, step_named

__all__ = ["AS_PRINTED", "NAMES", "Column", "OneStep", "Steps", "chosen", "columns", "named"]

AS_PRINTED: Final = {"printed_gauss_seidel": "paper_gauss_seidel", "printed_jacobi": "paper_jacobi"}
"""Columns of the robot that is generated as printed, and its steps."""
NAMES: Final = (*AS_PRINTED, *STEPS)
"""All columns, in their order."""
WHOLE = ("multiplier", "order")
PUBLISHED_WORDS = "--variants published --functions default,vjp_step"
PRINTED_WORDS = f"{PUBLISHED_WORDS} --multiplier scalar --printed-order"
"""Options of `diffpbd generate` for a robot with the published steps, and with those as printed."""


def named(steps: Sequence[str]) -> tuple[str, ...]:
    """Columns by their names, or by those of their generated functions."""
    return tuple(step_named(step, NAMES) for step in steps)


@dataclass(frozen=True, kw_only=True)
class OneStep:
    """The step that a net torque map is solved with."""

    step: str = option(f"That is solved: {', '.join(STEPS)}.", "paper_direct", metavar="STEP", parse=step_named)

    def map(self, robot: Robot) -> NetTorqueMap:
        """The map of the only joint of `robot`."""
        return sample_map(robot, robot.joints[0], step=function_of(robot, self.step))


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps that stand side by side; `printed` is the folder of the robot whose step is as printed."""

    steps: tuple[str, ...] = option(
        f"Step of a column, may be given again: {', '.join(AS_PRINTED)}, the published one as printed; "
        f"{', '.join(STEPS[:3])}, in blocks; {OURS}, {JOINT}, ours in maximal or joint coordinates. "
        "Default: the published ones that there are, and joint.",
        (), flag="--step", metavar="STEP", many=True, parse=named,
    )  # fmt: skip
    printed: str | None = option(
        f"The same robot, generated with {PRINTED_WORDS}: columns of the step as printed.", None,
        metavar="ROBOT", reads=locate,
    )  # fmt: skip

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """The columns of `robot`."""
        return columns(robot, self.steps, load(locate(self.printed)) if self.printed else None)


@dataclass(frozen=True, eq=False)
class Column:
    """A robot and one of `one_step.STEPS`."""

    robot: Robot
    step: str

    @property
    def label(self) -> str:
        """Its head."""
        return label_of(self.robot, self.step)


def chosen(robot: Robot, steps: Sequence[str]) -> tuple[str, ...]:
    """`steps` in the order of columns; if there are none, the published ones and ours, as far as the robot has them. One with
    steps on maximal states, but none of the published ones, is refused."""
    if steps:
        return tuple(step for step in STEPS if step in steps)
    published = tuple(step for step in STEPS if f"vjp_step_{step}" in robot.functions and step != OURS)
    if not published and "step" in robot.functions:
        raise InputError(
            f"{robot.name} has none of the published steps and their reverse mode, on which this runs: generate it with "
            f"`diffpbd generate {robot.name} {PUBLISHED_WORDS} --out generated/{robot.name}`, or name another step, such as "
            f"--step {JOINT}."
        )
    return (*published, JOINT)


def columns(robot: Robot, steps: Sequence[str], printed: Robot | None = None) -> tuple[Column, ...]:
    """One a step: those as printed on `printed` (or `robot`, if that is generated so), the others on `robot`.

    Without `steps` all that there are. `printed` has to be the same robot, generated as printed.
    """
    steps = named(steps)
    as_printed = tuple(name for name in AS_PRINTED if name in steps)
    own = [step for step in steps if step not in AS_PRINTED]
    if printed is not None:
        _check(robot, printed)
        as_printed = as_printed if steps else tuple(AS_PRINTED)
    elif robot.manifest.recipe.printed == WHOLE:
        printed = robot
    elif as_printed:
        raise InputError(
            f"--step {as_printed[0]}: expected --printed, {robot.name} generated as printed: `{_command(robot)}`."
        )
    made = [Column(printed, AS_PRINTED[name]) for name in as_printed if printed is not None]
    return (*made, *(Column(robot, step) for step in (chosen(robot, own) if own or not steps else ())))


def _check(robot: Robot, printed: Robot) -> None:
    if printed.manifest.recipe.printed != WHOLE:
        raise InputError(f"--printed: {printed.name} was not generated as printed. `{_command(robot)}` does that.")
    if printed.joints != robot.joints or printed.alpha.names != robot.alpha.names:
        raise InputError(
            f"--printed: expected the robot {robot.name} generated as printed, found one with other joints or parameters: "
            f"{', '.join(printed.joints)}. `{_command(robot)}` makes it."
        )


def _command(robot: Robot) -> str:
    """How to make it."""
    return f"diffpbd generate {robot.name} {PRINTED_WORDS} --out generated/{robot.name}_printed"
