"""Recordings as linear algebra: for each joint the filtered columns of `torque_terms` that the unknowns act through.

The measured torque of joint j over all samples is y_j ≈ A_j φ. A_j and y_j pass the same zero-phase filter. An orthogonal
triangularisation condenses them, [A_j y_j] → [R_j z_j; 0 ρ_j], without squaring the condition number; after that the
length of the recordings costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.friction import turned
from diffpbd.runtime.identify.columns.attached_springs import AttachedSpring
from diffpbd.runtime.identify.columns.outer import Outer
from diffpbd.runtime.identify.result.result import Trace
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import ZERO

__all__ = [
    "KINDS", "LINK_COLUMNS", "BoolArray", "Condensed", "Design", "Point", "build", "columns_of_joint_kind", "condense",
    "coulomb_columns", "every_joint", "moving", "terms_of_tree",
]  # fmt: skip

BoolArray: TypeAlias = npt.NDArray[np.bool_]

LINK_COLUMNS = 10
"""[1] Columns a link: m, m c, I about the link origin."""
KINDS = ("friction.coulomb", "friction.viscous", "rotor_inertia", "torque_offset", "spring.stiffness", "spring.rest")
"""After the links: a column a joint of each kind; the last is the spring's torque at zero, −stiffness·rest."""


def columns_of_joint_kind(robot: Robot, kind: str) -> range:
    """Columns of `torque_terms` that belong to a kind of joint parameter."""
    count = len(robot.links)  # each is moved by a joint of its own, which may follow another
    start = LINK_COLUMNS * count + KINDS.index(kind) * count
    return range(start, start + count)


def coulomb_columns(robot: Robot, kind: str = KINDS[0]) -> list[int]:
    """Columns of `torque_terms` (n,) of Coulomb's friction of the robot's coordinates, or of another `kind`."""
    own, every = columns_of_joint_kind(robot, kind), every_joint(robot)
    return [own[every.index(joint)] if joint in every else -1 for joint in robot.joints]


def every_joint(robot: Robot) -> tuple[str, ...]:
    """Names of all joints in the order of those columns, followers included."""
    prefix = f"{KINDS[0]}."
    own = [robot.alpha.names[k].removeprefix(prefix) for k in robot.alpha.indices(KINDS[0])]
    facts = robot.manifest.robot
    for m in facts.mimics:
        if m.name not in own:  # the slide of a screw, right after it: its columns are nobody's
            own.insert(own.index(m.joint) + 1, m.name)
    return (
        (*facts.base_freedoms[-1:], *own) if facts.floating else tuple(own)
    )  # the base link's columns, which nothing is in


ROWS = 20000
"""[1] Samples whose terms are held at once."""
STEP = 1e-4
"""[rad] Of differences by a position."""


@dataclass(frozen=True)
class Design:
    """One recording: for joint j `columns[j]` (k_j,) of φ, `matrices[j]` (samples, k_j) and `targets` (samples, n).

    `fixed` (samples, n) is the filtered torque of all the other columns, so that measured = targets + fixed. `weights`
    (samples, n) multiply squares; None: all one. `mixed`: every torque feels the friction of every joint, as loops make it.
    """

    samples: Samples
    columns: tuple[npt.NDArray[np.intp], ...]
    matrices: tuple[FloatArray, ...]
    targets: FloatArray
    fixed: FloatArray
    weights: FloatArray | None = None
    mixed: bool = False

    def residual(self, phi: FloatArray) -> FloatArray:
        """Measured minus predicted torque (samples, n) [N·m or N]."""
        predicted = [a @ phi[c] for a, c in zip(self.matrices, self.columns, strict=True)]
        return self.targets - np.column_stack(predicted)

    def trace(self, phi: FloatArray) -> Trace:
        """Measured and predicted torque."""
        measured = self.targets + self.fixed
        return Trace.of(self.samples, measured, measured - self.residual(phi))


@dataclass(frozen=True)
class Condensed:
    """All recordings together: for joint j `columns[j]`, triangular `factors[j]`, `rights[j]`, the rest `rho[j]`."""

    columns: tuple[npt.NDArray[np.intp], ...]
    factors: tuple[FloatArray, ...]
    rights: tuple[FloatArray, ...]
    rho: FloatArray
    count: int

    def best(self) -> FloatArray:
        """Root mean square (n,) of the residual of each joint alone by unconstrained least squares."""
        return np.asarray(self.rho / np.sqrt(self.count), dtype=np.float64)


@dataclass(frozen=True)
class Point:
    """Where designs are built: `alpha` fixes gravity, transition velocities and joint origins; `phi` (16 a joint, those of
    `springs`, those of `outer`) holds the coefficients that do not vary, `varying` (as long) is True where they do. The columns
    of `outer`, one a name, are its derivatives where alpha is `full`."""

    alpha: FloatArray
    full: FloatArray
    phi: FloatArray
    varying: BoolArray
    outer: Outer
    springs: Sequence[AttachedSpring] = ()
    presliding: tuple[float, ...] = ()
    """[rad or m] Ways (n,) over which Coulomb's friction turns, zero where it does so at once; none: nowhere."""

    def remembered(self, robot: Robot, samples: Samples) -> dict[tuple[int, int], FloatArray]:
        """By joint and column of φ, columns (samples,) of friction with memory, in place of Coulomb's."""
        columns = coulomb_columns(robot) if any(self.presliding) else []
        ways = zip(columns, self.presliding, strict=False)
        return {(j, c): turned(samples.q[:, j], [way])[:, 0] for j, (c, way) in enumerate(ways) if way}


def terms_of_tree(robot: Robot, samples: Samples, point: Point) -> FloatArray:
    """`torque_terms` (samples, n, columns) of the tree without its loops, then the columns of its springs on chosen joints."""
    terms = np.asarray(robot.torque_terms(samples.p, samples.dq, samples.ddq, point.alpha))
    if point.springs:
        blocks = [np.zeros((*samples.q.shape, spring.terms)) for spring in point.springs]
        for spring, block in zip(point.springs, blocks, strict=True):
            block[:, spring.at] = spring.columns(robot, samples.q[:, spring.at], point.alpha)
        terms = np.concatenate([terms, *blocks], axis=-1)
    for (j, column), own in point.remembered(robot, samples).items():
        terms[:, j, column] = own
    return terms


def build(robot: Robot, samples: Samples, point: Point) -> Design:
    """The design of one recording."""
    phi, varying, outer = point.phi, point.varying, point.outer
    closed = closed_loops.of(robot)
    if closed is not None:
        samples = on_loops(closed, samples, point.full)
    at = outer.moved(samples)
    if closed is None and not outer.names and not point.springs:
        return _built(samples, *_in_pieces(robot, at, point))
    terms = terms_of_tree(robot, at, point)
    if closed is not None:
        terms = closed.projection(samples.q, point.full) @ terms
        terms[..., list(_sensorless(robot))] = 0.0
    count = terms.shape[-1]
    if outer.names:
        predicted = np.asarray(terms @ phi[:count], dtype=np.float64)
        more = outer.columns(robot, at, point.full, predicted)
        for k, name in enumerate(outer.names):
            if name.startswith(ZERO):
                more[..., k] = _by_zero(robot, at, point, robot.joints.index(name.rpartition(".")[2]))
        terms = np.concatenate([terms, more], axis=-1)
    kept = np.flatnonzero(varying)
    plain = _built(samples, kept, terms[..., kept], terms @ np.where(varying, 0.0, phi), closed is not None)
    if not outer.names:
        return plain
    fixed, matrices, columns = plain.fixed, list(plain.matrices), plain.columns
    measured, there = outer.measured(samples)
    gains = outer.gains(
        samples.joints
    )  # residuals in the units of the readings: divided by a gain they would shrink as it grows
    measured, fixed = measured * gains, fixed * gains
    matrices = [gain * matrix for gain, matrix in zip(gains.tolist(), matrices, strict=True)]
    weights = None if there.all() else there.astype(np.float64)
    return Design(samples, columns, tuple(matrices), measured - fixed, fixed, weights, closed is not None)


def _in_pieces(
    robot: Robot, samples: Samples, point: Point
) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray]:  # fmt: skip
    """Columns that vary, their terms (samples, n, columns), and the torque (samples, n) of all others. All terms of a long
    recording would take many times what those do."""
    kept, rest, p = np.flatnonzero(point.varying), np.where(point.varying, 0.0, point.phi), samples.p
    terms, still = np.empty((*samples.q.shape, kept.size)), np.empty(samples.q.shape)
    remembered = point.remembered(robot, samples)
    for a in range(0, len(p), ROWS):
        rows = slice(a, a + ROWS)
        part = np.asarray(robot.torque_terms(p[rows], samples.dq[rows], samples.ddq[rows], point.alpha))
        for (j, column), own in remembered.items():
            part[:, j, column] = own[rows]
        terms[rows], still[rows] = part[..., kept], part @ rest
    return kept, terms, still


def _built(
    samples: Samples, kept: npt.NDArray[np.intp], terms: FloatArray, still: FloatArray, mixed: bool = False
) -> Design:  # fmt: skip
    """Of the columns `kept`, their terms, and what the others make, not filtered."""
    fixed = samples.smooth(still)
    columns, matrices = [], []
    for j in range(terms.shape[1]):
        block = terms[:, j, :]
        present = np.flatnonzero(block.any(axis=0))
        columns.append(kept[present])
        matrices.append(samples.smooth(block[:, present]) if present.size else np.zeros((len(samples), 0)))
    return Design(samples, tuple(columns), tuple(matrices), samples.trimmed(samples.tau) - fixed, fixed, mixed=mixed)


def _by_zero(robot: Robot, samples: Samples, point: Point, joint: int) -> FloatArray:
    """Derivative (samples, n) [N·m/rad] of the torque by a joint's position, by central differences of sines: right to 1e-8."""
    way = np.zeros(robot.n)
    way[joint] = STEP
    ahead, behind = (terms_of_tree(robot, replace(samples, q=samples.q + s * way), point) for s in (1.0, -1.0))
    found = (ahead - behind) @ point.phi[: ahead.shape[-1]] / (2.0 * STEP)
    return np.asarray(found, dtype=np.float64)


def on_loops(closed: closed_loops.Closed, samples: Samples, alpha: FloatArray) -> Samples:
    """A recording with the motion that the loops allow, and of its torques what is told apart of them."""
    measured = np.array([joint not in samples.derived for joint in samples.joints])
    motion = (samples.q, samples.dq, samples.ddq) if samples.read is None else samples.read
    q, dq, ddq = closed.completed(*motion, measured, alpha)
    return replace(samples, q=q, dq=dq, ddq=ddq, tau=closed.seen(q, samples.tau, alpha))


def _sensorless(robot: Robot) -> Iterator[int]:
    """Columns of offsets of sensors that joints without a motor do not have."""
    own = columns_of_joint_kind(robot, "torque_offset")
    return (k for k, joint in zip(own, every_joint(robot), strict=True) if joint in robot.manifest.robot.passive)


def moving(designs: Sequence[Design], least: FloatArray) -> list[Design]:
    """Without samples of a joint slower than `least` (n,) [rad/s or m/s]; one that never is faster keeps all."""
    fast = [np.abs(d.samples.trimmed(d.samples.dq)) >= least for d in designs]
    never = ~np.any([own.any(axis=0) for own in fast], axis=0)
    fast = [
        np.broadcast_to((own | never).all(axis=1, keepdims=True), own.shape) if d.mixed else own
        for d, own in zip(designs, fast, strict=True)
    ]
    return [
        replace(d, weights=(own | never) * (np.ones_like(d.targets) if d.weights is None else d.weights))
        for d, own in zip(designs, fast, strict=True)
    ]


def condense(designs: Sequence[Design]) -> Condensed:
    """Triangular factors of all designs together."""
    n = designs[0].targets.shape[1]
    columns = [np.unique(np.concatenate([d.columns[j] for d in designs])) for j in range(n)]
    stacked = [np.zeros((0, c.size + 1)) for c in columns]
    for design in designs:
        for j in range(n):
            block = np.zeros((len(design.targets), columns[j].size + 1))
            block[:, np.searchsorted(columns[j], design.columns[j])] = design.matrices[j]
            block[:, -1] = design.targets[:, j]
            if design.weights is not None:
                block *= np.sqrt(design.weights[:, j : j + 1])
            stacked[j] = np.asarray(np.linalg.qr(np.vstack([stacked[j], block]), mode="r"), dtype=np.float64)
    factors, rights, rho = [], [], np.zeros(n)
    for j in range(n):
        k = columns[j].size
        square = np.zeros((k + 1, k + 1))
        square[: len(stacked[j])] = stacked[j][: k + 1]
        factors.append(square[:k, :k])
        rights.append(square[:k, k])
        rho[j] = abs(square[k, k])
    return Condensed(tuple(columns), tuple(factors), tuple(rights), rho, sum(len(d.targets) for d in designs))
