"""Pinocchio and MuJoCo with the same arm and Euler steps, as far as Python lets them be timed fairly."""

from __future__ import annotations

import time
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import rollout

from benchmarks.row import Row, Timer
from benchmarks.states import STEPS, States

OVERHEAD_URDF = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/><inertia
ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""
FINITE_DIFFERENCE = 1e-6
"""MuJoCo's usual step of mjd_transitionFD."""


def mujoco_model(urdf: Path, joints: list[str]) -> mujoco.MjModel:
    """The arm with a motor a joint, without contacts, limits, damping or friction; semi-implicit Euler."""
    spec = mujoco.MjSpec.from_file(str(urdf))
    for name in joints:
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    model = spec.compile()
    model.dof_damping[:] = model.dof_frictionloss[:] = model.dof_armature[:] = 0
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def mujoco_row(model: mujoco.MjModel, s: States) -> Row:
    """Steps inside mujoco.rollout's C loop; Jacobian by its own finite differences; it has no reverse mode."""
    data, n, runs = mujoco.MjData(model), model.nv, len(s.p0)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.zeros((runs, size))
    starts[:, 1 : 1 + n], starts[:, 1 + n : 1 + 2 * n] = s.p0, s.pd0
    control, path = s.U.reshape(runs, STEPS, n), np.zeros((runs, STEPS, size))
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))

    def roll(h: float, calls: int) -> float:
        model.opt.timestep = h
        start = time.thread_time()
        for _ in range(calls):
            rollout.rollout(model, data, starts, control, state=path)
        return (time.thread_time() - start) * 1e6 / calls / runs

    def jacobian(h: float, calls: int) -> float:
        model.opt.timestep = h
        start = time.thread_time()
        for k in range(calls):
            data.qpos, data.qvel, data.ctrl = s.p[k % len(s.p)], s.pd[k % len(s.p)], s.u[k % len(s.p)]
            mujoco.mjd_transitionFD(model, data, FINITE_DIFFERENCE, False, A, B, None, None)
        return (time.thread_time() - start) * 1e6 / calls

    def simulate(h: float, steps: int) -> np.ndarray:
        model.opt.timestep = h
        mujoco.mj_resetData(model, data)
        data.ctrl[:] = 0
        path = []
        for _ in range(steps):
            mujoco.mj_step(model, data)
            path.append(data.qpos.copy())
        return np.array(path)

    timed: dict[str, Timer] = {"step": lambda h, calls: roll(h, calls) / STEPS, "jacobian": jacobian, "rollout": roll}
    note = (
        "step inside mujoco.rollout; Jacobian by mjd_transitionFD (finite differences, 21 more steps); no reverse mode"
    )
    return Row("MuJoCo Euler", timed, simulate, note=note)


def pinocchio_row(urdf: Path, s: States) -> Row:
    """`pin.aba` and `pin.computeABADerivatives`, one call from Python each, without the integration around them."""
    model = pin.buildModelFromUrdf(str(urdf))
    data, count = model.createData(), len(s.p)
    one = pin.buildModelFromXML(OVERHEAD_URDF)
    one_data, zero = one.createData(), np.zeros(1)

    def aba(_h: float, calls: int) -> float:
        start = time.thread_time()
        for k in range(calls):
            pin.aba(model, data, s.p[k % count], s.pd[k % count], s.u[k % count])
        return (time.thread_time() - start) * 1e6 / calls

    def derivatives(_h: float, calls: int) -> float:
        start = time.thread_time()
        for k in range(calls):
            pin.computeABADerivatives(model, data, s.p[k % count], s.pd[k % count], s.u[k % count])
        return (time.thread_time() - start) * 1e6 / calls

    def simulate(h: float, steps: int) -> np.ndarray:
        p, v, path, torque = np.zeros(model.nq), np.zeros(model.nv), [], np.zeros(model.nv)
        for _ in range(steps):
            v = v + h * pin.aba(model, data, p, v, torque)
            p = p + h * v
            path.append(p)
        return np.array(path)

    calls, start = 5000, time.thread_time()
    for _ in range(calls):
        pin.aba(one, one_data, zero, zero, zero)
    overhead = (time.thread_time() - start) * 1e6 / calls
    note = (
        f"one call of aba or computeABADerivatives from Python each; the same call on one joint takes {overhead:.1f} us"
    )
    return Row("Pinocchio Euler (Python)", {"step": aba, "jacobian": derivatives}, simulate, note=note)
