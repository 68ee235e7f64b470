from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from experiments.columns import columns
from experiments.torques.torque_optimum import optima
from experiments.torques.torque_table import GRAVITY

H = 0.01


class Recording(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.q)


@pytest.mark.parametrize("step", ["paper_gauss_seidel", "paper_jacobi", "paper_direct"])
def test_the_optimum_on_the_step_that_made_a_motion_is_the_torque_that_made_it(step: str) -> None:
    robot: Any = loaded("double_pendulum")
    alpha = robot.alpha.vector({"gravity.z": -GRAVITY, "friction.viscous.shoulder": 0.3})
    t = H * np.arange(8)
    U = np.column_stack([2.0 * np.sin(9.0 * t), 0.5 * np.cos(7.0 * t)])
    q, dq = np.zeros((9, 2)), np.zeros((9, 2))
    q[0] = 0.4, -0.7
    xi = robot.fk(q[0], dq[0], alpha)
    for k in range(8):
        xi = robot.functions[f"step_{step}"](xi, U[k], H, alpha)
        q[k + 1], dq[k + 1] = robot.joint_state(xi, alpha, q[k])
    tau = np.concatenate([U[:1], 0.5 * (U[1:] + U[:-1]), U[-1:]])
    recording: Any = Recording(time=H * np.arange(9), q=q, dq=dq, tau=tau, rate=1.0 / H)
    cells = optima(columns(robot, [step]), recording, "m", alpha, 8 * H, lambda line: None)
    assert len(cells) == 9 and {c.settings.start for c in cells} == {"zero", "previous", "gravity"}
    by_angle = next(c for c in cells if c.settings.loss == "angle")
    assert by_angle.estimate is not None and by_angle.estimate.unsettled == 0
    np.testing.assert_allclose(by_angle.estimate.u, U, rtol=0, atol=1e-4)
    np.testing.assert_allclose(by_angle.estimate.q, q[:-1], rtol=0, atol=1e-8)
    other = optima(columns(robot, ["joint"]), recording, "m", alpha, 8 * H, lambda line: None)[0]
    assert other.estimate is not None and np.abs(other.estimate.u - U).max() > 1e-2  # another step, another torque
