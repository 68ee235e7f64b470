"""A load that is taken up or set down."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.run import SPLITS, Run, Unsteady
from diffpbd.runtime.logs.cutting import cut_of

EXPLAINED = 0.5
"""[1] Least part of the squared residual with a constant load that a change of load must explain."""
FEWEST = 50
"""[1] Least samples per column of a load for testing its change: fewer are overfitted."""
MARGIN = 1.0
"""[s] Margin cut before the load change, whose instant is known to a fortieth of the recording."""


class LoadChange(Unsteady):
    """The columns of a load and offsets, and those of the load once more since an instant."""

    kind, order = "load-change", 0

    def of(self, run: Run) -> str | None:
        if run.load is None or len(run.time) < FEWEST * run.load.shape[-1]:
            return None
        weight, own, n = np.sqrt(run.weight), run.load.shape[-1], run.robot.n
        x, y = run.load * weight[:, None], run.table.residual * weight
        x = np.concatenate([x, np.broadcast_to(np.eye(n), (len(y), n, n))], axis=-1)
        parts = [slice(a, b) for a, b in zip(run.edges, run.edges[1:], strict=False)]
        G = np.array([np.einsum("sjk,sjl->kl", x[part], x[part]) for part in parts])
        g = np.array([np.einsum("sjk,sj->k", x[part], y[part]) for part in parts])
        whole, right = G.sum(axis=0), g.sum(axis=0)
        steady, squares = _explained(whole, right), float((y**2).sum())
        found = []
        for k in range(2, SPLITS - 1):
            since, of = G[k:].sum(axis=0), g[k:].sum(axis=0)
            both = np.block([[whole, since[:, :own]], [since[:own], since[:own, :own]]])
            found.append((_explained(both, np.concatenate([right, of[:own]])), run.edges[k]))
        most, at = max(found)
        if not most - steady > EXPLAINED * (squares - steady) > 0.0:
            return None
        cut = cut_of(run.name, run.time[at] - MARGIN, run.time[-1] + MARGIN)
        share = 100.0 * (most - steady) / (squares - steady)
        return (
            f"{run.table.samples.name} reads as if a load were taken up or set down at about {run.time[at] + run.begin:.3g} s "
            f"({share:.0f} % of what is left, in squares, go with it), so no other cause is looked for. Fit its parts "
            f"apart, with payload where it carries: {cut} leaves the first"
        )


def _explained(G: FloatArray, g: FloatArray) -> float:
    """Squares that columns of this Gram matrix, with these products with the residual, explain of it."""
    scale = np.sqrt(np.diag(G))
    scale = np.where(scale > 0.0, scale, 1.0)
    return float((g / scale) @ np.linalg.pinv(G / np.outer(scale, scale), rcond=1e-9, hermitian=True) @ (g / scale))
