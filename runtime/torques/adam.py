"""Torque estimation as published: ADAM through the reverse mode of Algorithm 1 with 30 sweeps, Gauss–Seidel or Jacobi.

For comparison with the paper; `estimate` by Gauss–Newton finds the optimum. Not stated in the paper and assumed here: K counts
the joints of every step of a window, the optimiser is reset in every window, its other constants are the usual ones, the last
iterate is used, and there are 120 iterations from zero torque and in windows of several steps, 80 otherwise.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.live import UNWATCHED, Watch
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.torques.settings import window_start

__all__ = [
    "DECAY", "DECAY_SQUARE", "EPSILON", "LONG", "RATE", "RATE_FROM_ZERO", "SHORT", "SOLVERS", "Descent", "Lane", "descend",
    "unlike_published",
]  # fmt: skip

SOLVERS = ("gauss_seidel", "jacobi")
"""Solvers of the sweeps; the paper describes both, its experiments use the second."""
SWEEPS = 30
STATE = 13
"""State of a link: x, v, q (wxyz), ω."""
OMEGA = slice(10, 13)
RATE_FROM_ZERO, RATE, RATE_OF_WINDOWS = 1.0, 0.2, 0.1
"""[N·m] Learning rates: from zero torque, from other starts, in windows of several steps."""
LONG, SHORT = 120, 80
"""[1] Iterations, see above."""
DECAY, DECAY_SQUARE, EPSILON = 0.9, 0.999, 1e-8
"""ADAM's usual constants [1, 1, 1/(N·m)]."""
REPORTED_STEPS = 50
"""[1] Steps between two lines of progress."""


@dataclass(frozen=True)
class Lane:
    """One scheme: start of a window's torques, λ (3,), steps of a window, whether the state is carried over, and iterations and
    learning rate [N·m] from zero torque."""

    start: str
    weights: FloatArray
    horizon: int = 1
    carry: bool = True
    from_zero: int = LONG
    rate_from_zero: float = RATE_FROM_ZERO

    @property
    def rate(self) -> float:
        """Learning rate [N·m]."""
        if self.horizon > 1:
            return RATE_OF_WINDOWS
        return self.rate_from_zero if self.start == "zero" else RATE

    @property
    def iterations(self) -> int:
        """Iterations a window."""
        if self.start == "zero":
            return self.from_zero
        return LONG if self.horizon > 1 else SHORT


@dataclass
class Descent:
    """Result of one lane: u (steps, n), the states q, dq (steps, n) at the start of each step, each window's loss."""

    q: FloatArray
    dq: FloatArray
    u: FloatArray
    loss: FloatArray


def descend(
    robot: Robot,
    p: FloatArray,
    pd: FloatArray,
    h: float,
    lanes: Sequence[Lane],
    alpha: FloatArray,
    *,
    solver: str = SOLVERS[0],
    watch: Watch = UNWATCHED,
) -> list[Descent]:
    """Run lanes of one horizon side by side over the motion p, pd (samples, n); `estimate` refuses motions that do not fit."""
    if solver not in SOLVERS:
        raise InputError(f"There is no solver {solver!r} of sweeps. {hint(solver, SOLVERS)}")
    step = f"step_paper_{solver}"
    for name in (step, f"vjp_{step}"):
        if name not in robot.functions:
            why = (
                robot.manifest.why_not(f"vjp_{step}")
                or f"Generate it with {arg.integrator('paper')} {arg.solver(solver)}."
            )
            if robot.manifest.robot.mimics:
                names = ", ".join(m.name for m in robot.manifest.robot.mimics)
                why = f"Generate it with `--hold` for {names}, which mimic others."
            raise InputError(f"{robot.name} has no {name}, which {arg.optimizer('adam')} needs. {why}")
    if note := unlike_published(robot, solver):
        watch.say(note)
    return _Descents(robot, p, pd, h, lanes, alpha, step).run(watch)


def unlike_published(robot: Robot, solver: str = SOLVERS[0]) -> str:
    """Differences from the published setting in words, or empty."""
    sweeps = robot.manifest.recipe.sweeps.get(f"paper_{solver}")
    return (
        ""
        if sweeps == SWEEPS
        else f"{robot.name} was generated with {sweeps} sweeps; the published setting is {SWEEPS}"
    )


class _Descents:
    """The optimisation of all lanes, one row each."""

    def __init__(
        self, robot: Robot, p: FloatArray, pd: FloatArray, h: float, lanes: Sequence[Lane], alpha: FloatArray,
        step: str = f"step_paper_{SOLVERS[0]}",
    ) -> None:  # fmt: skip
        self.robot, self.p, self.pd, self.h, self.lanes, self.alpha = robot, p, pd, h, lanes, alpha
        self.horizon = lanes[0].horizon
        if any(lane.horizon != self.horizon for lane in lanes):
            raise InputError("Lanes of one run have one horizon.")
        self.xi = np.asarray(robot.fk(p, pd, alpha), dtype=np.float64)
        self.omega = self._omega(self.xi)
        self.held = holding_torque(robot, p, alpha)
        self.weights = np.array([lane.weights for lane in lanes])
        self.rates = np.array([lane.rate for lane in lanes])
        self.iterations = np.array([lane.iterations for lane in lanes])
        self.step, self.pull = robot.functions[step], robot.functions[f"vjp_{step}"]

    def run(self, watch: Watch) -> list[Descent]:
        count, rows, n = len(self.p) - 1, len(self.lanes), self.robot.n
        q, dq, u, losses = (np.empty((count, rows, *shape)) for shape in ((n,), (n,), (n,), ()))
        xi = np.repeat(self.xi[:1], rows, axis=0)
        carried = np.array([lane.carry for lane in self.lanes])[:, None]
        before = np.repeat(self.held[:1], rows, axis=0)
        window: FloatArray | None = None
        for k in range(count):
            begin = clock.perf_counter()
            steps = min(self.horizon, count - k)
            guess = np.array(
                [
                    window_start(
                        lane.start, self.held[k : k + steps], before[r], None if window is None else window[r], steps
                    )
                    for r, lane in enumerate(self.lanes)
                ]
            )
            state = self.robot.joint_state(xi, self.alpha, np.repeat(self.p[k : k + 1], rows, axis=0))
            q[k], dq[k] = state
            try:
                window = self._minimise(xi, guess, k, before)
                losses[k], _ = self._loss(xi, window, k, before)
                after = self.step(xi, window[:, 0], self.h, self.alpha)
            except SolverError as error:
                raise SolverError(f"Step {k + 1} of {count}: {error}") from None
            before = window[:, 0]
            u[k] = before
            xi = np.where(carried, after, self.xi[k + 1])
            watch.add(clock.perf_counter() - begin)
            if (k + 1) % REPORTED_STEPS == 0:
                watch.say(f"ADAM: {k + 1} of {count} steps")
        return [Descent(q[:, r], dq[:, r], u[:, r], losses[:, r]) for r in range(rows)]

    def _minimise(self, xi: FloatArray, U: FloatArray, k: int, before: FloatArray) -> FloatArray:
        """ADAM on the torques (rows, steps, n) of the windows that start at sample k."""
        mean, square = np.zeros_like(U), np.zeros_like(U)
        for iteration in range(1, int(self.iterations.max()) + 1):
            _, gradient = self._loss(xi, U, k, before)
            mean = DECAY * mean + (1.0 - DECAY) * gradient
            square = DECAY_SQUARE * square + (1.0 - DECAY_SQUARE) * gradient**2
            unbiased = mean / (1.0 - DECAY**iteration)
            spread = np.sqrt(square / (1.0 - DECAY_SQUARE**iteration))
            active = np.where(iteration <= self.iterations, self.rates, 0.0)[:, None, None]
            U = U - active * unbiased / (spread + EPSILON)
        return U

    def _loss(self, xi: FloatArray, U: FloatArray, k: int, before: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Loss (rows,) and its gradient (rows, steps, n) of windows from states xi (rows, 13 n)."""
        rows, steps, n = U.shape
        count = n * steps
        states = [xi]
        for j in range(steps):
            states.append(self.step(states[-1], U[:, j], self.h, self.alpha))
        changes = np.diff(np.concatenate([before[:, None], U], axis=1), axis=1)
        loss = self.weights[:, 2] * (changes**2).sum(axis=(1, 2))
        gradient = 2.0 * self.weights[:, 2, None, None] / count * (changes - _moved_on(changes))
        bar = np.zeros_like(xi)
        for j in range(steps - 1, -1, -1):
            state, p_ref = states[j + 1], np.repeat(self.p[k + 1 + j : k + 2 + j], rows, axis=0)
            error = self.robot.joint_state(state, self.alpha, p_ref).p - p_ref
            turn = self._omega(state) - self.omega[k + 1 + j]
            loss = loss + self.weights[:, 0] * (error**2).sum(axis=1) + self.weights[:, 1] * (turn**2).sum(axis=(1, 2))
            seeds = {"p_bar": 2.0 * self.weights[:, :1] / count * error, "pd_bar": np.zeros_like(error)}
            bar = bar + self.robot.vjp_joint_state(state, self.alpha, p_ref, **seeds).xi_bar
            self._omega(bar)[...] += 2.0 * self.weights[:, 1, None, None] / count * turn
            pulled = self.pull(states[j], U[:, j], self.h, self.alpha, bar)
            bar = pulled.xi_bar
            gradient[:, j] += pulled.u_bar
        return loss / count, gradient

    @staticmethod
    def _omega(xi: Any) -> FloatArray:
        """A view of ω (rows, links, 3) in states (rows, 13 links)."""
        return np.asarray(xi).reshape(len(xi), -1, STATE)[..., OMEGA]


def _moved_on(changes: FloatArray) -> FloatArray:
    """The next step's change at every step; zero after the last."""
    result = np.zeros_like(changes)
    result[:, :-1] = changes[:, 1:]
    return result
