"""MuJoCo MJX with the same arm: batched steps and gradients of rollouts, compiled by JAX."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.batch_row import DAMPING, KINDS, LONG, Batch, Prepared, Row, fill
from benchmarks.standalone import URDF, Budget, H, Skipped, installed


def rows(sizes: tuple[int, ...], budget: Budget) -> Iterator[Row]:
    """float32, MJX's own, and then float64."""
    versions = installed("jax", "mujoco", "mujoco-mjx")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch's rows came before, on the same GPU
    try:
        import jax
        import mujoco
        from mujoco import mjx
    except ImportError as error:
        raise Skipped(f"MJX cannot be imported: {error}") from None
    device = jax.devices()[0]
    host = model(mujoco)
    name = f"MJX {versions['mujoco-mjx']} Euler, {getattr(device, 'device_kind', device.platform)}"
    for precision in ("float32", "float64"):
        jax.config.update("jax_enable_x64", precision == "float64")
        models = {damped: mjx.put_model(model(mujoco, damped)) for damped in (False, True)}
        start = mjx.make_data(host)

        def make(kind: str, batch: Batch, models: dict[bool, Any] = models, data: Any = start) -> Prepared:
            return prepared(jax, mjx, models[kind == LONG], data, kind, batch)

        yield fill(Row(name, precision), make, sizes, budget, (*KINDS, LONG))


def model(mujoco: Any, damped: bool = False) -> Any:
    """The arm with a motor a joint; no contacts, limits, friction, nor damping but where asked for; Euler, as in
    `simulators.mujoco_model`."""
    spec = mujoco.MjSpec.from_file(str(URDF))
    for joint in list(spec.joints):
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    host = spec.compile()
    host.dof_damping[:] = host.dof_frictionloss[:] = host.dof_armature[:] = 0
    host.dof_damping[:] = DAMPING if damped else 0
    host.opt.timestep = H
    host.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    host.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    return host


def prepared(jax: Any, mjx: Any, m: Any, data: Any, kind: str, batch: Batch) -> Prepared:
    """The compiled call over a batch."""
    jnp = jax.numpy
    p, pd, U = (jnp.asarray(np.asarray(a)) for a in (batch.p, batch.pd, batch.U))

    def step(p: Any, pd: Any, u: Any) -> Any:
        end = mjx.step(m, data.replace(qpos=p, qvel=pd, ctrl=u))
        return end.qpos, end.qvel

    def loss(U: Any, p: Any, pd: Any) -> Any:
        def advance(state: Any, u: Any) -> Any:
            return step(*state, u), None

        (p, pd), _ = jax.lax.scan(advance, (p, pd), U)
        return (p**2).sum() + (pd**2).sum()

    function = step if kind == "step" else jax.grad(loss)
    arguments = (p, pd, U[:, 0]) if kind == "step" else (U, p, pd)
    begin = time.perf_counter()
    compiled = jax.jit(jax.vmap(function)).lower(*arguments).compile()
    seconds = time.perf_counter() - begin
    return lambda: jax.block_until_ready(compiled(*arguments)), seconds
