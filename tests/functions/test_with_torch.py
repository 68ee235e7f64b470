"""Steps and rollouts as functions of PyTorch: values and gradients are the generated ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.robots import loaded
from support.standin import standing_in

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra torch)", exc_type=ImportError)
with_torch = pytest.importorskip("diffpbd.runtime.with_torch")

ROWS, STEPS = 3, 5


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    robot, rng = loaded("double_pendulum"), np.random.default_rng(3)
    n = robot.n
    return {
        "p": rng.normal(size=(ROWS, n)), "pd": rng.normal(size=(ROWS, n)), "U": rng.normal(size=(ROWS, STEPS, n)),
        "h": np.array(0.01), "alpha": robot.alpha.vector({"payload.mass": 0.3, "friction.viscous.elbow": 0.1}),
        "P": rng.normal(size=(ROWS, STEPS + 1, n)), "PD": rng.normal(size=(ROWS, STEPS + 1, n)),
    }  # fmt: skip


def test_gradients_of_rollouts(given: dict[str, Any]) -> None:
    robot = loaded("double_pendulum")
    inputs = [torch.tensor(given[k], requires_grad=True) for k in ("p", "pd", "U", "h", "alpha")]
    P, PD = with_torch.rollout(robot)(*inputs)
    (P * torch.tensor(given["P"])).sum().add((PD * torch.tensor(given["PD"])).sum()).backward()
    bars = robot.vjp_rollout(*(given[k] for k in ("p", "pd", "U", "h", "alpha")), given["P"], given["PD"])
    for one, other in zip(inputs, [*bars[:3], bars.h_bar.sum(), bars.alpha_bar.sum(0)], strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other, rtol=1e-13, atol=1e-13)


def test_steps_by_finite_differences_and_defaults(given: dict[str, Any]) -> None:
    robot = loaded("double_pendulum")
    step = with_torch.step(robot)
    p, pd, u = (torch.tensor(given[k][0]) for k in ("p", "pd", "U"))
    u = u[0].requires_grad_()
    assert torch.autograd.gradcheck(lambda u: step(p, pd, u), (u,), eps=1e-5, atol=1e-6)
    single = step(
        *(torch.tensor(given[k], dtype=torch.float32) for k in ("p", "pd")),
        torch.tensor(given["U"][:, 0], dtype=torch.float32),
    )
    assert single[0].dtype == torch.float32
    np.testing.assert_allclose(single[0], robot.joint_step(given["p"], given["pd"], given["U"][:, 0]).p_next, atol=1e-6)
    (slope,) = torch.autograd.grad(step(p, pd, u)[1].sum(), u, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
        slope.sum().backward()


def test_functions_of_a_gpu(given: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in, whose results PyTorch would look for on a GPU: they are copied here."""
    robot = loaded("double_pendulum")
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    monkeypatch.setattr(with_torch, "_tensor", lambda array: torch.as_tensor(array.numpy()))
    inputs = [torch.tensor(given[k], requires_grad=k != "h") for k in ("p", "pd", "U", "h", "alpha")]
    with standing_in(tmp_path):
        P, PD = with_torch.rollout(robot.gpu("float64"))(*inputs)
        (P * torch.tensor(given["P"])).sum().add((PD * torch.tensor(given["PD"])).sum()).backward()
    bars = robot.vjp_rollout(*(given[k] for k in ("p", "pd", "U", "h", "alpha")), given["P"], given["PD"])
    assert inputs[3].grad is None
    for one, other in zip([*inputs[:3], inputs[4]], [*bars[:3], bars.alpha_bar.sum(0)], strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other, rtol=1e-8, atol=1e-8)
