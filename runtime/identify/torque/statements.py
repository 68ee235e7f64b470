"""Prior knowledge of the links: their total mass, and planes of symmetry.

A plane of symmetry through a link's origin makes one coordinate of its COM and two products of inertia zero; these entries of
alpha are then held and no longer fitted. A total mass is an equation between the masses that are fitted. One that is known to
`spread` is weighed against what the recordings say of it, by the long-run deviation that these leave.

A statement that recordings contradict moves what these determine alone. It is doubted where something moves by more than
chance allows (Hausman's argument: where the statement is true the difference varies no more than the fit without it does).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from scipy.stats import chi2, norm

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.identify.columns.bodies import AXES
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.result.statistics import Determined, by_rows
from diffpbd.runtime.identify.settings.selection import Selection, Total
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.identify.torque.fitting import Fitted, fit_rounds
from diffpbd.runtime.identify.torque.linear import Linear, null
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.identify.torque.torque_statistics import INVOLVED, deviations_of, pulled
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.inertia import pseudo_inertia_from_linear
from diffpbd.runtime.model.robot import Robot

__all__ = ["Bare", "applied", "doubts", "refused_here", "stated"]

PLANES: Final = {"xy": "z", "xz": "y", "yz": "x"}
"""Planes of symmetry of a link's frame, and the axis normal to each."""
LEVEL: Final = 0.001
"""[1] Significance level for doubting a statement."""
CLOSE: Final = 1e-3
"""[1] Part of a total mass that noise-free recordings may be off: their differences are no exact derivatives."""
WORD: Final = arg.total_mass
CONTRADICTED: Final = "the recordings contradict"


def refused_here(settings: Settings, what: str) -> None:
    """InputError where a fit of `what` is asked for beside a statement on masses, which it does not know of."""
    for word, given in ((WORD, settings.total_mass is not None), (arg.symmetric, bool(settings.symmetric))):
        if given:
            raise InputError(f"{word} belongs to a fit of torques, found {arg.fit} {what}.")


def stated(
    robot: Robot, selection: Selection, base: FloatArray, settings: Settings
) -> tuple[Selection, FloatArray]:  # fmt: skip
    """The selection and base with what `settings` state."""
    for words in dict.fromkeys(settings.symmetric):
        selection, base = _symmetric(robot, selection, base, words)
    if settings.total_mass is None:
        return selection, base
    entries = [f"mass.{link}" for link in robot.links]
    fitted = tuple(name for name in entries if name in selection.names)
    if not fitted:
        raise InputError(
            f"{WORD}: no mass of a link is fitted, so nothing could follow from it. Name inertials in {arg.fit}, or leave it "
            "out."
        )
    rest = float(sum(base[robot.alpha.index(name)] for name in entries if name not in fitted))
    if rest >= settings.total_mass:
        others = [name.removeprefix("mass.") for name in entries if name not in fitted]
        raise InputError(
            f"{WORD}: expected more than the {rest:.6g} kg of links whose masses are not fitted ({listing(others)}), "
            f"found {settings.total_mass:.6g} kg."
        )
    total = Total(fitted, rest, settings.total_mass, settings.total_mass_sigma)
    return replace(selection, total=total), base


def _symmetric(robot: Robot, selection: Selection, base: FloatArray, words: str) -> tuple[Selection, FloatArray]:
    link, _, plane = words.rpartition(":")
    if plane not in PLANES or not link:
        raise InputError(
            f"{arg.symmetric}: expected LINK:PLANE with plane {', '.join(PLANES)} of the link's frame, found {words!r}."
        )
    if link not in robot.links:
        raise InputError(f"{arg.symmetric} {words}: {_no_link(robot, link)}")
    normal = PLANES[plane]
    entries = [f"com.{link}.{normal}"]
    entries += [f"inertia.{link}.{''.join(sorted((normal, other)))}" for other in AXES if other != normal]
    if not any(name in selection.names or name in selection.held for name in entries):
        raise InputError(
            f"{arg.symmetric} {words}: none of {listing(entries)} is fitted. Name inertials, com.{link} or inertia.{link} in "
            f"{arg.fit}, or leave it out."
        )
    base, held = base.copy(), dict(selection.held)
    for name in entries:
        if name in selection.held:
            continue
        at = robot.alpha.index(name) if name in robot.alpha.names else None
        if at is None or (name not in selection.names and base[at] != 0.0):
            value = "a number in the generated code" if at is None else f"held at {base[at]:.6g}"
            raise InputError(
                f"{arg.symmetric} {words}: {name} is not fitted but {value}, so the link is not symmetric. Fit it too."
            )
        if name in selection.names:
            held[name] = float(base[at])
            base[at] = 0.0
    names = tuple(name for name in selection.names if name not in held)
    note = f"{_whole(robot, [link])} is held symmetric about the {plane} plane of its frame"
    told = (*selection.notes, note), (*selection.planes, words)
    return replace(selection, names=names, held=held, notes=told[0], planes=told[1]), base


def _no_link(robot: Robot, link: str) -> str:
    """Why no moving link has this name."""
    facts = robot.manifest.robot
    for own in facts.links:
        if link in own.merged:
            return f"{link} is rigidly part of {own.name}. If all of {own.name} is symmetric: {arg.symmetric} {own.name}:PLANE."
    if link == facts.base:
        return f"{link} is the base, which stands; no torque depends on its inertia."
    return f"{robot.name} has no link {link!r}. {hint(link, robot.links)}"


def _whole(robot: Robot, names: Sequence[str]) -> str:
    """Links with what is rigidly part of each."""
    merged = {own.name: own.merged for own in robot.manifest.robot.links}
    return listing([f"{n} (with {listing(list(merged[n]))})" if merged.get(n) else n for n in names])


@dataclass(frozen=True)
class Bare:
    """A fit, and the optimum of the recordings alone beside it: without the prior, within the same equations."""

    fitted: Fitted

    @cached_property
    def linear(self) -> Linear:
        """Coordinates at the solution."""
        return Linear(self.fitted.problem, self.fitted.x, ())

    @cached_property
    def within(self) -> tuple[FloatArray, Determined]:
        """Moves (y, k) within its equations, and what the recordings determine of them."""
        Z = null(self.linear.equal, self.linear.places(self.fitted.problem.pinned))
        return Z, by_rows(self.linear.J @ Z)

    @cached_property
    def step(self) -> FloatArray:
        """How the coordinates (y,) move to that optimum, as far as bodies stay physical on the way; not at all where a physical
        limit holds one."""
        x, problem = self.fitted.x, self.fitted.problem
        if any(body.limited(x) for body in self.fitted.unknowns.bodies):
            return np.zeros(len(self.linear.scale))
        Z, found = self.within
        phi = self.fitted.unknowns.phi_at(x)
        pull = sum(pulled(problem, phi, d) for d in self.fitted.designs)
        step = np.asarray(Z @ found.inverse @ (Z.T @ (self.linear.effect.T @ pull)), dtype=np.float64)
        moved = self.linear.effect @ step
        return step * min((_reach(phi[b.columns], moved[b.columns]) for b in self.fitted.unknowns.bodies), default=1.0)

    @cached_property
    def phi(self) -> FloatArray:
        """Coefficients there."""
        return np.asarray(self.fitted.unknowns.phi_at(self.fitted.x) + self.linear.effect @ self.step, dtype=np.float64)

    def total(self, total: Total) -> tuple[float, float] | None:
        """Sum of the masses and its deviation [kg]; None where the recordings do not determine it."""
        names, (Z, found) = self.fitted.unknowns.names, self.within
        row = np.asarray(sum(self.linear.D[names.index(name)] for name in total.entries), dtype=np.float64)
        reach, lost = float(np.linalg.norm(row @ Z)), float(np.linalg.norm(row @ Z @ found.undetermined))
        held = any(row[k] != 0.0 for k in self.linear.places(self.fitted.problem.pinned))
        if held or reach == 0.0 or lost > INVOLVED * reach:
            return None
        moving = self.linear.effect @ (row @ Z @ found.inverse @ Z.T)
        values = self.fitted.unknowns.values_at(self.fitted.x)
        found_mass = total.rest + sum(values[name] for name in total.entries) + float(row @ self.step)
        return found_mass, self.spread(moving)

    def spread(self, moving: FloatArray) -> float:
        """Deviation of what moves by `moving` (φ,) with the gradient."""
        return float(deviations_of(self.fitted.problem, self.phi, moving[:, None], self.fitted.designs)[0][0])


def _reach(body: FloatArray, move: FloatArray) -> float:
    """Share of a move of a body's coefficients (10,), at most 1, on which its pseudo-inertia stays positive definite."""
    root = np.linalg.inv(np.linalg.cholesky(pseudo_inertia_from_linear(body)))
    least = float(np.linalg.eigvalsh(root @ pseudo_inertia_from_linear(move) @ root.T)[0])
    return min(1.0, -1.0 / least) if least < 0.0 else 1.0


def applied(
    question: Question, train: Sequence[Samples], say: Callable[[str], None]
) -> tuple[Question, Bare | None]:  # fmt: skip
    """The question with the total mass as scale and recordings together have it, and the fit without statements; none where
    nothing is stated."""
    selection = question.selection
    if selection.total is None and not selection.held:
        return question, None
    say("Fitting without what is stated of masses")
    free = Bare(fit_rounds(_freed(question), train))
    if selection.total is None:
        return question, free
    total, note = _together(question.robot, selection.total, free)
    return replace(question, selection=replace(selection, total=total, notes=(*selection.notes, note))), free


def _freed(question: Question) -> Question:
    """The question without statements."""
    alpha, selection, base = question.robot.alpha, question.selection, question.base.copy()
    names = {*selection.names, *selection.held}
    ordered = (*(n for n in alpha.names if n in names), *(n for n in selection.names if n not in alpha.names))
    for name, value in selection.held.items():
        base[alpha.index(name)] = value
    return replace(question, selection=replace(selection, names=ordered, held={}, planes=(), total=None), base=base)


def _together(robot: Robot, total: Total, free: Bare) -> tuple[Total, str]:
    """The total mass, and a sentence on it and on what it is the sum of."""
    base = robot.manifest.robot.base
    apart = "" if base in robot.links else f"; the base {base}, which stands, is not part of it"
    links = _whole(robot, [name.removeprefix("mass.") for name in total.entries])
    given = f" and {total.rest:.6g} kg of links that are not fitted" if total.rest else ""
    what = f"{WORD}: the mass of {links}{given}{apart}"
    known = f"{total.value:.6g}" + (f" ± {total.spread:.2g}" if total.spread else "") + " kg"
    told = free.total(total)
    if told is None:
        return total, f"{what}: {known}; the recordings alone do not determine it"
    alone, std = told
    said = f"{what}: {known}; by the recordings alone {alone:.6g} ± {std:.2g} kg"
    beyond = abs(alone - total.value) / max(float(np.hypot(std, total.spread)), np.finfo(float).tiny)
    clean = not free.fitted.noisy and abs(alone - total.value) < CLOSE * total.value
    if beyond > float(norm.isf(LEVEL / 2.0)) and not clean:
        said = f"{CONTRADICTED} {WORD}, by {beyond:.3g} standard deviations. {said}"
    if not total.spread:
        return total, said
    share = std**2 / (std**2 + total.spread**2)
    value, spread = alone + share * (total.value - alone), float(np.sqrt(share)) * total.spread
    return replace(total, value=value, spread=spread), f"{said}; together {value:.6g} ± {spread:.2g} kg"


def doubts(free: Bare, fitted: Fitted, train: Sequence[Samples]) -> Iterator[str]:
    """Sentences on statements that the recordings contradict; of a total mass only where they do not determine it, which
    otherwise is said with it."""
    question = fitted.question
    selection = question.selection
    if (found := _apart(free, fitted)) is None:
        return
    told = selection.total is not None and free.total(selection.total) is not None
    words = [f"{arg.symmetric} {plane}" for plane in selection.planes]
    words += [str(WORD)] if selection.total and not told else []
    if len(words) == 1 and (selection.total is None or not told):
        yield f"{CONTRADICTED} {words[0]}, {found}"
        return
    for word in words:
        alone = _freed(question)
        if word == str(WORD):
            alone = replace(alone, selection=replace(alone.selection, total=selection.total))
        else:
            own, base = _symmetric(question.robot, alone.selection, alone.base, word.split(" ")[1])
            alone = replace(alone, selection=own, base=base)
        if (by_itself := _apart(free, fit_rounds(alone, train))) is not None:
            yield f"{CONTRADICTED} {word}, {by_itself}"


def _apart(free: Bare, fitted: Fitted) -> str | None:
    """By how many deviations a fit with statements is apart from that without, in words; None if by no more than chance.

    Along the step d that the statements make, the rise dᵀHd of half the squares has the deviation of the gradient along d; for
    one equation their ratio is Wald's."""
    held = Bare(fitted)
    if not (free.fitted.noisy or fitted.noisy):
        return None
    step = held.phi - free.phi
    rise = float(step @ sum(_squares(free.fitted, step, d) for d in free.fitted.designs))
    beyond = rise / max(free.spread(step), np.finfo(float).tiny)
    count = max(1, free.within[1].rank - held.within[1].rank)
    if beyond**2 <= float(chi2.isf(LEVEL, count)):
        return None
    before, after = (own.fitted.problem.rms(own.fitted.x) for own in (free, held))
    j = int(np.argmax(after / np.maximum(before, free.fitted.floor)))
    joint = fitted.question.robot.joints[j]
    return (
        f"by {beyond:.3g} standard deviations ({np.sqrt(chi2.isf(LEVEL, count)):.2g} allowed): the residual of {joint} rises "
        f"from {before[j]:.4g} to {after[j]:.4g}"
    )


def _squares(fitted: Fitted, step: FloatArray, design: Design) -> FloatArray:
    """Weighted normal matrix of a recording times a step (φ,)."""
    found = np.zeros(len(step))
    for j, (columns, matrix) in enumerate(zip(design.columns, design.matrices, strict=True)):
        torque = matrix @ step[columns]
        weight = 1.0 if design.weights is None else design.weights[:, j]
        found[columns] += fitted.problem.weight[j] ** 2 * (matrix.T @ (weight * torque))
    return found
