"""Recordings as tables: columns of the fitted model and what it leaves of the torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.causes.arm.load import Load
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.causes.motion import Layout, Motion, Reach
from diffpbd.runtime.causes.run import Run, Table
from diffpbd.runtime.identify.columns import design
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, Point, columns_of_joint_kind, every_joint
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["motion_of", "runs_of", "tabulated"]

POINTS = 10.0
"""[1] Samples a period of the cut-off that are kept: a filtered recording has no more to say."""


def tabulated(robot: Robot, samples: Samples, point: Point, most: int) -> Table:
    """The model's own columns (φ) at a recording, of at most so many samples."""
    thin = _thinned(samples, most)
    built = design.build(robot, thin, replace(point, varying=np.ones_like(point.varying)))
    columns = np.zeros((len(built.targets), robot.n, len(point.phi)))
    for j, (own, matrix) in enumerate(zip(built.columns, built.matrices, strict=True)):
        columns[:, j, own] = matrix
    residual = built.residual(point.phi)
    weights = np.ones_like(residual) if built.weights is None else built.weights
    return Table(columns, residual, built.targets - residual, weights, point.outer.moved(built.samples))


def motion_of(robot: Robot, table: Table, point: Point, step: float, reach: Reach) -> Motion:
    """What columns of causes are made from; `step` [s] is the recording's."""
    links = range(0, LINK_COLUMNS * len(robot.links), LINK_COLUMNS)
    layout = Layout(
        tuple(range(at, at + LINK_COLUMNS) for at in links),
        every_joint(robot),
        lambda kind: columns_of_joint_kind(robot, kind),
    )
    return Motion(
        robot, table.samples, step, point.alpha, point.full, point.phi, table.columns, table.predicted,
        lambda samples, alpha: design.terms_of_tree(robot, samples, replace(point, alpha=alpha)), layout, reach,
    )  # fmt: skip


def runs_of(robot: Robot, samples: Sequence[Samples], point: Point, candidates: Sequence[Candidate]) -> list[Run]:
    """Whole recordings, each with what the fit leaves of it from its begin to its end."""
    begins = {s.recording: min(float(t.time[0]) for t in samples if t.recording == s.recording) for s in samples}
    load = next((own.cause for own in candidates if isinstance(own.cause, Load)), None)
    fitted, found = np.flatnonzero(point.varying), []
    for s in samples:
        table = tabulated(robot, s, point, len(s.time))
        if not len(table.residual):
            continue
        carried = None
        if load is not None:
            m = motion_of(robot, table, point, 1.0 / s.rate, Reach.of([table.samples]))
            carried = np.concatenate([load.columns(m, "", 0.0), table.columns[..., load.own_columns(m, "")]], axis=-1)
        own = replace(table, columns=table.columns[..., fitted])
        found.append(Run(robot, own, carried, begins[s.recording]))
    return found


def _thinned(s: Samples, most: int) -> Samples:
    """A recording with no more samples than its filter leaves it to say, and its middle where these are too many."""
    cutoff = s.processing.cutoff
    stride = 1 if cutoff is None else max(1, int(s.rate / (POINTS * cutoff)))
    first, last = (end // stride for end in s.ends)
    count = len(range(0, len(s.time), stride))
    rows = slice(0, None, stride)
    if count - first - last > most:
        begin = first + (count - first - last - most) // 2
        rows, first, last = slice(begin * stride, (begin + most) * stride, stride), 0, 0
    return replace(
        s, time=s.time[rows], q=s.q[rows], dq=s.dq[rows], ddq=s.ddq[rows], tau=s.tau[rows], rate=s.rate / stride,
        ends=(first, last), turn=None if s.turn is None else s.turn[rows],
        read=None if s.read is None else (s.read[0][rows], s.read[1][rows], s.read[2][rows]),
    )  # fmt: skip
