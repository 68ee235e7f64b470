"""Rules of a vector of alpha, once for Python and the generated C: the faults by name, and rules between entries.

The bounds of single entries are in the manifest. A rule is found by the names of the entries, so a manifest lists none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np

__all__ = ["ASYMMETRIES", "FAULTS", "ROUNDING", "AlphaFault", "Rule", "broken", "mean_of", "rules"]


class AlphaFault(IntEnum):
    """Errors of a vector; the numbers are statuses of `<robot>_alpha_check` in C."""

    NOT_FINITE = 40
    BELOW = 41
    ABOVE = 42
    PUSHES = 43
    NO_RANGE = 44
    NO_BODY = 45


FAULTS: Final[Mapping[AlphaFault, str]] = {
    AlphaFault.NOT_FINITE: "alpha: the entry is not finite",
    AlphaFault.BELOW: "alpha: the entry is below its lower bound",
    AlphaFault.ABOVE: "alpha: the entry is above its upper bound",
    AlphaFault.PUSHES: "alpha: the asymmetry of friction exceeds its mean: friction would push the joint in one direction",
    AlphaFault.NO_RANGE: "alpha: the lower limit of a joint is above its upper limit",
    AlphaFault.NO_BODY: "alpha: a principal moment of inertia is negative, which no body has",
}
"""In words."""
ASYMMETRIES: Final[Mapping[str, str]] = {
    "friction.coulomb_asymmetry": "friction.coulomb",
    "friction.viscous_asymmetry": "friction.viscous",
}
"""Half the difference between both directions, and the mean of both, which bounds it."""
MOMENTS: Final = ("xx", "xy", "xz", "yy", "yz", "zz")
ROUNDING: Final = 1e-9
"""[1] How far a product of moments may be exceeded relative to itself: far above rounding of an inertia that was turned."""


@dataclass(frozen=True)
class Rule:
    """A rule between the entries at these positions; the first names the fault."""

    fault: AlphaFault
    entries: tuple[int, ...]


def mean_of(name: str) -> str | None:
    """The mean that half a difference belongs to; None for any other entry."""
    kind, _, joint = name.rpartition(".")
    return f"{ASYMMETRIES[kind]}.{joint}" if kind in ASYMMETRIES else None


def rules(names: Sequence[str]) -> Iterator[Rule]:
    """The rules between entries of these names, in the order of their first entries."""
    at = {name: k for k, name in enumerate(names)}
    for k, name in enumerate(names):
        mean, kind = mean_of(name), name.rpartition(".")[0]
        if mean is not None:
            yield Rule(AlphaFault.PUSHES, (k, at[mean]))
        elif name.startswith("limit.lower."):
            yield Rule(AlphaFault.NO_RANGE, (k, at[name.replace("limit.lower.", "limit.upper.", 1)]))
        elif name == f"{kind}.xx" and name.startswith(("payload.inertia.", "inertia.")):
            yield Rule(AlphaFault.NO_BODY, tuple(at[f"{kind}.{moment}"] for moment in MOMENTS))


def broken(fault: AlphaFault, found: Any, slack: float = 0.0) -> Any:
    """Which rules of a kind are broken by more than `slack` [unit of the entries]; `found` are the values of their entries, one
    array for each place in `Rule.entries`."""
    if fault is AlphaFault.PUSHES:
        return np.abs(found[0]) > found[1] + slack
    if fault is AlphaFault.NO_RANGE:
        return found[0] > found[1]
    xx, xy, xz, yy, yz, zz = found
    if not (np.any(xy) or np.any(xz) or np.any(yz)):
        return np.zeros(np.shape(xx), bool)  # then the bounds of the entries say it all
    xx, yy, zz = xx + slack, yy + slack, zz + slack
    more = 1.0 + ROUNDING
    pairs = (xy * xy > more * xx * yy) | (xz * xz > more * xx * zz) | (yz * yz > more * yy * zz)
    least = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return pairs | (least < -ROUNDING * xx * yy * zz)
