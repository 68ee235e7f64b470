"""Times of a tick's plan where bounds act: an arm that is shoved, and one that is sent to its bounds.

    python -m benchmarks.mpc_ticks [--library generated/baxter_bare generated/ur5e] [--courses 40] [--horizon 20]

Closed loops on the model, plans every 10 ms with the description's bounds. `shoves`: along a reference to a goal at 0.8 rad/s,
forces of 20 to 80 N at the tip for 0.05 to 0.3 s that the plan does not know. `bounds`: goals that are set at once, without a
way to them, half of them at a joint's limit, with a quarter to all of the effort. Thread time of the call of the C library, the
least of REPEATS for the same plan.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.standalone import LIBRARY, H, open_library, table
from diffpbd.runtime import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.embedded import Embedded
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Plan, Status, Task
from diffpbd.runtime.mpc.reference import GoalReference

REPEATS = 5
TICKS = 150
"""Of a course: 1.5 s."""
SPEED = 0.8
"""rad/s, of the references of `shoves`."""
ROOM = 0.3
"""rad; of starts from the limits."""


@dataclass
class Timed:
    """A solver that repeats every call; rows of microseconds, rounds, whether the plan stopped early."""

    solver: Embedded
    name: str = "timed"
    rows: list[tuple[float, int, bool]] = field(default_factory=list)

    def solve(self, task: Task, guess: Plan | None = None, **how: Any) -> Plan:
        plan = self.solver.solve(task, guess, **how)
        spent = float("inf")
        for _ in range(REPEATS):
            start = time.thread_time()
            self.solver._call()
            spent = min(spent, time.thread_time() - start)
        self.rows.append((1e6 * spent, plan.inner_iterations, plan.status is Status.LIMITED))
        return plan


def course(robot: Robot, mpc: Mpc, seed: int, *, shoved: bool) -> None:
    """One closed loop of TICKS."""
    rng, limits, n = np.random.default_rng([seed, shoved]), robot.limits, robot.n
    low, high = np.maximum(limits.lower, -2.5) + ROOM, np.minimum(limits.upper, 2.5) - ROOM
    while True:
        p = rng.uniform(low, high)
        if (np.abs(holding_torque(robot, p, mpc.problem.alpha)) < 0.8 * limits.effort).all():
            break
    goal = np.clip(p + rng.uniform(-0.8, 0.8, n), low, high)
    share = 1.0
    if not shoved:
        at_limit = rng.random(n) < 0.5
        goal = np.where(at_limit, np.where(goal > p, limits.upper, limits.lower), goal)
        goal = np.clip(goal, p - 1.5, p + 1.5)
        share = max(
            rng.uniform(0.25, 1.0), 1.1 * np.abs(holding_torque(robot, p, mpc.problem.alpha) / limits.effort).max()
        )
    mpc.set_torque_bounds(-share * limits.effort, share * limits.effort)
    mpc.start(holding_torque(robot, p, mpc.problem.alpha))
    pd, reference, nodes = np.zeros(n), GoalReference(goal, SPEED), H * np.arange(mpc.problem.horizon + 1)
    reference.start(p)
    force, ends = np.zeros(n), 0
    for k in range(TICKS):
        if shoved and k % 30 == 10:
            way = rng.normal(size=3)
            push = rng.uniform(20.0, 80.0) * way / np.linalg.norm(way)
            force, ends = np.asarray(robot.tip_jacobian(p))[:3].T @ push, k + int(rng.integers(5, 30))
        references = reference.at(k * H + nodes) if shoved else (goal,)
        tick = mpc.tick(k * H, p, pd, *references)
        p, pd = robot.joint_step(p, pd, tick.torque + force * (k < ends), H)


def measure(robot: Robot, horizon: int, courses: int, *, shoved: bool) -> np.ndarray:
    """Rows of `Timed` (ticks, 3)."""
    mpc = Mpc(robot, horizon, h=H)
    assert isinstance(mpc.solver, Embedded)
    mpc.solver = timed = Timed(mpc.solver)
    for seed in range(courses):
        course(robot, mpc, seed, shoved=shoved)
    return np.array(timed.rows, dtype=float)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mpc_ticks", description=__doc__)
    parser.add_argument("--library", type=Path, nargs="+", default=[LIBRARY], help="generated folders")
    parser.add_argument("--courses", type=int, default=40, help="of each kind (default %(default)s)")
    parser.add_argument("--horizon", type=int, default=20, help="steps (default %(default)s)")
    given = parser.parse_args()
    lines = [
        ["arm, course", "ticks", "p50 µs", "p99", "worst", "p99/p50", "rounds p50", "p99", "most", "stopped early"]
    ]
    for folder in given.library:
        robot = open_library(folder)
        for name, shoved in (("shoves", True), ("bounds", False)):
            rows = measure(robot, given.horizon, given.courses, shoved=shoved)
            for what, chosen in (("all", rows[:, 1] >= 0), ("bounds act", rows[:, 1] > 0)):
                spent, rounds, early = rows[chosen].T
                if not len(spent):
                    continue
                middle, high = np.percentile(spent, (50, 99))
                lines.append(
                    [f"{robot.name}, {name}, {what}", f"{len(spent)}", f"{middle:.0f}", f"{high:.0f}", f"{spent.max():.0f}",
                     f"{high / middle:.2f}", f"{np.median(rounds):g}", f"{np.percentile(rounds, 99):g}",
                     f"{rounds.max():g}", f"{early.sum():g}"]
                )  # fmt: skip
    print(table(lines))


if __name__ == "__main__":
    main()
