"""One control step's torques: `estimate_torque`, its `--optimizer adam` mode, and the published method in PyTorch.

    python -m benchmarks.torque [--library generated/baxter_bare] [--budget 150] [--compile]

Everyone gets the same arm, motion and loss (angle + omega, one step of 10 ms, from zero torque). A row without its
package says so. CPU time of the process, of rows on a GPU wall time until it has finished. The losses are each row's
own: `joint_step` of the variational scheme, or Algorithm 1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.chain import Chain, read_chain
from benchmarks.standalone import (
    LIBRARY,
    RESULTS,
    URDF,
    Budget,
    H,
    Skipped,
    installed,
    machine,
    open_library,
    repeated,
    table,
    write,
)
from diffpbd.runtime import Robot
from diffpbd.runtime.functions.rollout import Rollout
from diffpbd.runtime.torques.estimation import estimate
from diffpbd.runtime.torques.settings import LOSSES, Settings

RATE, ITERATIONS = 1.0, 120
"""Learning rate [N·m] and ADAM iterations from zero torque, as published."""
SETTINGS = Settings("angle+omega", "zero")
STEPS = 20
"""Control steps of the motion; slow rows take the first few."""
CENTRE = np.array([0.2, -0.5, -0.3, 1.2, 0.2, 0.8, 0.1])
AMPLITUDE = np.array([0.3, 0.25, 0.2, 0.3, 0.3, 0.3, 0.3])
PERIODS = np.array([2.1, 2.4, 1.9, 2.2, 1.7, 2.0, 1.8])
TRIAL = 5
"""Iterations by which a slow row is first judged."""


@dataclass(frozen=True)
class Row:
    """`seconds` a control step, median; `losses` of the first control steps, at their ends."""

    name: str
    seconds: float | None
    losses: tuple[float, ...] = ()
    note: str = ""


def motion(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rates (steps + 1, 7) [rad, rad/s] of a smooth motion of Baxter's left arm, sampled every `H`."""
    t = np.arange(steps + 1)[:, None] * H
    frequency = 2.0 * np.pi / PERIODS
    return (
        CENTRE + AMPLITUDE * np.sin(frequency * t + np.arange(7)),
        AMPLITUDE * frequency * np.cos(frequency * t + np.arange(7)),
    )


def generated(robot: Robot) -> Iterator[Row]:
    """The generated solver called from C's side and from Python, and the published descent through the generated step."""
    p, pd = motion(STEPS)
    function = robot.function("estimate_torque")
    assert isinstance(function, Rollout)
    n, weights, known = robot.n, SETTINGS.lambdas, np.ones(1)
    alpha, held = robot.alpha.defaults, robot.gravity(p[0])
    outputs = {
        "U": np.zeros((1, n)),
        "P": np.zeros((2, n)),
        "PD": np.zeros((2, n)),
        "loss": np.zeros(1),
        "change": np.zeros(1),
    }
    calls = []
    for k in range(STEPS):
        end = slice(k + 1, k + 2)
        inputs = {
            "p0": p[k], "pd0": pd[k], "U_start": np.zeros((1, n)), "P_ref": p[end], "PD_ref": pd[end], "u_prev": held,
            "lambdas": weights, "known_friction": known, "h": np.array([H]), "alpha": alpha,
        }  # fmt: skip
        calls.append(function.fixed(1, {name: np.ascontiguousarray(a) for name, a in inputs.items()}, outputs))
    losses = []
    for call in calls:
        if call() != 0:
            raise SystemExit("estimate_torque failed on the benchmark's motion.")
        losses.append(float(outputs["loss"][0]))
    per_motion = repeated(lambda: [call() for call in calls], clock=time.process_time)
    yield Row("diffpbd estimate_torque, C", per_motion.median / STEPS, tuple(losses), "to convergence; 1 core")
    found = estimate(robot, p, pd, H, SETTINGS)
    per_motion = repeated(lambda: estimate(robot, p, pd, H, SETTINGS), clock=time.process_time)
    losses = [float(value) for value in found.loss]
    yield Row("diffpbd estimate_torque, Python", per_motion.median / STEPS, tuple(losses), "to convergence; 1 core")
    few = slice(0, 4)
    adam = Settings(SETTINGS.loss, SETTINGS.start, optimizer="adam")
    found = estimate(robot, p[few], pd[few], H, adam)
    per_motion = repeated(lambda: estimate(robot, p[few], pd[few], H, adam), clock=time.process_time)
    yield Row(
        "diffpbd --optimizer adam (30 sweeps in C)", per_motion.median / (few.stop - 1), tuple(map(float, found.loss)),
        f"{ITERATIONS} iterations; Gauss-Seidel; float64; 1 core",
    )  # fmt: skip


def recreations(chain: Chain, budget: Budget, steps: int, compiled: bool) -> Iterator[Row]:
    """The re-creation on every device that PyTorch has here."""
    versions = installed("torch")
    import torch

    torch.set_num_threads(1)  # more do not help tensors as small as these
    name = f"PyTorch {versions['torch']}"
    cuda = torch.cuda.is_available()
    devices = [("cpu", False)] + ([("cuda", False), ("cuda", True)] if cuda else [])
    for device, graph in devices:
        for dtype in (torch.float64, torch.float32):
            for fused in (False, True) if compiled else (False,):
                where = torch.cuda.get_device_name() if device == "cuda" else "CPU, 1 thread"
                how = "CUDA graph" if graph else "eager"
                label = f"{name}, {where}, {str(dtype).removeprefix('torch.')}, {how}{', compiled' if fused else ''}"
                try:
                    yield recreation(chain, budget, steps, label, device, dtype, graph, fused)
                except Skipped as reason:
                    yield Row(label, None, (), str(reason))
                except (RuntimeError, ImportError) as error:  # out of memory, no compiler for torch.compile, no capture
                    yield Row(label, None, (), f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120]}")


def recreation(
    chain: Chain, budget: Budget, steps: int, label: str, device: str, dtype: Any, graph: bool, compiled: bool
) -> Row:
    """Seconds a control step of 120 iterations, and the losses after them."""
    import torch

    from benchmarks.torch_recreation import Arm, Window, captured, descend

    budget.require(10.0, label)
    p, pd = motion(steps)
    states = chain.states(p, pd)

    def data(k: int) -> tuple[Any, Any, Any]:
        values = (states[k : k + 1], p[k + 1 : k + 2], states[k + 1 : k + 2, :, 10:])
        return tuple(torch.as_tensor(v, dtype=dtype, device=device) for v in values)

    arm = Arm(chain, device=device, dtype=dtype, compiled=compiled)
    window = Window(arm, H, LOSSES[SETTINGS.loss][:2], data(0))
    zero = torch.zeros((1, chain.n), dtype=dtype, device=device)
    clock = time.perf_counter if device == "cuda" else time.process_time
    start = clock()
    gradient = captured(window.gradient, zero) if graph else window.gradient
    descend(gradient, zero, RATE, 1)
    prepared = clock() - start

    def minimised(iterations: int) -> tuple[Any, float]:
        begin = clock()
        u = descend(gradient, zero, RATE, iterations)
        if device == "cuda":
            torch.cuda.synchronize()
        return u, clock() - begin

    one = minimised(TRIAL)[1] / TRIAL * ITERATIONS
    budget.require(one, label)
    taken, losses = [], []
    for k in range(steps):
        if k and budget.left < taken[0]:
            break
        window.aim(data(k))
        u, seconds = minimised(ITERATIONS)
        taken.append(seconds)
        with torch.no_grad():
            losses.append(float(window.loss(u)[0]))
    note = f"{ITERATIONS} iterations; Jacobi; {len(taken)} control steps; first call {prepared:.1f} s"
    return Row(label, float(np.median(taken)), tuple(losses), note)


def rows(options: argparse.Namespace) -> Iterator[Row]:
    """Ours, then the re-creation."""
    budget = Budget(options.budget)
    sources: list[tuple[str, Callable[[], Iterator[Row]]]] = [
        ("diffpbd", lambda: generated(open_library(options.library))),
        ("PyTorch", lambda: recreations(read_chain(URDF), budget, options.steps, options.compile)),
    ]
    for name, made in sources:
        try:
            yield from made()
        except Skipped as reason:
            yield Row(name, None, (), str(reason))


def report(found: list[Row]) -> str:
    """The table; losses are means over the first control steps that every row of a kind has."""
    lines = [["", "s a control step", "x", "loss at the end", "remarks"]]
    base = next((r.seconds for r in found if r.seconds), None)
    for row in found:
        if row.seconds is None or base is None:
            lines.append([row.name, "", "", "", row.note])
            continue
        loss = f"{np.mean(row.losses[:FEW]):.2e}"
        lines.append([row.name, f"{row.seconds:.3g}", f"{row.seconds / base:.3g}", loss, row.note])
    return table(lines)


FEW = 3
"""Control steps whose mean loss the table shows."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torque", description=__doc__)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="generated folder (default %(default)s)")
    parser.add_argument("--steps", type=int, default=3, help="control steps of each PyTorch row (default %(default)s)")
    parser.add_argument("--compile", action="store_true", help="torch.compile of a sweep, too")
    parser.add_argument(
        "--budget", type=float, default=150.0, help="seconds that the run may take (default %(default)s)"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of torque.json and torque.txt")
    options = parser.parse_args()
    found = []
    for row in rows(options):
        print(f"{row.name}: {row.note if row.seconds is None else f'{row.seconds:.3g} s'}", flush=True)
        found.append(row)
    facts = {**machine(), "h": H, "loss": SETTINGS.loss, "iterations": ITERATIONS, "rows": [asdict(r) for r in found]}
    head = f"baxter_bare, {SETTINGS.loss}, start zero, h = {1e3 * H:g} ms; {facts['processor']}"
    write(options.out, "torque", facts, f"{head}\n{report(found)}")


if __name__ == "__main__":
    main()
