"""Friction in alpha: its kinds, and conditions for passivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.parameter_rules import ASYMMETRIES, mean_of

__all__ = [
    "ASYMMETRIES", "COULOMB", "DEFLECTION", "KINDS", "LAWS", "VELOCITY", "VELOCITY_START", "WAY", "mean_of", "refuse_memory",
    "turned",
]  # fmt: skip

COULOMB: Final = ("friction.coulomb", "friction.coulomb_asymmetry", "friction.stribeck")
"""Kinds of alpha whose sum bounds static friction; a robot has the last two if its friction law has them."""
KINDS: Final = (*COULOMB, *ASYMMETRIES.values(), *ASYMMETRIES)
"""All kinds that must be zero for no friction; velocities only shape it."""
VELOCITY: Final = "friction.stribeck_velocity"
VELOCITY_START: Final = 0.1
"""[rad/s or m/s] Its default."""
WAY: Final = "friction.way"
DEFLECTION: Final = "friction.deflection"
"""Friction with memory: the displacement over which it changes after a reversal, and its state between -1 and 1."""
LAWS: Final[Mapping[str, tuple[str, ...]]] = {
    "asymmetric": tuple(ASYMMETRIES), "stribeck": ("friction.stribeck", VELOCITY), "dahl": (WAY, DEFLECTION),
}  # fmt: skip
"""Further kinds of each friction law, by its name in `generate --friction-law`."""


def refuse_memory(names: Sequence[str], what: str, instead: str) -> None:
    """InputError if alpha has a friction state, which `what` does not carry from step to step."""
    joints = [name.removeprefix(f"{DEFLECTION}.") for name in names if name.startswith(f"{DEFLECTION}.")]
    if joints:
        raise InputError(
            f"{what}: friction of {', '.join(joints)} has memory (generated with --friction-law dahl), which is not carried on "
            f"here; {instead}."
        )


def turned(p: FloatArray, ways: Sequence[float] | FloatArray) -> FloatArray:
    """The state (samples, ways) [1] of Dahl's friction of a joint with positions p (samples,): it turns to the sign of the rate
    over a way [rad or m]; it begins between both."""
    moved, state = np.diff(p), np.zeros((len(p), len(ways)))
    side, path = np.sign(moved), np.concatenate([[0.0], np.cumsum(np.abs(moved))])
    turns = np.flatnonzero(np.diff(side)) + 1
    for a, b in zip([0, *turns.tolist()], [*turns.tolist(), len(moved)], strict=True):  # between reversals
        faded = np.exp(-(path[a + 1 : b + 1, None] - path[a]) / np.asarray(ways))
        state[a + 1 : b + 1] = side[a] + (state[a] - side[a]) * faded
    return state
