"""The forms of identification that follow a trajectory: `--form shooting` and `--form simultaneous`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.parameters import ParameterValues
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.result import Identification
from diffpbd.runtime.solve.selection import select
from diffpbd.runtime.solve.shooting import shoot
from diffpbd.runtime.solve.simultaneous import transcribe
from diffpbd.runtime.solve.trajectory import Found, Motion, Parameters, Settings, motions, parameters_of, result_of

__all__ = ["FORMS", "identify_motion"]

Form: TypeAlias = "Callable[[Robot, Sequence[Motion], Parameters, Callable[[str], None], Settings], Found]"

FORMS: dict[str, Form] = {"shooting": shoot, "simultaneous": transcribe}


def identify_motion(
    form: str,
    robot: Robot,
    train: Sequence[Samples],
    fit: Sequence[str],
    *,
    validate: Sequence[Samples] = (),
    start: ParameterValues = None,
    settings: Settings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Fit the entries of alpha that `fit` names so that the generated step follows the recordings; see the form's module.

    Raises InputError for recordings or names that do not fit, SolverError, with IPOPT's status, for a failed solve.
    """
    if not train:
        raise InputError("No recording to fit.")
    selection = select(robot, fit)
    parameters = parameters_of(robot, selection.names, robot.alpha.vector(start), form)
    recorded = motions(robot, train, form)
    found = FORMS[form](robot, recorded, parameters, progress or (lambda _line: None), settings or Settings())
    return result_of(robot, train, validate, parameters, found, selection.notes)
