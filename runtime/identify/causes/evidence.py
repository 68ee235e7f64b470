"""What recordings hold for and against a fit: tables of all columns that a cause may act through, and their Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.catalogue import MISSING
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.causes.motion import Reach
from diffpbd.runtime.causes.run import Table
from diffpbd.runtime.identify.causes.competition import Grams, condensed
from diffpbd.runtime.identify.causes.tables import motion_of, tabulated
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, Point
from diffpbd.runtime.identify.torque.solving import NOISE_FLOOR
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["Evidence", "gathered", "noisier"]

MOST: Final = 12000
"""[1] Samples that are looked at in all: ten minutes of an arm's motion at 20 Hz."""
AGAIN: Final = 2
"""[1] How often noise is added."""


@dataclass(frozen=True)
class Evidence:
    """Tables of the recordings (`count` samples in all before they were thinned, `step` [s] apart), causes that are not fitted,
    and the Gram matrices of all columns; the first are those of `phi`, of these the first `bodies` of links."""

    tables: tuple[Table, ...]
    candidates: tuple[Candidate, ...]
    grams: Grams
    count: int
    step: float
    joints: tuple[str, ...]
    phi: FloatArray
    bodies: int

    @cached_property
    def parts(self) -> FloatArray:
        """Deviation (n,) of the torque of the links' columns, as part of the measured one's."""
        rigid = np.concatenate([t.columns[..., : self.bodies] @ self.phi[: self.bodies] for t in self.tables])
        read = np.concatenate([t.predicted + t.residual for t in self.tables])
        return np.asarray(rigid.std(axis=0) / np.maximum(read.std(axis=0), np.finfo(float).tiny), dtype=np.float64)

    def carried(self, own: Candidate) -> float:
        """That part at the candidate's joint."""
        return float(self.parts[self.joints.index(own.joint)]) if own.joint else 1.0

    def possible(self, own: Candidate, figure: float) -> bool:
        """Whether the candidate can have this figure."""
        return own.cause.possible(figure, self.carried(own))


def noisier(
    robot: Robot, samples: Sequence[Samples], point: Point, names: Sequence[str], found: Evidence
) -> list[Evidence]:
    """The same of recordings with as much noise again in what they say of the motion, several times; joints weigh as before."""
    if all(s.noise is None for s in samples):
        return []
    again = []
    for seed in range(AGAIN):
        rng = np.random.default_rng(seed)
        own = gathered(robot, [s.disturbed(rng) for s in samples], point, names)
        own.grams.weight = found.grams.weight
        again.append(own)
    return again


def gathered(robot: Robot, samples: Sequence[Samples], point: Point, names: Sequence[str]) -> Evidence:
    """Of a fit of `names` at a point."""
    own = [(tabulated(robot, s, point, max(1, MOST // len(samples))), 1.0 / s.rate) for s in samples]
    own = [(table, step) for table, step in own if len(table.residual)]
    reach = Reach.of([table.samples for table, _ in own])
    motions = [motion_of(robot, table, point, step, reach) for table, step in own]
    candidates, blocks = list[Candidate](), [[table.columns] for table, _ in own]
    end = len(point.phi)
    tried = [(own, at, size) for own in MISSING for at in own.places(robot, names) for size in own.sizes]
    for cause, (joint, name), size in tried:
        more = [cause.columns(m, joint, size) for m in motions]
        width = more[0].shape[-1]
        columns = (*range(end, end + width), *cause.own_columns(motions[0], joint))
        candidates.append(Candidate(cause, joint, name, columns, size))
        for block, part in zip(blocks, more, strict=True):
            block.append(part)
        end += width
    wider = [
        replace(table, columns=np.concatenate(block, axis=-1)) for (table, _), block in zip(own, blocks, strict=True)
    ]
    torque = np.sqrt(np.concatenate([(t.predicted + t.residual) ** 2 for t in wider]).mean(axis=0))
    floor = np.maximum(NOISE_FLOOR * torque, np.finfo(float).tiny)
    grams = condensed(wider, np.flatnonzero(point.varying), floor)
    count, bodies = sum(len(s) for s in samples), LINK_COLUMNS * len(robot.links)
    step = 1.0 / samples[0].rate
    return Evidence(tuple(wider), tuple(candidates), grams, count, step, robot.joints, point.phi, bodies)
