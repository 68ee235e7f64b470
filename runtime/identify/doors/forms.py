"""Identification: the recordings, what to fit, and the form that fits it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.functions.friction import refuse_memory
from diffpbd.runtime.functions.parameters import ParameterValues
from diffpbd.runtime.identify.contact.touching import fit_touching
from diffpbd.runtime.identify.doors.agreement import as_read, check_agreement, doubted, misfit
from diffpbd.runtime.identify.doors.torque_form import fit_torques
from diffpbd.runtime.identify.motion.conclusion import conclude
from diffpbd.runtime.identify.motion.lengths import fit_lengths, of_lengths
from diffpbd.runtime.identify.motion.shooting import shoot
from diffpbd.runtime.identify.motion.simultaneous import transcribe
from diffpbd.runtime.identify.motion.torques import check_determined, estimated, with_estimate
from diffpbd.runtime.identify.motion.trajectory import motions, parameters_of
from diffpbd.runtime.identify.result.beyond import beyond_training
from diffpbd.runtime.identify.result.result import Errors, Identification, identification, predicted
from diffpbd.runtime.identify.settings.selection import Selection, in_contact, select
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.identify.settings.standin import with_inertials
from diffpbd.runtime.identify.settings.task import Task
from diffpbd.runtime.identify.torque.statements import refused_here, stated
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["identify"]

ALONG = {"shooting": shoot, "simultaneous": transcribe}
"""The forms that follow a trajectory."""


def identify(
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
    """Fit the entries of alpha that `fit` names (see `select`) to recordings; the others, and what is
    `fixed`, keep `start` or their default.

    By the form that `settings` name: least squares of torques, or the parameters with which the generated step follows the
    recordings. Where torques are unknown `fit` may name nothing. Raises InputError for recordings or names that do not fit,
    SolverError, with IPOPT's status, for a failed solve.
    """
    settings, say = settings or Settings(), progress or (lambda _line: None)
    if not train:
        raise InputError("No recording to fit.")
    facts = robot.manifest.robot
    refuse_memory(
        robot.alpha.names, f"Identification of {robot.name}",
        f"fit the robot generated without it by {arg.friction_model('dahl')}, whose params.json this one takes",
    )  # fmt: skip
    if settings.form in ALONG and (facts.loops or facts.passive) and not in_contact(fit):
        what = "closed loops" if facts.loops else f"joints without a motor ({listing(facts.passive)})"
        raise InputError(f"{arg.form(settings.form)}: {robot.name} has {what}; use {arg.form('torque')}.")
    robot = with_inertials(robot, fit, settings.form)
    selection = select(robot, fit, fixed) if fit or settings.torques is None else Selection(())
    base = robot.alpha.vector(start)
    if (of_lengths(robot, selection.names) and settings.torques is None) or in_contact(selection.names):
        refused_here(settings, ",".join(fit))
    selection, base = stated(robot, selection, base, settings)
    task = Task(robot, train, validate, selection, base, settings, say)
    if of_lengths(robot, selection.names) and settings.torques is None:
        return fit_lengths(task)
    if in_contact(selection.names):
        return fit_touching(task)
    found = (_along if settings.form in ALONG else fit_torques)(task)
    if settings.form in ALONG and settings.torques is None and found.estimates and "torque_terms" in robot.functions:
        say("Comparing with the torque form")
        weighed = task._replace(validate=(), settings=Settings(prior=settings.prior))
        check_agreement(settings.form, found, fit_torques(weighed))
        read = [own for own in (as_read(train, held=False), as_read(train, held=True)) if own]
        if read:
            found = doubted(found, min((fit_torques(weighed._replace(train=own)) for own in read), key=misfit))
    if found.validate is None:
        return found
    return replace(found, notes=(*found.notes, *beyond_training(robot, train, validate, found.train, found.validate)))


def _along(task: Task) -> Identification:
    """By a form that follows a trajectory."""
    robot, train, validate, selection, base, settings, say = task
    _check_torques(robot, selection.names, train, settings)
    parameters = parameters_of(robot, selection.names, base, settings.form)
    end = ALONG[settings.form](robot, motions(train, settings.form), parameters, say, settings)
    solved, torques = conclude(end), estimated(train, end)
    if torques:
        train = [with_estimate(s, t) if s.unread else s for s, t in zip(train, torques, strict=True)]
    notes = [*selection.notes, *solved.notes, *(f"{s.name}: {note}" for s in (*train, *validate) for note in s.notes)]
    alpha = robot.alpha.vector(solved.values, base=base)
    errors, held = ([predicted(robot, s, alpha) for s in samples] for samples in (train, validate))
    return identification(
        robot, base, replace(solved, notes=tuple(notes)), Errors.of(robot.joints, errors),
        Errors.of(robot.joints, held) if held else None, train[0].processing, torques=torques,
    )  # fmt: skip


def _check_torques(robot: Robot, names: Sequence[str], train: Sequence[Samples], settings: Settings) -> None:
    """Torques that nothing determines, or that a recording has not."""
    if settings.torques is not None:
        check_determined(robot, names, settings.torques)
    for s in train:
        known = [j for j in robot.joints if settings.torques is None or settings.torques.get(j) != np.inf]
        if s.unread and known:
            raise InputError(
                f"{s.name}: it has no tau_<joint> columns, but the torque of {listing(known)} should be near a reading; give "
                f"{arg.form('simultaneous')} {arg.torques('all')} without {arg.torque_sigma}."
            )
