"""Model predictive control: `Mpc(robot, horizon)` plans torques along a reference; every tick returns a torque.

Two back ends solve the same problem (see `problem`): `embedded`, the generated robot's own C, and `ipopt`, the reference.
"""

from __future__ import annotations

import time as clock
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray, mixed
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.quaternions import expect_unit
from diffpbd.runtime.base.results import Sent
from diffpbd.runtime.functions.friction import refuse_memory
from diffpbd.runtime.functions.function import as_array
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.agreement import Agreement
from diffpbd.runtime.mpc.apart import kept_apart
from diffpbd.runtime.mpc.backends import Solver, solver_of
from diffpbd.runtime.mpc.disturbance import DisturbanceObserver
from diffpbd.runtime.mpc.fall_back import FallBack
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.passive import (
    bounds_of_motors,
    expect_moments,
    expect_observable,
    measured_state,
    torque_bounds,
    weights_of_motors,
)
from diffpbd.runtime.mpc.plan import PlanReuse, PlanSource
from diffpbd.runtime.mpc.problem import (
    Bounds,
    Plan,
    Problem,
    Status,
    Task,
    Weights,
    check_step,
    finite_array,
    trajectory,
)
from diffpbd.runtime.mpc.sent_torques import SentTorques
from diffpbd.runtime.mpc.yielding import Yielding

__all__ = ["Mpc", "Tick"]


@dataclass(frozen=True, eq=False, repr=False)
class Tick:
    """Result of a tick: `torque` (n,) [N·m], always finite and within the torque bounds, and where it comes from."""

    torque: FloatArray
    source: PlanSource
    status: Status
    seconds: float
    plan: Plan | None

    def __repr__(self) -> str:
        torque = np.array2string(self.torque, precision=4, threshold=14, max_line_width=10**6)
        return f"<Tick: {self.source.value}, {self.status.name.lower()}, {1e3 * self.seconds:.3f} ms, torque {torque}>"


class Mpc(Sent):
    """A planner with state: warm start, torques already sent, bounded reuse of old plans.

    Trajectories have one sample per row. Not thread-safe: one object per thread.
    """

    def __init__(
        self,
        robot: Robot,
        horizon: int,
        *,
        weights: Weights | None = None,
        bounds: Bounds | None = None,
        h: float | None = None,
        alpha: npt.ArrayLike | None = None,
        options: MpcOptions | None = None,
    ) -> None:
        """`weights`, `bounds` and the step `h` [s] are by default the paper's, the description's and the recipe's; `alpha` is a
        vector, or values by name."""
        refuse_memory(robot.alpha.names, f"MPC of {robot.name}", "plan with the robot generated without it")
        n = robot.n
        step = robot.h if h is None else float(h)
        check_step(step)
        chosen = options or MpcOptions()
        rows, tip = weights_of_motors(robot, weights or Weights()).rows(n)
        limits = bounds_of_motors(robot, bounds or Bounds.of(robot, step)).rows(n)
        self._closed = closed_loops.of(robot)
        if chosen.disturbance is not None:
            expect_observable(robot)
        values = (
            robot.alpha.vector(alpha) if alpha is None or isinstance(alpha, dict) else np.array(alpha, dtype=np.float64)
        )
        self.alpha = values
        """As given; the plan's may have a wider friction transition."""
        planned = values.copy()
        widths = [*robot.alpha.indices("friction.transition_velocity")]
        planned[widths] = np.maximum(planned[widths], chosen.transition)
        apart = kept_apart(robot, planned, chosen.clearance, chosen.clearance_price, chosen.clearance_hard)
        self.problem = Problem(robot, horizon, step, planned, rows, tip, limits, chosen.price, apart)
        self.solver: Solver = solver_of(self.problem, chosen.backend, chosen.rounds)
        self.counts: Counter[PlanSource] = Counter()
        self.statuses: Counter[Status] = Counter()
        self._programs = chosen.programs
        self._seconds = float("inf") if chosen.time_limit is None else chosen.time_limit
        self._reuse_limit = chosen.reuse
        self._fall_back = FallBack(robot, self.problem.alpha, step, int(chosen.delay))
        self._step = robot.function("joint_step")
        self._nodes: FloatArray = step * np.arange(horizon + 1, dtype=np.float64)
        self.observer: DisturbanceObserver | None = None
        if chosen.disturbance is not None:
            self.observer = DisturbanceObserver(robot, values, step, time_constant=chosen.disturbance)
        self._yielding = Yielding(robot, self.problem.alpha, step, int(chosen.delay), limits[5])
        self._agreement = Agreement(robot, values, step, int(chosen.delay), limits[5])
        self.start()

    def __repr__(self) -> str:
        p = self.problem
        ticks = ", ".join(f"{count} {source.value}" for source, count in self.counts.items()) or "none yet"
        return f"<Mpc of {p.robot.name}: {p.horizon} steps of {p.h:g} s, {self.solver.name}; ticks: {ticks}>"

    def start(self, u_last: FloatArray | None = None) -> None:
        """Reset; `u_last` [N·m] is the torque that acts now (None: the one that holds the first measured pose)."""
        self.reuse = PlanReuse(reuse=self._reuse_limit)
        first = None if u_last is None else self._row("u_last", u_last)
        self._sent = SentTorques(first, self.problem.h)
        self._agreement.start()
        self._bias = np.zeros(self.problem.robot.n)
        if self.observer is not None:
            self.observer.start()
        self._yielding.start()
        self._fall_back.start()
        self._held: FloatArray | None = None
        self._last_time: float | None = None
        self.counts.clear()
        self.statuses.clear()

    @property
    def delay(self) -> int:
        """Steps until a torque acts: as told, or as found from the motion."""
        return self._agreement.delay

    @property
    def remark(self) -> str | None:
        """The objection to the delay that was told, in words."""
        return self._agreement.remark

    def set_torque_bounds(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        """Other torque bounds [N·m] (n,) from the next tick on; `lower` below `upper`, or an InputError."""
        self.problem.bounds[:2] = torque_bounds(self.problem.robot, lower, upper)

    def sent(self, torque: FloatArray) -> None:
        """The torque really sent [N·m] (n,), instead of the last tick's, or in a skipped tick."""
        self._sent.correct(self._row("torque", torque))

    def task(
        self, p: npt.ArrayLike, pd: npt.ArrayLike, P: npt.ArrayLike, PD: npt.ArrayLike | None = None,
        U: npt.ArrayLike | None = None, tip: npt.ArrayLike | None = None, u_last: npt.ArrayLike | None = None,
    ) -> Task:  # fmt: skip
        """A tick's data from references: P (N + 1, n_p) or a pose (n_p,), PD zero, U and u_last the torque that holds p, the
        tip where P puts it."""
        n, n_p, N = self.problem.robot.n, self.problem.robot.n_p, self.problem.horizon
        state = [finite_array(name, value, (size,)) for name, value, size in (("p", p, n_p), ("pd", pd, n))]
        positions = trajectory("P", P, (N + 1, n_p))
        if self.problem.floating:
            expect_unit("MPC", "P", positions)
        hold = None
        if u_last is None or U is None:
            hold = holding_torque(self.problem.robot, state[0], self.problem.alpha)
        if tip is None and self.problem.tip_weights.any():
            tip = self.problem.robot.tip_pose(positions, alpha=self.problem.alpha).position
        return Task(
            state[0], state[1],
            finite_array("u_last", hold if u_last is None else u_last, (n,)),
            positions, trajectory("PD", np.zeros(n) if PD is None else PD, (N + 1, n)),
            trajectory("U", hold if U is None else U, (N, n)),
            trajectory("tip", np.zeros(3) if tip is None else tip, (N + 1, 3)),
        )  # fmt: skip

    def solve(self, task: Task, guess: Plan | None = None, *, programs: int = 50) -> Plan:
        """A single plan, solved to convergence; the state of the planner is not changed."""
        return self.solver.solve(task, guess, programs=programs)

    def tick(
        self, time: float, p: npt.ArrayLike, pd: npt.ArrayLike, P: npt.ArrayLike, PD: npt.ArrayLike | None = None,
        U: npt.ArrayLike | None = None, tip: npt.ArrayLike | None = None, *, stamp: float | None = None,
    ) -> Tick:  # fmt: skip
        """The torque at `time` [s] for the measured state; references begin where the torque acts, `delay` steps later.

        `stamp` [s]: when the state was measured, by the clock of `time`; None: `delay` steps before its torque acts.

        Whatever fails (a state or reference that is not finite, the prediction, the solver), a torque is returned: the last
        plan's row for this time, at most `reuse` times in a row, then the damped hold of the last finite pose (source BLIND:
        an old one, brake the arm otherwise). After that the next solve starts cold.
        """
        begin = clock.perf_counter()
        plan: Plan | None = None
        status = Status.BAD_INPUT
        time = expect_moments(time, stamp)
        state = measured_state(self.problem.robot, self._closed, p, pd, self.problem.alpha)
        astray = self._agreement.compare(time, stamp, state, self._sent)
        self._yielding.delay = self.delay
        P, PD, U, tip = map(self._agreement.later, (P, PD, U, tip))
        self._fall_back.see(*state)
        given = (("P", P), ("PD", PD), ("U", U), ("tip", tip))
        references = [as_array(r, name, "Mpc.tick", finite=False) for name, r in given if r is not None]
        if self.observer is not None:
            self._bias = self._observe(self.observer, time, stamp, state)
        if np.isfinite(time) and all(np.isfinite(values).all() for values in (*state, *references)):
            try:
                self._held = measured = holding_torque(self.problem.robot, state[0], self.problem.alpha)
                if self._sent.last is None:
                    self._sent.last = mixed(measured, measured, *self.problem.bounds[:2])
                ahead = self._predict(state[0], state[1])
                if self.observer is not None:
                    P, PD = self._yielding.follow(self.observer, *state, self._sent.last, P, PD, self._nodes)
                task = self.task(*ahead, P, PD, measured if U is None else U, tip, self._sent.last)
                guess, shifted = self._warm(time)
                biased = self._solve(task, guess, shifted, self._seconds - (clock.perf_counter() - begin))
                plan = replace(biased, U=biased.U - self._bias)
                status = plan.status
            except SolverError:
                status = Status.STEP_FAILED
        if astray:
            plan, status = None, Status.ASTRAY
            self.reuse.forget()
        elif plan is not None:
            self._agreement.plan(time, stamp, plan.PD[1])
        if plan is not None and plan.status.usable:
            source, torque = self.reuse.success(time, plan.U, biased)
            if self.observer is not None:
                self._fall_back.load = self.observer.lasting
        else:
            source, torque = self._without_plan(time)
        torque = mixed(torque, self._held, *self.problem.bounds[:2])
        self._sent.remember(time, torque)
        self._last_time = time if np.isfinite(time) else self._last_time
        self.counts[source] += 1
        self.statuses[status] += 1
        return Tick(torque, source, status, clock.perf_counter() - begin, plan)

    def _without_plan(self, time: float) -> tuple[PlanSource, FloatArray]:
        """An old plan's torque or the damped hold, and which."""
        now = time if np.isfinite(time) else (self._last_time or 0.0) + self.problem.h
        source, torque = self.reuse.failure(now, self.problem.h, self._fall_back.torque(*self.problem.bounds[:2]))
        if source is PlanSource.FALL_BACK:
            source = PlanSource.BLIND if self._fall_back.blind else source
            if self.observer is not None:
                self.observer.start()
                self._yielding.start()
        return source, torque

    def _row(self, name: str, value: npt.ArrayLike) -> FloatArray:
        return finite_array(name, value, (self.problem.robot.n,), finite=False)

    def _observe(
        self, observer: DisturbanceObserver, time: float, stamp: float | None, state: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """The disturbance [N·m], by the torques between the times of two states, as they were sent."""
        if stamp is None:
            return observer.update(time, state[0], state[1], self._sent.acted(self.delay))
        late = max(0.0, self.delay * self.problem.h - (time - stamp))  # what of the delay comes after the measurement
        return observer.update(stamp, state[0], state[1], self._sent.mean(observer.since, stamp, late), mean=True)

    def _solve(self, task: Task, guess: Plan | None, shifted: bool, seconds: float) -> Plan:
        """The plan under the disturbance d, solved as that of a robot without one whose torques are all d larger; so are
        those of `guess`, which therefore stays valid when d changes."""
        d, bounds = self._bias, self.problem.bounds
        kept = bounds[:2].copy()
        bounds[:2] += d  # in place: the back ends hold this array
        try:
            return self.solver.solve(
                replace(task, u_last=task.u_last + d, U=task.U + d), guess, shifted=shifted, programs=self._programs,
                seconds=seconds,
            )  # fmt: skip
        finally:
            bounds[:2] = kept

    def _predict(self, p: FloatArray, pd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predicts the state at which the torque planned now begins to act, from the torques already sent."""
        for torque in self._sent.waiting(self.delay):
            p, pd = self._step(p, pd, torque + self._bias, self.problem.h, self.problem.alpha)
        return p, pd

    def _warm(self, time: float) -> tuple[Plan | None, bool]:
        """The last plan as first guess, and whether it is to be shifted by one step."""
        plan = self.reuse.warm
        if not isinstance(plan, Plan) or self.reuse.last_success is None:
            return None, False
        return plan, time - self.reuse.last_success > 0.5 * self.problem.h
