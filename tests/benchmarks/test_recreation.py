"""The re-creation that benchmarks time is the published step: equal to the generated one, gradients included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from benchmarks.chain import Chain, read_chain
from diffpbd.runtime import Robot

SOLVERS = ("jacobi", "gauss_seidel")
H = 0.01


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("baxter_bare")


@pytest.fixture(scope="module")
def chain(root: Path) -> Chain:
    return read_chain(root / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf")


@pytest.fixture(scope="module")
def states() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    effort = np.array([5.0, 5.0, 5.0, 5.0, 1.0, 1.0, 0.1])
    return (
        random.uniform(-2.0, 2.0, (4, 7)),
        random.uniform(-1.0, 1.0, (4, 7)),
        effort * random.uniform(-1.0, 1.0, (4, 7)),
    )


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")


def test_states_of_a_chain_are_those_of_the_generated_kinematics(
    robot: Robot, chain: Chain, states: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    p, pd, _ = states
    assert chain.names == robot.joints
    np.testing.assert_allclose(chain.states(p, pd).reshape(4, -1), robot.fk(p, pd), atol=1e-12)


def test_a_file_that_is_no_chain_is_refused(root: Path) -> None:
    for name, what in (("baxter_dual", "several joints"), ("prismatic_skew", "prismatic")):
        with pytest.raises(ValueError, match=what):
            read_chain(root / "diffpbd" / "codegen" / "robots" / f"{name}.urdf")


@pytest.mark.parametrize("solver", SOLVERS)
def test_step_and_gradient_are_the_generated_ones(
    robot: Robot, chain: Chain, states: tuple[np.ndarray, np.ndarray, np.ndarray], solver: str, torch: Any
) -> None:
    from benchmarks.torch_recreation import Arm

    p, pd, u = states
    xi = robot.fk(p, pd)
    bar = np.random.default_rng(4).normal(size=xi.shape)
    arm = Arm(chain, solver=solver)
    torques = torch.tensor(u, requires_grad=True)
    end = arm.step(torch.tensor(chain.states(p, pd)), torques, H)
    (end.reshape(4, -1) * torch.tensor(bar)).sum().backward()
    step, pull = robot.functions[f"step_paper_{solver}"], robot.functions[f"vjp_step_paper_{solver}"]
    np.testing.assert_allclose(end.detach().numpy().reshape(4, -1), step(xi, u, H), atol=1e-9)
    expected = pull(xi, u, H, None, bar).u_bar
    np.testing.assert_allclose(torques.grad.numpy(), expected, atol=1e-9 * np.abs(expected).max())
    angles = arm.angles(end, torch.tensor(p)).detach().numpy()
    np.testing.assert_allclose(angles, robot.joint_state(step(xi, u, H), None, p).p, atol=1e-9)


def test_the_scalar_multiplier_closes_the_same_joints(
    robot: Robot, chain: Chain, states: tuple[np.ndarray, np.ndarray, np.ndarray], torch: Any
) -> None:
    from benchmarks.torch_recreation import Arm

    p, pd, u = states
    arm = Arm(chain, solver="gauss_seidel", multiplier="scalar", sweeps=200)
    end = arm.step(torch.tensor(chain.states(p, pd)), torch.tensor(u), H).numpy()
    exact = robot.step_paper_direct(robot.fk(p, pd), u, H)
    np.testing.assert_allclose(end.reshape(4, -1)[:, :3], exact[:, :3], atol=1e-3)


def test_loss_is_that_of_the_library_and_descent_begins_as_adam_does(robot: Robot, chain: Chain, torch: Any) -> None:
    from benchmarks.torch_recreation import Arm, Window, descend
    from diffpbd.runtime.torques.estimation import estimate
    from diffpbd.runtime.torques.settings import LOSSES, Settings

    p, pd = np.array([[0.2, -0.5, -0.3, 1.2, 0.2, 0.8, 0.1]] * 2), np.full((2, 7), 0.1)
    p[1] += H * pd[0]
    states = chain.states(p, pd)
    arm = Arm(chain, solver="gauss_seidel", sweeps=30)
    window = Window(
        arm, H, LOSSES["angle+omega"][:2], tuple(torch.tensor(a) for a in (states[:1], p[1:], states[1:, :, 10:]))
    )
    found = estimate(robot, p, pd, H, Settings("angle+omega", "gravity", optimizer="adam"))
    start = torch.tensor(robot.gravity(p[:1]))
    one = descend(window.gradient, start, rate=0.2, iterations=1)
    np.testing.assert_allclose(float((one - start).abs().max()), 0.2, rtol=1e-3)  # ADAM's first move: its rate, by sign
    assert float(window.loss(torch.tensor(found.u))[0]) == pytest.approx(found.loss[0], rel=1e-6)
