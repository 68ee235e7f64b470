"""Predictive control in closed loop with the generated step as the robot."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime import closed as closed_loops
from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.live import Loop
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.mpc.passive import OnLoops
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status
from diffpbd.runtime.mpc.reference import Reference
from diffpbd.runtime.statics import holding_torque

__all__ = ["ClosedLoop", "run_closed_loop"]

MAX_TICKS = 1_000_000  # a run is held in memory


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A run; row k is node k, (ticks + 1, n): q [rad], dq, the torque tau [N·m] that acts from it on, and the reference.

    `seconds` (ticks,) of each tick, `solver` (ticks,) of the embedded solver's code in it, `iterations` (ticks,) of its
    interior point; `disturbance` (ticks, n) [N·m] the estimate of each tick; `rms` [rad] (n,) of q about its reference;
    `violation` [rad or rad/s] of the limits.
    """

    h: float
    joints: tuple[str, ...]
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    tau: FloatArray
    reference: FloatArray
    seconds: FloatArray
    solver: FloatArray
    iterations: FloatArray
    disturbance: FloatArray
    sources: Counter[PlanSource]
    statuses: Counter[Status]
    rms: FloatArray
    violation: float

    def log(self) -> Log:
        """The run as a log."""
        return Log(self.time, self.joints, self.q, self.dq, None, self.tau)


def run_closed_loop(
    mpc: Mpc, reference: Reference, start: FloatArray, duration: float, *, load: FloatArray | None = None,
    loop: Loop | None = None,
) -> ClosedLoop:  # fmt: skip
    """From rest at `start` [rad], held, for `duration` [s]; torques act `mpc.delay` steps after their tick.

    `load` (n,) [N·m] acts on the joints all the time, and the plan is not told. `loop` counts the ticks.
    """
    problem = mpc.problem
    robot, h, N = problem.robot, problem.h, problem.horizon
    count = round(duration / h)
    if not 1 <= count <= MAX_TICKS:
        raise InputError(f"MPC: {duration:g} s in steps of {h:g} s are {count} ticks; expected 1 to {MAX_TICKS}.")
    nodes: FloatArray = h * (np.arange(N + 1, dtype=np.float64) + mpc.delay)
    step = robot.function("joint_step")
    q, dq, tau = (np.zeros((count + 1, robot.n)) for _ in range(3))
    seconds, solver, iterations = (np.zeros(count) for _ in range(3))
    disturbance = np.zeros((count, robot.n))
    q[0] = start
    hold = np.clip(holding_torque(robot, start, problem.alpha), problem.bounds[0], problem.bounds[1])
    unknown = np.zeros(robot.n) if load is None else load
    closed = closed_loops.of(robot)
    if closed is not None and closed.looped:
        reference = OnLoops(reference, closed)
    reference.start(start)
    mpc.start(hold)
    waiting = deque([hold] * mpc.delay)
    for k in range(count):
        tick = mpc.tick(k * h, q[k], dq[k], *reference.at(np.asarray(k * h + nodes, dtype=np.float64)))
        seconds[k] = tick.seconds
        if loop is not None:
            loop.add(tick.seconds)
        solver[k], iterations[k] = (np.nan, 0) if tick.plan is None else (tick.plan.seconds, tick.plan.inner_iterations)
        disturbance[k] = 0.0 if mpc.observer is None else mpc.observer.estimate
        waiting.append(tick.torque)
        tau[k] = waiting.popleft()
        try:
            q[k + 1], dq[k + 1] = step(q[k], dq[k], tau[k] + unknown, h, mpc.alpha)
        except SolverError as error:
            raise SolverError(f"Tick {k + 1}, at {k * h:g} s: {error}") from None
    tau[count] = tau[count - 1]
    time: FloatArray = np.asarray(h * np.arange(count + 1), dtype=np.float64)
    wanted, _ = reference.at(time)
    rms = np.sqrt(((q[1:] - wanted[1:]) ** 2).mean(axis=0))
    return ClosedLoop(
        h, robot.joints, time, q, dq, tau, wanted, seconds, solver, iterations, disturbance,
        Counter(mpc.counts), Counter(mpc.statuses), rms, problem.violation(q, dq),
    )  # fmt: skip
