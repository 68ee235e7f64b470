"""Torques of the motors of mechanisms with closed loops, from their motion alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.small.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.torques.estimation import estimate
from diffpbd.runtime.torques.settings import Settings

H, MOTORS = 0.01, [0, 2]


def driven(count: int, **alpha: float) -> tuple[Robot, Any, Any, Any]:
    """A five-bar under two motors: its motion and their torques."""
    c, t = case("five_bar"), np.arange(count)
    U = np.zeros((count, c.robot.n))
    U[:, MOTORS] = np.stack([3 * np.sin(0.2 * t) + 4, 2 * np.cos(0.15 * t) - 1], axis=1)
    P, PD = c.robot.rollout(c.p, np.zeros(4), U, h=H, alpha=c.robot.alpha.vector(alpha))
    return c.robot, P, PD, U


@pytest.mark.parametrize(("loss", "horizon"), [("angle+omega", 1), ("angle+omega", 4), ("omega", 1)])
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_the_torques_of_its_own_steps_come_back(loss: str, horizon: int, friction: float) -> None:
    values = {f"friction.{kind}.j2": friction for kind in ("coulomb", "viscous")} | {"torque_offset.j1": 0.3}
    robot, P, PD, U = driven(30, **values)
    found = estimate(robot, P, PD, H, Settings(loss=loss, horizon=horizon), alpha=values)
    np.testing.assert_allclose(found.u, U, rtol=0, atol=2e-4)
    assert (found.u[:, [1, 3]] == 0.0).all()
    assert found.offset.tolist() == [0.3, 0.0, 0.0, 0.0]
    assert found.unsettled == 0


def test_a_step_alone_is_that_of_the_rollout() -> None:
    """Also where elbows whip by 0.4 rad in a step: no step before it tells where it begins to look."""
    robot, P, PD, U = driven(60)
    assert np.abs(np.diff(P, axis=0)).max() > 0.35
    ends = [robot.joint_step(p, pd, u, h=H) for p, pd, u in zip(P, PD, U, strict=False)]
    np.testing.assert_allclose([end.p_next for end in ends], P[1:], rtol=0, atol=1e-10)


def test_torques_at_nodes_from_poses_alone() -> None:
    robot, P, PD, U = driven(30, **{"torque_offset.j1": 0.3, "torque_offset.j2": 2.0})
    found = estimate(robot, P, PD, H, Settings(loss="nodes"), alpha={"torque_offset.j1": 0.3, "torque_offset.j2": 2.0})
    np.testing.assert_allclose(found.u, (U[1:] + U[:-1]) / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.reading[:, 0] - found.u[:, 0], 0.3, atol=1e-12)


def test_an_open_motion_is_closed_first() -> None:
    robot, P, PD, U = driven(30)
    rng = np.random.default_rng(0)
    found = estimate(robot, P + 1e-7 * rng.standard_normal(P.shape), PD, H, Settings())
    assert np.abs(found.u - U).max() < 0.05
    with pytest.raises(InputError, match=r"--optimizer adam: five_bar has closed loops"):
        estimate(robot, P, PD, H, Settings(optimizer="adam"))


def test_the_command_on_a_log_of_the_motors_alone(tmp_path: Path) -> None:
    robot, P, PD, U = driven(60)
    log, out = tmp_path / "log.csv", tmp_path / "torques.csv"
    tau = np.vstack([U, U[-1:]])
    rows = np.column_stack([H * np.arange(61), P[:, MOTORS], PD[:, MOTORS], tau[:, MOTORS]])
    np.savetxt(log, rows, delimiter=",", header="time,q_j1,q_j3,dq_j1,dq_j3,tau_j1,tau_j3", comments="")
    words = ["estimate-torque", str(robot.folder), str(log), "--cutoff", "0", "--out", str(out)]
    done = CliRunner().invoke(cli, [*words, "--pose", f"j2={P[0, 1] + 0.2}", "--pose", "j4=0.7"])
    assert done.exit_code == 0, done.output
    assert "without encoders, from the loops" in done.output
    found = read_log(out)
    assert found.tau is not None
    np.testing.assert_allclose(found.tau, U, rtol=0, atol=1e-3)
    done = CliRunner().invoke(cli, [*words, "--pose", "j1=0"])
    assert done.exit_code == 1
    assert "--pose j1: it is for joints without a motor of closed loops; five_bar has j2, j4." in done.output
