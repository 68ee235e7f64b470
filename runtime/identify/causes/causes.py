"""Causes that a model may lack, each as columns that the measured torque would have if it were there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns import design
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, Point, columns_of_joint_kind, every_joint
from diffpbd.runtime.identify.result.sensors import DELAY, GAIN, ZERO, sensor_names
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["LOAD", "MASSES", "STEPS", "TILT", "Cause", "Table", "causes", "sensed", "tabulated"]

LOAD, MASSES, TILT = "load", "masses", "tilt"
STEPS = "steps"
"""A motion that `joint_step` made, from sample to sample: its rates are those after an impulse of friction."""
PRESLIDING = (0.005, 0.02, 0.08)
"""[rad or m] Ways over which friction may turn after a reversal: those that published fits of Dahl's model find."""
TURN = 0.05
"""[rad or m] Step of the differences by a position: of central ones of a sine, right to 4e-4."""
POINTS = 10.0
"""[1] Samples a period of the cut-off that are kept: a filtered recording has no more to say."""


@dataclass(frozen=True)
class Cause:
    """Something that may be missing: `kind`, the `joint` that it belongs to (none: the whole robot), the name to give to --fit,
    and the `columns` of a `Table` that it acts through; the first has the figure that is told, of a load alone (a point at the
    tip)."""

    kind: str
    joint: str
    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """One recording: filtered `columns` (samples, n, columns), the residual (samples, n) [N·m or N] of what was fitted,
    `predicted` (samples, n), weights (samples, n), and time (samples,) [s]."""

    columns: FloatArray
    residual: FloatArray
    predicted: FloatArray
    weights: FloatArray
    samples: Samples


def causes(robot: Robot, fitted: Sequence[str], terms: int) -> list[Cause]:
    """All that may compete, but for what is fitted; `terms` is the count of columns that the model has."""
    found: list[Cause] = []
    at = terms

    def add(kind: str, joint: str, name: str, count: int) -> None:
        nonlocal at
        found.append(Cause(kind, joint, name, tuple(range(at, at + count))))
        at += count

    known = sensor_names(robot)
    for joint in sensed(robot):
        for kind, count in _OF_JOINTS:
            name = _name(kind, joint)
            add(kind, joint, name if not name.startswith(ZERO) or name in known else "", count)
        if joint in robot.manifest.recipe.springs:
            found.append(Cause("spring", joint, "spring", _spring(robot, joint)))
    add("clock", "", "", 1)
    add(STEPS, "", "", 1)
    if not robot.manifest.robot.loops and not robot.manifest.robot.base_freedoms:
        add(TILT, "", "gravity_direction", 3)
    if (tip := _tip(robot)) is not None:
        found.append(Cause(LOAD, "", "payload", (at, *range(tip, tip + LINK_COLUMNS))))
    found.append(Cause(MASSES, "", "inertials", tuple(range(LINK_COLUMNS * len(robot.links)))))
    return [cause for cause in found if not _fitted(cause, fitted)]


_OF_JOINTS = (
    ("offset", 1), ("friction", 2), ("rotor", 1), ("gain", 1), ("delay", 1), ("zero", 2), ("scale", 2),
    *((f"memory {way:g}", 1) for way in PRESLIDING),
)  # fmt: skip


def _name(kind: str, joint: str) -> str:
    start = {
        "offset": "torque_offset",
        "friction": "friction.viscous",
        "rotor": "rotor_inertia",
        "gain": GAIN,
        "delay": DELAY,
        "zero": ZERO,
    }
    return f"{start[kind]}.{joint}" if kind in start else ""


def _fitted(cause: Cause, fitted: Sequence[str]) -> bool:
    if cause.kind == "offset" and f"spring.rest.{cause.joint}" in fitted:
        return True  # the same parameter there
    if cause.kind == "spring":
        return f"spring.stiffness.{cause.joint}" in fitted
    if cause.kind == TILT:
        return any(name.startswith("gravity") for name in fitted)
    if cause.kind == LOAD:
        return "payload.mass" in fitted
    if cause.kind == MASSES:
        return any(name.startswith("inertia.") for name in fitted)
    return bool(cause.name) and cause.name in fitted


def _spring(robot: Robot, joint: str) -> tuple[int, int]:
    """Columns of a spring's stiffness and of its torque at zero."""
    own = every_joint(robot).index(joint)
    stiffness, rest = (columns_of_joint_kind(robot, kind)[own] for kind in ("spring.stiffness", "spring.rest"))
    return stiffness, rest


def sensed(robot: Robot) -> list[str]:
    """Joints with a torque sensor."""
    facts = robot.manifest.robot
    return [joint for joint in robot.joints if joint not in facts.passive and joint not in facts.base_freedoms]


def _tip(robot: Robot) -> int | None:
    """The first column of the link that carries a load."""
    if "payload.mass" not in robot.alpha.names:
        return None
    effect = robot.casadi("torque_coefficients").factory("J", ["alpha"], ["jac:phi:alpha"])(robot.alpha.defaults)
    touched = np.flatnonzero(np.array(effect.full())[:, robot.alpha.index("payload.mass")])
    return LINK_COLUMNS * (int(touched[0]) // LINK_COLUMNS)


def tabulated(robot: Robot, samples: Samples, point: Point, most: int) -> Table:
    """The columns of a recording, of at most so many samples: first the model's own (φ), then those of `causes`."""
    thin = _thinned(samples, most)
    built = design.build(robot, thin, replace(point, varying=np.ones_like(point.varying)))
    s, count = point.outer.moved(built.samples), len(point.phi)
    columns = np.zeros((len(built.targets), robot.n, count))
    for j, (own, matrix) in enumerate(zip(built.columns, built.matrices, strict=True)):
        columns[:, j, own] = matrix
    residual = built.residual(point.phi)
    predicted = built.targets - residual
    more = np.stack(list(_columns(robot, s, point, predicted, columns, 1.0 / samples.rate)), axis=-1)
    weights = np.ones_like(residual) if built.weights is None else built.weights
    return Table(np.concatenate([columns, more], axis=-1), residual, predicted, weights, s)


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


def _columns(
    robot: Robot, s: Samples, point: Point, predicted: FloatArray, own: FloatArray, step: float
) -> Iterator[FloatArray]:
    """Columns (samples, n) of `causes`, in their order; `step` [s] is the recording's.

    Of a delay the prediction's slope alone. Noise of the motion is in the prediction, so also, with the other sign, in the
    residual: the prediction's second derivative is correlated with it where the model is right, its first one is not."""
    alpha = point.full
    by_alpha = robot.casadi("torque_coefficients").factory("J", ["alpha"], ["jac:phi:alpha"])(alpha).full()
    effect = np.zeros((own.shape[-1], by_alpha.shape[1]))
    effect[: len(by_alpha)] = by_alpha
    nothing = np.zeros_like(predicted)
    open_tree = not robot.manifest.robot.loops

    def of_alpha(name: str) -> FloatArray:
        return np.asarray(own @ effect[:, robot.alpha.index(name)]) if name in robot.alpha.names else nothing

    def torque(q: FloatArray, ddq: FloatArray, dq: FloatArray = s.dq, at: Point = point) -> FloatArray:
        terms = design.terms_of_tree(robot, replace(s, q=q, dq=dq, ddq=ddq), at)
        return np.asarray(terms @ point.phi[: terms.shape[-1]], dtype=np.float64)

    plain = torque(s.q, s.ddq) if open_tree else np.zeros_like(s.q)
    turns = np.stack([design.turned(q, PRESLIDING) for q in s.q.T], axis=1)
    signs = [turns[..., k] for k in range(len(PRESLIDING))]
    rigid = own[..., : LINK_COLUMNS * len(robot.links)] @ point.phi[: LINK_COLUMNS * len(robot.links)]
    slope = np.gradient(predicted, 1.0 / s.rate, axis=0)
    for joint in sensed(robot):
        j = robot.joints.index(joint)
        alone = np.zeros(robot.n)
        alone[j] = 1.0
        yield of_alpha(f"torque_offset.{joint}")
        yield of_alpha(f"friction.coulomb.{joint}")
        yield of_alpha(f"friction.viscous.{joint}")
        yield of_alpha(f"rotor_inertia.{joint}")
        yield rigid * alone
        yield -slope * alone
        if open_tree:
            ahead, behind = (torque(s.q + step * alone, s.ddq) for step in (TURN, -TURN))
            yield s.smooth((ahead - behind) / (2.0 * TURN))
            yield s.smooth((ahead - 2.0 * plain + behind) / TURN**2)
            sizes = [1.0 + step * alone for step in (TURN, -TURN)]
            ahead, behind = (torque(s.q * size, s.ddq * size, s.dq * size) for size in sizes)
            yield s.smooth((ahead - behind) / (2.0 * TURN))
            yield s.smooth((ahead - 2.0 * plain + behind) / TURN**2)
        else:
            yield from (nothing, nothing, nothing, nothing)
        for sign in signs:
            yield s.smooth(sign * alone)
    yield s.smooth(plain - torque(s.q, np.zeros_like(s.ddq))) if open_tree else nothing
    yield s.smooth(_unkicked(robot, s, point, step / 2.0)) if open_tree else nothing
    if open_tree and not robot.manifest.robot.base_freedoms:
        for axis in "xyz":
            yield s.smooth(torque(s.q, s.ddq, at=_heavier(robot, point, f"gravity.{axis}")) - plain)
    if "payload.mass" in robot.alpha.names:
        yield of_alpha("payload.mass")


def _unkicked(robot: Robot, s: Samples, point: Point, half: float) -> FloatArray:
    """What is missing in the torque (samples, n) where rates are those after friction's impulse at the end of a step, in place
    of those at mid-impulse: by M⁻¹ of friction during half a step [s]."""
    rubbing = [*columns_of_joint_kind(robot, "friction.coulomb"), *columns_of_joint_kind(robot, "friction.viscous")]
    phi, friction = point.phi.copy(), np.zeros_like(point.phi)
    phi[rubbing], friction[rubbing] = 0.0, point.phi[rubbing]

    def torque(dq: FloatArray, ddq: FloatArray, by: FloatArray = phi) -> FloatArray:
        terms = design.terms_of_tree(robot, replace(s, dq=dq, ddq=ddq), point)
        return np.asarray(terms @ by[: terms.shape[-1]], dtype=np.float64)

    zero = np.zeros_like(s.dq)
    columns = [torque(zero, zero + alone) - torque(zero, zero) for alone in np.eye(robot.n)]
    lost = half * np.linalg.solve(np.stack(columns, axis=-1), torque(s.dq, s.ddq, friction)[..., None])[..., 0]
    return torque(s.dq + lost, s.ddq + np.gradient(lost, 1.0 / s.rate, axis=0)) - torque(s.dq, s.ddq)


def _heavier(robot: Robot, point: Point, name: str) -> Point:
    """The point with a part of gravity 1 m/s² larger: the torque is linear in it."""
    alpha = point.alpha.copy()
    alpha[robot.alpha.index(name)] += 1.0
    return replace(point, alpha=alpha)
