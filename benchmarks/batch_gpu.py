"""The generated text for a GPU: batched steps and gradients in both precisions, and what single precision costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.batch_row import DAMPING, KINDS, LONG, Batch, Prepared, Row, fill
from benchmarks.standalone import Budget, H, Skipped, open_library
from diffpbd.runtime import DiffpbdError, Robot
from diffpbd.runtime.gpu.robot import SETTINGS, Gpu

SWING = 1.0
"""[s] Free swing over which float32 is compared."""


def rows(folder: Path, sizes: tuple[int, ...], budget: Budget) -> Iterator[Row]:
    """float32 and float64; Skipped says what is missing."""
    robot = open_library(folder)
    for dtype in SETTINGS:
        try:
            gpu = robot.gpu(dtype)
        except DiffpbdError as reason:
            raise Skipped(str(reason)) from None
        row = Row(f"diffpbd joint_step, {gpu.driver.name}", dtype)
        yield fill(row, lambda kind, batch, gpu=gpu: prepared(gpu, kind, batch), sizes, budget, (*KINDS, LONG))  # type: ignore[misc]
        row.notes.append(swing(robot, gpu))
        for function in ("joint_step", "vjp_rollout"):
            row.notes += [
                f"{entry}: {r} registers, {stores} B of spill stores, {loads} B of loads"
                for entry, (r, stores, loads) in gpu.resources(function).items()
            ]


def prepared(gpu: Gpu, kind: str, batch: Batch) -> Prepared:
    """A call on arrays in the GPU's memory that is waited for; compiled by the first one, on one state."""
    robot: Robot = gpu.robot  # type: ignore[assignment]
    values = dict(zip((f"friction.viscous.{j}" for j in robot.joints), DAMPING, strict=True)) if kind == LONG else {}
    alpha = robot.alpha.vector(values)
    p, pd, U = (gpu.array(a) for a in (batch.p, batch.pd, batch.U))
    u = gpu.array(batch.U[:, 0])
    seed = np.zeros((len(batch.p), batch.U.shape[1] + 1, batch.p.shape[1]))

    def step() -> Any:
        gpu.joint_step(p, pd, u, H, check=False)
        gpu.synchronize()

    if kind != "step":
        seed[:, -1] = 2.0 * gpu.rollout(batch.p, batch.pd, batch.U, H, alpha).P.numpy()[:, -1]
    P_bar = gpu.array(seed)

    def gradient() -> Any:
        found = gpu.vjp_rollout(p, pd, U, H, alpha, P_bar=P_bar, check=False, parameters=False)
        gpu.synchronize()
        return found

    call = step if kind == "step" else gradient
    begin = time.perf_counter()
    one = [a[:1] for a in (batch.p, batch.pd, batch.U)]
    if kind == "step":
        gpu.joint_step(one[0], one[1], one[2][:, 0], H)
    else:
        gpu.vjp_rollout(*one, H, alpha, parameters=False)
    return call, time.perf_counter() - begin


def swing(robot: Robot, gpu: Gpu) -> str:
    """How far a free swing from the zero pose is from the CPU's float64, which has the same error of its step."""
    still, U = np.zeros(robot.n), np.zeros((round(SWING / H), robot.n))
    found = gpu.rollout(still, still, U, H, check=False)
    apart = np.abs(found.P.numpy() - robot.rollout(still, still, U, H)[0])
    if not found.left.numpy()[0] <= gpu.residual:
        return f"free swing of {SWING:g} s: a step failed"
    return f"free swing of {SWING:g} s: at most {apart.max():.1e} rad from float64 on the CPU, {apart[-1].max():.1e} at its end"
