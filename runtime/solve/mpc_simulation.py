"""Predictive control in closed loop with the generated step as the robot."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.control.controllers import FloatArray
from diffpbd.runtime.control.plan import PlanSource
from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.live import Loop
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.solve.mpc import Mpc
from diffpbd.runtime.solve.mpc_problem import Status, holding_torque
from diffpbd.runtime.solve.mpc_reference import Reference

__all__ = ["ClosedLoop", "run_closed_loop"]

MAX_TICKS = 1_000_000  # a run is held in memory


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A run; row k is node k, (ticks + 1, n): q [rad], dq, the torque tau [N·m] that acts from it on, and the reference.

    `seconds` (ticks,) of each tick; `rms` [rad] (n,) of q about its reference; `violation` [rad or rad/s] of the limits.
    """

    h: float
    joints: tuple[str, ...]
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    tau: FloatArray
    reference: FloatArray
    seconds: FloatArray
    sources: Counter[PlanSource]
    statuses: Counter[Status]
    rms: FloatArray
    violation: float

    def log(self) -> Log:
        """The run as a log."""
        return Log(self.time, self.joints, self.q, self.dq, None, self.tau)


def run_closed_loop(
    mpc: Mpc, reference: Reference, start: FloatArray, duration: float, *, loop: Loop | None = None
) -> ClosedLoop:
    """From rest at `start` [rad], held, for `duration` [s]; torques act `mpc.delay` steps after their tick. `loop` counts."""
    problem = mpc.problem
    robot, h, N = problem.robot, problem.h, problem.horizon
    count = round(duration / h)
    if not 1 <= count <= MAX_TICKS:
        raise InputError(f"MPC: {duration:g} s in steps of {h:g} s are {count} ticks; expected 1 to {MAX_TICKS}.")
    nodes: FloatArray = h * (np.arange(N + 1, dtype=np.float64) + mpc.delay)
    step = robot.function("joint_step")
    q, dq, tau = (np.zeros((count + 1, robot.n)) for _ in range(3))
    seconds = np.zeros(count)
    q[0] = start
    hold = np.clip(holding_torque(robot, start, problem.alpha), problem.bounds[0], problem.bounds[1])
    reference.start(start)
    mpc.start(hold)
    waiting = deque([hold] * mpc.delay)
    for k in range(count):
        tick = mpc.tick(k * h, q[k], dq[k], *reference.at(np.asarray(k * h + nodes, dtype=np.float64)))
        seconds[k] = tick.seconds
        if loop is not None:
            loop.add(tick.seconds)
        waiting.append(tick.torque)
        tau[k] = waiting.popleft()
        try:
            q[k + 1], dq[k + 1] = step(q[k], dq[k], tau[k], h, problem.alpha)
        except SolverError as error:
            raise SolverError(f"Tick {k + 1}, at {k * h:g} s: {error}") from None
    tau[count] = tau[count - 1]
    time: FloatArray = np.asarray(h * np.arange(count + 1), dtype=np.float64)
    wanted, _ = reference.at(time)
    rms = np.sqrt(((q[1:] - wanted[1:]) ** 2).mean(axis=0))
    return ClosedLoop(
        h, robot.joints, time, q, dq, tau, wanted, seconds, Counter(mpc.counts), Counter(mpc.statuses), rms,
        problem.violation(q, dq),
    )  # fmt: skip
