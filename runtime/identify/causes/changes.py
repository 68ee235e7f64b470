"""Changes during the recordings: a load picked up or put down, a torque offset that differs between recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.identify.causes.tables import Table
from diffpbd.runtime.logs.cutting import cut_of
from diffpbd.runtime.model.robot import Robot

__all__ = ["changes"]

SPLITS: Final = 40
"""[1] Tried instants of a load change in a recording."""
EXPLAINED: Final = 0.5
"""[1] Least part of the squared residual with a constant load that a change of load must explain."""
FEWEST: Final = 50
"""[1] Least samples per column of a load for testing its change: fewer are overfitted."""
SHARE: Final = 0.3
"""[1] Least part of a residual's variance from the means of the recordings."""
CERTAIN: Final = 6.0
"""[1] And least largest difference of two means over its deviation."""
MARGIN: Final = 1.0
"""[s] Margin cut before the load change, whose instant is known to a fortieth of the recording."""
STRETCHES: Final = 12
"""[1] Parts of a recording whose means give the deviation of its mean."""


def changes(robot: Robot, tables: Sequence[Table], candidates: Sequence[Candidate]) -> list[str]:
    """Sentences on both; if there are any, constant causes are not tested."""
    load = next((cause for cause in candidates if cause.cause.first_alone), None)
    return [*_loads(tables, load), *_zeros(robot, tables)]


def _loads(tables: Sequence[Table], load: Candidate | None) -> Iterator[str]:
    if load is None:
        return
    for table in tables:
        size = np.sqrt((table.residual**2).mean(axis=0))
        weight = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        x, y = table.columns[..., list(load.columns)] * weight[:, None], table.residual * weight
        own = x.shape[-1]
        if len(y) < FEWEST * own:
            continue
        x = np.concatenate(
            [x, np.broadcast_to(np.eye(len(size)), (len(y), len(size), len(size)))], axis=-1
        )  # and offsets
        edges = np.linspace(0, len(y), SPLITS + 1).astype(int)
        parts = [slice(first, last) for first, last in zip(edges, edges[1:], strict=False)]
        G = np.array([np.einsum("sjk,sjl->kl", x[part], x[part]) for part in parts])
        g = np.array([np.einsum("sjk,sj->k", x[part], y[part]) for part in parts])
        whole, right = G.sum(axis=0), g.sum(axis=0)
        steady, squares = _explained(whole, right), float((y**2).sum())
        found = []
        for k in range(2, SPLITS - 1):
            since, of = G[k:].sum(axis=0), g[k:].sum(axis=0)
            both = np.block([[whole, since[:, :own]], [since[:own], since[:own, :own]]])
            found.append((_explained(both, np.concatenate([right, of[:own]])), edges[k]))
        most, at = max(found)
        if most - steady > EXPLAINED * (squares - steady) > 0.0:
            time = table.samples.trimmed(table.samples.time)
            begin = min(float(t.samples.time[0]) for t in tables if t.samples.recording == table.samples.recording)
            cut = cut_of(table.samples.recording, time[at] - begin - MARGIN, time[-1] - begin + MARGIN)
            share = 100.0 * (most - steady) / (squares - steady)
            yield (
                f"{table.samples.name} reads as if a load were taken up or set down at about {time[at]:.3g} s "
                f"({share:.0f} % of what is left, in squares, go with it), so no other cause is looked for. Fit its parts "
                f"apart, with payload where it carries: {cut} leaves the first"
            )


def _explained(G: FloatArray, g: FloatArray) -> float:
    """Squares that columns of this Gram matrix, with these products with the residual, explain of it."""
    scale = np.sqrt(np.diag(G))
    scale = np.where(scale > 0.0, scale, 1.0)
    return float((g / scale) @ np.linalg.pinv(G / np.outer(scale, scale), rcond=1e-9, hermitian=True) @ (g / scale))


def _zeros(robot: Robot, tables: Sequence[Table]) -> Iterator[str]:
    if len(tables) < 2:
        return
    units = [joint.effort_unit for joint in robot.manifest.robot.joints]
    whole = np.concatenate([t.residual for t in tables])
    means = np.array([t.residual.mean(axis=0) for t in tables])
    errors = np.array(
        [np.std([part.mean(axis=0) for part in np.array_split(t.residual, STRETCHES)], axis=0) for t in tables]
    ) / np.sqrt(STRETCHES)
    counts = np.array([len(t.residual) for t in tables])
    between = (counts[:, None] * (means - whole.mean(axis=0)) ** 2).sum(axis=0) / counts.sum()
    for j, joint in enumerate(robot.joints):
        low, high = int(np.argmin(means[:, j])), int(np.argmax(means[:, j]))
        apart, error = means[high, j] - means[low, j], float(np.hypot(errors[low, j], errors[high, j]))
        if between[j] > SHARE * whole[:, j].var() and apart > CERTAIN * error:
            each = listing(
                [f"{m:.3g} {units[j]} in {t.samples.name}" for m, t in zip(means[:, j], tables, strict=True)]
            )
            yield (
                f"joint {joint} reads as if its torque's zero were another one in each recording: what is left is {each} in "
                f"the mean (each ± {errors[:, j].max():.2g}), so no other cause is looked for. Fit the recordings apart, or "
                f"take the means out of them: {arg.shift} tau_{joint}=…"
            )
