"""Recursive functions: the SymPy programs against their CasADi graphs, and the graphs against pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.description.reference import Payload, inverse_dynamics, mass_matrix
from support.judges.peer import Peer
from support.numeric import Worst, random_states, states
from support.programs import Programs
from support.robots import alpha_of, call, graphs, loaded_alpha, mapped, model

from diffpbd.codegen.description.front.resolve import resolve, shipped_robots
from diffpbd.codegen.joint_space import recursive

# Rounding of torques up to 100 N·m; forward dynamics divides it by the wrist's 4e-4 kg·m².
BAR, FORWARD_BAR = 1e-9, 1e-8

ROWS = 1000
STATE = ("p", "pd", "pdd")
FORWARD = "forward_dynamics"
COMPARED = (
    "inverse_dynamics",
    "gravity",
    "coriolis",
    "mass_matrix",
    "tip_pose",
    "tip_jacobian",
    FORWARD,
    "energy",
)


@pytest.mark.thorough("baxter_dual", "baxter_right")
@pytest.mark.parametrize(
    "name", [pytest.param(r, marks=pytest.mark.soak) if r == "baxter_dual" else r for r in shipped_robots()]
)
def test_equal_to_pinocchio(name: str) -> None:
    recipe, robot = resolve(name)
    peer = Peer(recipe.urdf, robot)
    alpha = alpha_of(name).defaults
    values = random_states(robot.n, ROWS)
    # Torques of ordinary accelerations; random ones of 10 N·m give Baxter's wrist 25 000 rad/s² (see below).
    values["u"] = np.array([peer.inverse_dynamics(*(values[k][row] for k in STATE)) for row in range(ROWS)])
    for function in COMPARED:
        worst = Worst(f"{name} {function} against pinocchio", FORWARD_BAR if function == FORWARD else BAR)
        f = graphs(name)[function]
        found = mapped(f, values, {"alpha": alpha})
        names = [k for k in f.name_in() if k != "alpha"]
        for row in range(ROWS):
            expected = getattr(peer, function)(*[values[k][row] for k in names])
            for k, value in enumerate(expected if isinstance(expected, tuple) else (expected,)):
                worst.see(np.squeeze(found[k][row]), value, f"row {row} {f.name_out(k)}", scale=1.0)
        worst.close()


@pytest.mark.parametrize("name", shipped_robots())
def test_forward_dynamics_under_random_torques(name: str) -> None:
    """Relative to the largest acceleration of the state, which reaches 1e5 rad/s²."""
    recipe, robot = resolve(name)
    peer = Peer(recipe.urdf, robot)
    values = random_states(robot.n, ROWS)
    worst = Worst(f"{name} forward_dynamics under ±10 N·m, relative", FORWARD_BAR)
    (found,) = mapped(graphs(name)[FORWARD], values, {"alpha": alpha_of(name).defaults})
    for row in range(ROWS):
        worst.see(found[row], peer.forward_dynamics(*(values[k][row] for k in ("p", "pd", "u"))), f"row {row}")
    worst.close()


@pytest.mark.parametrize("name", shipped_robots())
def test_payload_is_a_body_at_the_first_tip(name: str) -> None:
    _, robot = resolve(name)
    layout = alpha_of(name)
    payload = Payload(0.8, np.array([0.03, -0.02, 0.07]), np.diag([0.004, 0.005, 0.003]))
    alpha = layout.vector(
        {"payload.mass": 0.8}
        | dict(zip([f"payload.com.{a}" for a in "xyz"], payload.com, strict=True))
        | {f"payload.inertia.{a}{a}": payload.inertia[k, k] for k, a in enumerate("xyz")}
    )
    values = random_states(robot.n, 20)
    (torque,) = mapped(graphs(name)["inverse_dynamics"], values, {"alpha": alpha})
    (M,) = mapped(graphs(name)["mass_matrix"], values, {"alpha": alpha})
    for row in range(20):
        p, pd, pdd = (values[k][row] for k in ("p", "pd", "pdd"))
        expected = inverse_dynamics(robot, p, pd, pdd, payload=payload)
        np.testing.assert_allclose(torque[row], expected, rtol=0, atol=BAR)
        np.testing.assert_allclose(M[row], mass_matrix(robot, p, payload), rtol=0, atol=BAR)


@pytest.mark.parametrize("name", ["prismatic_skew", "baxter_dual"])
def test_dynamics_energy_and_regressor_agree(name: str) -> None:
    """Identities whatever the numbers: u = M p̈ + C + g; energy's rates; J ṗ; the regressor; M p̈ = u − …"""
    functions = graphs(name)
    layout = alpha_of(name)
    alpha = loaded_alpha(layout)
    n = model(name).robot.n
    values = random_states(n, 5)
    step = 1e-5

    def f(function: str, *arguments: np.ndarray) -> Any:
        return call(functions[function], *arguments, alpha)

    for row in range(5):
        p, pd, pdd = (values[k][row] for k in ("p", "pd", "pdd"))
        M = f("mass_matrix", p)
        rigid = M @ pdd + f("coriolis", p, pd) + f("gravity", p)
        offset = alpha[list(layout.indices("torque_offset"))]
        sensed = f("inverse_dynamics", p, pd, pdd)
        added = offset - f("friction_torque", pd) - f("spring_torque", p)
        np.testing.assert_allclose(sensed, rigid + added, rtol=0, atol=1e-10)
        np.testing.assert_allclose(f("forward_dynamics", p, pd, sensed - offset), pdd, rtol=0, atol=1e-8)
        assert f("energy", p, pd)[0] == pytest.approx(0.5 * pd @ M @ pd, rel=1e-12)
        slope = [f("energy", p + step * e, pd)[1] - f("energy", p - step * e, pd)[1] for e in np.eye(n)]
        holding = f("gravity", p) - f("spring_torque", p)
        np.testing.assert_allclose(np.array(slope) / (2.0 * step), holding, rtol=0, atol=1e-6)
        J = f("tip_jacobian", p)
        (x0, R0), (x1, R1) = (f("tip_pose", p + s * pd) for s in (-step, step))
        turned = (R1 - R0) @ (0.5 * (R0 + R1)).T / (2.0 * step)
        np.testing.assert_allclose(J[:3] @ pd, (x1 - x0) / (2.0 * step), rtol=0, atol=1e-7)
        spin = [turned[2, 1], turned[0, 2], turned[1, 0]]
        np.testing.assert_allclose(J[3:] @ pd, spin, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew", "baxter_dual"])
def test_regressor_times_parameters_is_the_rigid_torque(name: str) -> None:
    layout = alpha_of(name)
    gravity = {"gravity.x": 0.7, "gravity.y": -0.4, "gravity.z": -9.5}
    alpha = layout.vector(gravity)
    theta = Programs(model(name)).blocks(alpha)["body"].T.ravel()
    values = states(model(name).robot.n, 3)
    (Y,) = mapped(graphs(name)["regressor"], values, {"alpha": alpha})
    (torque,) = mapped(graphs(name)["inverse_dynamics"], values, {"alpha": alpha})
    np.testing.assert_allclose(np.squeeze(Y) @ theta, torque, rtol=0, atol=1e-10)


def test_a_massless_end_link_still_has_a_torque() -> None:
    """The programs hold no division but forward dynamics': zero mass, zero inertia give zeros, not NaN."""
    tree = model("double_pendulum").tree
    programs = Programs(model("double_pendulum"))
    alpha = alpha_of("double_pendulum").defaults
    nothing = {"body": np.zeros((10, 2))}
    p, pd, pdd = np.zeros((3, 2))
    found = programs.run(recursive.inverse_dynamics(tree), alpha, p=p, pd=pd, pdd=pdd, **nothing)
    np.testing.assert_array_equal(found["u"], 0.0)
