"""`--fit contact` of a free body, from poses alone: friction, heights, sizes, centre of mass and inertia from tosses.

Windows of a tenth of a second, each from a state of its own, of some tosses and then of all: so short a motion hardly depends
on chance, which decides over which edge a body tumbles. Then, as near to that as its deviations allow, whole tosses from
the states that their flight tells, which is how they are predicted. What is said of tosses is such a prediction: the first
state by the poses before anything touches, then nothing but the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.base.quaternions import path_of, rotation_vector, turn_between
from diffpbd.runtime.identify.contact.toss_files import Toss
from diffpbd.runtime.identify.contact.toss_solve import Found, predict, solve
from diffpbd.runtime.identify.contact.toss_windows import BODY, States, TossWindows, cut, whole
from diffpbd.runtime.identify.motion.trajectory import Parameters, check_functions, parameters_of
from diffpbd.runtime.identify.result.result import Errors, Identification, Lost, Solved, Trace, identification
from diffpbd.runtime.identify.result.statistics import by_information, correlations, on_bounds
from diffpbd.runtime.identify.settings.selection import Selection
from diffpbd.runtime.logs.processing import Processing
from diffpbd.runtime.model.robot import Robot

__all__ = ["Figures", "figures", "first_states", "fit_tosses", "width"]

NOISE = 1e-3
"""[m] Deviation of a place, the unit of residuals."""
STILL = 2e-3
"""[m] A window in which nothing moves further tells nothing."""
FEW = 20
"""[1] Tosses of the first solve."""
WINDOWS = (0.07, 0.15)
"""[s] Of the first two solves."""
ITERATIONS = (12, 8)
"""[1] At most, of each."""
ROUNDS, PREDICTIONS = 2, 4
"""[1] Times that first states are found again, and steps of the parameters from each."""
CLEAR = 2e-3
"""[m] Gap down to which a body flies: what the start's sizes may be off."""
UNFELT = 1e-9
"""[1] Root of an entry of the information below which a parameter has no effect, in natural units."""
MEMBER = 0.1
"""[1] Component in a direction that is not determined from which a parameter counts as part of it."""
NUDGE = 1e-9
"""[1] Of the diagonal: what rests has lost its rates, which then have no effect."""
SMOOTHING = ("contact.slip", "contact.load.")
DEEPEST = 0.05
"""[m] Poses further inside are no start of a step."""


@dataclass(frozen=True)
class Figures:
    """Of tosses that are predicted from their flight: mean distance over each toss and its mean, in widths; the mean angle [°],
    its median over tosses; both at the end of the tosses."""

    place: float
    angle: float
    median: float
    last_place: float
    last_angle: float
    tosses: int

    def __str__(self) -> str:
        return (
            f"{self.tosses} toss{'es' * (self.tosses != 1)}: place off by {self.place:.3f} widths, angle by {self.angle:.1f}° "
            f"(median {self.median:.1f}°); at the end {self.last_place:.3f} widths and {self.last_angle:.1f}°"
        )


def fit_tosses(
    robot: Robot,
    train: Sequence[Toss],
    validate: Sequence[Toss],
    selection: Selection,
    base: FloatArray,
    say: Callable[[str], None],
) -> Identification:
    """The entries of alpha of `selection` with which the generated step follows the tosses."""
    _check(robot, selection, train)
    _expect_outside(robot, base, [*train, *validate])
    parameters = parameters_of(robot, selection.names, base, "shooting")
    size = width(robot, base) / 2.0
    theta, iterations = parameters.start, 0
    for k, (length, most) in enumerate(zip(WINDOWS, ITERATIONS, strict=True)):
        own = train[:: max(1, len(train) // FEW)] if k == 0 else train
        windows = TossWindows(robot, own, cut(own, length, STILL), size, NOISE)
        say(f"Following {windows.count} windows of {length:g} s of {len(own)} tosses, {len(theta)} parameters")
        found = solve(windows, parameters, theta, windows.begin(), most)
        theta, iterations = found.theta, iterations + found.iterations
    solved, covariance = _concluded(windows, parameters, found, iterations)
    windows, start = TossWindows(robot, train, whole(train), size, NOISE), theta
    for _ in range(ROUNDS):
        say(f"Predicting {len(train)} tosses from their flight")
        states = first_states(robot, parameters.alpha(theta), train, size)
        theta = predict(windows, parameters, start, states, covariance, PREDICTIONS)
    alpha = parameters.alpha(theta)
    solved = replace(solved, values={**solved.values, **dict(zip(parameters.names, theta.tolist(), strict=True))})
    errors, seen = _judged(robot, alpha, train, 2.0 * size)
    notes = [*selection.notes, f"From their flight, of the fit, {seen}."]
    held = None
    if validate:
        held, seen = _judged(robot, alpha, validate, 2.0 * size)
        notes.append(f"From their flight, not used, {seen}.")
    solved = replace(solved, notes=tuple(notes))
    return identification(robot, base, solved, errors, held, Processing(cutoff=None), compared="position")


def _expect_outside(robot: Robot, base: FloatArray, tosses: Sequence[Toss]) -> None:
    """No pose that is so deep in a plane that no step begins there."""
    for toss in tosses:
        gap = np.asarray(robot.function("contact_gap")(toss.p, base)).reshape(len(toss.p), -1).min(axis=1)
        k = int(np.argmin(gap))
        if gap[k] < -DEEPEST:
            raise InputError(
                f"{toss.name}: sample {k + 1} is {-gap[k]:.3g} m inside what the body touches, at most {DEEPEST:g} m are "
                f"expected; are the poses measured from where the description has the plane? {arg.start} may move it."
            )


def _check(robot: Robot, selection: Selection, train: Sequence[Toss]) -> None:
    """What does not go together."""
    check_functions(robot, f"{arg.fit} contact")
    if robot.n != BODY:
        raise InputError(
            f"{arg.fit} contact: {robot.name} has joints besides its floating base; it is for bodies without."
        )
    strange = [name for name in selection.names if name.startswith(SMOOTHING)]
    if strange:
        raise InputError(
            f"{arg.fit}: {listing(strange)} say how the step smooths, not how things touch; they are chosen, not fitted."
        )
    if not train:
        raise InputError("No toss to fit.")


def width(robot: Robot, alpha: FloatArray) -> float:
    """Mean width [m] of what touches along the axes of the body: what its support on both sides adds up to."""
    plane = next((c.against for c in robot.manifest.robot.contacts if c.shape == "plane"), None)
    if plane is None:
        raise InputError(f"{arg.fit} contact: {robot.name} has no contact against a plane.")
    quarter = np.sqrt(0.5)
    turns = [(1, 0, 0, 0), (0, 1, 0, 0), (quarter, quarter, 0, 0), (quarter, -quarter, 0, 0), (quarter, 0, quarter, 0)]
    turns.append((quarter, 0, -quarter, 0))
    own = [k for k, c in enumerate(robot.manifest.robot.contacts) if c.against == plane]
    p = np.array([[0.0, 0.0, 0.0, *turn] for turn in turns])
    least = np.reshape(robot.contact_gap(p, alpha=alpha), (len(p), -1))[:, own].min(axis=1)
    high = 2.0 * alpha[robot.alpha.index(f"plane.height.{plane}")]
    return float(np.mean(-least[::2] - least[1::2] - high))


def first_states(robot: Robot, alpha: FloatArray, tosses: Sequence[Toss], size: float) -> States:
    """The states that tosses begin with, by their poses before anything touches."""
    ends = []
    for toss in tosses:
        gap = np.reshape(robot.contact_gap(toss.p, alpha=alpha), (len(toss.p), -1)).min(axis=1)
        touched = int(np.argmax(gap < CLEAR)) if (gap < CLEAR).any() else len(gap)
        ends.append(min(max(touched - 1, 3), toss.steps))
    windows = TossWindows(robot, tosses, whole(tosses, ends), size, NOISE)
    none = parameters_of(robot, (), alpha, "shooting")
    return solve(windows, none, none.start, windows.begin(), ITERATIONS[0]).states


def figures(tosses: Sequence[Toss], paths: Sequence[FloatArray], wide: float) -> Figures:
    """Of predicted poses (samples, 7) beside the recorded ones, in widths [m]."""
    away, turned = [], []
    for toss, path in zip(tosses, paths, strict=True):
        away.append(np.linalg.norm(path[:, :3] - toss.p[:, :3], axis=1) / wide)
        angle = np.linalg.norm(rotation_vector(turn_between(path[:, 3:], toss.p[:, 3:])), axis=1)
        turned.append(np.degrees(angle))
    means = [float(own.mean()) for own in turned]
    return Figures(
        float(np.mean([own.mean() for own in away])), float(np.mean(means)), float(np.median(means)),
        float(np.mean([own[-1] for own in away])), float(np.mean([own[-1] for own in turned])), len(tosses),
    )  # fmt: skip


def _judged(robot: Robot, alpha: FloatArray, tosses: Sequence[Toss], wide: float) -> tuple[Errors, Figures]:
    """Of tosses predicted from their flight; one in which the step gives up stays where it began."""
    states = first_states(robot, alpha, tosses, wide / 2.0)
    windows = TossWindows(robot, tosses, whole(tosses), wide / 2.0, NOISE)
    paths = [
        np.where(np.isfinite(path).all(), path, toss.p[0])
        for toss, path in zip(tosses, windows.paths(alpha, states), strict=True)
    ]
    traces = []
    for toss, path in zip(tosses, paths, strict=True):
        seen, told = (_coordinates(p, toss.p[0]) for p in (toss.p, path))
        zero = np.zeros_like(seen)
        traces.append(Trace(toss.name, np.arange(len(seen), dtype=np.float64) * toss.h, seen, told, seen, zero))
    return Errors.of(robot.joints, traces), figures(tosses, paths, wide)


def _coordinates(p: FloatArray, first: FloatArray) -> FloatArray:
    """Place and the sum of the turns from a pose (samples, 6)."""
    return np.hstack([p[:, :3], path_of(np.vstack([first[3:], p[:, 3:]]))[1:]])


def _concluded(
    windows: TossWindows, parameters: Parameters, found: Found, iterations: int
) -> tuple[Solved, FloatArray]:
    """With the covariance (m, m). Deviations by the scatter of what tosses pull at, or of their residuals if that says more."""
    m = len(parameters.names)
    linear = windows.linear(parameters, found.theta, found.states)
    weight = found.weights
    states = linear.curvature[:, m:, m:].copy()
    k = np.arange(2 * BODY)
    states[:, k, k] += NUDGE * states[:, k, k] + np.finfo(float).tiny
    after = np.linalg.solve(states, linear.curvature[:, m:, :m])
    own = linear.curvature[:, :m, :m] - linear.curvature[:, :m, m:] @ after
    pull = linear.gradient[:, :m] - (linear.gradient[:, None, m:] @ after)[:, 0]
    information = (weight[:, None, None] * own).sum(axis=0)
    scale, determined = by_information(information, UNFELT)
    inverse = determined.inverse * np.outer(scale, scale)
    by_toss = np.zeros((len(windows.tosses), m))
    np.add.at(by_toss, windows.toss, weight[:, None] * pull)
    count = len(windows.tosses)
    between = inverse @ (by_toss.T @ by_toss) @ inverse * (count / max(count - m, 1))
    spare = windows.residuals - 2 * BODY
    mean_square = float((weight * linear.squares).sum() / max((weight * spare).sum() - m, 1.0))
    within = inverse * mean_square
    variances = np.maximum(np.diag(between), np.diag(within))
    gone = np.abs(determined.undetermined).max(axis=1, initial=0.0) > MEMBER
    reason = "the recorded motion does not depend on it, or only in combination with others"
    lost = tuple(Lost(name, reason) for name, away in zip(parameters.names, gone.tolist(), strict=True) if away)
    near = 1e-9 * np.maximum(1.0, np.abs(found.theta))
    bounds = on_bounds(found.theta, parameters.lower, parameters.upper, near)
    kept = [k for k in range(m) if not gone[k]]
    names = parameters.names
    values = dict(zip(names, found.theta.tolist(), strict=True))
    covariance = within + np.diag(variances - np.diag(within))
    solved = Solved(
        values=values,
        deviations={names[k]: float(np.sqrt(variances[k])) for k in kept},
        bounds={names[k]: side for k, side in bounds.items()},
        lost=lost,
        correlations=correlations([names[k] for k in kept], within[np.ix_(kept, kept)]),
        rank=determined.rank,
        unknowns=m,
        condition=determined.condition,
        window=max(t.steps * t.h for t in windows.tosses),
        status="Solved",
        iterations=iterations,
    )
    return solved, covariance
