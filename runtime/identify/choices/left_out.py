"""Cross-validation of friction laws for a joint: errors on parts of the recordings that are left out.

Joint by joint the torque that the plain fit's bodies leave is explained by the joint's own columns and by what other laws add
to them, on all parts of the recordings but one, and judged on that one. A law with more numbers has to lower the error by more
than chance does, and by a margin.

Recordings are mostly of one kind of motion, where a law can stand for what is no friction: a spring's torque over the positions
looks like asymmetry where positions and directions go together. So a third of the positions of every joint is left out too, in
whichever recording. A law that raises the error on any such third is not the joint's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import lsq_linear
from scipy.stats import t as student

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.torque.solving import Question

__all__ = [
    "CHANCE", "TOO_LITTLE", "WORSE", "WORTH", "Parts", "better", "change", "parts_of", "solved", "triangle", "wanted"
]  # fmt: skip

PARTS = 6
"""[1] Parts of the recordings that are left out in turn, at least: fewer recordings are cut."""
CHANCE = 0.01
"""[1] Significance level for choosing a law with more numbers (one-sided t-test over the parts)."""
WORTH = 0.03
"""[1] Part of the error that it has to take away at least: recordings of one kind of motion cannot tell what a law is worth in
another. One that was worth 2.3 % on a physical arm's was worth −1.8 to 3.4 % on five other kinds."""
KINDS_OF_MOTION = 3
"""[1] Parts of the samples by the position of each joint, that are left out in turn too."""
WORSE = 0.01
"""[1] Largest increase of the error by a law on one of these: about the noise if it has no effect there."""
TOO_LITTLE = "plain; it hardly moves, or too little was recorded to tell"

Fit: TypeAlias = Callable[[FloatArray], tuple[FloatArray, float]]
"""From a triangle to the coefficients of its columns by a law, −1 last, and the law's own number."""


@dataclass(frozen=True)
class Parts:
    """Triangles of [own columns, what other laws add, torque] of every part, how many rows each has, and `kinds`, triangles of
    the same by thirds of each joint's positions."""

    triangles: Sequence[FloatArray]
    rows: FloatArray
    kinds: Mapping[str, Sequence[FloatArray]]

    @property
    def whole(self) -> FloatArray:
        """The triangle of all parts."""
        return triangle(np.vstack(self.triangles))

    def scores(self, fit: Fit) -> FloatArray:
        """Logarithms of the RMS errors on each part by the fit to the others."""
        errors = np.array(_left(self.triangles, fit)) / np.sqrt(self.rows)
        return np.asarray(np.log(np.maximum(errors, np.finfo(float).tiny)), dtype=np.float64)

    def raised(self, fit: Fit, plain: Fit) -> tuple[float, str]:
        """By how much a law raises the error on the kind of motion that it does so most on [1], and the joint of that kind."""
        worst = (-1.0, "")
        for joint, parts in self.kinds.items():
            for longer, before in zip(_left(parts, fit), _left(parts, plain), strict=True):
                worst = max(worst, (longer / max(before, np.finfo(float).tiny) - 1.0, joint))
        return worst


def _left(parts: Sequence[FloatArray], fit: Fit) -> list[float]:
    """What the fit to the others leaves of each part."""
    others = (triangle(np.vstack([*parts[:k], *parts[k + 1 :]])) for k in range(len(parts)))
    return [float(np.linalg.norm(own @ fit(other)[0])) for own, other in zip(parts, others, strict=True)]


def wanted(question: Question, model: str) -> list[str]:
    """The joints whose friction is fitted; an InputError for `model` if there is none."""
    joints = [j for j in question.robot.joints if f"friction.coulomb.{j}" in question.selection.names]
    if not joints:
        raise InputError(
            f"{arg.friction_model(model)}: {arg.fit} names no Coulomb friction; for example {arg.fit} friction."
        )
    return joints


def parts_of(
    question: Question, designs: Sequence[Design], phi: FloatArray, j: int, columns: npt.NDArray[np.intp],
    more: Callable[[Design], FloatArray],
) -> Parts | None:  # fmt: skip
    """Of joint j with its own `columns` and `more` of every recording, the rest explained by `phi`; None where the parts are
    too few."""
    blocks, triangles, rows = [], [], []
    for d in designs:
        mine, added = np.isin(d.columns[j], columns), more(d)
        block = np.zeros((len(d.targets), columns.size + added.shape[1] + 1))
        block[:, np.searchsorted(columns, d.columns[j][mine])] = d.matrices[j][:, mine]
        block[:, columns.size : -1] = added
        block[:, -1] = d.targets[:, j] - d.matrices[j][:, ~mine] @ phi[d.columns[j][~mine]]
        weight = np.ones(len(block)) if d.weights is None else d.weights[:, j]
        block *= np.sqrt(weight[:, None])
        blocks.append(block)
        for part in np.array_split(np.arange(len(block)), -(-PARTS // len(designs))):
            part = part[weight[part] > 0.0]
            if len(part) > block.shape[1]:
                triangles.append(triangle(block[part]))
                rows.append(float(weight[part].sum()))
    if len(triangles) < PARTS:
        return None
    return Parts(triangles, np.array(rows), dict(_by_position(question.robot.joints, designs, np.vstack(blocks))))


def _by_position(
    joints: Sequence[str], designs: Sequence[Design], block: FloatArray
) -> Iterator[tuple[str, list[FloatArray]]]:
    """Of joints that tell kinds of motion apart, the triangles of rows by thirds of its positions."""
    q = np.vstack([d.samples.trimmed(d.samples.q) for d in designs])
    for joint, own in zip(joints, q.T, strict=True):
        third = np.searchsorted(np.quantile(own, np.arange(1, KINDS_OF_MOTION) / KINDS_OF_MOTION), own)
        parts = [block[third == k] for k in range(KINDS_OF_MOTION)]
        if min(int(part.any(axis=1).sum()) for part in parts) > block.shape[1]:
            yield joint, [triangle(part) for part in parts]


def solved(triangle: FloatArray, columns: FloatArray, least: FloatArray) -> FloatArray:
    """Bounded least squares, as coefficients of the triangle's columns with −1 for what is explained."""
    A, y = triangle @ columns, triangle[:, -1]
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    x = lsq_linear(A / size, y, (least, np.inf), method="bvls").x / size
    found = np.asarray(columns @ x, dtype=np.float64)
    found[-1] = -1.0
    return found


def triangle(rows: FloatArray) -> FloatArray:
    """Rows condensed to as many as columns, of the same norm along every combination."""
    return np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)


def better(score: FloatArray, than: FloatArray) -> bool:
    """Whether logarithms of errors are lower by `WORTH`, and by more than chance makes them."""
    lower = score - than
    error = lower.std(ddof=1) / np.sqrt(len(lower))
    return bool(lower.mean() <= min(np.log1p(-WORTH), -float(student.ppf(1.0 - CHANCE, len(lower) - 1)) * error))


def change(score: FloatArray, than: FloatArray) -> str:
    """The mean change of the errors with its deviation, in words, by their logarithms."""
    by = score - than
    return f"{100.0 * np.expm1(by.mean()):+.2g} ± {100.0 * by.std(ddof=1) / np.sqrt(len(by)):.2g} %"
