"""What a model seems to lack: the one cause that wins over all others on recordings left out, with its evidence, or none."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.causes.causes import LOAD, MASSES, STEPS, TILT, Cause, Table
from diffpbd.runtime.identify.causes.changes import changes
from diffpbd.runtime.identify.causes.competition import Grams, Winner, same, won
from diffpbd.runtime.identify.causes.evidence import Evidence
from diffpbd.runtime.identify.causes.kinds_of_motion import OF_BODIES, raised
from diffpbd.runtime.identify.causes.pattern import pattern
from diffpbd.runtime.identify.causes.possible import CARRIED, carried, possible
from diffpbd.runtime.identify.causes.spans import unlike
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
HELD = 0.1
"""[1] Steps that a delay may be beside half a step early."""
ADDED = 0.05
"""[1] What a later cause takes away of a joint's RMS, as part of what the first one does."""

WORDS = {
    "gain": "a sensor gain", "delay": "a delay", "offset": "an offset", "rotor": "a rotor", "spring": "a spring",
    "zero": "an encoder's zero", "scale": "an encoder's scale", TILT: "a tilted base", "memory": "friction with memory",
    "clock": "the clock", STEPS: "steps of a simulation", LOAD: "a load", MASSES: "masses and inertias",
}  # fmt: skip


def missing(robot: Robot, evidence: Evidence, point: Point) -> list[str]:
    """Sentences on causes that are not fitted and win, in the order of what they explain."""
    tables, candidates = evidence.tables, list(evidence.causes)
    if changing := changes(robot, tables, candidates) or unlike(robot, tables, evidence.grams.fitted):
        return changing
    judged = [j for j, joint in enumerate(robot.joints) if joint not in robot.manifest.robot.base_freedoms]
    grams = copy(evidence.grams)
    part = carried(tables, point.phi, evidence.bodies)
    sentences: list[str] = []
    first: Winner | None = None
    local: list[Cause] = []  # causes of some positions alone
    while len(sentences) < ROUNDS:
        winner = won(
            grams, candidates, judged, lambda cause, figure: possible(cause, figure, part, robot.joints),
            lambda cause: not any(same(cause, other) for other in local)
            and (cause.kind != "gain" or bool(part[robot.joints.index(cause.joint)] > CARRIED)),
        )  # fmt: skip
        if winner is not None and _of_some_positions(tables, grams, winner, judged):
            local.append(winner.cause)
            continue
        first = winner if winner is not None and first is None else first
        if winner is None or first is None or not _adds(winner, first):
            break
        sentences.append(_said(robot, winner, evidence.step))
        candidates = [cause for cause in candidates if not same(cause, winner.cause)]
        grams.fitted = np.union1d(grams.fitted, winner.cause.columns)
    if not sentences and (told := pattern(robot, tables)) is not None:
        sentences.append(told)
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
    if winner.cause.kind in OF_BODIES:
        return False
    return raised(tables, grams, winner.cause, winner.joints, judged)[0] > WORSE


def _adds(winner: Winner, first: Winner) -> bool:
    """Whether a cause explains more than what the first one's columns, which are linear, leave of it."""
    return any(winner.before[j] - winner.after[j] > ADDED * (first.before[j] - first.after[j]) for j in winner.joints)


def _said(robot: Robot, winner: Winner, step: float) -> str:
    cause = winner.cause
    worst = max(winner.joints, key=lambda j: winner.before[j] / winner.after[j])
    own = robot.joints[worst]
    unit = robot.manifest.robot.joints[worst].effort_unit
    figures = (
        f"cross-validated RMS at {own} {winner.before[worst]:.3g} {unit} without it, {winner.after[worst]:.3g} with it"
    )
    if winner.rival is not None:
        figures += f"; next best, {_short(winner.rival)}, {winner.beside[worst]:.3g}"
    if cause.kind in OF_BODIES:
        figures += "; not tested on other positions"
    who = f"joint {cause.joint}" if cause.joint else "the robot"
    where = "" if cause.joint else f" It shows at {listing([robot.joints[j] for j in winner.joints])}."
    return (
        f"{who} reads as if {_what(robot, winner, step)} ({figures}). It is not fitted and biases the parameters that "
        f"are.{where} {_cure(cause, winner.figure)}"
    )


def _what(robot: Robot, winner: Winner, step: float) -> str:
    cause, figure = winner.cause, winner.figure
    held = (
        ", half a step early, as a torque is that is held until the next sample"
        if abs(figure / step + 0.5) < HELD
        else ""
    )
    rotary = not cause.joint or robot.manifest.robot.joints[robot.joints.index(cause.joint)].turns
    return {
        "offset": f"its sensor had an offset of {figure:.3g} {'N·m' if rotary else 'N'}",
        "friction": "it had friction",
        "spring": f"it had a spring of {figure:.3g} {'N·m/rad' if rotary else 'N/m'}",
        "rotor": f"it had a rotor of {figure:.3g} {'kg·m²' if rotary else 'kg'}",
        "gain": f"it had a sensor gain of {1.0 + figure:.3g}",
        "delay": f"it had a delay of {1e3 * figure:.3g} ms{held}",
        "zero": f"its encoder's zero were off by {figure:.3g} {'rad' if rotary else 'm'}",
        "scale": f"its encoder's scale were off: its motion {1.0 + figure:.4g} times the recorded one",
        TILT: "its base were tilted, or gravity another",
        "memory": f"its friction turned over {cause.kind.rpartition(' ')[2]} {'rad' if rotary else 'm'} after a reversal",
        "clock": f"its accelerations were {1.0 + figure:.3g} times the recorded ones",
        STEPS: "it were simulated from sample to sample by joint_step, whose rates are those after friction's impulse",
        LOAD: f"it carried {figure:.2g} kg at its tip that the model does not know",
        MASSES: "its masses, centres of mass or inertias were not the description's",
    }[cause.kind.split()[0]]


def _cure(cause: Cause, figure: float) -> str:
    shift = f"{arg.shift} q_{cause.joint}={figure:.4g} corrects the log"
    if cause.name:
        return f"Try {cause.name} in {arg.fit}{f', or {shift}' if cause.kind == 'zero' else ''}"
    return {
        "zero": shift,
        "scale": " ".join(f"{arg.scale} {q}_{cause.joint}={1.0 + figure:.5g}" for q in ("q", "dq"))
        + " corrects the log",
        "memory": "No parameter of friction describes this; expect torque errors after reversals",
        STEPS: f"Simulate it in smaller steps ({arg.h})",
        "clock": f"Look at the clock and the rate of the log ({arg.rate})",
    }[cause.kind.split()[0]]


def _short(cause: Cause) -> str:
    kind = cause.kind.split()[0]
    word = WORDS.get(kind, kind)
    return f"{word} of {cause.joint}" if cause.joint else word
