"""Gradients through contact: how far a body comes by the speed that it is set off with, beside mechanics.

Of the box that slides to rest, v²/(2 μ g), and the ball that begins to roll, the derivative by v is known; of a thrown box
that of the same simulator's rollouts is, by differences. Ours is the product of the steps' exact Jacobians, MuJoCo's that of
its own finite differences (`mjd_transitionFD`), MJX's automatic differentiation in forward mode.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.standalone import Skipped, installed

DIFFERENCE = 1e-6
"""[m/s] Of the speed; MuJoCo's own of a step's state."""
REPEATS = 5


@dataclass(frozen=True)
class Gradient:
    """`error` [1] beside what it should be, NaN where it is none, and µs a step of making it."""

    error: float
    time: float


def along(case: Any) -> Any:
    """The direction (6,) of the start's velocity over the table."""
    direction = np.zeros(6)
    direction[:2] = case.pd[:2] / np.hypot(*case.pd[:2])
    return direction


def by_mechanics(case: Any, friction: float, gravity: float) -> float | None:
    """The derivative of the way by the speed [s], where there is a closed form."""
    speed = float(np.hypot(*case.pd[:2]))
    if case.name == "slide":
        return speed / (friction * gravity)
    if case.name == "ball":
        return 5 / 7 * case.duration + 4 * speed / (49 * friction * gravity)
    return None


def compared(found: float, case: Any, friction: float, gravity: float, way: Callable[[float], float]) -> float:
    """Relative error; `way` gives how far the body comes with so much more speed, for where mechanics says nothing."""
    exact = by_mechanics(case, friction, gravity)
    if exact is None:
        exact = (way(DIFFERENCE) - way(-DIFFERENCE)) / (2 * DIFFERENCE)
    return found / exact - 1.0 if math.isfinite(found) and exact else math.nan


def ours(robot: Any, case: Any, h: float, alpha: Any, friction: float, gravity: float) -> Gradient:
    """By `jac_joint_step` along the rollout."""
    steps, e = round(case.duration / h), along(case)
    U, vector = np.zeros((steps, robot.n)), robot.alpha.vector(alpha)

    def way(more: float) -> float:
        P, _ = robot.rollout(case.p, case.pd + more * e, U, h=h, alpha=vector)
        return float(e[:2] @ np.asarray(P)[-1, :2])

    P, PD = (np.asarray(part) for part in robot.rollout(case.p, case.pd, U, h=h, alpha=vector))
    spent = []
    for _ in range(REPEATS):
        start = time.thread_time()
        J = robot.jac_joint_step(P[:-1], PD[:-1], U, h=h, alpha=vector)
        spent.append(time.thread_time() - start)
    dp, dpd = np.zeros(6), e
    for pp, pd, dd, dv in zip(J.dp_next_dp, J.dp_next_dpd, J.dpd_next_dp, J.dpd_next_dpd, strict=True):
        dp, dpd = pp @ dp + pd @ dpd, dd @ dp + dv @ dpd
    return Gradient(compared(float(e @ dp), case, friction, gravity, way), 1e6 * min(spent) / steps)


def mujocos(
    mujoco: Any, model: Any, case: Any, friction: float, gravity: float, start: Callable[[Any, Any], Any]
) -> Gradient:
    """By `mjd_transitionFD` of every step, centred. `start` gives rates (6,) in MuJoCo's frames."""
    steps, e, nv = round(case.duration / model.opt.timestep), along(case), model.nv
    data, A = mujoco.MjData(model), np.zeros((2 * model.nv, 2 * model.nv))

    def way(more: float) -> float:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = case.p, start(case.p, case.pd + more * e)
        mujoco.mj_step(model, data, steps)
        return float(e[:2] @ data.qpos[:2])

    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = case.p, start(case.p, case.pd)
    change, spent = np.concatenate([np.zeros(nv), e]), 0.0
    for _ in range(steps):
        begin = time.thread_time()
        mujoco.mjd_transitionFD(model, data, DIFFERENCE, True, A, None, None, None)
        spent += time.thread_time() - begin
        with np.errstate(all="ignore"):  # products of differences may leave all numbers
            change = A @ change
        mujoco.mj_step(model, data)
    return Gradient(compared(float(e @ change[:nv]), case, friction, gravity, way), 1e6 * spent / steps)


def mjx(
    model: Any, case: Any, friction: float, gravity: float, start: Callable[[Any, Any], Any]
) -> tuple[str, float, Gradient]:
    """Which MJX, the way, and its derivative in forward mode (reverse mode does not go through the solver's loop)."""
    versions = installed("jax", "mujoco", "mujoco-mjx")
    try:
        import jax
        from mujoco import mjx as engine
    except ImportError as error:
        raise Skipped(f"MJX cannot be imported: {error}") from None
    jax.config.update("jax_enable_x64", True)
    steps, e, m = round(case.duration / model.opt.timestep), along(case), engine.put_model(model)
    begin, rates = engine.make_data(model), start(case.p, case.pd)

    def way(more: Any) -> Any:
        data = begin.replace(qpos=jax.numpy.asarray(case.p), qvel=jax.numpy.asarray(rates) + more * e)
        end, _ = jax.lax.scan(lambda d, _: (engine.step(m, d), None), data, None, length=steps)
        return e[:2] @ end.qpos[:2]

    both = jax.jit(lambda more: jax.jvp(way, (more,), (1.0,)))
    value, slope = (float(x) for x in both(0.0))
    clock = time.perf_counter()  # its threads are its own
    both(0.0)[1].block_until_ready()
    spent = time.perf_counter() - clock
    found = Gradient(compared(slope, case, friction, gravity, lambda more: float(way(more))), 1e6 * spent / steps)
    return f"MJX {versions['mujoco-mjx']}", value, found
