"""Batches: steps and gradients a second over the size of the batch, on cores and on a GPU.

    python -m benchmarks.batch [--library generated/baxter_bare] [--sizes 1,…,262144] [--rows diffpbd,gpu,…] [--plot PNG]

Rows: the generated C on one core and on all (`threads`), its Algorithm 1 with 30 Jacobi sweeps; the text for a GPU
(`generate --cuda`) in both precisions, with what float32 makes of a swing of 1 s; Algorithm 1 re-created in PyTorch, MuJoCo MJX
through JAX, MuJoCo Warp. Every call starts from arrays in place and is waited for; medians of
wall time. Compilation is timed apart. A gradient is that of |p|² + |pd|² at the end of a rollout by all of its torques,
the forward run included; it counts as the steps of the rollout.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import batch_gpu, batch_mjx, batch_plot, batch_warp
from benchmarks.batch_row import ROLLOUT, Batch, Make, Prepared, Row, fill
from benchmarks.chain import read_chain
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
    table,
    write,
)

SIZES = (1, 16, 256, 4096, 65536, 262144)


ROWS = ("diffpbd", "gpu", "torch", "mjx", "warp")


def generated(folder: Path, sizes: tuple[int, ...], budget: Budget) -> Iterator[Row]:
    """The generated C through its Python API."""
    robot = open_library(folder)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def joint(threads: int) -> Make:
        def make(kind: str, batch: Batch) -> Prepared:
            if kind == "step":
                u = np.ascontiguousarray(batch.U[:, 0])
                return lambda: robot.joint_step(batch.p, batch.pd, u, H, threads=threads), 0.0

            def gradient() -> Any:
                P, PD = robot.rollout(batch.p, batch.pd, batch.U, H, threads=threads)
                P_bar, PD_bar = np.zeros_like(P), np.zeros_like(PD)
                P_bar[:, -1], PD_bar[:, -1] = 2.0 * P[:, -1], 2.0 * PD[:, -1]
                return robot.vjp_rollout(batch.p, batch.pd, batch.U, H, P_bar=P_bar, PD_bar=PD_bar, threads=threads)

            return gradient, 0.0

        return make

    def sweeps(kind: str, batch: Batch) -> Prepared:
        xi, u = robot.fk(batch.p, batch.pd), np.ascontiguousarray(batch.U[:, 0])
        return lambda: robot.step_paper_jacobi(xi, u, H, threads=cores), 0.0

    for threads in sorted({1, cores}):
        label = f"diffpbd joint_step, {threads} core{'s' * (threads > 1)}"
        yield fill(Row(label, "float64"), joint(threads), sizes, budget)
    yield fill(Row(f"diffpbd Algorithm 1, {cores} cores", "float64"), sweeps, sizes, budget, ("step",))


def recreated(sizes: tuple[int, ...], budget: Budget) -> Iterator[Row]:
    """Algorithm 1 with 30 Jacobi sweeps in PyTorch, eager."""
    versions = installed("torch")
    import torch

    from benchmarks.torch_recreation import Arm, X

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)  # on a CPU; several wait for each other far longer than they compute
    chain = read_chain(URDF)
    for dtype in (torch.float32, torch.float64):
        arm = Arm(chain, device=device, dtype=dtype)

        def make(kind: str, batch: Batch, arm: Arm = arm, dtype: Any = dtype) -> Prepared:
            put = {"dtype": dtype, "device": device}
            state = torch.as_tensor(chain.states(batch.p, batch.pd), **put)
            U = torch.as_tensor(batch.U, **put).requires_grad_(kind == "gradient")
            near = torch.as_tensor(batch.p, **put)

            def finished(value: Any) -> Any:
                if device == "cuda":
                    torch.cuda.synchronize()
                return value

            def step() -> Any:
                with torch.no_grad():
                    return finished(arm.step(state, U[:, 0], H))

            def gradient() -> Any:
                end = state
                for k in range(batch.U.shape[1]):
                    end = arm.step(end, U[:, k], H)
                p, w = arm.angles(end, near), end[..., X.stop :]
                return finished(torch.autograd.grad(p.square().sum() + w.square().sum(), U))

            return (step if kind == "step" else gradient), 0.0

        where = torch.cuda.get_device_name() if device == "cuda" else "CPU, 1 thread"
        name = f"PyTorch {versions['torch']} Algorithm 1, {where}"
        yield fill(Row(name, str(dtype).removeprefix("torch.")), make, sizes, budget)
        if device == "cuda":
            torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description=__doc__)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="generated folder (default %(default)s)")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of the batches (default %(default)s)")
    parser.add_argument("--budget", type=float, default=150.0, help="seconds, in equal shares (default %(default)s)")
    parser.add_argument("--rows", default=",".join(ROWS), help="whose (default %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of batch.json and batch.txt")
    parser.add_argument("--plot", type=Path, help="PNG to write (needs matplotlib)")
    parser.add_argument("--plot-only", type=Path, metavar="JSON", help="draw --plot from an earlier run")
    options = parser.parse_args()
    if options.plot_only:
        batch_plot.plot(options.plot_only, options.plot or options.plot_only.with_suffix(".png"))
        return
    sizes = tuple(map(int, options.sizes.split(",")))
    found: list[Row] = []
    sources: dict[str, Callable[[Budget], Iterator[Row]]] = {
        "diffpbd": lambda budget: generated(options.library, sizes, budget),
        "torch": lambda budget: recreated(sizes, budget),
        "mjx": lambda budget: batch_mjx.rows(sizes, budget),
        "gpu": lambda budget: batch_gpu.rows(options.library, sizes, budget),
        "warp": lambda budget: batch_warp.rows(sizes, budget),
    }
    chosen = options.rows.split(",")
    if strange := set(chosen) - set(sources):
        parser.error(f"--rows: {', '.join(sorted(strange))}; some of {','.join(ROWS)} are expected")
    for name in chosen:
        try:
            found += sources[name](Budget(options.budget / len(chosen)))
        except Skipped as reason:
            found.append(Row(name, "", notes=[str(reason)]))
    if not any(row.rates for row in found):
        raise SystemExit(
            "Nothing was timed: " + "; ".join(f"{row.name}: {note}" for row in found for note in row.notes)
        )
    facts = {**machine(), "h": H, "rollout": ROLLOUT, "rows": [asdict(r) for r in found]}
    head = (
        f"baxter_bare, h = {1e3 * H:g} ms, gradients over {ROLLOUT} steps; {facts['processor']}, {facts['cores']} cores"
    )
    write(options.out, "batch", facts, f"{head}\n{report(found, sizes)}")
    if options.plot:
        batch_plot.plot(options.out / "batch.json", options.plot)


def report(found: list[Row], sizes: tuple[int, ...]) -> str:
    """Steps a second; compile times and gaps below."""
    lines = [["steps/s", "", "", *map(str, sizes), "compile [s]"]]
    notes = []
    for row in found:
        for kind, rates in row.rates.items():
            longest = max(row.compile_s[kind].values(), default=0.0)
            cells = [f"{rates[s]:.3g}" if s in rates else "" for s in sizes]
            lines.append([row.name, row.precision, kind, *cells, f"{longest:.1f}" if longest else ""])
        notes += [f"{row.name} {row.precision}: {note}".strip() for note in row.notes]
    return "\n".join([table(lines), *notes])


if __name__ == "__main__":
    main()
