"""What a model seems to lack: the one cause that wins over all others on recordings left out, with its evidence, or none."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.causes.catalogue import UNSTEADY
from diffpbd.runtime.causes.missing import Candidate, Found
from diffpbd.runtime.causes.run import Run, Table
from diffpbd.runtime.identify.causes.competition import Grams, Winner, won
from diffpbd.runtime.identify.causes.evidence import Evidence
from diffpbd.runtime.identify.causes.kinds_of_motion import raised
from diffpbd.runtime.identify.causes.pattern import pattern
from diffpbd.runtime.identify.causes.tables import runs_of
from diffpbd.runtime.identify.columns.design import Point
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.logs.sampling import COARSE, highest, kept
from diffpbd.runtime.model.robot import Robot

__all__ = ["missing", "too_noisy", "too_slow"]

NOISY = 0.3
"""[1] Part of a joint's accelerations, in squares, that is noise of its rates, from which it is said."""
ROUNDS = 4
"""[1] Causes that are named at most, each beside those before."""
WORSE = 0.01
"""[1] By how much a cause may raise the RMS on a third of a joint's positions left out."""
ADDED = 0.05
"""[1] What a later cause takes away of a joint's RMS, as part of what the first one does."""


def missing(robot: Robot, evidence: Evidence, point: Point, samples: Sequence[Samples]) -> list[str]:
    """Sentences on causes that are not fitted and win, in the order of what they explain; `samples` are whole recordings."""
    tables, candidates = evidence.tables, [own for own in evidence.candidates if own.cause.told]
    if unsteady := _unsteady(runs_of(robot, samples, point, candidates)):
        return unsteady
    judged = [j for j, joint in enumerate(robot.joints) if joint not in robot.manifest.robot.base_freedoms]
    grams = copy(evidence.grams)
    sentences: list[str] = []
    first: Winner | None = None
    local: list[Candidate] = []  # causes of some positions alone
    while len(sentences) < ROUNDS:
        winner = won(
            grams, candidates, judged, evidence.possible,
            lambda own: not any(own.same(other) for other in local) and own.cause.nameable(evidence.carried(own)),
        )  # fmt: skip
        if winner is not None and _of_some_positions(tables, grams, winner, judged):
            local.append(winner.cause)
            continue
        first = winner if winner is not None and first is None else first
        if winner is None or first is None or not _adds(winner, first):
            break
        sentences.append(_said(robot, winner, evidence.step))
        candidates = [own for own in candidates if not own.same(winner.cause)]
        grams.fitted = np.union1d(grams.fitted, winner.cause.columns)
    if not sentences and (told := pattern(robot, tables)) is not None:
        sentences.append(told)
    return sentences


def _unsteady(runs: Sequence[Run]) -> list[str]:
    """Sentences on causes that act in a part of what was recorded, one for each recording."""
    sentences = []
    for cause in UNSTEADY:
        for sentence, told in cause.told(runs):
            sentences.append(sentence)
            runs = [run for run in runs if run not in told]
    return sentences


def too_slow(samples: Sequence[Samples]) -> str | None:
    """Where accelerations are not those of the motion, every cause that scales them would win."""
    for s in samples:
        rate = 1.0 / float(np.median(np.diff(s.time)))
        found = highest(s.dq, rate)
        if found.max() > COARSE * rate:
            f = float(found.max())
            return (
                f"{s.name}: no cause is looked for in what the model misses: motion at up to {f:.2g} Hz at a sampling rate of "
                f"{rate:.3g} Hz has accelerations that come out at {kept(f, rate):.2g} of theirs, and what they make is missing"
            )
    return None


def too_noisy(samples: Sequence[Samples]) -> str | None:
    """Where accelerations are noise of the rates to a large part, every cause that scales them would win."""
    for s in samples:
        if s.noise is None or s.noise[1] is None or s.derived:
            continue
        again = s.disturbed(np.random.default_rng(0))
        share = (again.ddq - s.ddq).var(axis=0) / np.maximum(s.ddq.var(axis=0), np.finfo(float).tiny)
        by_positions = np.gradient(np.gradient(again.q - s.q, axis=0), axis=0) * s.rate**2
        j = int(share.argmax())
        if share[j] > NOISY:
            better = by_positions[:, j].var() < 0.5 * share[j] * s.ddq[:, j].var()
            way = (
                f"{arg.rates('positions')} takes them from the positions, which tell more"
                if better
                else f"choose a lower {arg.cutoff}"
            )
            return (
                f"{s.name}: no cause is looked for in what the model misses: of the accelerations of joint {s.joints[j]} "
                f"{100.0 * min(share[j], 1.0):.0f} % are, in squares, noise of its rates. {way}"
            )
    return None


def _of_some_positions(tables: Sequence[Table], grams: Grams, winner: Winner, judged: Sequence[int]) -> bool:
    """Whether the cause does not hold on other positions than those that tell it."""
    if winner.cause.cause.of_bodies:
        return False
    return raised(tables, grams, winner.cause, winner.joints, judged)[0] > WORSE


def _adds(winner: Winner, first: Winner) -> bool:
    """Whether a cause explains more than what the first one's columns, which are linear, leave of it."""
    return any(winner.before[j] - winner.after[j] > ADDED * (first.before[j] - first.after[j]) for j in winner.joints)


def _said(robot: Robot, winner: Winner, step: float) -> str:
    own = winner.cause
    worst = max(winner.joints, key=lambda j: winner.before[j] / winner.after[j])
    facts = robot.manifest.robot.joints
    unit = facts[worst].effort_unit
    figures = (
        f"cross-validated RMS at {robot.joints[worst]} {winner.before[worst]:.3g} {unit} without it, "
        f"{winner.after[worst]:.3g} with it"
    )
    if winner.rival is not None:
        figures += f"; next best, {winner.rival.cause.word}{winner.rival.at()}, {winner.beside[worst]:.3g}"
    if own.cause.of_bodies:
        figures += "; not tested on other positions"
    found = Found(own, winner.figure, not own.joint or facts[robot.joints.index(own.joint)].turns, step)
    who = f"joint {own.joint}" if own.joint else "the robot"
    where = "" if own.joint else f" It shows at {listing([robot.joints[j] for j in winner.joints])}."
    return (
        f"{who} reads as if {own.cause.sentence(found)} ({figures}). It is not fitted and biases the parameters that "
        f"are.{where} {own.cause.remedy(found)}"
    )
