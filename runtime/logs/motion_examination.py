"""Checks motions against the robot's description by the torques of all joints: sign, exchanged joints, unit.

A hypothesis is accepted if it leaves much less of all torques unexplained than the recording as it is, and than a reversed
torque sign (the two are indistinguishable for a pendulum about its lowest pose).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Protocol

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.thresholds import ADVANTAGE, EXPLAINED
from diffpbd.runtime.model.closed import motor_torque
from diffpbd.runtime.model.robot import Robot

__all__ = ["Motion", "Unexplained", "exchange", "examine_motions"]

POOR = 0.2
"""[1] Unexplained part of all torques above which exchanged joints and units are tried."""
CLOSE_SECOND = 0.9
"""[1] Ratio of the unexplained parts of two hypotheses below which the better one is accepted."""
UNITS = {math.tau: "revolutions", math.radians(1.0): "degrees", 1e-3: "thousandths"}


class Motion(Protocol):
    """Arrays (samples, n)."""

    @property
    def q(self) -> FloatArray:
        """Positions [rad or m]."""

    @property
    def dq(self) -> FloatArray:
        """Rates."""

    @property
    def ddq(self) -> FloatArray:
        """Accelerations."""

    @property
    def u(self) -> FloatArray:
        """The rigid body's torques by the description [N·m or N]."""

    @property
    def tau(self) -> FloatArray:
        """Measured torques [N·m or N]."""


Unexplained = Callable[[FloatArray, FloatArray, FloatArray, FloatArray | None], float]
"""Part of a torque not explained by rigid-body torque, friction at rates and a spring at positions."""


def exchange(quantities: Sequence[str], one: str, other: str) -> str:
    """The option that exchanges the columns of two joints."""
    names = {f"{q}_{a}": f"{q}_{b}" for q in quantities for a, b in ((one, other), (other, one))}
    return f"{arg.columns} FILE.json with {json.dumps(names, ensure_ascii=False)}"


@dataclass(frozen=True)
class _Reading:
    """A hypothesis: factors of positions and rates, and of torques (n,), and the order of joints; its words, joint, kind,
    correction."""

    motion: FloatArray
    torque: FloatArray
    order: tuple[int, ...]
    kind: str = ""
    joint: str = ""
    what: str = ""
    cure: str = ""
    rival: _Reading | None = None


def examine_motions(robot: Robot, s: Motion, judged: Sequence[int], unexplained: Unexplained) -> list[Finding]:
    """Findings about the motion as a whole; none for robots with loops or a floating base."""
    facts = robot.manifest.robot
    if facts.loops or facts.base_freedoms or not judged:
        return []
    springs = [joint in robot.manifest.recipe.springs for joint in robot.joints]

    def left(way: _Reading) -> float:
        own = list(way.order)
        q, dq, ddq = (getattr(s, name)[:, own] * way.motion for name in ("q", "dq", "ddq"))
        plain = (way.motion == 1.0).all() and own == list(range(robot.n))
        u = s.u if plain else np.reshape(motor_torque(robot, q, dq, ddq, robot.alpha.defaults), s.q.shape)
        tau = s.tau[:, own] * way.torque
        slots = [own.index(k) for k in judged]  # the same measured torques, whatever joints they are taken for
        parts = [unexplained(tau[:, i], u[:, i], dq[:, i], q[:, i] if springs[i] else None) for i in slots]
        return float(np.sqrt(np.mean(np.square(parts))))

    as_is = _Reading(np.ones(robot.n), np.ones(robot.n), tuple(range(robot.n)))
    before = left(as_is)
    found = []
    for way in _ways(robot, as_is, judged, before):
        after = left(way)
        if after < ADVANTAGE * before and after < 1.0 - EXPLAINED:
            found.append((after, way))
    if not found:
        return []
    after, best = min(found, key=lambda pair: pair[0])
    if best.rival is not None and after >= ADVANTAGE * left(best.rival):
        return []
    if any(other < after / CLOSE_SECOND and way.what != best.what for other, way in found):
        return []
    figure = f"unexplained are {100.0 * before:.0f} % of all torques as it stands and {100.0 * after:.0f} % so"
    return [Finding(best.kind, best.joint, f"{best.what}: {figure}", best.cure, grave=True)]


def _ways(robot: Robot, plain: _Reading, judged: Sequence[int], before: float) -> Iterator[_Reading]:
    names = robot.joints
    for k in judged:
        turned, flipped = plain.motion.copy(), plain.torque.copy()
        turned[k] = flipped[k] = -1.0
        joint, cure = names[k], f"{arg.scale} q_{names[k]}=-1 {arg.scale} dq_{names[k]}=-1"
        yield replace(
            plain, motion=turned, kind="mirrored", joint=joint, what="its positions and rates have the wrong sign", cure=cure,
            rival=replace(plain, torque=flipped),
        )  # fmt: skip
        yield replace(
            plain, motion=turned, torque=flipped, kind="mirrored", joint=joint,
            what="its positions, rates and torque have the wrong sign", cure=f"{cure} {arg.flip} {joint}",
        )  # fmt: skip
    if before < POOR:
        return
    for i, j in combinations(range(robot.n), 2):
        order = list(plain.order)
        order[i], order[j] = j, i
        what = f"all columns of {names[i]} and {names[j]} look exchanged"
        cure = exchange(("q", "dq", "tau"), names[i], names[j])
        yield replace(plain, order=tuple(order), kind="swapped", what=what, cure=cure)
    if all(joint.turns for joint in robot.manifest.robot.joints):
        for factor, word in UNITS.items():
            yield replace(
                plain, motion=np.full(robot.n, factor), kind="units", what=f"positions and rates look as if in {word}",
                cure=f"{arg.scale} q={factor:.9g} {arg.scale} dq={factor:.9g}",
            )  # fmt: skip
