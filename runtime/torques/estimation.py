"""Torques from a recorded motion: the torques whose steps come closest to it, window by window (docs/torque-estimation.md).

A window starts at a recorded state and holds `horizon` steps; its torques minimise

    L = 1/K Σ_t λ₁ Σ_i (p_i − p̂_i)² + λ₂ Σ_i ‖ω_i − ω̂_i‖² + λ₃ ‖u_t − u_{t−1}‖²,

K the joints times the steps of the window, p and ω at the end of every step, ω of every link in world axes; slides add their
own rates to the ω term. Its first torque is kept and the window moves on by a step.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.live import Loop
from diffpbd.runtime.names import hint
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.statics import holding_torque

__all__ = [
    "FRICTIONS", "LOSSES", "NODES", "OPTIMIZERS", "STARTS", "Estimate", "Settings", "check_motion", "estimate",
    "window_start",
]  # fmt: skip

Say: TypeAlias = Callable[[str], None]

LOSSES = {"angle": (1.0, 0.0, 0.0), "omega": (0.0, 1.0, 0.0), "angle+omega": (1.0, 0.02, 0.0)}
"""Weights λ₁ [1/rad²], λ₂ [s²/rad²], λ₃ [1/(N·m)²] of the named losses, as published."""
NODES = "nodes"
"""Not a loss: the discrete inverse at a node, from three poses."""
STARTS = ("zero", "previous", "gravity")
OPTIMIZERS = ("gauss-newton", "adam")
FRICTIONS = ("recorded", "step")
"""Where a step takes joint friction from: the recorded rate at its end, or the rate that the torques lead to."""
MOST_WEIGHT = 1e12
"""[1/rad², …] Weights beyond this lose the other terms to rounding, and worse."""
LONGEST_HORIZON = 1000
"""[1] Steps of a window; each costs some kilobytes and a window's work grows with it."""
SETTLED = 1e-6
"""[1, relative to 1 + |torque|] Last change of a window's torques up to which it counts as converged."""


@dataclass(frozen=True)
class Settings:
    """How torques are estimated; refuses what makes no sense.

    `loss` angle, omega, angle+omega or nodes; `weights` (λ₁, λ₂, λ₃) in place of the loss's own; `start` of a window's
    torques; `horizon` [steps]; `carry`: windows start from the state that the estimated torques led to, not from the
    recorded one; `friction`: see `estimate`.
    """

    loss: str = "angle+omega"
    start: str = "zero"
    horizon: int = 1
    weights: tuple[float, float, float] | None = None
    carry: bool = False
    optimizer: str = "gauss-newton"
    friction: str = "recorded"

    def __post_init__(self) -> None:
        """Refuses unknown names, a horizon below 1, and weights that are negative or all zero."""
        for option, value, known in (
            ("--loss", self.loss, (*LOSSES, NODES)),
            ("--start", self.start, STARTS),
            ("--optimizer", self.optimizer, OPTIMIZERS),
            ("--friction", self.friction, FRICTIONS),
        ):
            if value not in known:
                raise InputError(f"{option}: there is no {value!r}. {hint(value, known)}")
        if not 1 <= self.horizon <= LONGEST_HORIZON:
            raise InputError(f"--horizon: expected 1 to {LONGEST_HORIZON} steps, found {self.horizon}.")
        if self.loss == NODES and (self.weights is not None or self.horizon != 1 or self.carry):
            raise InputError(
                "--loss nodes takes torques from three recorded poses, without a window: --weights, --horizon and --carry "
                "have no meaning for it; leave them out."
            )
        if self.loss == NODES and (self.optimizer != OPTIMIZERS[0]):
            raise InputError("--loss nodes is a formula, not a minimum: leave --optimizer out.")
        if self.weights is not None:
            _check_weights(self.weights)

    @property
    def lambdas(self) -> FloatArray:
        """λ₁, λ₂, λ₃ (3,)."""
        return np.array(LOSSES[self.loss] if self.weights is None else self.weights, dtype=np.float64)


def _check_weights(weights: Sequence[float]) -> None:
    if len(weights) != 3 or not all(0.0 <= w <= MOST_WEIGHT for w in weights):  # NaN too
        raise InputError(
            f"--weights: expected three numbers from 0 to {MOST_WEIGHT:g} (of positions, of angular velocities, of torque "
            f"changes), found {', '.join(f'{w:g}' for w in weights)}."
        )
    if not (weights[0] or weights[1]):
        raise InputError(
            "--weights: the weights of positions and of angular velocities are both zero, so no torque depends on the "
            "recording; give at least one of them."
        )


@dataclass(frozen=True)
class Estimate:
    """Torques of one recording: u (steps, n) [N·m or N], the true joint torque; the sensor reads `offset` (n,) more.

    Of a loss, u[k] acts from time[k] to time[k] + h, and q, dq (steps, n) are the state that it started from. Of `nodes`,
    u[k] is the torque at time[k] (`held` is False). `loss` (steps,) is each window's, `unsettled` the number of windows
    that did not converge.
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    u: FloatArray
    offset: FloatArray
    h: float
    held: bool
    loss: FloatArray
    unsettled: int = 0

    @property
    def reading(self) -> FloatArray:
        """What the joint's torque sensor reads (steps, n)."""
        return self.u + self.offset

    def measured(self, tau: FloatArray) -> FloatArray:
        """From torques at the recording's samples (steps + 1 or + 2, n) to what `reading` compares with (steps, n): the mean
        over each step, or the value at the node."""
        return np.asarray(0.5 * (tau[:-1] + tau[1:]) if self.held else tau[1:-1], dtype=np.float64)


def check_motion(robot: Robot, q: FloatArray, dq: FloatArray, horizon: int, where: str = "the log") -> None:
    """Refuse a motion (samples, n) that is not finite, of the wrong shape, or shorter than a window."""
    for name, values in (("q", q), ("dq", dq)):
        if values.ndim != 2 or values.shape[1] != robot.n or values.shape != q.shape:
            raise InputError(f"{where}: {name}: expected shape ({len(q)}, {robot.n}), found {values.shape}.")
        if not np.isfinite(values).all():
            raise InputError(f"{where}: {name} has values that are not finite.")
    if len(q) < horizon + 1:
        raise InputError(
            f"{where} has {len(q)} samples; a window of {horizon} steps needs {horizon + 1}. Choose a shorter --horizon."
        )


def estimate(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    h: float,
    settings: Settings | None = None,
    *,
    alpha: Any = None,
    time: FloatArray | None = None,
    where: str = "the log",
    progress: Say | None = None,
    loop: Loop | None = None,
) -> Estimate:
    """Torques that make the motion q, dq (samples, n) [rad or m and 1/s], sampled every h [s], from `joint_step`.

    Friction of a step acts at its end. With `friction` "recorded" it is taken at the recorded rate: the same at an exact fit,
    and well posed where a joint hardly moves, where friction takes up any torque and the difference between recorded rates
    and positions would decide it. With "step" the windows' steps are `joint_step` to the letter; ADAM's always are.
    The windows at the end are as short as what is left. `loop` counts the steps.
    Raises InputError for a motion or robot that does not fit, SolverError where a step fails.
    """
    settings = settings or Settings()
    p, pd = np.asarray(q, dtype=np.float64), np.asarray(dq, dtype=np.float64)
    at: FloatArray = np.asarray(np.arange(len(p)) * h if time is None else time, dtype=np.float64)
    values = (
        robot.alpha.vector(alpha) if alpha is None or isinstance(alpha, dict) else np.asarray(alpha, dtype=np.float64)
    )
    offset = values[list(robot.alpha.indices("torque_offset"))]
    if settings.loss == NODES:
        check_motion(robot, p, pd, 2, where)
        _require(robot, "node_torque")
        reading = robot.node_torque(p[:-2], p[1:-1], p[2:], h, values)
        return Estimate(at[1:-1], p[1:-1], pd[1:-1], reading - offset, offset, h, False, np.zeros(len(p) - 2))
    check_motion(robot, p, pd, settings.horizon, where)
    if settings.optimizer == "adam":
        from diffpbd.runtime.torques.adam import Lane, descend

        lane = Lane(settings.start, settings.lambdas, settings.horizon, settings.carry)
        found = descend(robot, p, pd, h, [lane], values, progress=progress, loop=loop)[0]
        return Estimate(at[:-1], found.q, found.dq, found.u, offset, h, True, found.loss)
    return _gauss_newton(robot, p, pd, h, settings, values, offset, at, progress, loop)


def _require(robot: Robot, name: str) -> None:
    if name in robot.functions:
        return
    if "joint_step" not in robot.functions:
        why = "it has no joint_step: a link without inertia leaves out forward dynamics and every step"
    else:
        why = "it was generated by an older diffpbd; generate it again"
    raise InputError(f"{robot.name} has no {name}, which torque estimation needs: {why}.")


def window_start(start: str, held: FloatArray, before: FloatArray, window: FloatArray | None, steps: int) -> FloatArray:
    """First guess (steps, n) of a window's torques.

    `held` (steps, n) holds the recorded poses at rest; `before` (n,) is the torque kept last, `window` the torques of the
    window before. `previous` is the latter moved on by a step, its last step from gravity; with a horizon of one it is
    `before`.
    """
    if start == "zero":
        return np.zeros((steps, held.shape[-1]))
    result = np.array(held[:steps], dtype=np.float64)
    if start == "gravity":
        return result
    if steps == 1:
        return np.array(before[None] if window is None or len(window) < 2 else window[1:2], dtype=np.float64)
    if window is not None:
        known = window[1 : 1 + steps]
        result[: len(known)] = known
    return result


def _gauss_newton(
    robot: Robot,
    p: FloatArray,
    pd: FloatArray,
    h: float,
    settings: Settings,
    alpha: FloatArray,
    offset: FloatArray,
    time: FloatArray,
    progress: Say | None,
    loop: Loop | None,
) -> Estimate:
    _require(robot, "estimate_torque")
    solve, count, weights = robot.functions["estimate_torque"], len(p) - 1, settings.lambdas
    held, known = holding_torque(robot, p, alpha), float(settings.friction == FRICTIONS[0])
    q, dq, u, loss = np.empty((count, robot.n)), np.empty((count, robot.n)), np.empty((count, robot.n)), np.empty(count)
    state, before, window, unsettled = (p[0], pd[0]), held[0], None, 0
    for k in range(count):
        steps = min(settings.horizon, count - k)
        ends = slice(k + 1, k + 1 + steps)
        begin = clock.perf_counter()
        guess = window_start(settings.start, held[k : k + steps], before, window, steps)
        try:
            found = solve(*state, guess, p[ends], pd[ends], before, weights, known, h, alpha)
        except SolverError as error:
            raise SolverError(f"Step {k + 1} of {count}, at {time[k]:.6g} s: {error}") from None
        q[k], dq[k] = state
        window, before = found.U, found.U[0]
        u[k], loss[k] = before, found.loss
        unsettled += int(found.change > SETTLED * (1.0 + np.abs(window).max()))
        state = (found.P[1], found.PD[1]) if settings.carry else (p[k + 1], pd[k + 1])
        if loop is not None:
            loop.add(clock.perf_counter() - begin)
        if progress is not None and (k + 1) % REPORTED_STEPS == 0:
            progress(f"{k + 1} of {count} steps")
    return Estimate(time[:-1], q, dq, u, offset, h, True, loss, unsettled)


REPORTED_STEPS = 2000
"""[1] Steps between two lines of progress."""
