"""Identification in the torque form: parameters of alpha from recorded motions and torques."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.names import listing
from diffpbd.runtime.parameters import ParameterValues
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve import design, ipopt, statistics
from diffpbd.runtime.solve.design import Condensed
from diffpbd.runtime.solve.problem import AT_BOUND, Problem
from diffpbd.runtime.solve.result import Errors, Estimate, Identification, Lost
from diffpbd.runtime.solve.selection import select
from diffpbd.runtime.solve.unknowns import Body, Unknowns, make_unknowns

__all__ = ["PRIOR", "identify"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

STILL = 2e-3
"""[rad or m] A joint whose range is below this never moved: five quanta of a 14-bit encoder."""
NOISE_FLOOR = 1e-3
"""[1] Least residual that a joint is weighted with, as part of its torque's RMS: noise-free recordings have none, and no
torque sensor is better."""
REWEIGHTINGS = 2
"""Solves after the first with each joint weighted by the residual of the one before; the weights change by little then."""
PRIOR = 1e-2
"""[1] Weight of a body's divergence from its description, against half the weighted mean square residual of each joint."""
WEAKER = 100.0
"""[1] The prior is weakened by this factor to see what moves with it."""
MOVES = 3.0
"""[1] Standard deviations that a parameter may move by with the weaker prior before it counts as not identifiable."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 3}
"""Optimality of solves whose result is only a start or is compared with standard deviations."""
APPROACH = 10.0
"""[1] Factor by which the trust in the torques grows from one such solve to the next."""
CLEAN = 1e-3
"""[1] The prior is weakened to no less than this part where the recordings are cleaner than `NOISE_FLOOR`: simulated ones,
whose truth a prior must not hide."""
SINGULAR = 1e-2
"""[1] Smallest eigenvalue of a body's pseudo-inertia, in units of the description's, below which it is said to be close to
its physical limit: a hundredth of the description's extent in some direction."""

STRUCTURE = ("gravity", "friction.transition_velocity", "origin")


def identify(
    robot: Robot,
    train: Sequence[Samples],
    fit: Sequence[str],
    *,
    validate: Sequence[Samples] = (),
    start: ParameterValues = None,
    prior: float = PRIOR,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Fit the entries of alpha that `fit` names (see `select`) to recordings; the others keep `start` or their default.

    Least squares of measured minus predicted torque, each joint weighted by its own residual, within the bounds of alpha,
    inertias physical and drawn to the description with weight `prior`; solved by IPOPT. Raises InputError for recordings
    or names that do not fit, SolverError for a failed solve.
    """
    if not train:
        raise InputError("No recording to fit.")
    if not (np.isfinite(prior) and prior > 0.0):
        raise InputError(f"--prior: expected a positive weight, found {prior}.")
    say = progress or (lambda _line: None)
    selection = select(robot, fit)
    base = robot.alpha.vector(start)
    _refuse_structure(selection.names)
    unknowns = make_unknowns(robot, selection.names, base)
    varying = np.asarray(np.abs(unknowns.phi_jacobian(_inside(unknowns))).any(axis=1), dtype=np.bool_)
    designs = []
    for samples in train:
        designs.append(design.build(robot, samples, base, unknowns.phi_at(unknowns.start), varying))
        say(f"{samples.name}: {len(samples)} samples at {samples.rate:.6g} Hz")
    condensed = design.condense(designs)
    torque = np.sqrt(sum((d.samples.trimmed(d.samples.tau) ** 2).sum(axis=0) for d in designs) / condensed.count)
    floor = NOISE_FLOOR * np.where(torque > 0.0, torque, 1.0)
    say(f"Solving for {len(unknowns.labels)} unknowns")
    problem, solution = _solve(unknowns, condensed, floor, _still(robot, train, unknowns), prior)
    x = solution.x.copy()
    bounds = statistics.on_bounds(problem, x)
    for k, side in bounds.items():
        x[k] = unknowns.lower[k] if side == "lower" else unknowns.upper[k]
    limited = [body for body in unknowns.bodies if body.least_eigenvalue(x) < SINGULAR]
    found = statistics.evaluate(problem, x, bounds, designs, limited)
    noisy = bool((problem.sigma > floor).any())
    moving = _moving(problem, x, found, WEAKER) if unknowns.bodies and noisy else []
    notes = [*selection.notes, *(f"{s.name}: {note}" for s in (*train, *validate) for note in s.notes)]
    notes += [_limit(body, x) for body in limited]
    phi = unknowns.phi_at(x)
    held = [design.build(robot, s, base, phi, varying) for s in validate]
    return Identification(
        robot=robot.name,
        joints=robot.joints,
        status=solution.status,
        estimates=tuple(_estimates(robot, unknowns, x, base, found, bounds)),
        lost=(*found.lost, *moving),
        correlations=found.correlations,
        train=Errors.of(robot.joints, designs, phi),
        validate=Errors.of(robot.joints, held, phi) if held else None,
        iterations=solution.iterations,
        rank=found.rank,
        unknowns=found.unknowns,
        condition=found.condition,
        window=found.window / designs[0].samples.rate,
        processing=designs[0].samples.processing,
        notes=tuple(notes),
    )


def _refuse_structure(names: Sequence[str]) -> None:
    bad = [name for name in names if name.startswith(STRUCTURE)]
    if bad:
        raise InputError(
            f"--fit: {listing(bad)} change the columns of the torque form and are not fitted by it; leave them out."
        )


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
            own = label.endswith(f".{joint}") and label.startswith(("friction.", "rotor_inertia.", "spring."))
            if own and moved < STILL:
                pinned[k] = f"joint {joint} never moved (range {moved:.2g})"
    return pinned


def _solve(
    unknowns: Unknowns, condensed: Condensed, floor: FloatArray, pinned: dict[int, str], prior: float
) -> tuple[Problem, ipopt.Solution]:
    """Solves with the weights of the joints renewed, where unknowns are shared between joints and it matters."""
    sigma = np.maximum(condensed.best(), floor)
    prior *= float(np.clip((condensed.best() / sigma).max() ** 2, CLEAN, 1.0))
    left = REWEIGHTINGS if _shared(unknowns, condensed) else 0
    start = _approach(unknowns, condensed, sigma, pinned, prior) if unknowns.bodies else None
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


def _moving(problem: Problem, x: FloatArray, found: statistics.Statistics, factor: float) -> list[Lost]:
    """Parameters that follow the prior: they move by more than `MOVES` deviations when it is weakened."""
    weak = Problem(problem.unknowns, problem.condensed, problem.sigma, problem.pinned, problem.prior / factor)
    try:
        weaker = weak.solve(x, COARSELY)
    except SolverError:
        return []
    before, after = (problem.unknowns.alpha_at(point) for point in (x, weaker.x))
    lost = []
    for name, position in zip(problem.unknowns.names, problem.unknowns.positions, strict=True):
        std = found.deviations.get(name, np.inf)
        moved = abs(after[position] - before[position])
        if np.isfinite(moved) and moved > MOVES * std:
            text = (
                f"it follows the prior: moves by {moved:.2g} ({moved / std:.1f} standard deviations) when that is {factor:g} "
                f"times weaker; by the recordings alone its standard deviation is {found.alone[name]:.2g}"
            )
            lost.append(Lost(name, text))
    return lost


def _limit(body: Body, x: FloatArray) -> str:
    return (
        f"The pseudo-inertia of {body.name} is close to its physical limit (smallest eigenvalue "
        f"{body.least_eigenvalue(x):.2g} of the reference's): the constraint is active and decides values that the recordings "
        "leave open; their standard deviations are those without it."
    )


def _estimates(
    robot: Robot,
    unknowns: Unknowns,
    x: FloatArray,
    base: FloatArray,
    found: statistics.Statistics,
    bounds: dict[int, str],
) -> list[Estimate]:
    """Fitted entries of alpha and those that were given away from their default, in the order of alpha."""
    alpha = unknowns.alpha_at(x)
    by_label = {unknowns.labels[k]: side for k, side in bounds.items()}
    result = []
    for k, (name, unit) in enumerate(zip(robot.alpha.names, robot.alpha.units, strict=True)):
        if name in unknowns.names:
            value = float(alpha[k]) if np.isfinite(alpha[k]) else float(base[k])
            result.append(Estimate(name, value, found.deviations.get(name), unit, by_label.get(name)))
        elif base[k] != robot.alpha.defaults[k]:
            result.append(Estimate(name, float(base[k]), None, unit))
    return result
