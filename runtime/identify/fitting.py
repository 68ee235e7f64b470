"""The solves behind an identification: joint weights, outer parameters and Huber's weights, renewed until settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime import ipopt
from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.identify import design, lever_start, robust
from diffpbd.runtime.identify.design import BoolArray, Condensed, Design
from diffpbd.runtime.identify.lever_springs import Lever
from diffpbd.runtime.identify.outer import Outer
from diffpbd.runtime.identify.problem import AT_BOUND, Problem
from diffpbd.runtime.identify.selection import Selection
from diffpbd.runtime.identify.unknowns import Unknowns, make_unknowns
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.robot import Robot

__all__ = ["COARSELY", "STILL", "Fitted", "fit_rounds"]

STILL = 2e-3
"""[rad or m] A joint whose range is below this never moved: five quanta of a 14-bit encoder."""
NOISE_FLOOR = 1e-3
"""[1] Least residual that a joint is weighted with, as part of its torque's RMS: noise-free recordings have none, and no
torque sensor is better."""
REWEIGHTINGS = 2
"""Solves after the first with each joint weighted by the residual of the one before; the weights change by little then."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 3}
"""Optimality of solves whose result is only a start or is compared with standard deviations."""
APPROACH = 10.0
"""[1] Factor by which the trust in the torques grows from one such solve to the next."""
CLEAN = 1e-3
"""[1] The prior is weakened to no less than this part where the recordings are cleaner than `NOISE_FLOOR`: simulated ones,
whose truth a prior must not hide."""
SETTLED = 1e-5
"""[1] Change of an unknown, as the change of the residual in its own RMS, below which rounds end."""
ROUNDS = 40
"""[1] Most rounds; a few are usual, and more mean that they go in circles."""
GRAVITY = 1e-3
"""[m/s^2] Less gravity than this has no direction to fit."""

SCATTER = {
    "spring.": 5.0, "inertial.": 0.3, "rotor_inertia": 0.1, "sensor.gain": 0.1, "sensor.delay": 0.005, "gravity.tilt": 0.1,
    "friction.transition_velocity": 0.01, "origin": 0.01, "lever_spring.stiffness": 1000.0, "lever_spring.arm": 0.02,
    "lever_spring.angle": 0.5, "lever_spring.rest": 0.02,
}  # fmt: skip
"""[unit of the unknown] Spread of random starts by kind, 1 for others, besides half of the start's own size."""


@dataclass(frozen=True)
class Fitted:
    """The last round: unknowns `x` of `problem`, designs with their weights, outer parameters, and what varies.

    `noisy` tells whether a residual is above the `floor` (n,) that joints are weighted with; `notes` are about the rounds.
    """

    problem: Problem
    x: FloatArray
    status: str
    iterations: int
    designs: list[Design]
    outer: Outer
    varying: BoolArray
    noisy: bool
    floor: FloatArray
    levers: tuple[Lever, ...]
    notes: tuple[str, ...]

    @property
    def unknowns(self) -> Unknowns:
        """Those of the problem."""
        return self.problem.unknowns

    def held(self, robot: Robot, samples: Sequence[Samples], base: FloatArray) -> list[Design]:
        """Designs of other recordings at the result."""
        phi = self.unknowns.phi_at(self.x)
        return [
            design.build(
                robot, s, self.outer.alpha(robot, base), phi, self.varying, self.outer, self.alpha(base), self.levers
            )
            for s in samples
        ]

    def alpha(self, base: FloatArray) -> FloatArray:
        """alpha at the result, `base` where a spring has no rest."""
        return _finite(self.unknowns.alpha_at(self.x), base)


def fit_rounds(
    robot: Robot,
    train: Sequence[Samples],
    selection: Selection,
    base: FloatArray,
    *,
    prior: float,
    huber: bool,
    say: Callable[[str], None],
    seed: int = 0,
    levers: Sequence[Lever] = (),
) -> Fitted:
    """Solve; where the designs depend on the result, build them again and solve until nothing moves.

    From `seed` 1 on the search begins at random unknowns; what the recordings leave open still keeps `base`.
    """
    if selection.direction and np.linalg.norm(base[list(robot.alpha.indices("gravity"))]) < GRAVITY:
        raise InputError("--fit gravity_direction: gravity is zero in --params; it has no direction.")
    outer = Outer.of(robot, selection.names, base)
    options: dict[str, Any] = {"direction": selection.direction, "levers": levers}
    x: FloatArray | None = None
    designs: list[Design] = []
    floor = np.zeros(robot.n)
    iterations = 0
    for rounds in range(1, ROUNDS + 1):
        unknowns = make_unknowns(robot, selection.names, base, outer, **options)
        if x is None and seed:
            x = _scattered(unknowns, seed)
            outer = outer.at(_outer_values(unknowns, x, outer))
            unknowns = make_unknowns(robot, selection.names, base, outer, **options)
        at = unknowns.start if x is None else x
        phi = unknowns.phi_at(at)
        varying = np.asarray(np.abs(unknowns.phi_jacobian(_inside(unknowns))).any(axis=1), dtype=np.bool_)
        if not designs or outer.names:
            alpha, full = outer.alpha(robot, base), _finite(unknowns.alpha_at(at), base)
            designs = []
            for samples in train:
                designs.append(design.build(robot, samples, alpha, phi, varying, outer, full, levers))
                if rounds == 1:
                    say(f"{samples.name}: {len(samples)} samples at {samples.rate:.6g} Hz")
        if rounds == 1:
            floor = NOISE_FLOOR * _torque(designs)
            say(f"Solving for {len(unknowns.labels)} unknowns")
        elif huber:
            designs = robust.reweighted(designs, phi, robust.robust_scale(designs, phi, floor))
        condensed = design.condense(designs)
        if not all(np.isfinite(part).all() for part in (*condensed.factors, *condensed.rights, condensed.rho)):
            raise SolverError("The regression matrix is not finite; look for absurd values in the logs or --params.")
        pinned = _still(robot, train, unknowns)
        begin = x
        if begin is None and unknowns.curved:
            sigma = np.maximum(condensed.best(), floor)
            begin = lever_start.opened(Problem(unknowns, condensed, sigma, pinned, prior), levers)
        problem, solution = _solve(unknowns, condensed, floor, pinned, prior, begin)
        moved = float(np.abs((solution.x - at) / problem.scale)[problem.free].max(initial=0.0))
        x, iterations = solution.x, iterations + solution.iterations
        if (rounds > 1 and moved < SETTLED) or not (outer.names or huber):
            break
        if outer.names:
            outer = outer.at(_outer_values(unknowns, x, outer))
    else:
        raise SolverError(
            f"Identification: the fit did not settle in {ROUNDS} rounds; nothing was written. Fit fewer parameters, or start "
            "nearer with --params."
        )
    notes = [f"{rounds} rounds until nothing moved"] if rounds > 1 else []
    noisy = bool((problem.sigma > floor).any())
    if huber:
        share = ", ".join(f"{j} {100 * s:.2g} %" for j, s in zip(robot.joints, robust.beyond(designs), strict=True))
        notes.append(f"Huber's loss: residuals beyond {robust.KNEE} deviations count linearly ({share})")
        problem = _curvature(problem, designs, x, floor)
    notes += [
        note
        for lever, own in zip(levers, problem.unknowns.lever_parts(levers), strict=True)
        for note in lever.note(robot, problem.unknowns.phi_at(x)[own], _finite(problem.unknowns.alpha_at(x), base))
    ]
    return Fitted(
        problem, x, solution.status, iterations, designs, outer, varying, noisy, floor, tuple(levers), tuple(notes)
    )


def _outer_values(unknowns: Unknowns, x: FloatArray, outer: Outer) -> FloatArray:
    values = dict(zip(unknowns.names, unknowns.alpha_at(x)[list(unknowns.positions)].tolist(), strict=True))
    return np.array([values[name] for name in outer.names], dtype=np.float64)


def _scattered(unknowns: Unknowns, seed: int) -> FloatArray:
    """Unknowns at random about the start, within their bounds."""
    rng = np.random.default_rng(seed)
    spread = np.array(
        [next((s for kind, s in SCATTER.items() if label.startswith(kind)), 1.0) for label in unknowns.labels]
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
    return Problem(problem.unknowns, design.condense(within), problem.sigma, problem.pinned, problem.prior)


def _inside(unknowns: Unknowns) -> FloatArray:
    """A generic point off the bounds, where no column vanishes by chance."""
    spread = 1.0 + np.arange(len(unknowns.start)) / len(unknowns.start)
    return np.asarray(unknowns.start + spread, dtype=np.float64)


def _still(robot: Robot, train: Sequence[Samples], unknowns: Unknowns) -> dict[int, str]:
    """Unknowns of joints that never moved, which nothing can be learnt about."""
    low = np.min([s.q.min(axis=0) for s in train], axis=0)
    high = np.max([s.q.max(axis=0) for s in train], axis=0)
    pinned = {}
    for joint, moved in zip(robot.joints, (high - low).tolist(), strict=True):
        for k, label in enumerate(unknowns.labels):
            own = label.endswith(f".{joint}") and label.startswith(
                ("friction.", "rotor_inertia.", "spring.", "lever_spring.")
            )
            if own and moved < STILL:
                pinned[k] = f"joint {joint} never moved (range {moved:.2g})"
    return pinned


def _solve(
    unknowns: Unknowns,
    condensed: Condensed,
    floor: FloatArray,
    pinned: dict[int, str],
    prior: float,
    start: FloatArray | None = None,
) -> tuple[Problem, ipopt.Solution]:
    """Solves with the weights of the joints renewed, where unknowns are shared between joints and it matters."""
    sigma = np.maximum(condensed.best(), floor)
    prior *= float(np.clip((condensed.best() / sigma).max() ** 2, CLEAN, 1.0))
    left = REWEIGHTINGS if _shared(unknowns, condensed) else 0
    if start is None and unknowns.bodies:
        start = _approach(unknowns, condensed, sigma, pinned, prior)
    while True:
        problem = Problem(unknowns, condensed, sigma, pinned, prior)
        solution = problem.solve(start)
        absent = _absent_springs(problem, solution.x)
        if absent:
            unknowns.start[list(absent)] = 0.0
            pinned = {**pinned, **absent}
            continue
        if not left:
            return problem, solution
        sigma, start = np.maximum(problem.rms(solution.x), floor), solution.x
        left -= 1


def _approach(
    unknowns: Unknowns, condensed: Condensed, sigma: FloatArray, pinned: dict[int, str], prior: float
) -> FloatArray:
    """A start near the optimum: torques are trusted little at first, when inertias are far off, then more and more."""
    x = unknowns.start
    looser = float((Problem(unknowns, condensed, sigma, pinned, prior).rms(x) / sigma).max())
    while looser > APPROACH:
        looser /= APPROACH
        x = Problem(unknowns, condensed, sigma * looser, pinned, prior).solve(x, COARSELY).x
    return x


def _absent_springs(problem: Problem, x: FloatArray) -> dict[int, str]:
    """Springs whose stiffness came out as zero: stiffness and rest are then held at zero, and the problem solved again."""
    absent: dict[int, str] = {}
    for stiffness, at_zero in problem.unknowns.springs():
        if at_zero not in problem.pinned and x[stiffness] <= AT_BOUND * problem.scale[stiffness]:
            reason = "the stiffness is at its bound of zero: no such spring is seen"
            absent |= dict.fromkeys((stiffness, at_zero), reason)
    return absent


def _shared(unknowns: Unknowns, condensed: Condensed) -> bool:
    """Whether an unknown acts on more than one joint's torque, so that the joints' weights matter."""
    effect = unknowns.phi_jacobian(_inside(unknowns))
    acts = np.array([np.abs(effect[c]).any(axis=0) for c in condensed.columns])
    return bool((acts.sum(axis=0) > 1).any())
