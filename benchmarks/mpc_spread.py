"""How much the times of plans differ: the 99th percentile over the median.

    python -m benchmarks.mpc_spread [--library generated/baxter_bare] [--plans 10000] [--horizon 20]

One quadratic program from the converged plan, as in a tick, for states drawn within 0.03 rad and 0.1 rad/s of the reference of
`python -m benchmarks.mpc`. Thread time, the least of REPEATS solves of the same plan, so that what other programs do to the
caches is left out and what the solver has to do is kept.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.mpc_case import WEIGHTS, Case
from benchmarks.standalone import LIBRARY, H, open_library
from diffpbd.runtime import Robot
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Task

OFF, RATE_OFF = 0.03, 0.1
"""[rad, rad/s] Largest deviations of a drawn state from the reference, joint by joint."""
REPEATS = 5


def times(robot: Robot, bounds: Bounds, horizon: int, plans: int) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds and iterations of every plan."""
    case, rng = Case.of(robot, horizon, 0.0), np.random.default_rng(0)
    mpc = Mpc(robot, horizon, weights=WEIGHTS, bounds=bounds, h=H)

    def task(off: float, rate_off: float) -> Task:
        p, pd = case.p + rng.uniform(-off, off, robot.n), case.pd + rng.uniform(-rate_off, rate_off, robot.n)
        return mpc.task(p, pd, case.P, case.PD, case.U, u_last=case.U[0])

    base = mpc.solve(task(0.0, 0.0))
    spent, inner = [], []
    for _ in range(plans):
        drawn, least = task(OFF, RATE_OFF), np.inf
        for _ in range(REPEATS):
            start = time.thread_time()
            plan = mpc.solve(drawn, base, programs=1)
            least = min(least, time.thread_time() - start)
        spent.append(1e3 * least)
        inner.append(plan.inner_iterations)
    return np.array(spent), np.array(inner)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mpc_spread", description=__doc__)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="generated folder (default %(default)s)")
    parser.add_argument("--plans", type=int, default=10000, help="(default %(default)s)")
    parser.add_argument("--horizon", type=int, default=20, help="knots (default %(default)s)")
    given = parser.parse_args()
    robot = open_library(given.library)
    none, effort = np.full(robot.n, np.inf), robot.limits.effort
    for name, bounds in (
        ("torque bounds", Bounds(-effort, effort, none, -none, none, none)),
        ("every bound", Bounds.of(robot, H)),
    ):
        spent, inner = times(robot, bounds, given.horizon, given.plans)
        median, high = np.percentile(spent, (50, 99))
        print(
            f"{name}: median {median:.3f} ms, 99th percentile {high:.3f} ms ({high / median:.2f} x), "
            f"most {spent.max():.3f} ms; iterations {np.median(inner):g}, {np.percentile(inner, 99):g}, {inner.max()}"
        )


if __name__ == "__main__":
    main()
