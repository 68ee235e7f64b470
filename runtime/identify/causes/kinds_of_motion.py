"""Whether a cause that wins on recordings left out holds on other kinds of motion: on each third of each joint's positions.

Recordings are mostly of one kind of motion, in which one effect can stand for another. Causes of bodies are not judged so:
their many columns need all positions to be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.causes.run import Table
from diffpbd.runtime.identify.causes.competition import Grams

__all__ = ["raised"]

KINDS: Final = 3
"""[1] Parts of the samples by the position of each joint, that are left out in turn."""
MOST: Final = 4000
"""[1] Samples that are looked at in all."""


def raised(
    tables: Sequence[Table], grams: Grams, cause: Candidate, helped: Sequence[int], moving: Sequence[int]
) -> tuple[float, int]:
    """By how much [1] a cause beside the fitted columns raises the RMS of the joints that it helps on the third of positions
    where it does so most, and the joint (one of those `moving`) whose positions these are."""
    own = np.union1d(grams.fitted, cause.columns)
    some = slice(None, None, 1 + sum(len(t.residual) for t in tables) // MOST)
    rows = np.concatenate(
        [np.concatenate([t.columns[some][..., own], t.residual[some][..., None]], axis=-1) for t in tables]
    ).transpose(1, 0, 2)
    weights = np.concatenate([t.weights[some] for t in tables]).T
    q = np.concatenate([t.samples.trimmed(t.samples.q)[some] for t in tables])
    fitted, every = np.searchsorted(own, grams.fitted), np.arange(len(own))
    worst = (-1.0, moving[0])
    for joint in moving:
        limits = np.quantile(q[:, joint], np.arange(1, KINDS) / KINDS)
        thirds = [np.searchsorted(limits, q[:, joint]) == k for k in range(KINDS)]
        if min(int(third.sum()) for third in thirds) <= len(own):
            continue
        parts = [(rows[:, third], weights[:, third, None]) for third in thirds]
        squares = np.array([(part * weight).transpose(0, 2, 1) @ part for part, weight in parts])
        small = Grams(squares, np.array([weight.sum(axis=(1, 2)) for _, weight in parts]), fitted, grams.floor)
        small.weight = grams.weight
        before, after = (np.hypot(np.sqrt(small.left(part)), grams.floor) for part in (fitted, every))
        worst = max(worst, (float((after / before)[:, list(helped)].max()) - 1.0, joint))
    return worst
