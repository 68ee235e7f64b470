"""MuJoCo Warp with the same arm: batched Euler steps as one CUDA graph; no gradients of rollouts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.batch_mjx import model
from benchmarks.batch_row import Batch, Prepared, Row, fill
from benchmarks.standalone import Budget, Skipped, installed


def rows(sizes: tuple[int, ...], budget: Budget) -> Iterator[Row]:
    """float32, the only precision it has."""
    versions = installed("mujoco", "mujoco-warp", "warp-lang")
    try:
        import mujoco
        import mujoco_warp
        import warp
    except ImportError as error:
        raise Skipped(f"MuJoCo Warp cannot be imported: {error}") from None
    warp.config.quiet = True
    host, device = model(mujoco), warp.get_device()
    on_device = mujoco_warp.put_model(host)

    def make(kind: str, batch: Batch) -> Prepared:
        return prepared(warp, mujoco_warp, mujoco, host, on_device, batch)

    name = f"MuJoCo Warp {versions['mujoco-warp']} Euler, {device.name}"
    yield fill(Row(name, "float32"), make, sizes, budget, ("step",))


def prepared(warp: Any, mujoco_warp: Any, mujoco: Any, host: Any, on_device: Any, batch: Batch) -> Prepared:
    """A step of every arm from the same states, waited for; a CUDA graph where there is a GPU."""
    data = mujoco_warp.put_data(host, mujoco.MjData(host), nworld=len(batch.p))
    p, pd, u = (warp.array(np.asarray(a, np.float32)) for a in (batch.p, batch.pd, batch.U[:, 0]))
    begin = time.perf_counter()

    def step() -> None:
        warp.copy(data.qpos, p)
        warp.copy(data.qvel, pd)
        warp.copy(data.ctrl, u)
        mujoco_warp.step(on_device, data)

    step()
    warp.synchronize()
    if not warp.get_device().is_cuda:
        return lambda: (step(), warp.synchronize()), time.perf_counter() - begin
    with warp.ScopedCapture() as capture:
        step()
    return lambda: (warp.capture_launch(capture.graph), warp.synchronize()), time.perf_counter() - begin
