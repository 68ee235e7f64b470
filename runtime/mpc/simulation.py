"""Predictive control in closed loop with the generated step as the robot."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from diffpbd.runtime.base import options
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.fitting import expect
from diffpbd.runtime.base.live import Loop
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.quaternions import difference, moved
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.disturbance import overload
from diffpbd.runtime.mpc.passive import OnLoops
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status, finite_array
from diffpbd.runtime.mpc.reference import Reference
from diffpbd.runtime.simulate.simulation import step_count

__all__ = ["MAX_TICKS", "ClosedLoop", "Plant", "run_closed_loop"]

SETTLING = 1.0
"""[s] Default time after a goal is reached."""
MAX_TICKS = 1_000_000  # a run is held in memory
LOUDEST = 1e3
"""[rad, m, rad/s, m/s] Largest noise."""


@dataclass(frozen=True, eq=False, repr=False)
class ClosedLoop:
    """A run; row k is node k: q [rad] and its reference (ticks + 1, n_p), named by `positions`, dq and the torque tau [N·m]
    that acts from it on (ticks + 1, n).

    `seconds` (ticks,) of each tick, `solver` (ticks,) of the embedded solver's code in it, `iterations` (ticks,) of its
    programs, of the active-set method or, if that failed, of the interior point; `disturbance` (ticks, n) [N·m] the
    estimate of each tick; `rms` [rad] (n,) of q about its reference; `violation` [rad or rad/s] of the limits;
    `remarks`: loads that cannot be held, a delay that was not told, in words.
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
    positions: tuple[str, ...]
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        ticks = ", ".join(f"{count} {source.value}" for source, count in self.sources.items())
        return (
            f"<ClosedLoop of {len(self.joints)} joints: {self.time[-1]:g} s, ticks: {ticks}, RMS {self.rms.max():.3g}>"
        )

    def log(self) -> Log:
        """The run as a log."""
        return Log(self.time, self.joints, self.q, self.dq, None, self.tau, self.positions)


@dataclass(frozen=True, eq=False)
class Plant:
    """Differences of the simulated robot from the plan's model: its own `alpha`, a constant `load` (n,) [N·m or N] on the
    joints, measurement noise, standard deviations of positions [rad or m] and of rates, from `seed`, and the `true_delay` until
    torques act [steps] (None: as told)."""

    alpha: FloatArray | None = None
    load: FloatArray | None = None
    noise: float = option(
        "Noise of measured positions, standard deviation [rad or m].", 0.0, span=(0.0, LOUDEST), unit="rad or m"
    )
    rate_noise: float = option(
        "Noise of measured velocities, standard deviation.", 0.0, span=(0.0, LOUDEST), unit="rad/s or m/s"
    )
    seed: int = option("Seed of the noise.", 0, span=(0, 2**32 - 1))
    true_delay: int | None = option(
        "Steps after which torques of the simulated robot act, where --delay tells another number.", None, span=(0, 10),
        unit="steps", metavar="N",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses invalid noise."""
        for field in fields(self):
            expect(f"Plant: {field.name}", getattr(self, field.name), str(field.type))
        options.expect(self)


def run_closed_loop(
    mpc: Mpc, reference: Reference, start: FloatArray, duration: float, *, plant: Plant | None = None,
    loop: Loop | None = None, stop: Callable[[float, FloatArray, FloatArray], bool] | None = None,
) -> ClosedLoop:  # fmt: skip
    """From rest at `start` [rad], held, for `duration` [s]; torques act `mpc.delay` steps after their tick.

    `plant` is the simulated robot, by default the plan's model. `loop` counts the ticks. `stop`, a function of time [s] and
    true state, ends the run early.
    """
    problem, plant = mpc.problem, plant or Plant()
    robot, h, N = problem.robot, problem.h, problem.horizon
    count = step_count(duration, h, MAX_TICKS)
    nodes: FloatArray = h * (np.arange(N + 1, dtype=np.float64) + mpc.delay)
    step = robot.function("joint_step")
    q, dq, tau = (np.zeros((count + 1, size)) for size in (robot.n_p, robot.n, robot.n))
    seconds, solver, iterations = (np.zeros(count) for _ in range(3))
    disturbance = np.zeros((count, robot.n))
    q[0] = start
    hold = np.clip(holding_torque(robot, start, problem.alpha), problem.bounds[0], problem.bounds[1])
    unknown = np.zeros(robot.n) if plant.load is None else finite_array("load of the plant", plant.load, (robot.n,))
    alpha = mpc.alpha if plant.alpha is None else plant.alpha
    rng, spread = np.random.default_rng(plant.seed), np.array([[plant.noise], [plant.rate_noise]])
    closed = closed_loops.of(robot)
    if closed is not None and closed.looped:
        reference = OnLoops(reference, closed)
    reference.start(start)
    mpc.start(hold)
    waiting = deque([hold] * (mpc.delay if plant.true_delay is None else plant.true_delay))
    for k in range(count):
        measured = q[k], dq[k]
        if spread.any():
            noise = spread * rng.normal(size=(2, robot.n))
            measured = moved(problem.floating, q[k], noise[0]), dq[k] + noise[1]
        tick = mpc.tick(k * h, measured[0], measured[1], *reference.at(np.asarray(k * h + nodes, dtype=np.float64)))
        seconds[k] = tick.seconds
        if loop is not None:
            loop.add(tick.seconds)
        solver[k], iterations[k] = (np.nan, 0) if tick.plan is None else (tick.plan.seconds, tick.plan.inner_iterations)
        disturbance[k] = 0.0 if mpc.observer is None else mpc.observer.estimate
        waiting.append(tick.torque)
        tau[k] = waiting.popleft()
        try:
            q[k + 1], dq[k + 1] = step(q[k], dq[k], tau[k] + unknown, h, alpha)
        except SolverError as error:
            said = " ".join(f"{text}." for text in _remarks(mpc, q[:k], disturbance[:k]))
            raise SolverError(f"Tick {k + 1}, at {k * h:g} s: {error} {said}".rstrip()) from None
        if stop is not None and stop((k + 1) * h, q[k + 1], dq[k + 1]):
            count = k + 1
            break
    q, dq, tau = q[: count + 1], dq[: count + 1], tau[: count + 1]
    tau[count] = tau[count - 1]
    time: FloatArray = np.asarray(h * np.arange(count + 1), dtype=np.float64)
    wanted, _ = reference.at(time)
    rms = np.sqrt((difference(problem.floating, q[1:], wanted[1:]) ** 2).mean(axis=0))
    return ClosedLoop(
        h, robot.joints, time, q, dq, tau, wanted, seconds[:count], solver[:count], iterations[:count],
        disturbance[:count], Counter(mpc.counts), Counter(mpc.statuses), rms, problem.violation(q, dq), robot.positions,
        _remarks(mpc, q[:count], disturbance[:count]),
    )  # fmt: skip


def _remarks(mpc: Mpc, q: FloatArray, disturbance: FloatArray) -> tuple[str, ...]:
    """Objections to the delay that was told; joints that cannot be held where a load was last known (without plans it is
    forgotten)."""
    late = () if mpc.remark is None else (mpc.remark,)
    known = np.flatnonzero(disturbance.any(axis=1))
    if not known.size:
        return late
    problem, last = mpc.problem, known[-1]
    hold = holding_torque(problem.robot, q[last], problem.alpha)
    return late + overload(problem.robot.joints, hold, disturbance[last], problem.bounds[:2])
