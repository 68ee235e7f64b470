"""One step of an experiment by any of the generated steps, and the torque that takes it where it should go.

The published step in maximal coordinates (Gauss–Seidel or Jacobi sweeps, or the direct solve), ours in the same coordinates, or
ours on joint coordinates. Derivatives are exact, those of the sweeps as they were made: rows of the reverse mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.model.robot import Robot

__all__ = [
    "JOINT",
    "OURS",
    "STEPS",
    "Ends",
    "Optimum",
    "ends_of",
    "function_of",
    "label_of",
    "least",
    "maximal_ends",
    "omega_of",
    "step_named",
]

JOINT = "joint"
OURS = "variational"
STEPS = ("paper_gauss_seidel", "paper_jacobi", "paper_direct", OURS, JOINT)
"""The published step by its three solvers, then ours in maximal and in joint coordinates: the order of columns."""
WORDS = {
    "paper_gauss_seidel": "Gauss–Seidel", "paper_jacobi": "Jacobi", "paper_direct": "direct", OURS: "variational",
    JOINT: "ours",
}  # fmt: skip
SWEPT = STEPS[:2]
HOW = {(): "", ("multiplier", "order"): " as printed", ("multiplier",): ", scalar", ("order",): ", printed order"}
"""What of `SWEPT` is as printed (`manifest.recipe.printed`), in words."""
STATE, OMEGA = 13, slice(10, 13)
"""Numbers of a link's state x, v, q (wxyz), ω, and where ω stands in it."""
MOST = 100
"""Gauss–Newton iterations; a step is nearly linear in the torque, a few suffice."""
STILL = 1e-9
"""[1] Correction over 1 + |torque| below which a torque has converged."""
RAISE, LOWER = 10.0, 0.1
"""[1] What an iteration that failed or succeeded makes of the damping."""
DAMPING = 1e-9
"""[1] First damping, relative to the diagonal of JᵀJ."""


def step_named(word: str, known: Sequence[str] = STEPS) -> str:
    """A step by its name, or by that of its generated function; one that is not `known` is refused."""
    functions = {"joint_step": JOINT, "step": OURS, "step_variational_direct": OURS}
    name = functions.get(word, word.removeprefix("step_"))
    if name not in known:
        raise InputError(f"There is no step {word!r}. {hint(word, known)}")
    return name


def function_of(robot: Robot, step: str) -> str:
    """The generated function of one of `STEPS`; a robot without it is refused."""
    step = step_named(step)
    if step == JOINT:
        name = "joint_step"
    elif (
        step == OURS and robot.manifest.recipe.integrator == "variational" and robot.manifest.recipe.solver == "direct"
    ):
        name = "step"
    else:
        name = f"step_{'variational_direct' if step == OURS else step}"
    _require(robot, step, name)
    return name


def _require(robot: Robot, step: str, name: str) -> None:
    if name not in robot.functions:
        why = robot.manifest.why_not(name)
        raise InputError(f"{robot.name} has no {name}, which --step {step} needs. {why}".rstrip())


def label_of(robot: Robot, step: str) -> str:
    """Words for a table's head, with the sweeps that the robot was generated with and what of them is as printed."""
    sweeps = robot.manifest.recipe.sweeps.get("variational_direct" if step == OURS else step)
    return (
        WORDS[step] + (HOW[robot.manifest.recipe.printed] if step in SWEPT else "") + (f" × {sweeps}" if sweeps else "")
    )


class Ends(Protocol):
    """Where a step ends under torques u (k, n): values (k, m) and their exact derivatives (k, m, n) by u."""

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and derivatives."""


def ends_of(
    robot: Robot, step: str, p: FloatArray, pd: FloatArray, h: float, alpha: FloatArray,
    what: Sequence[str] = ("p", "omega"),
) -> Ends:  # fmt: skip
    """One step from the states p, pd (k, n) in joint coordinates; `what` of its end is asked for: p, pd, omega (3 a link)."""
    if step == JOINT:
        return _JointEnds(robot, p, pd, h, alpha, tuple(what))
    xi = np.asarray(robot.fk(p, pd, alpha), dtype=np.float64)
    return maximal_ends(robot, step, xi, p, h, alpha, what)


def maximal_ends(
    robot: Robot, step: str, xi: FloatArray, near: FloatArray, h: float, alpha: FloatArray,
    what: Sequence[str] = ("p", "omega"),
) -> Ends:  # fmt: skip
    """The same from maximal states xi (k, 13 links), which need not satisfy their constraints; `near` (k, n): about p."""
    name = function_of(robot, step)
    _require(robot, step, f"vjp_{name}")
    return _MaximalEnds(robot, name, xi, near, h, alpha, tuple(what))


def omega_of(xi: FloatArray) -> FloatArray:
    """ω (k, 3 links) [rad/s, world] of maximal states (k, 13 links)."""
    return np.asarray(xi).reshape(len(xi), -1, STATE)[..., OMEGA].reshape(len(xi), -1)


@dataclass(frozen=True, eq=False)
class _JointEnds:
    robot: Robot
    p: FloatArray
    pd: FloatArray
    h: float
    alpha: FloatArray
    what: tuple[str, ...]

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        step = self.robot.jac_joint_step(self.p, self.pd, u, self.h, self.alpha)
        found = {"p": (step.p_next, step.dp_next_du), "pd": (step.pd_next, step.dpd_next_du)}
        if "omega" in self.what:
            found["omega"] = self._omega(step.p_next, step.pd_next, step.dp_next_du, step.dpd_next_du)
        values, slopes = zip(*(found[name] for name in self.what), strict=True)
        return np.concatenate(values, axis=1), np.concatenate(slopes, axis=1)

    def _omega(
        self, p: FloatArray, pd: FloatArray, by_p: FloatArray, by_pd: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """ω and its derivatives through both halves of the state, by rows of the reverse mode of `fk`."""
        omega = omega_of(np.asarray(self.robot.fk(p, pd, self.alpha)))
        back = [self.robot.vjp_fk(p, pd, self.alpha, bar) for bar in _unit_bars(omega.shape[1], len(p))]
        slope = np.stack([b.p_bar for b in back], axis=1) @ by_p + np.stack([b.pd_bar for b in back], axis=1) @ by_pd
        return omega, slope


@dataclass(frozen=True, eq=False)
class _MaximalEnds:
    robot: Robot
    function: str
    xi: FloatArray
    near: FloatArray
    h: float
    alpha: FloatArray
    what: tuple[str, ...]

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        robot, n, k = self.robot, self.robot.n, len(u)
        end = np.asarray(robot.functions[self.function](self.xi, u, self.h, self.alpha), dtype=np.float64)
        p, pd = robot.joint_state(end, self.alpha, self.near)
        values, bars = [], []
        for name in self.what:
            if name == "omega":
                values.append(omega_of(end))
                bars += _unit_bars(values[-1].shape[1], k)
                continue
            values.append(p if name == "p" else pd)
            for j in range(n):
                seeds = {"p_bar": np.zeros((k, n)), "pd_bar": np.zeros((k, n))}
                seeds[f"{name}_bar"][:, j] = 1.0
                bars.append(robot.vjp_joint_state(end, self.alpha, self.near, seeds["p_bar"], seeds["pd_bar"]).xi_bar)
        pull = robot.functions[f"vjp_{self.function}"]
        rows = [pull(self.xi, u, self.h, self.alpha, bar).u_bar for bar in bars]
        return np.concatenate(values, axis=1), np.stack(rows, axis=1)


def _unit_bars(count: int, k: int) -> list[FloatArray]:
    """Unit adjoints (k, 13 links) of every component of ω."""
    bars = []
    for j in range(count):
        bar = np.zeros((k, count // 3, STATE))
        bar[:, j // 3, OMEGA.start + j % 3] = 1.0
        bars.append(bar.reshape(k, -1))
    return bars


@dataclass(frozen=True, eq=False)
class Optimum:
    """Torques (k, n) of least loss, the losses (k,), iterations, and how many of them did not settle."""

    u: FloatArray
    loss: FloatArray
    iterations: int
    unsettled: int


def least(
    ends: Ends, wanted: FloatArray, weights: FloatArray, start: FloatArray, *, still: float = STILL, flat: float = 0.0
) -> Optimum:  # fmt: skip
    """Torques (k, n) whose step ends nearest to `wanted` (k, m): least Σ weights (m,) or (k, m) · difference², from `start`.

    Gauss–Newton, damped where the loss would grow (Levenberg and Marquardt), every row on its own, until corrections are below
    `still`, relative to 1 + |torque|, or an iteration lowers the loss by no more than its part `flat`.
    """
    root, u = np.sqrt(weights), np.array(start, dtype=np.float64)
    n = u.shape[1]
    damping = np.full(len(u), DAMPING)
    value, slope = ends(u)
    if not (np.isfinite(value).all() and np.isfinite(slope).all()):
        raise SolverError("The step from the start of the search is not finite.")
    residual, jacobian = root * (value - wanted), root[..., None] * slope
    loss = (residual**2).sum(axis=1)
    moving = np.ones(len(u), dtype=bool)
    for iteration in range(1, MOST + 1):
        square = np.einsum("kij,kil->kjl", jacobian, jacobian)
        diagonal = np.einsum("kjj->kj", square)
        square[:, np.arange(n), np.arange(n)] += damping[:, None] * diagonal
        try:
            correction = -np.linalg.solve(square, np.einsum("kij,ki->kj", jacobian, residual)[..., None])[..., 0]
        except np.linalg.LinAlgError:
            raise SolverError("Some torque changes nothing of what the loss compares.") from None
        correction[~moving] = 0.0
        settled = np.abs(correction).max(axis=1) < still * (1.0 + np.abs(u).max(axis=1))
        value, slope = ends(u + correction)
        new = root * (value - wanted)
        new_loss = np.where(np.isfinite(new).all(axis=1), (new**2).sum(axis=1), np.inf)
        better = new_loss <= loss
        settled |= better & (loss - new_loss <= flat * loss)
        u = np.where(better[:, None], u + correction, u)
        residual = np.where(better[:, None], new, residual)
        jacobian = np.where(better[:, None, None], root[..., None] * slope, jacobian)
        loss = np.where(better, new_loss, loss)
        damping = np.where(better, LOWER * damping, RAISE * damping)
        moving &= ~settled
        if not moving.any():
            return Optimum(u, loss, iteration, 0)
    return Optimum(u, loss, MOST, int(moving.sum()))
