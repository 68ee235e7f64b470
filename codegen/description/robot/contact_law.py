"""The numbers of a contact's law, each declared once: key of `[[contact]]`, check, entry of alpha, words of `check`.

A number that is added here gets all of that. If it is in `IN_CONE` it also stands in the block `contact_law` of the kernels,
whose formula `joint_space/contact/cones.py` (`contact_pair`) gives it a meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Final


@dataclass(frozen=True)
class Number:
    """Unit, bounds, and how a refusal calls it; `none` is the value by which a contact has no such number, nor an entry."""

    unit: str
    least: float
    most: float
    words: str = ""
    none: float | None = 0.0

    def given(self, value: float | None) -> bool:
        """Whether that value says one."""
        return value is not None and value != self.none


def _number(default: float | None, *facts: Any) -> Any:
    return field(default=default, metadata={"number": Number(*facts)})


@dataclass(frozen=True, kw_only=True)
class ContactLaw:
    """Law of contact of a surface: `friction` [1] (0 is frictionless; of a contact that touches something it must be said),
    `restitution` [1] (None: it does not bounce), and the levers `torsional` and `rolling` [m], which times the normal force are
    the largest torques of friction about and across the normal.

    A cone of a smaller friction would be a line to the solver, of a larger one a half-space; a longer lever is no foot's.
    """

    friction: float | None = _number(None, "1", 1e-3, 10.0, "a coefficient ")
    restitution: float | None = _number(None, "1", 0.0, 1.0, "a share of the rate ", None)
    torsional: float = _number(0.0, "m", 1e-6, 10.0)
    rolling: float = _number(0.0, "m", 1e-6, 10.0)


NUMBERS: Final[dict[str, Number]] = {f.name: f.metadata["number"] for f in fields(ContactLaw)}
LEVERS: Final = ("torsional", "rolling")
"""Friction against turning about the normal and across it."""
OF_ALL: Final = {"load": ("N", 10.0, 1e-6), "compliance": ("m/N", 0.0, 0.0)}
"""Unit, default and lower bound of what every contact has in alpha, without a key. The load is the normal force that the
smoothing is scaled by: a hand on a table; without any there is no smoothing, and what it smooths has no slope at rest."""
IN_CONE: Final = ("friction", "compliance", "load", "slip")
"""Numbers of a contact's cone, in the order of the block `contact_law`; the slip is that of all contacts. Levers, where any
contact has one, stand behind them."""


def given(law: ContactLaw) -> dict[str, float]:
    """The numbers that a law says."""
    return {name: getattr(law, name) for name, number in NUMBERS.items() if number.given(getattr(law, name))}


def law_faults(law: ContactLaw) -> Iterator[str]:
    """Errors of a law."""
    for name, value in given(law).items():
        number = NUMBERS[name]
        unit, none = number.unit.removeprefix("1"), "" if number.none is None else ", or 0 for none"
        space = f" {unit}" if unit else ""
        if not number.least <= value <= number.most:
            bounds = f"from {number.least:g} to {number.most:g}{space}"
            yield f"{name} {value:g}{space}: {number.words}{bounds} is expected{none}"
        elif name in LEVERS and not law.friction:
            yield f"{name} {value:g} m without friction: what turns against friction slides against it too; give `friction`"


def law_words(law: ContactLaw) -> str:
    """Warnings of `check` about a law."""
    said = [f"{name} {value:g}{f' {NUMBERS[name].unit}'.removesuffix(' 1')}" for name, value in given(law).items()]
    return ", ".join(said if law.friction else ["no friction", *said])
