"""Identification in the torque form: parameters of alpha from recorded motions and torques."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import casadi
import numpy as np
import numpy.typing as npt

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.names import listing
from diffpbd.runtime.parameters import ParameterValues
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve import covariance, design, ipopt
from diffpbd.runtime.solve.design import BoolArray, Condensed, Design
from diffpbd.runtime.solve.result import Errors, Estimate, Identification, Lost
from diffpbd.runtime.solve.selection import select
from diffpbd.runtime.solve.unknowns import Unknowns, make_unknowns

__all__ = ["identify"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

STILL = 2e-3
"""[rad or m] A joint whose range is below this never moved: five quanta of a 14-bit encoder."""
NOISE_FLOOR = 1e-4
"""[1] Least residual that a joint is weighted with, as part of its torque's RMS: noise-free recordings have none, and no
torque sensor is better."""
RANK = 1e-8
"""[1] Singular value, in units of the largest of the normalised columns, below which a direction is not determined: the
square root of double precision, far below any real recording's noise."""
INVOLVED = 1e-3
"""[1] Part of an undetermined direction from which a parameter is named as lost in it."""
AT_BOUND = 1e-4
"""[1] Distance from a bound, as the change of the residual in its own RMS, that counts as on it: invisible, and above the
distance that an interior-point method keeps (the square root of its tolerance, 1e-5)."""
REWEIGHTINGS = 2
"""Solves after the first with each joint weighted by the residual of the one before; the weights change by little then."""

STRUCTURE = ("gravity", "friction.transition_velocity", "origin")


def identify(
    robot: Robot,
    train: Sequence[Samples],
    fit: Sequence[str],
    *,
    validate: Sequence[Samples] = (),
    start: ParameterValues = None,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Fit the entries of alpha that `fit` names (see `select`) to recordings; the others keep `start` or their default.

    Least squares of measured minus predicted torque, each joint weighted by its own residual, within the bounds of
    alpha; solved by IPOPT. Raises InputError for recordings or names that do not fit, SolverError for a failed solve.
    """
    if not train:
        raise InputError("No recording to fit.")
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
    sigma = np.maximum(condensed.best(), floor)
    still = _still_joints(robot, train)
    pinned = {k: reason for k, name in enumerate(unknowns.names) if (reason := _still_reason(name, still))}
    say(f"Solving for {len(unknowns.names) - len(pinned)} unknowns")
    solves = 1 + (REWEIGHTINGS if _shared(unknowns, condensed) else 0)
    while solves:
        problem = _Problem(unknowns, condensed, sigma, pinned)
        solution = problem.solve()
        absent = _absent_springs(problem, solution.x)
        if absent:
            unknowns.start[list(absent)] = 0.0
            pinned |= absent
            continue
        sigma = np.maximum(_rms(designs, unknowns.phi_at(solution.x)), floor)
        solves -= 1
    return _Summary(robot, unknowns, designs, problem, solution, base, varying).result(
        validate, (*selection.notes, *(note for s in train for note in (f"{s.name}: {n}" for n in s.notes)))
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
    return unknowns.start + spread


def _still_joints(robot: Robot, train: Sequence[Samples]) -> dict[str, float]:
    """Joints that never moved, with their range over all recordings."""
    low = np.min([s.q.min(axis=0) for s in train], axis=0)
    high = np.max([s.q.max(axis=0) for s in train], axis=0)
    return {j: float(r) for j, r in zip(robot.joints, high - low, strict=True) if r < STILL}


def _still_reason(name: str, still: dict[str, float]) -> str:
    for joint, moved in still.items():
        if name.endswith(f".{joint}") and name.startswith(("friction.", "rotor_inertia.", "spring.")):
            return f"joint {joint} never moved (range {moved:.2g})"
    return ""


def _absent_springs(problem: _Problem, x: FloatArray) -> dict[int, str]:
    """Springs whose stiffness came out as zero: stiffness and rest are then held at zero, and the problem solved again."""
    absent: dict[int, str] = {}
    names = problem.unknowns.names
    for k, name in enumerate(names):
        if problem.unknowns.rest[k] and k not in problem.pinned:
            stiffness = names.index(name.replace("spring.rest.", "spring.stiffness."))
            if x[stiffness] <= AT_BOUND * problem.scale[stiffness]:
                absent |= dict.fromkeys((stiffness, k), "the stiffness is at its bound of zero: no such spring is seen")
    return absent


def _shared(unknowns: Unknowns, condensed: Condensed) -> bool:
    """Whether an unknown acts on more than one joint's torque, so that the joints' weights matter."""
    effect = unknowns.phi_jacobian(_inside(unknowns))
    acts = np.array([np.abs(effect[c]).any(axis=0) for c in condensed.columns])
    return bool((acts.sum(axis=0) > 1).any())


def _rms(designs: Sequence[Design], phi: FloatArray) -> FloatArray:
    squares = sum((d.residual(phi) ** 2).sum(axis=0) for d in designs)
    return np.asarray(np.sqrt(squares / sum(len(d.targets) for d in designs)), dtype=np.float64)


class _Problem:
    """The NLP for given weights: minimise half the mean square of the weighted residuals within bounds."""

    def __init__(
        self, unknowns: Unknowns, condensed: Condensed, sigma: FloatArray, pinned: dict[int, str]
    ) -> None:
        self.unknowns = unknowns
        self.condensed = condensed
        self.sigma = sigma
        self.pinned = dict(pinned)
        self.weight = 1.0 / (sigma * np.sqrt(condensed.count))
        reference = unknowns.start
        columns = self.jacobian(reference)
        lengths = np.linalg.norm(columns, axis=0)
        for k in np.flatnonzero(lengths == 0.0):
            self.pinned.setdefault(int(k), "its effect on the torque is zero in these recordings")
        self.scale = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 1.0)
        self.free = np.array([k not in self.pinned for k in range(len(lengths))])
        normalised = (columns * self.scale)[:, self.free]
        _, singular, right = np.linalg.svd(normalised, full_matrices=True)
        singular = np.concatenate([singular, np.zeros(len(right) - len(singular))])
        self.rank = int((singular > RANK * (singular[0] if singular.size else 1.0)).sum())
        self.condition = float(singular[0] / singular[self.rank - 1]) if self.rank else float("nan")
        self.null = np.zeros((len(lengths), len(right) - self.rank))
        self.null[self.free] = right[self.rank :].T

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Weighted condensed residual rows by unknowns."""
        effect = self.unknowns.phi_jacobian(x)
        c = self.condensed
        rows = [w * f @ effect[k] for w, f, k in zip(self.weight, c.factors, c.columns, strict=True)]
        return np.vstack(rows)

    def solve(self) -> ipopt.Solution:
        """The optimum in physical units; directions that the data do not determine stay at the start."""
        u = self.unknowns
        scaled = casadi.SX.sym("x", len(u.start))
        x = scaled * self.scale
        phi = u.phi(x)
        objective = casadi.SX(0)
        c = self.condensed
        for weight, columns, factor, right in zip(self.weight, c.columns, c.factors, c.rights, strict=True):
            if columns.size:
                rows = weight * (casadi.mtimes(casadi.DM(factor), phi[columns.tolist()]) - casadi.DM(right))
                objective += casadi.sumsqr(rows) / 2
        begin = u.start / self.scale
        if self.null.size:
            objective += casadi.sumsqr(casadi.mtimes(casadi.DM(self.null.T), scaled - begin)) / 2
        lower = np.where(self.free, u.lower / self.scale, begin)
        upper = np.where(self.free, u.upper / self.scale, begin)
        found = ipopt.solve("Identification", {"x": scaled, "f": objective}, begin, lower, upper)
        return ipopt.Solution(
            found.x * self.scale, found.objective, found.status, found.iterations, found.bound_multipliers
        )


class _Summary:
    """Statistics of a solved problem."""

    def __init__(
        self,
        robot: Robot,
        unknowns: Unknowns,
        designs: Sequence[Design],
        problem: _Problem,
        solution: ipopt.Solution,
        base: FloatArray,
        varying: BoolArray,
    ) -> None:
        self.robot, self.unknowns, self.designs, self.problem = robot, unknowns, designs, problem
        self.solution, self.base, self.varying = solution, base, varying
        self.x = solution.x.copy()
        self.bounds: dict[int, str] = {}
        for k, (low, high) in enumerate(zip(unknowns.lower, unknowns.upper, strict=True)):
            near = AT_BOUND * problem.scale[k]
            if problem.free[k] and self.x[k] - low <= near:
                self.x[k], self.bounds[k] = low, "lower"
            elif problem.free[k] and high - self.x[k] <= near:
                self.x[k], self.bounds[k] = high, "upper"

    def result(self, validate: Sequence[Samples], notes: Sequence[str]) -> Identification:
        """Everything that is reported."""
        u, robot = self.unknowns, self.robot
        phi = u.phi_at(self.x)
        lost = self._lost()
        deviations, window = self._deviations(phi, {item.name for item in lost})
        alpha = u.alpha_at(self.x)
        positions = [robot.alpha.index(name) for name in u.names]
        values = [
            float(alpha[p]) if np.isfinite(alpha[p]) else float(self.base[p]) for p in positions
        ]
        units = robot.alpha.units
        changed = np.flatnonzero(self.base != robot.alpha.defaults)
        kept = [Estimate(robot.alpha.names[k], float(self.base[k]), None, units[k]) for k in changed if k not in positions]
        estimates = [
            Estimate(name, value, deviations.get(name), units[p], self.bounds.get(k))
            for k, (name, value, p) in enumerate(zip(u.names, values, positions, strict=True))
        ]
        held = [design.build(robot, s, self.base, phi, self.varying) for s in validate]
        return Identification(
            robot=robot.name,
            joints=robot.joints,
            status=self.solution.status,
            estimates=tuple(sorted([*estimates, *kept], key=lambda e: robot.alpha.index(e.name))),
            lost=tuple(lost),
            train=Errors.of(robot.joints, self.designs, phi),
            validate=Errors.of(robot.joints, held, phi) if held else None,
            iterations=self.solution.iterations,
            rank=self.problem.rank,
            unknowns=len(u.names),
            condition=self.problem.condition,
            window=window / self.designs[0].samples.rate,
            processing=self.designs[0].samples.processing,
            notes=tuple(notes),
        )

    def _lost(self) -> list[Lost]:
        lost = [Lost(self.unknowns.names[k], reason) for k, reason in sorted(self.problem.pinned.items())]
        mixed = np.abs(self.problem.null) > INVOLVED
        for k in np.flatnonzero(mixed.any(axis=1)):
            directions = np.flatnonzero(mixed[k])
            others = np.flatnonzero(mixed[:, directions].any(axis=1))
            partners = [self.unknowns.names[o] for o in others if o != k]
            lost.append(Lost(self.unknowns.names[k], f"determined only in combination with {listing(partners)}"))
        return lost

    def _deviations(self, phi: FloatArray, lost: set[str]) -> tuple[dict[str, float], int]:
        """Standard deviations by name, and the longest window [samples] of correlation allowed for.

        A parameter on a bound gets the deviation it would have if the bound were not there, the others theirs with the
        bound active.
        """
        names = self.unknowns.names
        J = self.problem.jacobian(self.x) * self.problem.scale
        free = [k for k, name in enumerate(names) if name not in lost and k not in self.problem.pinned]
        inner = [k for k in free if k not in self.bounds]
        groups = [(inner, inner), *(([*inner, k], [k]) for k in free if k in self.bounds)]
        wanted = [k for _, some in groups for k in some]
        if not wanted:
            return {}, 0
        rows = np.vstack([self._sensitivity(active, some, J) for active, some in groups])
        found, windows = covariance.deviations([scores @ rows.T for scores in self._scores(phi)])
        return {names[k]: float(d) for k, d in zip(wanted, found, strict=True)}, int(windows.max())

    def _scores(self, phi: FloatArray) -> Iterator[FloatArray]:
        """Weighted columns times residual (samples, unknowns), scaled, recording by recording."""
        effect = self.unknowns.phi_jacobian(self.x) * self.problem.scale
        weight = self.problem.weight**2
        for d in self.designs:
            r = d.residual(phi)
            g = np.zeros((len(r), effect.shape[1]))
            for j, (columns, matrix) in enumerate(zip(d.columns, d.matrices, strict=True)):
                g += (matrix * (weight[j] * r[:, j : j + 1])) @ effect[columns]
            yield g

    def _sensitivity(self, active: list[int], wanted: list[int], J: FloatArray) -> FloatArray:
        """How alpha's wanted entries move per score, with the active unknowns free (wanted, unknowns)."""
        inverse = np.linalg.pinv(J[:, active].T @ J[:, active], hermitian=True)
        whole = np.zeros((J.shape[1],) * 2)
        whole[np.ix_(active, active)] = inverse * self.problem.scale[active][:, None]
        D = self.unknowns.alpha_jacobian(
            self.x, [self.robot.alpha.index(self.unknowns.names[k]) for k in wanted]
        )
        return np.asarray(np.where(np.isfinite(D), D, 0.0) @ whole, dtype=np.float64)
