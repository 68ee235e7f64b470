"""One iteration of predictive control: the emitted C solver beside crocoddyl's FDDP, same arm, horizon, cost and step.

    python -m benchmarks.mpc [--library generated/baxter_bare] [--horizons 3,10,20,50] [--rounds 31]

CPU time of the thread, medians; every measurement of ours is taken right after the same one of crocoddyl's, and the
ratio is the median over these pairs. Needs crocoddyl with a pinocchio below 4.1 (`pip install crocoddyl "pin<4.1"
click`) beside numpy; without them ours is timed alone.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.crocoddyl_peer import Crocoddyl
from benchmarks.mpc_case import WEIGHTS, Call, Case, Tick
from benchmarks.standalone import LIBRARY, RESULTS, URDF, H, Skipped, machine, open_library, table, write
from diffpbd.runtime import Robot
from diffpbd.runtime.mpc.embedded import Embedded
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Plan, Task

HORIZONS = (3, 10, 20, 50)
ROUNDS = 31
QUICKEST = 1e-7
"""[s] No call is quicker; a clock that has not moved is taken for this."""
SLICE = 2e-3
"""[s] of one measurement."""
OFFSETS = {"on the reference": 0.0, "beside it": 0.03}
"""[rad] Of the measured pose from the reference when the tick begins; torque bounds are active in the second case."""
STARTS = ("warm", "cold")


@dataclass(frozen=True)
class Result:
    """One solver at one case: microseconds an iteration by start (medians), ratios to the peer's in the same pairs, iterations
    from the cold start to convergence, the cost there."""

    name: str
    case: str
    horizon: int
    microseconds: dict[str, float]
    ratio: dict[str, float | None]
    iterations: int
    cost: float


def embedded(robot: Robot, case: Case, every_bound: bool) -> Tick:
    """The emitted solver: torque bounds alone, as crocoddyl has them, or every bound of the description."""
    n = robot.n
    none = np.full(n, np.inf)
    torque = Bounds(-case.effort, case.effort, none, -none, none, none)
    calls = []
    mpc = Mpc(robot, case.horizon, weights=WEIGHTS, bounds=Bounds.of(robot, H) if every_bound else torque, h=H)
    task = mpc.task(case.p, case.pd, case.P, case.PD, case.U, u_last=case.U[0])
    solved = mpc.solve(task)
    for guess in (None, solved):
        solver = Embedded(mpc.problem)
        calls.append(_tick(solver, task, guess))
    return Tick(calls[0], calls[1], solved.iterations, solved.cost)


def _tick(solver: Embedded, task: Task, guess: Plan | None) -> Call:
    """One real-time iteration, its arrays already filled: the C call and nothing else."""
    plan = solver.solve(task, guess, programs=1)
    if not plan.status.usable:
        raise SystemExit(f"The embedded solver refused the benchmark's tick: {plan.status.name}.")
    call = solver._call

    def run() -> None:
        call()

    return run


def seconds(call: Call, count: int) -> float:
    """CPU seconds a call over so many."""
    start = time.thread_time()
    for _ in range(count):
        call()
    return (time.thread_time() - start) / count


def paired(mine: Call, other: Call | None, rounds: int) -> tuple[float, float | None]:
    """Medians of mine's microseconds and of its ratio to the other's, measured in turn, the other first."""
    calls = [mine] if other is None else [other, mine]
    counts = [max(1, int(SLICE / max(seconds(call, 3), QUICKEST))) for call in calls]
    taken = np.array([[seconds(call, k) for call, k in zip(calls, counts, strict=True)] for _ in range(rounds)])
    ratio = None if other is None else float(np.median(taken[:, 1] / taken[:, 0]))
    return 1e6 * float(np.median(taken[:, -1])), ratio


def measure(robot: Robot, name: str, case: Case, peers: dict[str, Tick], rounds: int) -> list[Result]:
    """Every solver at one case; ratios are to the first peer, boxed FDDP."""
    base = next(iter(peers.values()), None)
    ours = {"diffpbd, torque bounds": embedded(robot, case, False), "diffpbd, every bound": embedded(robot, case, True)}
    found = []
    for solver, tick in {**ours, **peers}.items():
        other = base if tick is not base else None
        taken = {s: paired(getattr(tick, s), getattr(other, s) if other else None, rounds) for s in STARTS}
        times, ratios = ({s: pair[k] for s, pair in taken.items()} for k in (0, 1))
        found.append(Result(solver, name, case.horizon, times, ratios, tick.iterations, tick.cost))
    return found


def report(found: list[Result]) -> str:
    """The table."""
    heads = [head for s in STARTS for head in (f"{s} [us]", "us a knot", "x")]
    lines = [["solver", "N", "state", *heads, "to converge", "cost"]]
    for r in found:
        cells = [r.name, str(r.horizon), r.case]
        for s in STARTS:
            ratio = r.ratio[s]
            cells += [f"{r.microseconds[s]:.0f}", f"{r.microseconds[s] / r.horizon:.1f}"]
            cells.append("" if ratio is None else f"{ratio:.2f}")
        lines.append([*cells, str(r.iterations), f"{r.cost:.5g}"])
    return table(lines)


FACTS = """\
Microseconds an iteration, x: ratio to boxed FDDP. An iteration: of diffpbd one quadratic program with its derivatives
(the tick of a controller), solved to its inequalities; of crocoddyl one solve(maxiter=1): derivatives, backward pass,
line search; both in compiled code, crocoddyl's called from Python. cold: from rest at the measured pose, held by
gravity's torque; warm: from the converged plan. Cost: half the weighted squares of p, pd (nodes 1 ... N) and of u about
the holding torque, at each solver's own optimum (to converge: iterations from the cold start): diffpbd's step is the
second-order joint_step, crocoddyl's a symplectic Euler step.
Bounds: boxed FDDP keeps those of the torque, FDDP none; neither knows bounds on positions, speeds or on changes of
torque."""
ACADOS = "acados: not timed; the registry has no build of it."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mpc", description=__doc__)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="generated folder (default %(default)s)")
    parser.add_argument("--horizons", default=",".join(map(str, HORIZONS)), help="knots (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="measurements of everything (default %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of mpc.json and mpc.txt")
    options = parser.parse_args()
    robot = open_library(options.library)
    try:
        peer: Crocoddyl | None = Crocoddyl(URDF, robot)
        remark = f"crocoddyl {peer.versions['crocoddyl']}, pinocchio {peer.versions['pin']}, one thread"
    except Skipped as reason:
        peer, remark = None, f"crocoddyl: {reason}"
    found: list[Result] = []
    for horizon in map(int, options.horizons.split(",")):
        for name, offset in OFFSETS.items():
            case = Case.of(robot, horizon, offset)
            found += measure(robot, name, case, peer.ticks(case) if peer else {}, options.rounds)
    facts = {**machine(), "h": H, "remark": remark, "rows": [asdict(r) for r in found]}
    text = f"baxter_bare, h = {1e3 * H:g} ms; {facts['processor']}; {remark}\n{report(found)}\n\n{FACTS}\n{ACADOS}"
    write(options.out, "mpc", facts, text)


if __name__ == "__main__":
    main()
