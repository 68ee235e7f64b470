"""The forms of identification that follow a trajectory: `--form shooting` and `--form simultaneous`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.identify.result import Identification
from diffpbd.runtime.identify.selection import Selection, select
from diffpbd.runtime.identify.shooting import shoot
from diffpbd.runtime.identify.simultaneous import transcribe
from diffpbd.runtime.identify.torques import check_determined, estimated, with_estimate
from diffpbd.runtime.identify.trajectory import Found, Motion, Parameters, Settings, motions, parameters_of, result_of
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.names import listing
from diffpbd.runtime.parameters import ParameterValues
from diffpbd.runtime.robot import Robot

__all__ = ["FORMS", "identify_motion"]

Form: TypeAlias = "Callable[[Robot, Sequence[Motion], Parameters, Callable[[str], None], Settings], Found]"

FORMS: dict[str, Form] = {"shooting": shoot, "simultaneous": transcribe}


def identify_motion(
    form: str,
    robot: Robot,
    train: Sequence[Samples],
    fit: Sequence[str],
    *,
    fixed: Collection[str] = (),
    validate: Sequence[Samples] = (),
    start: ParameterValues = None,
    settings: Settings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Fit the entries of alpha that `fit` names so that the generated step follows the recordings, the others and what
    is `fixed` keep `start` or their default; see the form's module.

    Where torques are unknown and `settings` say so, `fit` may name nothing. Raises InputError for recordings or names
    that do not fit, SolverError, with IPOPT's status, for a failed solve.
    """
    if not train:
        raise InputError("No recording to fit.")
    settings = settings or Settings()
    selection = select(robot, fit, fixed) if fit or settings.torques is None else Selection(())
    _check(form, robot, selection.names, train, settings)
    parameters = parameters_of(robot, selection.names, robot.alpha.vector(start), form)
    recorded = motions(robot, train, form)
    found = FORMS[form](robot, recorded, parameters, progress or (lambda _line: None), settings)
    torques = estimated(robot, train, parameters, found)
    if torques:
        train = [with_estimate(s, t) if s.unread else s for s, t in zip(train, torques, strict=True)]
    return result_of(robot, train, validate, parameters, found, selection.notes, torques)


def _check(form: str, robot: Robot, names: Sequence[str], train: Sequence[Samples], settings: Settings) -> None:
    """Options that this form has not, and torques that nothing determines."""
    if settings.continuity and form != "shooting":
        raise InputError(f"--continuity ties the windows of --form shooting; --form {form} has none.")
    if settings.torques is not None:
        if form != "simultaneous":
            raise InputError(f"--unknown-torque: --form {form} takes torques as recorded; use --form simultaneous.")
        check_determined(robot, names, settings.torques)
    for s in train:
        known = [j for j in robot.joints if settings.torques is None or settings.torques.get(j) != np.inf]
        if s.unread and known:
            raise InputError(
                f"{s.name}: it has no tau_<joint> columns, but the torque of {listing(known)} should be near a reading; give "
                "--form simultaneous --unknown-torque all without --torque-sigma."
            )
