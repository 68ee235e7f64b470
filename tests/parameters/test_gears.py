"""Steps of robots with joints that follow others, against the free robot and pinocchio, projected on the coordinates."""

from __future__ import annotations

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from click.testing import CliRunner
from support.described import Described
from support.judges.peer import Peer, runge_kutta
from support.made.geared import RATIO, SHIFT, TIPS, source
from support.maximal import Array
from support.motions import samples
from support.programs import Programs
from support.robots import generated, loaded_alpha

from diffpbd.codegen.graph.step.joint_step import Residuals
from diffpbd.runtime import Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.csv import Log, read_log, write_log

H = 0.01
EXACT = 1e-8  # N·m or N
PLAIN = ("mass_matrix",)


A = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, RATIO, 0]], dtype=float)
B = np.array([0, 0, 0, 0, SHIFT])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("gears")
    (folder / "geared.urdf").write_bytes(source(True))
    (folder / "free.urdf").write_bytes(source(False))
    return folder / "geared.urdf", folder / "free.urdf"


@pytest.fixture(scope="module")
def geared(files: tuple[Path, Path]) -> Described:
    return Described.of(files[0], tip=TIPS, wrench=["right", "knuckle"], only=PLAIN)


@pytest.fixture(scope="module")
def free(files: tuple[Path, Path]) -> Described:
    return Described.of(files[1], tip=TIPS, wrench=["right", "knuckle"], only=PLAIN)


def shared_alpha(free: Described, geared: Described) -> tuple[Array, Array]:
    """Every force on both, wrenches included; the free followers without a torque offset."""
    rng = np.random.default_rng(2)
    values = free.alpha.by_name(loaded_alpha(free.alpha))
    values |= {k: float(rng.uniform(-3.0, 3.0)) for k in values if k.startswith("wrench")}
    values |= {k: 0.0 for k in values if k not in geared.alpha}
    return free.alpha.vector(values), geared.alpha.vector({k: v for k, v in values.items() if k in geared.alpha})


@pytest.mark.thorough
def test_the_equations_are_the_free_ones_projected(free: Described, geared: Described) -> None:
    """F and G in coordinates are Aᵀ F and Aᵀ G of the free robot, at any poses, solved or not."""
    assert geared.model.tree.coordinates == (0, 1, 2) and free.model.tree.gears == ()
    of_free, of_geared = shared_alpha(free, geared)
    functions = []
    for d in (geared, free):
        r = Residuals(d.model)
        functions.append(ca.Function("r", [*r.inputs.values(), d.model.alpha], [r.F, r.G], {"cse": True}))
    rng = np.random.default_rng(1)
    for _ in range(5):
        p, pd, u, p_next, pd_next = rng.uniform(-1.5, 1.5, (5, 3))
        ours = functions[0](p, pd, u, H, p_next, pd_next, of_geared)
        wide = np.concatenate([u, np.zeros(2)])
        theirs = functions[1](A @ p + B, A @ pd, wide, H, A @ p_next + B, A @ pd_next, of_free)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(np.array(one)[:, 0], A.T @ np.array(other)[:, 0], rtol=0, atol=1e-14)


def test_the_step_follows_the_peers_motion(files: tuple[Path, Path], geared: Described, free: Described) -> None:
    """Pinocchio's free robot, projected, under RK4: the error falls as h²."""
    peer, programs = Peer(files[1], free.robot), Programs(geared.model)

    def acceleration(p: Array, pd: Array) -> Array:
        every = A @ p + B, A @ pd
        bias = A.T @ peer.inverse_dynamics(*every, np.zeros(5))
        return np.asarray(np.linalg.solve(A.T @ peer.mass_matrix(every[0]) @ A, -bias))

    p0, pd0, duration = np.array([0.5, -0.8, 0.05]), np.array([0.3, 0.5, -0.1]), 0.08
    exact, rate = p0, pd0
    for _ in range(80):
        exact, rate = runge_kutta(acceleration, exact, rate, 1e-3)
    errors = []
    for steps in (8, 16):
        p, pd = p0, pd0
        for _ in range(steps):
            p, pd = programs.joint_step(p, pd, np.zeros(3), duration / steps, geared.alpha.defaults)
        errors.append(np.abs(np.concatenate([p - exact, pd - rate])).max())
    print(f"errors {errors}")
    assert errors[1] < 1e-3 and 3.5 < errors[0] / errors[1] < 4.5


# Compiled ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hand(files: tuple[Path, Path]) -> Robot:
    return load(generated(str(files[0]), tip=TIPS))


def test_what_is_there(hand: Robot) -> None:
    """Everything in joint space; steps on maximal states are left out."""
    assert hand.joints == ("js", "je", "jl")
    there = {
        "joint_step",
        "jac_joint_step",
        "jac_alpha_joint_step",
        "vjp_joint_step",
        "node_torque",
        "rollout",
        "vjp_rollout",
    }
    assert there | {"vjp_trajectory", "fk", "estimate_torque", "torque_terms"} <= set(hand.functions)
    assert not {"step", "vjp_step", "constraints"} & set(hand.functions)


def bounded(hand: Robot, **more: float) -> Array:
    """A spring holds the fingers, which would fall for ever."""
    return hand.alpha.vector({"spring.stiffness.jl": 200.0, "spring.stiffness.jr": 100.0, **more})


def test_energy_is_kept_and_friction_takes_it(hand: Robot) -> None:
    """Kept by the free motion; never gained with friction on leaders and followers."""
    start = np.array([0.6, -0.4, 0.02]), np.zeros(3)
    alpha = bounded(hand)
    kinetic, potential = hand.energy(*hand.rollout(*start, np.zeros((4000, 3)), 1e-3, alpha), alpha)
    drift = np.abs(kinetic + potential - kinetic[0] - potential[0]).max() / np.ptp(kinetic)
    print(f"max |E - E0| over 4 s: {drift:.1e} of the kinetic energy's range")
    assert drift < 1e-3
    joints = ("js", "je", "jl", "jr", "jk")
    damped = bounded(
        hand, **{f"friction.coulomb.{j}": 0.5 for j in joints}, **{f"friction.viscous.{j}": 0.5 for j in joints}
    )
    kinetic, potential = hand.energy(*hand.rollout(*start, np.zeros((4000, 3)), 1e-3, damped), damped)
    assert np.diff(kinetic + potential).max() < 1e-9 * np.ptp(kinetic + potential)
    assert kinetic[-1] + potential[-1] < kinetic[0] + potential[0] - 1.0


def test_friction_of_a_follower_counts_alone(hand: Robot) -> None:
    """Coulomb friction on nothing but a follower: the solver must not take the motion for one without."""
    p, pd, u = np.array([0.2, 0.3, 0.01]), np.array([0.1, 0.9, 0.2]), np.zeros(3)
    alpha = hand.alpha.vector({"friction.coulomb.jk": 2.0})
    free, held = (hand.joint_step(p, pd, u, H, a).pd_next for a in (hand.alpha.defaults, alpha))
    torque = hand.friction_torque(held, alpha)
    assert torque[1] != 0.0 and torque[0] == torque[2] == 0.0
    momentum = hand.mass_matrix(hand.joint_step(p, pd, u, H).p_next) @ (held - free)
    np.testing.assert_allclose(momentum, H * torque, rtol=0, atol=1e-10)


def test_the_command_takes_them(hand: Robot, tmp_path: Path) -> None:
    """From a log to torques, and what only maximal coordinates have is refused by the followers' names."""
    alpha = {"friction.viscous.jr": 0.4, "torque_offset.je": 0.3}
    U = np.tile(hand.gravity([0.3, 0.2, 0.01]) + [0.5, -0.3, 0.4], (9, 1))
    P, PD = hand.rollout([0.3, 0.2, 0.01], [0.1, -0.4, 0.1], U, H, hand.alpha.vector(alpha))
    log, out, params = (tmp_path / name for name in ("log.csv", "torques.csv", "params.json"))
    write_log(log, Log(H * np.arange(10), hand.joints, P, PD))
    params.write_text(json.dumps(alpha), encoding="utf-8")
    words = ["estimate-torque", str(hand.folder), str(log), "--cutoff", "0", "--params", str(params), "--out", str(out)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(read_log(out).tau, U + [0.0, 0.3, 0.0], rtol=0, atol=EXACT)
    nodes = CliRunner().invoke(cli, [*words, "--loss", "nodes"])
    assert nodes.exit_code == 0 and len(read_log(out).time) == 8, nodes.output
    refused = CliRunner().invoke(cli, [*words, "--optimizer", "adam"])
    assert refused.exit_code == 1 and "`--hold` for jr, jk, which mimic others" in refused.output


def test_the_torque_is_linear_in_what_identification_fits(hand: Robot) -> None:
    """terms φ = inverse_dynamics with every parameter of leaders and followers off its default."""
    alpha = loaded_alpha(hand.alpha)
    p, pd, pdd = np.random.default_rng(9).uniform(-2.0, 2.0, (3, 20, 3))
    terms, phi = hand.torque_terms(p, pd, pdd, alpha), hand.torque_coefficients(alpha)
    assert terms.shape == (20, 3, 16 * 5) and phi.shape == (16 * 5,)
    expected = hand.inverse_dynamics(p, pd, pdd, alpha)
    np.testing.assert_allclose(terms @ phi, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_parameters_are_identified(hand: Robot) -> None:
    """From torques that the followers are felt in: friction of leaders, a follower's spring, a payload."""
    truth = {
        "friction.viscous.js": 0.5, "friction.coulomb.je": 0.7, "torque_offset.jl": -0.3, "spring.stiffness.jk": 9.0,
        "spring.rest.jk": 0.4, "payload.mass": 0.6, "friction.viscous.jl": 3.0,
    }  # fmt: skip
    fixed = {"friction.viscous.jr": 0.8, "rotor_inertia.jk": 0.02}
    logs = [sample for k in range(3) for sample in samples(hand, truth | fixed, seed=k)]
    found = identify(hand, logs, ["friction", "spring.jk", "payload.mass"], start=fixed)
    assert not [item.name for item in found.lost]
    for name, value in truth.items():
        assert found.parameters[name] == pytest.approx(value, rel=1e-6), name
    assert max(found.train.rmse.values()) < 1e-6
    fitted = {e.name for e in found.estimates if e.std is not None}
    assert set(truth) <= fitted and not any(name.endswith((".jr", "coulomb.jk", "viscous.jk")) for name in fitted)
