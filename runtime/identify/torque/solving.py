"""One problem of the torque form, and its solution with iteratively updated joint weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.columns.attached_springs import AttachedSpring
from diffpbd.runtime.identify.columns.design import Condensed
from diffpbd.runtime.identify.columns.outer import Outer
from diffpbd.runtime.identify.settings.selection import Selection
from diffpbd.runtime.identify.torque import lever_start
from diffpbd.runtime.identify.torque.problem import AT_BOUND, Problem
from diffpbd.runtime.identify.torque.unknowns import Unknowns, make_unknowns
from diffpbd.runtime.model.closed import driven
from diffpbd.runtime.model.robot import Robot

__all__ = ["COARSELY", "Question", "Round", "generic", "pushed", "solve"]

NOISE_FLOOR = 1e-3
"""[1] Least residual that a joint is weighted with, as part of its torque's RMS: noise-free recordings have none, and no
torque sensor is better."""
REWEIGHTINGS = 2
"""Solves after the first with each joint weighted by the residual of the one before; the weights change by little then."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 3}
"""Optimality of solves whose result is only a start or is compared with standard deviations."""
APPROACH = 10.0
"""[1] Factor by which the torques' weight grows from one such solve to the next."""
CLEAN = 1e-3
"""[1] The prior is weakened to no less than this part where the recordings are cleaner than `NOISE_FLOOR`: simulated ones,
whose truth a prior must not hide."""
UNEVEN = 0.1
"""[1] Share of its parts by which the balance of a moving base may be off before that is said."""


@dataclass(frozen=True)
class Question:
    """What every solve has in common: the entries of `selection`, the others at `base`, the weight of the `prior`, whether the
    loss is Huber's, the robot's springs on chosen joints over the recorded positions, and below how many transition
    velocities a joint's samples are left out (`standstill`); over which ways [rad or m] friction turns (`presliding`, none:
    at once)."""

    robot: Robot
    selection: Selection
    base: FloatArray
    prior: float
    huber: bool
    springs: tuple[AttachedSpring, ...] = ()
    standstill: float = 0.0
    presliding: tuple[float, ...] = ()

    @property
    def ways(self) -> dict[str, float]:
        """Of joints whose friction has memory, over which way it turns [rad or m]."""
        return {j: way for j, way in zip(self.robot.joints, self.presliding, strict=False) if way}

    @property
    def transitions(self) -> FloatArray:
        """Transition velocities (n,) of the joints' friction [rad/s or m/s], at `base`."""
        own = self.robot.alpha.by_name(self.base)  # a floating base has none
        return np.array([own.get(f"friction.transition_velocity.{joint}", 0.0) for joint in self.robot.joints])

    def unknowns(self, outer: Outer) -> Unknowns:
        """The unknowns with outer parameters at these values."""
        own = self.selection
        return make_unknowns(
            self.robot, own.names, self.base, outer, direction=own.direction, springs=self.springs, total=own.total
        )


@dataclass(frozen=True)
class Round:
    """One round's problem but for weights and what is pinned."""

    question: Question
    unknowns: Unknowns
    condensed: Condensed
    floor: FloatArray

    def problem(self, sigma: FloatArray, pinned: dict[int, str]) -> Problem:
        """With these weights of the joints; the prior is weaker where the recordings are cleaner than the floor."""
        clean = float((self.condensed.best() / np.maximum(self.condensed.best(), self.floor)).max() ** 2)
        prior = self.question.prior * float(np.clip(clean, CLEAN, 1.0))
        return Problem(self.unknowns, self.condensed, sigma, pinned, prior)


def solve(own: Round, pinned: dict[int, str], start: FloatArray | None) -> tuple[Problem, ipopt.Solution]:
    """Solves with the weights of the joints renewed, where unknowns are shared between joints and it matters."""
    unknowns, condensed, floor = own.unknowns, own.condensed, own.floor
    sigma = _balanced(own, np.maximum(condensed.best(), floor))
    if start is None and unknowns.curved:
        whole = Problem(unknowns, condensed, sigma, pinned, own.question.prior)
        start = lever_start.opened(whole, own.question.springs)
    left = REWEIGHTINGS if _shared(unknowns, condensed) else 0
    if start is None and unknowns.bodies:
        start = _approach(own, sigma, pinned)
    while True:
        problem = own.problem(sigma, pinned)
        solution = problem.solve(start)
        absent = _absent_springs(problem, solution.x)
        if absent:
            begin = own.unknowns.start.copy()
            begin[list(absent)] = 0.0
            own = replace(own, unknowns=replace(own.unknowns, start=begin))
            pinned = {**pinned, **absent}
            continue
        if not left:
            return problem, solution
        sigma, start = _balanced(own, np.maximum(problem.rms(solution.x), floor)), solution.x
        left -= 1


def _balanced(own: Round, sigma: FloatArray) -> FloatArray:
    """Weights of joints without a motor, a base's freedoms above all. Their torque is zero, which small inertias explain best:
    weighed by its residual, it would drive all inertias to zero. So each is weighted by the same part of its torque as
    those with a motor, where its torque is the size of the single terms with the start's inertias: their sum is zero."""
    robot, silent = own.question.robot, ~driven(own.question.robot)
    if robot.manifest.robot.loops or not silent.any() or silent.all():
        return sigma
    condensed = own.condensed
    asked = np.zeros(len(sigma))
    phi = own.unknowns.phi_at(own.unknowns.start)
    asked[silent] = [_asked(condensed, phi, j) for j in np.flatnonzero(silent).tolist()]
    base = len(robot.manifest.robot.base_freedoms)
    slides = base // 2 + base % 2  # of three in a plane two, of six three
    for group in (slice(0, slides), slice(slides, base)):
        asked[group] = asked[group].max(initial=0.0)
    share = float(np.median((sigma / own.floor)[~silent])) * NOISE_FLOOR
    least = np.finfo(float).tiny
    return np.where(silent, np.maximum(share * asked / np.sqrt(condensed.count), least), sigma)


def _asked(condensed: Condensed, phi: FloatArray, j: int) -> float:
    """Size of the single terms of joint j's balance over all samples."""
    parts = np.linalg.norm(condensed.factors[j], axis=0) * phi[condensed.columns[j]]
    return float(np.linalg.norm([*parts, *condensed.rights[j], condensed.rho[j]]))


def pushed(robot: Robot, problem: Problem, x: FloatArray) -> Iterator[str]:
    """A warning if the force balance of a moving base does not close; inertias found from it are then unreliable."""
    condensed, phi = problem.condensed, problem.unknowns.phi_at(x)
    shares = {}
    for j, name in enumerate(robot.manifest.robot.base_freedoms):
        left = np.linalg.norm(
            [*(condensed.factors[j] @ phi[condensed.columns[j]] - condensed.rights[j]), condensed.rho[j]]
        )
        if left > UNEVEN * (asked := _asked(condensed, phi, j)):
            shares[name] = 100.0 * float(left) / asked
    if shares:
        yield (
            f"the force balance of {listing(list(shares))} does not close: {max(shares.values()):.3g} % of its terms remains. "
            "Either something pushed the base that is not recorded (tau_base_... columns), or its quaternion is not in the "
            f"order w, x, y, z, or the filter distorts the motion ({arg.cutoff}, {arg.trim}); the inertias are unreliable"
        )


def _approach(own: Round, sigma: FloatArray, pinned: dict[int, str]) -> FloatArray:
    """A start near the optimum, by solves with increasing weight of the torques, since inertias are far off at first."""
    x = own.unknowns.start
    looser = float((own.problem(sigma, pinned).rms(x) / sigma).max())
    while looser > APPROACH:
        looser /= APPROACH
        x = own.problem(sigma * looser, pinned).solve(x, COARSELY).x
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
    effect = unknowns.phi_jacobian(generic(unknowns))
    acts = np.array([np.abs(effect[c]).any(axis=0) for c in condensed.columns])
    return bool((acts.sum(axis=0) > 1).any())


def generic(unknowns: Unknowns) -> FloatArray:
    """A generic point off the bounds, where no column vanishes by chance."""
    spread = 1.0 + np.arange(len(unknowns.start)) / len(unknowns.start)
    return np.asarray(unknowns.start + spread, dtype=np.float64)
