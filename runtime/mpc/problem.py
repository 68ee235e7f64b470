"""The optimal control problem that every back end of `Mpc` solves: data, result and cost.

Torques and states of N steps are unknowns (multiple shooting), the defects of `joint_step` are equality constraints:

    minimise  sum over nodes 1 … N of  ½ |p − p_ref|² + ½ |pd − pd_ref|² + ½ |tip − tip_ref|²   (weighted)
              + sum over steps of      ½ |u − u_ref|² + ½ |u − u of the step before|²           (weighted)
              + price · (excess over the bounds of p and pd)

with hard bounds on u and on its change from step to step. Trajectories have one sample a row.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import expect, shown
from diffpbd.runtime.base.quaternions import difference, without_turn
from diffpbd.runtime.functions.function import as_array
from diffpbd.runtime.model.closed import driven
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.apart import Apart

__all__ = [
    "MAX_HORIZON", "NONE", "TRANSITION", "Bounds", "Plan", "Problem", "Status", "Task", "Weights", "bounds_by_name",
    "check_step", "finite_array", "spread", "trajectory",
]  # fmt: skip

MAX_HORIZON = 50
NONE = 1e20
"""[SI] A bound of at least this size is none, as in the emitted solver."""
PRICE = 1e3
"""[cost per rad or rad/s] Price of a violated bound of p or pd: above the multipliers of ordinary tracking costs, so that
a bound holds if possible."""
TRANSITION = 0.05
"""rad/s; width of the sign change of Coulomb friction in a plan. With the default 0.01 a program linearised at a resting
wrist predicts that torque hardly moves it, demands the full torque, and throws it."""
RATE_SHARE = 10.0
"""[1/s] Default change of torque, as a share of the effort limit: that of the guard, full effort in 0.1 s."""


class Status(enum.IntEnum):
    """How a solve ended; the numbers are those of the emitted solver."""

    SOLVED = 0
    LIMITED = 5
    """The iteration limit came first; the plan keeps the torque bounds and may be used."""
    BAD_INPUT = 6
    STEP_FAILED = 7
    NOT_SOLVED = 8
    TOO_NEAR = 16
    """A hard distance constraint is violated."""

    ASTRAY = 100
    """The measured motion is far from the planned one: plans are about another arm or delay. The solver has no such status."""

    @property
    def usable(self) -> bool:
        """Whether there is a plan."""
        return self <= Status.LIMITED


@dataclass(frozen=True)
class Weights:
    """Weights of the tracking cost: numbers (for joints, not for a moving base) or one per rate (n,). The defaults are
    the paper's (1, 0.02, 2e-7), squared errors halved.

    `p` [1/rad²], `pd` [s²/rad²], `u` and `du` [1/(N·m)²], `end` multiplies p, pd and tip at the last node, `tip` [1/m²]
    (a number or one an axis).
    """

    p: npt.ArrayLike = 1.0
    pd: npt.ArrayLike = 0.02
    u: npt.ArrayLike = 0.0
    du: npt.ArrayLike = 2e-7
    tip: npt.ArrayLike = 0.0
    end: float = 1.0

    def rows(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Weights (6, n) and tip weights (2, 3) as the emitted solver takes them."""
        rows = [spread(f"weight {name}", getattr(self, name), n) for name in ("p", "pd", "u", "du")]
        end = spread("weight end", self.end, 1)[0]
        tip = spread("weight tip", self.tip, 3)
        return np.array([*rows, end * rows[0], end * rows[1]]), np.array([tip, end * tip])


def spread(name: str, value: npt.ArrayLike, count: int) -> FloatArray:
    """Finite numbers (count,) of at least 0, from a scalar or one each."""
    expect(f"MPC: {name}", value, "npt.ArrayLike")
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (count,)):
        raise InputError(f"MPC: {name}: expected a number or {count} of them, found shape {array.shape}.")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"MPC: {name}: expected finite numbers of at least 0, found {array.tolist()}.")
    return np.broadcast_to(array, (count,)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds per joint, arrays (n,): torque [N·m], its change per step [N·m], position [rad], speed [rad/s]; ±inf: none."""

    u_lower: FloatArray
    u_upper: FloatArray
    du: FloatArray
    p_lower: FloatArray
    p_upper: FloatArray
    pd: FloatArray

    @classmethod
    def of(cls, robot: Robot, h: float) -> Bounds:
        """The limits of the description; torque may change by ten times the effort limit a second."""
        own = robot.limits.expect_room(robot.joints)
        effort = np.where(driven(robot), own.effort, np.inf)  # a joint without a motor has no torque to bound
        return cls(-effort, effort, RATE_SHARE * effort * h, own.lower, own.upper, own.speed)

    def rows(self, n: int) -> FloatArray:
        """(6, n), infinite ones as NONE; bounds that contradict each other are refused."""
        names = ("u_lower", "u_upper", "du", "p_lower", "p_upper", "pd")
        rows = np.array([np.broadcast_to(np.asarray(getattr(self, k), dtype=np.float64), (n,)) for k in names])
        if np.isnan(rows).any():
            raise InputError("MPC bounds: found NaN; expected numbers, ±inf for no bound.")
        for low, high in ((0, 1), (3, 4)):
            if not (rows[low] < rows[high]).all():
                raise InputError(f"MPC bounds: {names[low]} must be below {names[high]} for every joint.")
        for row in (2, 5):
            if not (rows[row] > 0).all():
                raise InputError(f"MPC bounds: {names[row]} must be above 0 for every joint.")
        result: FloatArray = np.clip(rows, -NONE, NONE)
        return result


def bounds_by_name(robot: Robot, h: float, data: Any, where: str) -> Bounds:
    """The description's bounds, narrowed by an object with u, du, pd (a number or n each); `where`: prefix of messages."""
    limits = Bounds.of(robot, h)
    if not isinstance(data, Mapping) or set(data) - {"u", "du", "pd"}:
        raise InputError(f"{where}: expected an object with some of u, du, pd, found {shown(data)}.")
    given: dict[str, Any] = {}
    for name, value in data.items():
        try:
            numbers = np.array(value, dtype=np.float64)
            if numbers.shape not in ((), (robot.n,)):
                raise ValueError
            if numbers.shape == () and name != "pd":
                numbers = np.where(driven(robot), numbers, np.inf)
            numbers = np.broadcast_to(numbers, (robot.n,))
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{where}: {name}: expected a number or {robot.n} of them, found {shown(value)}."
            ) from None
        if name == "u":
            given |= {"u_upper": np.minimum(numbers, limits.u_upper), "u_lower": np.maximum(-numbers, limits.u_lower)}
        else:
            given[name] = np.minimum(numbers, getattr(limits, name))
    return replace(limits, **given)


@dataclass(frozen=True, eq=False)
class Task:
    """One tick's data: the state p [rad] (n_p,), pd [rad/s] (n,), the torque before (n,) and references by node and step.

    `P` (N + 1, n_p) [rad], `PD` (N + 1, n) [rad/s], `U` (N, n) [N·m], `tip` (N + 1, 3) [m, world]; row 0 of the nodes is
    not used.
    """

    p: FloatArray
    pd: FloatArray
    u_last: FloatArray
    P: FloatArray
    PD: FloatArray
    U: FloatArray
    tip: FloatArray


@dataclass(frozen=True, eq=False)
class Plan:
    """Result of a solve: torques U (N, n), states P (N + 1, n_p), PD (N + 1, n) from the measured one on, and statistics.

    `cost` includes the prices of violated bounds; `defect` is the largest of the last linearisation; `violation` the
    largest excess over bounds of p and pd; `clearance` the least distance [m] if constrained. `seconds` is the time in
    the embedded solver.
    """

    status: Status
    U: FloatArray
    P: FloatArray
    PD: FloatArray
    cost: float = float("nan")
    defect: float = float("nan")
    violation: float = float("nan")
    clearance: float = float("inf")
    iterations: int = 0
    inner_iterations: int = 0
    seconds: float = float("nan")
    detail: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class Problem:
    """The constant part of a robot's problem: horizon N, step h [s], alpha, weights, bounds, prices."""

    robot: Robot
    horizon: int
    h: float
    alpha: FloatArray
    weights: FloatArray
    tip_weights: FloatArray
    bounds: FloatArray
    price: tuple[float, float] = (PRICE, PRICE)
    apart: Apart | None = None

    def __post_init__(self) -> None:
        for name in ("alpha", "weights", "tip_weights", "bounds"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, array)
        if not 1 <= self.horizon <= MAX_HORIZON:
            raise InputError(f"MPC: the horizon must be from 1 to {MAX_HORIZON} steps, found {self.horizon}.")
        check_step(self.h)
        if self.floating and (np.abs(self.bounds[3:5, 3:6]) < NONE).any():
            raise InputError(
                "MPC bounds: p_lower, p_upper: the turn of a floating base has no bounds; give ±inf for it."
            )
        if not all(np.isfinite(p) and p > 0 for p in self.price):
            raise InputError(f"MPC: the prices of broken bounds must be above 0, found {self.price}.")

    @property
    def floating(self) -> bool:
        """Whether positions contain the quaternion of a floating base."""
        return self.robot.manifest.robot.floating

    def cost(self, task: Task, U: FloatArray, P: FloatArray, PD: FloatArray) -> float:
        """The cost of torques and states, with prices of violated bounds."""
        w, (_, _, _, p_lower, p_upper, speed) = self.weights, self.bounds
        node = np.repeat(w[[0, 1]][None], self.horizon, axis=0)
        node[-1] = w[[4, 5]]
        changes = np.diff(np.vstack([task.u_last, U]), axis=0)
        total = 0.5 * float((node[:, 0] * difference(self.floating, P[1:], task.P[1:]) ** 2).sum())
        total += 0.5 * float((node[:, 1] * (PD[1:] - task.PD[1:]) ** 2).sum())
        total += 0.5 * float((w[2] * (U - task.U) ** 2).sum() + (w[3] * changes**2).sum())
        if self.tip_weights.any():
            tip = np.repeat(self.tip_weights[:1], self.horizon, axis=0)
            tip[-1] = self.tip_weights[1]
            found = np.array([self.robot.tip_pose(p, self.alpha).position for p in P[1:]])
            total += 0.5 * float((tip * (found - task.tip[1:]) ** 2).sum())
        places = without_turn(self.floating, P[1:])
        over = np.maximum(places - p_upper, 0) + np.maximum(p_lower - places, 0)
        over_speed = np.maximum(abs(PD[1:]) - speed, 0)
        total += 0.0 if self.apart is None else self.apart.penalty(P, self.h)
        return total + self.price[0] * float(over.sum()) + self.price[1] * float(over_speed.sum())

    def violation(self, P: FloatArray, PD: FloatArray) -> float:
        """The largest excess [rad or rad/s] of nodes 1 … N over the bounds of p and pd, 0 if there is none."""
        _, _, _, p_lower, p_upper, speed = self.bounds
        places = without_turn(self.floating, P[1:])
        over = (places - p_upper, p_lower - places, abs(PD[1:]) - speed)
        return max(0.0, *(float(block.max()) for block in over))

    def first_guess(self, task: Task, guess: Plan | None, shifted: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """U (N, n), P (N + 1, n_p), PD (N + 1, n): the guess, by a step if `shifted`; None: at rest where measured."""
        N, n = self.horizon, self.robot.n
        if guess is None:
            U = np.tile(holding_torque(self.robot, task.p, self.alpha), (N, 1))
            P, PD = np.tile(task.p, (N + 1, 1)), np.zeros((N + 1, n))
        else:
            rows = np.minimum(np.arange(N + 1) + shifted, N)
            U = guess.U[np.minimum(np.arange(N) + shifted, N - 1)]
            P, PD = guess.P[rows], guess.PD[rows]
        P[0], PD[0] = task.p, task.pd
        return U, P, PD


def check_step(h: float) -> None:
    """Refuse a step [s] that is not positive and finite."""
    if not (np.isfinite(h) and h >= 1e-9):  # status 21 in C
        raise InputError(f"MPC: the step must be above 0 s, 1e-9 s at least, found {h}.")


def finite_array(name: str, value: object, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """`value` as an array of this shape, of finite numbers unless told otherwise, or an InputError that names it."""
    array = as_array(value, name, "Mpc", finite=False)
    if array.shape != shape:
        raise InputError(f"MPC: {name}: expected shape {shape}, found {array.shape}.")
    if finite and not np.isfinite(array).all():
        raise InputError(f"MPC: {name}: expected finite numbers, found {array.tolist()}.")
    return array


def trajectory(name: str, value: object, shape: tuple[int, int]) -> FloatArray:
    """A reference by rows; one row stands for all."""
    array = as_array(value, name, "Mpc", finite=False)
    if array.shape == shape[1:]:
        array = np.broadcast_to(array, shape)
    return finite_array(name, array, shape)
