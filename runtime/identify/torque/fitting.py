"""The solves behind an identification: joint weights, outer parameters and Huber's weights, renewed until settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.identify.columns import design
from diffpbd.runtime.identify.columns.design import BoolArray, Condensed, Design
from diffpbd.runtime.identify.columns.outer import Outer
from diffpbd.runtime.identify.torque import robust
from diffpbd.runtime.identify.torque.problem import Problem
from diffpbd.runtime.identify.torque.solving import NOISE_FLOOR, Question, Round, generic, pushed, solve
from diffpbd.runtime.identify.torque.unknowns import Unknowns
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["STILL", "Fitted", "fit_rounds"]

STILL = 2e-3
"""[rad or m] A joint whose range is below this never moved: five quanta of a 14-bit encoder."""
SETTLED = 1e-5
"""[1] Change of an unknown, as the change of the residual in its own RMS, below which rounds end."""
ROUNDS = 40
"""[1] Most rounds; a few are usual, and more mean that they go in circles."""
GRAVITY = 1e-3
"""[m/s^2] Less gravity than this has no direction to fit."""

SCATTER = {
    "spring.": 5.0, "inertial.": 0.3, "rotor_inertia": 0.1, "sensor.gain": 0.1, "sensor.delay": 0.005,
    "sensor.zero": 0.05, "gravity.tilt": 0.1, "friction.transition_velocity": 0.01, "origin": 0.01,
}  # fmt: skip
"""[unit of the unknown] Spread of random starts by kind, 1 for others, besides half of the start's own size."""


@dataclass(frozen=True)
class Fitted:
    """The last round: unknowns `x` of `problem`, designs with their weights, outer parameters, and what varies.

    `noisy` tells whether a residual is above the `floor` (n,) that joints are weighted with; `notes` are about the rounds.
    """

    question: Question
    problem: Problem
    x: FloatArray
    status: str
    iterations: int
    designs: list[Design]
    outer: Outer
    varying: BoolArray
    noisy: bool
    floor: FloatArray
    notes: tuple[str, ...]

    @property
    def unknowns(self) -> Unknowns:
        """Those of the problem."""
        return self.problem.unknowns

    def point(self, x: FloatArray) -> design.Point:
        """Where designs are built, at unknowns x."""
        return _point(self.question, self.unknowns, self.outer, x, self.varying)

    def held(self, samples: Sequence[Samples]) -> list[Design]:
        """Designs of other recordings at the result."""
        return _designs(self.question, samples, self.unknowns, self.outer, self.x, self.varying)


def fit_rounds(
    question: Question, train: Sequence[Samples], say: Callable[[str], None] = lambda _line: None, seed: int = 0
) -> Fitted:
    """Solve; where the designs depend on the result, build them again and solve until nothing moves.

    From `seed` 1 on the search begins at random unknowns; what the recordings leave open still keeps its start.
    """
    robot, base, huber = question.robot, question.base, question.huber
    if question.selection.direction and np.linalg.norm(base[list(robot.alpha.indices("gravity"))]) < GRAVITY:
        raise InputError(f"{arg.fit} gravity_direction: gravity is zero in {arg.start}; it has no direction.")
    outer = Outer.of(robot, question.selection.names, base)
    x: FloatArray | None = None
    designs: list[Design] = []
    floor = np.zeros(robot.n)
    iterations = 0
    for rounds in range(1, ROUNDS + 1):
        unknowns = question.unknowns(outer)
        if x is None and seed:
            x = _scattered(unknowns, seed)
            outer = outer.at(_outer_values(unknowns, x, outer))
            unknowns = question.unknowns(outer)
        at = unknowns.start if x is None else x
        phi = unknowns.phi_at(at)
        varying = np.asarray(np.abs(unknowns.phi_jacobian(generic(unknowns))).any(axis=1), dtype=np.bool_)
        if not designs or outer.names:
            designs = _designs(question, train, unknowns, outer, at, varying)
        if rounds == 1:
            floor = NOISE_FLOOR * _torque(designs)
            for samples in train:
                say(f"{samples.name}: {len(samples)} samples at {samples.rate:.6g} Hz")
            say(f"Solving for {len(unknowns.labels)} unknowns")
        elif huber:
            designs = robust.reweighted(designs, phi, robust.robust_scale(designs, phi, floor))
        problem, solution = solve(
            Round(question, unknowns, _condensed(designs), floor), _still(robot, train, unknowns), x
        )
        moved = float(np.abs((solution.x - at) / problem.scale)[problem.free].max(initial=0.0))
        x, iterations = solution.x, iterations + solution.iterations
        if (rounds > 1 and moved < SETTLED) or not (outer.names or huber):
            break
        if outer.names:
            outer = outer.at(_outer_values(unknowns, x, outer))
    else:
        raise SolverError(
            f"Identification: the fit did not settle in {ROUNDS} rounds; nothing was written. Fit fewer parameters, or start "
            f"nearer with {arg.start}."
        )
    noisy = bool((problem.sigma > floor).any())
    notes = _notes(question, problem, designs, x, rounds)
    if huber:
        problem = _curvature(problem, designs, x, floor)
    return Fitted(
        question, problem, x, solution.status, iterations, designs, outer, varying, noisy, floor, tuple(notes)
    )


def _designs(
    question: Question, samples: Sequence[Samples], unknowns: Unknowns, outer: Outer, x: FloatArray, varying: BoolArray
) -> list[Design]:
    """Of recordings, at unknowns x."""
    point = _point(question, unknowns, outer, x, varying)
    built = [design.build(question.robot, s, point) for s in samples]
    return design.moving(built, question.standstill * question.transitions) if question.standstill else built


def _point(question: Question, unknowns: Unknowns, outer: Outer, x: FloatArray, varying: BoolArray) -> design.Point:
    alpha, full = outer.alpha(question.robot, question.base), _finite(unknowns.alpha_at(x), question.base)
    return design.Point(alpha, full, unknowns.phi_at(x), varying, outer, question.springs, question.presliding)


def _condensed(designs: Sequence[Design]) -> Condensed:
    condensed = design.condense(designs)
    if not all(np.isfinite(part).all() for part in (*condensed.factors, *condensed.rights, condensed.rho)):
        raise SolverError(f"The regression matrix is not finite; look for absurd values in the logs or {arg.start}.")
    return condensed


def _notes(
    question: Question, problem: Problem, designs: Sequence[Design], x: FloatArray, rounds: int
) -> Iterator[str]:
    robot, unknowns = question.robot, problem.unknowns
    if rounds > 1:
        yield f"the parameters that enter nonlinearly converged in {rounds} rounds"
    if question.huber:
        share = ", ".join(f"{j} {100 * s:.2g} %" for j, s in zip(robot.joints, robust.beyond(designs), strict=True))
        yield f"Huber's loss: residuals beyond {robust.KNEE} deviations count linearly ({share})"
    yield from pushed(robot, problem, x)
    phi, alpha = unknowns.phi_at(x), _finite(unknowns.alpha_at(x), question.base)
    for spring, own in zip(question.springs, unknowns.spring_parts(question.springs), strict=True):
        yield from spring.note(robot, phi[own], alpha)


def _outer_values(unknowns: Unknowns, x: FloatArray, outer: Outer) -> FloatArray:
    values = unknowns.values_at(x)
    return np.array([values[name] for name in outer.names], dtype=np.float64)


def _scattered(unknowns: Unknowns, seed: int) -> FloatArray:
    """Unknowns at random about the start, within their bounds."""
    rng = np.random.default_rng(seed)
    known = {**SCATTER, **unknowns.scales}
    spread = np.array(
        [next((s for kind, s in known.items() if label.startswith(kind)), 1.0) for label in unknowns.labels]
    )
    x = unknowns.start + (spread + 0.5 * np.abs(unknowns.start)) * rng.normal(size=len(spread))
    return np.clip(x, unknowns.lower, unknowns.upper)


def _finite(alpha: FloatArray, base: FloatArray) -> FloatArray:
    own = alpha[: len(base)]
    return np.where(np.isfinite(own), own, base)


def _torque(designs: Sequence[Design]) -> FloatArray:
    """RMS (n,) of the measured torques; one where a joint has none."""
    squares = np.vstack([d.samples.trimmed(d.samples.tau) for d in designs]) ** 2
    torque = np.sqrt(squares.mean(axis=0))
    return np.where(torque > 0.0, torque, 1.0)


def _curvature(problem: Problem, designs: Sequence[Design], x: FloatArray, floor: FloatArray) -> Problem:
    """The problem with the second derivatives of Huber's loss, which standard deviations need."""
    phi = problem.unknowns.phi_at(x)
    within = robust.inliers(designs, phi, robust.robust_scale(designs, phi, floor))
    return replace(problem, condensed=design.condense(within), held=problem.pinned)


def _still(robot: Robot, train: Sequence[Samples], unknowns: Unknowns) -> dict[int, str]:
    """Unknowns of joints that never moved, which nothing can be learnt about."""
    low = np.min([s.q.min(axis=0) for s in train], axis=0)
    high = np.max([s.q.max(axis=0) for s in train], axis=0)
    pinned = {}
    for joint, moved in zip(robot.joints, (high - low).tolist(), strict=True):
        for k, label in enumerate(unknowns.labels):
            own = label.endswith(f".{joint}") and label.startswith(
                ("friction.", "rotor_inertia.", "spring.", *(f"{e.name}." for e in robot.manifest.elements))
            )
            if own and moved < STILL:
                pinned[k] = f"joint {joint} never moved (range {moved:.2g})"
    return pinned
