"""Closed loops on a floating base: a four-bar in space, and Cassie whole, rods, springs and balls."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from support.free_flyer import FreeFlyer, difference, moved, position, rotation, swung
from support.judges.properties import Scene, properties_of
from support.mechanisms import body, four_bar
from support.numeric import slopes
from support.robots import CACHE, generated
from support.small.floating_arm import recipe

from benchmarks.menagerie import file_of
from benchmarks.mujoco_twin import Judge, hinged
from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.runtime import Robot, load

Array = Any
H = 0.01
CRANK = np.r_[np.ones(6), 1, 0, 0]
"""What close_loops keeps: the base and the motor's angle."""


@dataclass(frozen=True)
class Flying:
    """A four-bar in space, pinocchio on the same file, and a state that the loop allows."""

    robot: Robot
    other: FreeFlyer
    p: Array
    pd: Array
    u: Array
    A: Array
    """Kept rows of the loop by rates (2 × 9)."""

    def acceleration(self, p: Array, pd: Array, u: Array) -> Array:
        ends = ("coupler", np.array([0.8, 0, 0])), ("rocker", np.array([0.6, 0, 0]))
        return self.other.closed_acceleration(p, pd, u, ends, np.array([0, -1.0, 0]))


@cache
def flying_bar() -> Flying:
    mechanism, folder = four_bar(), recipe("unused", "floating").parent
    path = mechanism.write(folder, "flying_bar", 'base_joint = "floating"\nsymbolic = ["mass", "loop"]')
    urdf = path.with_suffix(".urdf")
    urdf.write_text(
        urdf.read_text().replace('<link name="base"/>', body("base", 2.0, (0.3, 0.05, 0.1), (0.8, 0.2, 0.3)))
    )
    asked = ("joint_step", "forward_dynamics", "jac_alpha_joint_step")
    robot = load(generated(str(path), functions=asked, variants=()))
    rng = np.random.default_rng(6)
    start = position(rng, 3)
    start[7:] = list(mechanism.guess.values())
    p = robot.close_loops(start, CRANK)
    assert p[:8] == pytest.approx(start[:8], abs=1e-12)
    pd = robot.close_rates(p, rng.uniform(-2, 2, 9))
    A = np.array([robot.loop_residual(p, e).row_rates for e in np.eye(9)]).T[[0, 1]]  # across the axis
    return Flying(robot, FreeFlyer(urdf, robot.joints[6:]), p, pd, rng.uniform(-1, 1, 9), A)


def momentum(robot: Robot, P: Array, PD: Array, alpha: Array) -> Array:
    """Linear, and about the world's origin."""
    found = np.einsum("kij,kj->ki", robot.mass_matrix(P, alpha), PD)[:, :6]
    return np.hstack([found[:, :3], found[:, 3:] + np.cross(P[:, :3], found[:, :3])])


@pytest.mark.thorough
def test_instants_are_those_of_pinocchio() -> None:
    f = flying_bar()
    robot, p, pd, u = f.robot, f.p, f.pd, f.u
    for name in ("jac_inverse_dynamics", "jac_forward_dynamics"):
        assert name not in robot.functions and "a floating base" in robot.manifest.left_out[name]
    residual = robot.loop_residual(p, pd)
    assert np.abs(residual.rows).max() < 1e-12 and np.abs(residual.row_rates).max() < 1e-12
    pdd = robot.forward_dynamics(p, pd, u)
    assert pdd == pytest.approx(f.acceleration(p, pd, u), rel=1e-9, abs=1e-9)
    given = robot.inverse_dynamics(p, pd, pdd)
    wanted = given.u + f.A.T @ given.loop_force + given.unbalanced
    assert wanted == pytest.approx(f.other.torque(p, pd, pdd), abs=1e-10)
    assert (given.u[np.arange(9) != 6] == 0).all() and np.abs(given.unbalanced[[6, 7, 8]]).max() < 1e-10


def test_second_order_against_the_ode_and_rows_stay_closed() -> None:
    f = flying_bar()
    wanted, rates = swung(f.acceleration, f.p, f.pd, f.u, 0.3)
    errors = []
    for h in (0.01, 0.005):
        P, PD = f.robot.rollout(f.p, f.pd, np.tile(f.u, (round(0.3 / h), 1)), h)
        errors.append([np.abs(difference(P[-1], wanted)).max(), np.abs(PD[-1] - rates).max()])
        left = f.robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < 1e-12 and np.abs(left.row_rates).max() < 1e-11
    assert errors[0][0] < 2e-3
    assert all(3.8 < ratio < 4.3 for ratio in np.divide(*errors)), errors


def test_momentum_stays_for_20_s_and_energy_does_not_drift() -> None:
    """About a centre of mass at rest, with the motor at work; without it energy swings about its start, by a quarter at
    half the step."""
    robot, p, pd = flying_bar().robot, flying_bar().p, flying_bar().pd.copy()
    alpha = robot.alpha.vector({f"gravity.{axis}": 0.0 for axis in "xyz"})
    pd[:3] -= momentum(robot, p[None], pd[None], alpha)[0, :3] / robot.mass_matrix(p, alpha)[0, 0]
    U = np.zeros((2000, 9))
    U[:, 6] = 0.5 * np.sin(0.05 * np.arange(2000))
    P, PD = robot.rollout(p, pd, U, H, alpha)
    found = momentum(robot, P, PD, alpha)
    assert np.abs(found - found[0]).max() <= 1e-11
    assert np.abs(robot.loop_residual(P, PD).rows).max() < 1e-12
    off = []
    for h in (0.01, 0.005):
        P, PD = robot.rollout(p, pd, np.zeros((round(20 / h), 9)), h, alpha)
        energies = np.sum(np.array(robot.energy(P, PD, alpha)).T, axis=1)
        off.append(np.abs(energies - energies[0]).max())
    assert off[1] < 1e-3 * energies[0], (off, energies[0])
    assert 3.5 < off[0] / off[1] < 4.5, off


def test_properties_of_the_step() -> None:
    """Anchors, too, at which the start is closed anew."""
    f = flying_bar()
    robot, alpha = f.robot, f.robot.alpha.defaults
    by_alpha = properties_of(Scene(robot, f.p, f.pd, f.u, alpha, H), {"mass.": 1e-3, "gravity.": 1e-3}, graph=None)
    found, end = robot.jac_joint_step(f.p, f.pd, f.u, H), robot.joint_step(f.p, f.pd, f.u, H)
    by_state = np.block([[found.dp_next_dp, found.dp_next_dpd], [found.dpd_next_dp, found.dpd_next_dpd]])
    for k in robot.alpha.indices("loop.origin"):
        unit = np.eye(len(alpha))[k]

        def after(d: Array, unit: Array = unit) -> Array:
            q = robot.close_loops(f.p, CRANK, alpha + d[0] * unit)
            ends = robot.joint_step(q, robot.close_rates(q, f.pd, alpha + d[0] * unit), f.u, H, alpha + d[0] * unit)
            return np.concatenate([difference(ends[0], end.p_next), ends[1]])

        start = slopes(lambda d, unit=unit: closed(f, alpha + d[0] * unit), 1, 1e-4)[:, 0]
        wanted = by_alpha[:, k] + by_state @ start
        assert slopes(after, 1)[:, 0] == pytest.approx(wanted, abs=1e-6 * (np.abs(wanted).max() + 1e-2))


def closed(f: Flying, alpha: Array) -> Array:
    """The start at other parameters, from the one at the defaults."""
    q = f.robot.close_loops(f.p, CRANK, alpha)
    return np.r_[difference(q, f.p), f.robot.close_rates(q, f.pd, alpha) - f.pd]


class Whole(Judge):
    """MuJoCo with its free joint: rates of the base are turned into the world's axes."""

    def __init__(self, model: mujoco.MjModel, robot: Robot, described: Any) -> None:
        joints = [joint for joint in described.joints if joint.name in robot.joints[6:]]
        assert tuple(joint.name for joint in joints) == robot.joints[6:]
        super().__init__(model, replace(described, joints=tuple(joints)))
        self.model.dof_damping[:] = 0.0

    def free(self, p: Array, pd: Array, u: Array) -> Array:
        """Accelerations with every row of every equality, pseudo-inverted; [x, w] of the base in world axes."""
        R, n = rotation(p[3:7]), self.model.nv
        self.data.qpos[:7], self.data.qpos[self.q] = p[:7], p[7:]
        v, push = np.zeros(n), np.zeros(n)
        for there, given in ((v, pd), (push, u)):
            there[:3], there[3:6], there[self.v] = given[:3], R.T @ given[3:6], given[6:]
        self.data.qvel[:] = v
        mujoco.mj_forward(self.model, self.data)
        gaps, J, bias = (np.concatenate(parts) for parts in zip(*self._equalities(), strict=True))
        M = np.zeros((n, n))
        mujoco.mj_fullM(self.model, self.data, M)
        inverse = np.linalg.inv(M)
        push += self.data.qfrc_passive - self.data.qfrc_bias
        wanted = -(bias + 40.0 * (J @ v) + 400.0 * gaps) - J @ inverse @ push  # closes what an integration leaves open
        a = inverse @ (push + J.T @ np.linalg.lstsq(J @ inverse @ J.T, wanted, rcond=1e-9)[0])
        return np.r_[a[:3], R @ a[3:6], a[self.v]]


@pytest.mark.soak
def test_cassie_whole() -> None:
    """Both legs with their rods and springs on a free pelvis: 32 rates, four loops."""
    if "MENAGERIE_ROOT" not in os.environ:
        pytest.skip("MENAGERIE_ROOT names no checkout of MuJoCo Menagerie")
    file, ends = file_of("agility_cassie"), ("foot", "plantar-rod", "heel-spring", "achilles-rod")
    path = CACHE / "mechanisms" / "cassie.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    tips = [f"{side}-{end}" for side in ("left", "right") for end in ends]
    path.write_text(f'urdf = "{file}"\ntip = {tips}\n'.replace("'", '"'))
    robot = load(generated(str(path), functions=("joint_step", "forward_dynamics"), variants=()))
    assert robot.n == 32 and len(robot.manifest.robot.loops) == 4
    model = hinged(mujoco.MjSpec.from_file(str(file))).compile()
    judge = Whole(model, robot, read_robot(load_recipe(path)))
    smooth = {e.name: 0.0 for e in robot.manifest.alpha if e.name.startswith("friction.viscous.")}
    rng, zero = np.random.default_rng(0), np.zeros(robot.n)
    standing = np.r_[position(rng, 0), model.qpos0[judge.q]]

    for _ in range(5):
        near = moved(standing, np.r_[np.zeros(6), 0.1 * rng.standard_normal(26)])
        p = robot.close_loops(near, zero)
        pd, u = robot.close_rates(p, rng.standard_normal(32)), rng.standard_normal(32)
        wanted = judge.free(p, pd, u)
        found = robot.forward_dynamics(p, pd, u, alpha=smooth)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())

    p = robot.close_loops(standing, zero)
    pd = robot.close_rates(p, 0.5 * rng.standard_normal(32))
    wanted, _ = swung(judge.free, p, pd, zero, 0.05)
    errors = []
    for h in (0.001, 0.0005, 0.00025):
        P, PD = robot.rollout(p, pd, np.zeros((round(0.05 / h), 32)), h, smooth)
        errors.append(np.abs(difference(P[-1], wanted)).max())
        left = robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < 1e-12 and np.abs(left.row_rates).max() < 1e-10
    assert errors[0] < 1e-3
    assert all(3.7 < one / other < 4.3 for one, other in zip(errors, errors[1:], strict=False)), errors

    weightless = robot.alpha.vector({**smooth, **{f"gravity.{axis}": 0.0 for axis in "xyz"}})
    P, PD = robot.rollout(p, pd, np.zeros((1000, 32)), 0.001, weightless)
    found = momentum(robot, P, PD, weightless)
    assert np.abs(found - found[0]).max() <= 1e-11 * max(1.0, np.abs(found[0]).max())
