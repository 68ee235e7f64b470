"""Friction with memory along a recorded motion: Dahl's law, and which joints have it, told by recordings that are left out.

After a reversal friction changes sign over a presliding displacement s: z' = ṗ/s (1 − z sign ṗ), the torque is Coulomb's
times z (Dahl 1968; LuGre's law where its bristles' damping is in the viscous part). Along a known motion z depends on
s alone, exactly so between samples without a reversal: z approaches ±1 with exp(−|Δp|/s). So z replaces the sign of the rate in
Coulomb's column, and s is chosen from a table: for small s it is Coulomb's law.

A joint has memory if the cross-validated error falls by enough for a longer law (`left_out.py`), and does not rise on any third
of any joint's positions when that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.functions.friction import LAWS, WAY, turned
from diffpbd.runtime.identify.choices.left_out import TOO_LITTLE, WORSE, Parts, better, change, parts_of, solved, wanted
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, Design, coulomb_columns
from diffpbd.runtime.identify.result.result import Estimate, Identification
from diffpbd.runtime.identify.settings.standin import StandIn, generate_with
from diffpbd.runtime.identify.torque.fitting import Fitted
from diffpbd.runtime.identify.torque.solving import Question

__all__ = ["WAYS", "choose", "handed_over"]

WAYS: Final = tuple(float(way) for way in np.geomspace(0.001, 0.25, 13))
"""[rad or m] Tried displacements, a factor of 1.6 apart: published ones of gears are 0.01 to 0.1."""

FINER: Final = (1.6, 1.08)
"""[1] About a chosen way, most and least of the next tables: to one per cent in the end."""


@dataclass(frozen=True)
class _Joint:
    """Parts with [own columns, one of z a way, torque]; `coulomb` and what else brakes are places of own columns."""

    parts: Parts
    ways: tuple[float, ...]
    count: int
    coulomb: int
    braking: Sequence[int]

    def fit(self, whole: FloatArray, memory: bool) -> tuple[FloatArray, float]:
        """Coefficients of the triangle's columns, −1 last, and the way; the best of all ways, with or without memory."""
        best, found = self._by(whole, None), 0.0
        for k, way in enumerate(self.ways if memory else ()):
            own = self._by(whole, k)
            if np.linalg.norm(whole @ own) < np.linalg.norm(whole @ best):
                best, found = own, way
        return best, found

    def _by(self, whole: FloatArray, way: int | None) -> FloatArray:
        kept = np.eye(whole.shape[1])[:, : self.count]
        if way is not None:
            kept[self.coulomb, self.coulomb], kept[self.count + way, self.coulomb] = 0.0, 1.0
        least = np.full(self.count, -np.inf)
        least[list(self.braking)] = 0.0
        return solved(whole, kept, least)


def choose(question: Question, fitted: Fitted, say: Callable[[str], None] = lambda _line: None) -> Question:
    """The question with the displacements of joints with memory, and a sentence per joint on why. `fitted` is the plain fit."""
    robot, selection = question.robot, question.selection
    joints = wanted(question, "dahl")
    if robot.manifest.robot.mimics or robot.manifest.robot.loops:
        raise InputError(
            f"{arg.friction_model('dahl')}: {robot.name} has joints that follow others, whose friction is felt elsewhere."
        )
    say("Choosing joints whose friction has memory")
    phi, ways, notes = fitted.unknowns.phi_at(fitted.x), np.zeros(robot.n), []
    for joint in joints:
        j, unit = robot.joints.index(joint), robot.manifest.robot.joints[robot.joints.index(joint)].unit
        own = _joint(question, fitted.designs, phi, j)
        if own is None:
            notes.append(f"Friction of {joint}: {TOO_LITTLE}")
            continue
        ways[j], text = _judged(own, unit)
        for ratio in FINER if ways[j] else ():
            near = np.geomspace(ways[j] / ratio, ways[j] * ratio, len(WAYS))
            own = _joint(question, fitted.designs, phi, j, near)
            ways[j] = own.fit(own.parts.whole, memory=True)[1] if own else ways[j]
        text = f"with memory over {ways[j]:.2g} {unit}; {text}" if ways[j] else text
        notes.append(f"Friction of {joint}: {text}")
    chosen = replace(selection, notes=(*selection.notes, *notes))
    return replace(question, selection=chosen, presliding=tuple(ways.tolist()))


def handed_over(question: Question, found: Identification) -> Identification:
    """What was found with the ways of all joints, zero where friction is plain, and the command that makes a robot whose step
    takes them."""
    robot = question.robot
    if not question.ways:
        return found
    others = [law for law, names in LAWS.items() if robot.alpha.has(names[0])]
    if others:
        why = f"No step takes this: friction with memory stands alone, and {robot.name} was generated with {', '.join(others)}."
        return replace(found, notes=(*found.notes, why))
    units = dict(zip(robot.joints, (joint.unit for joint in robot.manifest.robot.joints), strict=True))
    ways = tuple(
        Estimate(f"{WAY}.{joint}", question.ways.get(joint, 0.0), None, units[joint])
        for joint in robot.joints
        if f"friction.coulomb.{joint}" in robot.alpha.names
    )
    command = generate_with(robot, isinstance(robot, StandIn) and robot.bodies, "dahl")
    return replace(found, estimates=(*found.estimates, *ways), generate=command)


def _joint(
    question: Question, designs: Sequence[Design], phi: FloatArray, j: int, ways: Sequence[float] | FloatArray = WAYS
) -> _Joint | None:
    """What there is to tell of joint j; None where the parts are too few."""
    robot = question.robot
    at, viscous = coulomb_columns(robot)[j], coulomb_columns(robot, "friction.viscous")[j]
    columns = np.unique(np.concatenate([d.columns[j] for d in designs]))
    columns = columns[columns >= LINK_COLUMNS * len(robot.links)]
    if at not in columns:
        return None
    parts = parts_of(question, designs, phi, j, columns, lambda d: d.samples.smooth(turned(d.samples.q[:, j], ways)))
    if parts is None:
        return None
    coulomb = int(np.searchsorted(columns, at))
    braking = [int(np.searchsorted(columns, k)) for k in (at, viscous) if k in columns]
    return _Joint(parts, tuple(float(way) for way in ways), columns.size, coulomb, braking)


def _judged(own: _Joint, unit: str) -> tuple[float, str]:
    """The way, zero where friction is plain, and the errors in words."""
    parts = own.parts
    fits = [partial(own.fit, memory=memory) for memory in (False, True)]
    plain, dahl = (parts.scores(fit) for fit in fits)
    way = own.fit(parts.whole, memory=True)[1]
    raised, where = parts.raised(fits[1], fits[0])
    said = f"errors on {len(dahl)} parts of the recordings left out in turn change by {change(dahl, plain)}"
    if way == own.ways[-1]:
        return (
            0.0,
            f"plain; memory would be over {way:.2g} {unit} or more, which is another effect than presliding; {said}",
        )
    if way and better(dahl, plain):
        if raised <= WORSE:
            return way, said
        said += f" but by {100.0 * raised:+.2g} % on a third of {where}'s positions left out"
    return 0.0, f"plain; with memory{f' over {way:.2g} {unit}' if way else ''} {said}"
