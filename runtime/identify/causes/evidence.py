"""What recordings hold for and against a fit: tables of all columns that a cause may act through, and their Gram matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.causes.causes import Cause, Table, causes, sensed, tabulated
from diffpbd.runtime.identify.causes.competition import Grams, condensed
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, Point
from diffpbd.runtime.identify.torque.solving import NOISE_FLOOR
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["Evidence", "gathered", "noisier"]

MOST: Final = 12000
"""[1] Samples that are looked at in all: ten minutes of an arm's motion at 20 Hz."""
AGAIN: Final = 2
"""[1] How often noise is added."""
SLOW: Final = (0.05, 0.2)
"""[1] Rates below which friction may be another, as parts of a joint's fastest."""
WAVES: Final = 2
"""[1] Waves over a joint's range that its torque may have."""


@dataclass(frozen=True)
class Evidence:
    """Tables of the recordings (`count` samples in all before they were thinned, `step` [s] apart), `causes` that can be
    told and mended, more `laws` that friction and springs may follow, and the Gram matrices of all columns; the first are
    those of `phi`, of these the first `bodies` of links."""

    tables: tuple[Table, ...]
    causes: tuple[Cause, ...]
    laws: tuple[Cause, ...]
    grams: Grams
    count: int
    step: float
    joints: tuple[str, ...]
    phi: FloatArray
    bodies: int


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
    tables = [tabulated(robot, s, point, max(1, MOST // len(samples))) for s in samples]
    tables = [table for table in tables if len(table.residual)]
    candidates = causes(robot, names, len(point.phi))
    laws: list[Cause] = []
    reach, wider = _reach(tables), []
    for table in tables:
        laws, blocks, at = [], [table.columns], table.columns.shape[-1]
        for kind, joint, block in _laws(robot, table.samples, point, reach):
            laws.append(Cause(kind, joint, "", tuple(range(at, at + block.shape[-1]))))
            blocks.append(block)
            at += block.shape[-1]
        wider.append(replace(table, columns=np.concatenate(blocks, axis=-1)))
    torque = np.sqrt(np.concatenate([(t.predicted + t.residual) ** 2 for t in wider]).mean(axis=0))
    floor = np.maximum(NOISE_FLOOR * torque, np.finfo(float).tiny)
    grams = condensed(wider, np.flatnonzero(point.varying), floor)
    count, bodies = sum(len(s) for s in samples), LINK_COLUMNS * len(robot.links)
    step = 1.0 / samples[0].rate
    return Evidence(tuple(wider), tuple(candidates), tuple(laws), grams, count, step, robot.joints, point.phi, bodies)


def _reach(tables: Sequence[Table]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Middle and half of each joint's range, and its fastest rate (n,)."""
    q, dq = (np.vstack([getattr(t.samples, kind) for t in tables]) for kind in ("q", "dq"))
    half = np.ptp(q, axis=0) / 2.0
    return (q.max(axis=0) + q.min(axis=0)) / 2.0, np.where(half > 0.0, half, 1.0), np.abs(dq).max(axis=0)


def _laws(
    robot: Robot, s: Samples, point: Point, reach: tuple[FloatArray, FloatArray, FloatArray]
) -> Iterator[tuple[str, str, FloatArray]]:
    """Kind, joint and columns (samples, n, count)."""
    middle, half, fastest = reach
    for joint in sensed(robot):
        j = robot.joints.index(joint)
        width = float(point.alpha[robot.alpha.index(f"friction.transition_velocity.{joint}")])
        v, turn = s.dq[:, j], np.pi * (s.q[:, j] - middle[j]) / half[j]
        side = np.tanh(v / width)
        near = [side * np.exp(-((v / max(part * fastest[j], width)) ** 2)) for part in SLOW]
        waves = [f(k * turn) for k in range(1, WAVES + 1) for f in (np.sin, np.cos)]
        for kind, own in (
            ("slow", near), ("direction", [side**2, v * side]), ("drag", [v * np.abs(v)]), ("position", waves),
        ):  # fmt: skip
            block = np.zeros((len(s.trimmed(s.dq)), robot.n, len(own)))
            block[:, j, :] = s.smooth(np.column_stack(own))
            yield kind, joint, block
