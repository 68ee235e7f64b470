"""Poses at which a mechanism may go on in two ways: a step either ends in a status or is the right motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from support.mechanisms import MECHANISMS, PLANAR, Mechanism, about, body, joint, loop, robot_of
from support.robots import CACHE
from support.small.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError


def finger() -> Mechanism:
    """The finger of a parallel gripper, a parallelogram on a tilted base: where all is in line it could turn into its twin."""
    tilt = (0.3, 0.0, 0.2)
    at = np.array([0.0, 0.03, 0.0]) + about(2, 0.2) @ about(0, 0.3) @ np.array([0.03, 0.0, -0.02])
    links = [
        body("driver", 0.02, (0.05, 0, 0), (0.1, 0.02, 0.02)),
        body("pad", 0.03, (0.02, 0, 0.02), (0.04, 0.02, 0.06)),
        body("follower", 0.015, (0.05, 0, 0), (0.1, 0.02, 0.02)),
    ]
    joints = [
        joint("j1", "base", "driver", (0, 0.03, 0), rpy=tilt),
        joint("j2", "driver", "pad", (0.1, 0, 0)),
        joint("j3", "base", "follower", tuple(at), rpy=tilt),
    ]
    pin = loop("pin", "hinge", "pad", (0.03, 0, -0.02), "follower", (0.1, 0, 0), axis=PLANAR)
    return Mechanism(links, joints, [pin], {"j1": 0.8, "j2": -0.8, "j3": 0.8})


def made(name: str, mechanism: Mechanism, functions: tuple[str, ...], recipe: str = "") -> Robot:
    return robot_of(mechanism, name, recipe, "mechanisms", functions)


def swung(robot: Robot, p: Any, pd: Any, h: float, duration: float) -> tuple[Any, Any, float]:
    """Poses, energies and the least singular value of the kept rows (of the largest) of a free swing."""
    still, poses, energies, least = np.zeros(robot.n), [p], [sum(robot.energy(p, pd))], 1.0
    for _ in range(round(duration / h)):
        p, pd = robot.joint_step(p, pd, still, h=h)
        left = robot.loop_residual(p, pd)
        assert np.abs(left.rows).max() < 1e-12 and np.abs(left.row_rates).max() < 1e-8
        poses.append(p)
        energies.append(sum(robot.energy(p, pd)))
        values = np.linalg.svd(robot.jac_loop_residual(p, still).drows_dp)[1]
        rank = sum(len(found.kept) for found in robot.manifest.robot.loops)
        least = min(least, float(values[rank - 1] / values[0]))
    return np.array(poses), np.array(energies), least


def jumps(energies: Any) -> float:
    """Largest change of energy in a step: of third order where the motion is right."""
    return float(np.abs(np.diff(energies)).max())


def test_a_finger_stays_a_parallelogram_through_its_collinear_pose() -> None:
    robot = made("finger", finger(), ("joint_step",))
    p = robot.close_loops([0.8, -0.8, 0.8], np.zeros(3))
    found = []
    for h in (0.005, 0.0025):
        poses, energies, least = swung(robot, p, np.zeros(3), h, 2.0)
        assert least < 1e-3  # it does pass
        assert np.abs(poses[:, 0] - poses[:, 2]).max() < 1e-9
        assert np.sign(poses[:, 0]).min() < 0
        found.append(jumps(energies))
    assert found[0] < 2e-5 and 6.0 < found[0] / found[1] < 10.0, found


def test_through_its_collinear_pose_a_finger_is_the_pendulum_that_a_parallelogram_is() -> None:
    """Second order, before and behind it: angles (a, −a, a), inertia and weight by pinocchio."""
    robot, along = made("finger", finger(), ("joint_step",)), np.array([1.0, -1.0, 1.0])
    model = pin.buildModelFromUrdf(str(CACHE / "mechanisms" / "finger.urdf"))
    data, order = model.createData(), [model.joints[model.getJointId(name)].idx_v for name in robot.joints]

    def slope(_: float, y: Any) -> Any:
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        for name, angle in zip(robot.joints, y[0] * along, strict=True):
            at = model.joints[model.getJointId(name)].idx_q
            q[at : at + 2] = np.cos(angle), np.sin(angle)
        v[order] = y[1] * along
        M, weight = pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v)
        M = np.triu(M) + np.triu(M, 1).T
        return np.array([y[1], -(along @ weight[order]) / (along @ M[np.ix_(order, order)] @ along)])

    times = (0.1, 0.2, 0.5, 1.0)
    start = robot.close_loops([0.8, -0.8, 0.8], np.zeros(3))
    wanted = solve_ivp(slope, (0.0, 1.0), [start[0], 0.0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y[0]
    collinear = np.arctan2(-0.02, 0.03)
    assert wanted[0] > collinear > wanted[1:].min()
    errors = []
    for h in (0.001, 0.0005):
        P, _ = robot.rollout(start, np.zeros(3), np.zeros((round(1.0 / h), 3)), h)
        errors.append([abs(P[round(t / h), 0] - a) for t, a in zip(times, wanted, strict=True)])
    assert all(3.9 < ratio < 4.1 for ratio in np.divide(*errors)), np.divide(*errors)


def test_stretched_out_it_is_refused() -> None:
    """Where it starts in the singular pose itself nothing says which way to go."""
    robot = made("finger", finger(), ("joint_step",))
    angle = np.arctan2(-0.02, 0.03)  # bars along the line between their hinges
    with pytest.raises(SolverError, match="depend on each other"):
        robot.joint_step(np.array([angle, -angle, angle]), np.array([1.0, -1.0, 1.0]), np.zeros(3), h=0.005)


@pytest.mark.soak
def test_a_delta_is_of_second_order_past_its_singular_poses() -> None:
    """Rows are nearly dependent at 0.23, 0.31, 0.49 and 0.77 s; at 10 ms a step is too long for what comes there."""
    c = case("delta")
    still, state, before = np.zeros(c.robot.n), np.concatenate([c.p, c.pd]), 0.0
    for time in (0.2, 0.3, 0.4, 0.6, 0.9):
        state, before = c.judge.swing(state[: c.robot.n], state[c.robot.n :], still, time - before), time
        errors = []
        for h in (0.0025, 0.00125, 0.000625):
            P, _ = c.robot.rollout(c.p, c.pd, np.tile(still, (round(time / h), 1)), h)
            errors.append(float(np.abs(P[-1] - state[: c.robot.n]).max()))
        assert errors[0] < 6e-3
        assert 3.3 < errors[0] / errors[1] < 4.5 and 3.9 < errors[1] / errors[2] < 4.1, (time, errors)


@pytest.mark.soak
def test_a_delta_falls_through_its_singular_poses() -> None:
    robot = made(
        "delta", MECHANISMS["delta"](), ("joint_step", "jac_alpha_joint_step"), 'symbolic = ["mass", "origin", "loop"]'
    )
    guess = MECHANISMS["delta"]().guess
    p = robot.close_loops([guess[name] for name in robot.joints], np.zeros(robot.n))
    pd = robot.close_rates(p, np.ones(robot.n))
    pd *= 1.5 / np.abs(pd).max()
    found = []
    for h in (0.0025, 0.00125):
        _, energies, least = swung(robot, p, pd, h, 2.0)
        assert least < 1e-3
        found.append(jumps(energies))
        assert abs(energies[-1] - energies[0]) < 1e-3  # of 4 J
    assert 6.0 < found[0] / found[1] < 10.0, found
