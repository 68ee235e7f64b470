"""Torques from a recorded motion: those whose steps reproduce it best, window by window (docs/torque-estimation.md).

A window starts at a recorded state and holds `horizon` steps; its torques minimise

    L = 1/K Σ_t λ₁ Σ_i (p_i − p̂_i)² + λ₂ Σ_i ‖ω_i − ω̂_i‖² + λ₃ ‖u_t − u_{t−1}‖²,

K the joints times the steps of the window, p and ω at the end of every step, ω of every link in world axes; prismatic joints
add their rates to the ω term. Its first torque is kept and the window moves on by a step.
"""

from __future__ import annotations

import functools
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.live import UNWATCHED, Watch
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.torques.adam import Lane, descend
from diffpbd.runtime.torques.contact_forces import Forces, check_forces
from diffpbd.runtime.torques.settings import FRICTIONS, NODES, Settings, window_start

__all__ = ["Estimate", "check_motion", "estimate"]

SETTLED = 1e-6
"""[1, relative to 1 + |torque|] Convergence tolerance of a window's torques."""
WORSE = 4.0
"""[1] Ratio of a window's loss to the largest so far above which it is solved again from other torques."""
ALIKE = 1.01
"""[1] Ratio of losses within which two starts found the same minimum, which is then accepted."""
LEAST_LOSS = 1e-18
"""[rad²] Losses below are rounding."""
AGAIN = ("previous", "gravity")
"""Further starts of such a window; the lowest loss is kept."""
REPORTED_STEPS = 2000
"""[1] Steps between two lines of progress."""


@dataclass(frozen=True)
class Estimate:
    """Torques of one recording: u (steps, n) [N·m or N], without the sensor's `offset` (n,).

    For a loss, u[k] acts from time[k] to time[k] + h, and q, dq (steps, n) is the state at its start. For `nodes`, u[k] is
    the torque at time[k] (`held` is False), also of a floating base, with q (steps, n_p) and the external wrench on the
    base in u. `loss` (steps,): of each window; `unsettled`: number of windows that did not converge or ended far above all
    before; `again`: of those, the number with a far lower loss from another start, which is used.
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
    again: int = 0

    @property
    def reading(self) -> FloatArray:
        """Readings of the joints' torque sensors (steps, n)."""
        return self.u + self.offset

    def measured(self, tau: FloatArray) -> FloatArray:
        """Recorded torques (steps + 1 or + 2, n) for comparison with `reading` (steps, n): the mean over each step, or
        the value at the node."""
        return np.asarray(0.5 * (tau[:-1] + tau[1:]) if self.held else tau[1:-1], dtype=np.float64)


def check_motion(robot: Robot, q: FloatArray, dq: FloatArray, horizon: int, where: str = "the log") -> None:
    """Refuse a motion (samples, n_p and n) that is not finite, of the wrong shape, or shorter than a window."""
    for name, values, size in (("q", q, robot.n_p), ("dq", dq, robot.n)):
        if values.shape != (len(q), size):
            raise InputError(f"{where}: {name}: expected shape ({len(q)}, {size}), found {values.shape}.")
        if not np.isfinite(values).all():
            raise InputError(f"{where}: {name} has values that are not finite.")
    if len(q) < horizon + 1:
        raise InputError(
            f"{where} has {len(q)} samples; a window of {horizon} steps needs {horizon + 1}. Choose a shorter {arg.horizon}."
        )


def estimate(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    h: float,
    settings: Settings | None = None,
    *,
    alpha: Any = None,
    time: FloatArray | Forces | None = None,
    watch: Watch = UNWATCHED,
) -> Estimate:
    """Torques that make the motion q, dq (samples, n) [rad or m and 1/s], sampled every h [s], from `joint_step`.

    Friction of a step acts at its end. With `friction` "recorded" it is evaluated at the recorded rate: the same at an exact
    fit, and well posed for a joint that hardly moves, where friction balances any torque and the difference between recorded
    rates and positions would decide it. With "step" the windows' steps are exactly `joint_step`; ADAM's always are. The last
    windows are shorter. `watch` is called with progress. For a robot with contacts only torques at nodes are estimated,
    without those of the contact forces, which are given at their own times instead of `time`.
    Raises InputError for a motion or robot that does not fit, SolverError where a step fails.
    """
    settings = settings or Settings()
    p, pd = np.asarray(q, dtype=np.float64), np.asarray(dq, dtype=np.float64)
    forces, time = (time, time.time) if isinstance(time, Forces) else (None, time)
    at: FloatArray = np.asarray(np.arange(len(p)) * h if time is None else time, dtype=np.float64)
    values = (
        robot.alpha.vector(alpha) if alpha is None or isinstance(alpha, dict) else np.asarray(alpha, dtype=np.float64)
    )
    own = values[list(robot.alpha.indices("torque_offset"))]
    offset = np.concatenate([np.zeros(robot.n - len(own)), own])  # a floating base has no sensor
    closed = closed_loops.of(robot)
    if robot.manifest.robot.floating:
        _expect_nodes(robot, settings)
    if closed is not None:
        p, pd, _ = closed.completed(p, pd, np.zeros_like(pd), alpha=values)
        offset = np.where(closed.motors, offset, 0.0)
        if settings.optimizer == "adam":
            raise InputError(
                f"{arg.optimizer('adam')}: {robot.name} has closed loops or joints without a motor; use gauss-newton."
            )
    touching = _touching(robot, settings, closed)
    if settings.loss == NODES:
        check_motion(robot, p, pd, 2)
        reading = _at_nodes(robot, p, h, values)
        if touching:
            pressed = check_forces(robot, p, values, forces, "the motion")
            reading = reading - robot.contact_torque(p[1:-1], pressed[1:-1], values)
        return Estimate(at[1:-1], p[1:-1], pd[1:-1], reading - offset, offset, h, False, np.zeros(len(p) - 2))
    check_motion(robot, p, pd, settings.horizon)
    if settings.optimizer == "adam":
        lane = Lane(settings.start, settings.lambdas, settings.horizon, settings.carry)
        found = descend(robot, p, pd, h, [lane], values, watch=watch)[0]
        return Estimate(at[:-1], found.q, found.dq, found.u, offset, h, True, found.loss)
    return Estimate(at[:-1], *_gauss_newton(robot, p, pd, h, settings, values, offset, watch))


def _expect_nodes(robot: Robot, settings: Settings) -> None:
    """Refuses windows and closed loops on a floating base."""
    if robot.manifest.robot.loops:
        raise InputError(
            f"{robot.name} has closed loops on a floating base; torques are estimated of one or the other."
        )
    if settings.loss != NODES:
        raise InputError(
            f"{arg.loss(settings.loss)}: {robot.name} has a floating base, along which no windows are solved; use "
            f"{arg.loss('nodes')}, the torque at each sample from three poses."
        )


def _at_nodes(robot: Robot, p: FloatArray, h: float, alpha: FloatArray) -> FloatArray:
    """Sensor readings at the inner samples (samples - 2, n)."""
    _require(robot, "node_torque")
    return np.asarray(robot.node_torque(p[:-2], p[1:-1], p[2:], h, alpha), dtype=np.float64)


def _touching(robot: Robot, settings: Settings, closed: closed_loops.Closed | None) -> bool:
    """Whether the robot has contacts; options that are not supported with them are refused."""
    if not robot.manifest.robot.contacts:
        return False
    if closed is not None and closed.looped:
        raise InputError(
            f"{robot.name} has closed loops and contacts: torques are estimated with either, not with both."
        )
    if settings.loss != NODES:
        raise InputError(
            f"{arg.loss(settings.loss)}: {robot.name} can touch something, and a window's torques cannot be told from the "
            f"contacts'; {arg.loss(NODES)} takes these from columns of forces."
        )
    return True


def _require(robot: Robot, name: str) -> None:
    if name in robot.functions:
        return
    if "joint_step" not in robot.functions:
        why = "it has no joint_step: a link without inertia leaves out forward dynamics and every step"
    else:
        why = robot.manifest.why_not(name).rstrip(".") or "it was generated by an older diffpbd; generate it again"
    raise InputError(f"{robot.name} has no {name}, which torque estimation needs: {why}.")


class _Window:
    """Solves a window: from its start, and from others if the loss is far above those so far."""

    def __init__(self, robot: Robot, h: float, settings: Settings, alpha: FloatArray) -> None:
        _require(robot, "estimate_torque")
        self._solve, self._settings = robot.functions["estimate_torque"], settings
        self._given = (settings.lambdas, float(settings.friction == FRICTIONS[0]), h, alpha)
        self._others = [name for name in AGAIN if name != settings.start]
        self.again = self.unsettled = 0
        self._known = 0.0

    def __call__(
        self, state: Any, start: Callable[[str], FloatArray], p: FloatArray, pd: FloatArray, before: FloatArray
    ) -> Any:
        """The window's result with the first guess named `start`."""

        def solved(name: str) -> Any:
            return self._solve(*state, start(name), p, pd, before, *self._given)

        found: list[Any] = []
        failed: SolverError | None = None
        for name in (self._settings.start, *self._others):
            if found and not self._poor(found[-1]):
                break
            try:
                found.append(solved(name))
            except SolverError as error:
                failed = failed or error
        if failed is not None and not found:
            raise failed
        best = min(found, key=lambda one: float(one.loss) * (WORSE if _open(one) else 1.0))
        alike = sum(one.loss <= ALIKE * best.loss + LEAST_LOSS for one in found)
        self.again += found[0].loss > WORSE * best.loss + LEAST_LOSS
        self.unsettled += _open(best) or (self._poor(best) and alike < 2)
        self._known = max(self._known, float(best.loss))
        return best

    def _poor(self, found: Any) -> bool:
        """Whether it did not converge, or converged far above every window so far."""
        return _open(found) or found.loss > WORSE * self._known + LEAST_LOSS


def _open(found: Any) -> bool:
    return bool(found.change > SETTLED * (1.0 + np.abs(found.U).max()))


def _gauss_newton(
    robot: Robot, p: FloatArray, pd: FloatArray, h: float, settings: Settings, alpha: FloatArray, offset: FloatArray,
    watch: Watch,
) -> tuple[Any, ...]:  # fmt: skip
    """The fields of an Estimate after its times: states (steps, n) before every step, torques, …"""
    solve, count, held = _Window(robot, h, settings, alpha), len(p) - 1, holding_torque(robot, p, alpha)
    q, dq, u, loss = np.empty((count, robot.n)), np.empty((count, robot.n)), np.empty((count, robot.n)), np.empty(count)
    state, before, window = (p[0], pd[0]), held[0], None
    for k in range(count):
        steps = min(settings.horizon, count - k)
        ends = slice(k + 1, k + 1 + steps)
        begin = clock.perf_counter()
        start = functools.partial(window_start, held=held[k : k + steps], before=before, window=window, steps=steps)
        try:
            found = solve(state, start, p[ends], pd[ends], before)
        except SolverError as error:
            raise SolverError(f"Step {k + 1} of {count}, {k * h:.6g} s after the first sample: {error}") from None
        q[k], dq[k] = state
        window, before = found.U, found.U[0]
        u[k], loss[k] = before, found.loss
        state = (found.P[1], found.PD[1]) if settings.carry else (p[k + 1], pd[k + 1])
        watch.add(clock.perf_counter() - begin)
        if (k + 1) % REPORTED_STEPS == 0:
            watch.say(f"{k + 1} of {count} steps")
    return q, dq, u, offset, h, True, loss, solve.unsettled, solve.again
