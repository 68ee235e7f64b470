"""Quadrupeds and humanoids of example-robot-data on a floating base, by pinocchio's free-flyer and its ODE."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.free_flyer import FreeFlyer, difference, moved, position
from support.robots import generated

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.solved.floating import graphs_of
from diffpbd.runtime import load

H = 0.01


def described(name: str) -> Path:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed (pip install example-robot-data)")
    return next(Path(str(f.locate())) for f in files if str(f).endswith(name))


def test_inverse_dynamics_of_a_quadruped() -> None:
    """ANYmal B, twelve joints: the expression that its C is written from."""
    path = described("anymal_b_simple_description/robots/anymal.urdf")
    recipe = with_options(default_recipe(str(path)), base_joint="floating")
    model = build(read_robot(recipe), recipe)
    graphs = graphs_of(model)
    inputs, outputs = next((i, o) for name, i, o in graphs.values() if name == "inverse_dynamics")
    f = ca.Function("f", [v for _, v in inputs], [outputs["u"] + outputs["unbalanced"]])
    joints = [model.robot.joints[k].name for k in model.robot.independent][6:]
    other, rng = FreeFlyer(path, tuple(joints)), np.random.default_rng(0)
    alpha = [entry.default for entry in model.entries]
    for _ in range(3):
        p, (pd, pdd) = position(rng, 12), rng.uniform(-2, 2, (2, 18))
        found, wanted = np.array(f(p, pd, pdd, alpha))[:, 0], other.torque(p, pd, pdd)
        assert found == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())


@pytest.mark.soak
@pytest.mark.parametrize(
    "name", ["anymal_b_simple_description/robots/anymal.urdf", "talos_data/robots/talos_reduced.urdf"]
)
def test_steps_dynamics_and_momentum(name: str) -> None:
    path, rng = described(name), np.random.default_rng(1)
    robot = load(generated(str(path), base_joint="floating", functions=("joint_step", "forward_dynamics"), variants=()))
    other, joints = FreeFlyer(path, robot.joints[6:]), robot.n - 6
    for _ in range(10):
        p, (pd, pdd, u) = position(rng, joints), rng.uniform(-2, 2, (3, robot.n))
        given = robot.inverse_dynamics(p, pd, pdd)
        assert given.u + given.unbalanced == pytest.approx(other.torque(p, pd, pdd), rel=1e-9, abs=1e-9)
        assert robot.forward_dynamics(p, pd, u) == pytest.approx(other.acceleration(p, pd, u), rel=1e-9, abs=1e-8)
    p, pd = position(rng, joints), np.r_[rng.uniform(-1, 1, 6), rng.uniform(-0.5, 0.5, joints)]
    p[7:] *= 0.3
    wanted, rates = other.after(p, pd, np.zeros(robot.n), 0.2)
    errors = []
    for h in (0.01, 0.005):
        P, PD = robot.rollout(p, pd, np.zeros((round(0.2 / h), robot.n)), h)
        errors.append([np.abs(difference(P[-1], wanted)).max(), np.abs(PD[-1] - rates).max()])
    assert all(3.7 < ratio < 4.4 for ratio in np.divide(*errors)), errors
    found, end = robot.jac_joint_step(p, pd, np.zeros(robot.n), H), robot.joint_step(p, pd, np.zeros(robot.n), H)
    d = rng.standard_normal(robot.n)
    slope = [
        np.concatenate([difference(q.p_next, end.p_next), q.pd_next])
        for q in (robot.joint_step(moved(p, e * d), pd, np.zeros(robot.n), H) for e in (1e-5, -1e-5))
    ]
    J = np.vstack([found.dp_next_dp, found.dpd_next_dp]) @ d
    assert (slope[0] - slope[1]) / 2e-5 == pytest.approx(J, abs=1e-6 * np.abs(J).max())
    weightless = robot.alpha.vector({f"gravity.{axis}": 0.0 for axis in "xyz"})
    P, PD = robot.rollout(p, pd, np.zeros((2000, robot.n)), H, weightless)
    linear = np.einsum("kij,kj->ki", robot.mass_matrix(P, weightless)[:, :6], PD)
    about_world = np.hstack([linear[:, :3], linear[:, 3:] + np.cross(P[:, :3], linear[:, :3])])
    assert np.abs(about_world - about_world[0]).max() <= 1e-12 * max(1.0, np.abs(about_world[0]).max()) * 5
