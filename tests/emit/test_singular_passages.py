"""Poses at which a mechanism may go on in two ways: a step either ends in a status or is the right motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import MECHANISMS, PLANAR, Mechanism, about, body, joint, loop
from support.robots import CACHE, generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.errors import SolverError


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
    folder = CACHE / "mechanisms"
    folder.mkdir(parents=True, exist_ok=True)
    path: Path = mechanism.write(folder, name, recipe)
    return load(generated(str(path), functions=functions))


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


def test_stretched_out_it_is_refused() -> None:
    """Where it starts in the singular pose itself nothing says which way to go."""
    robot = made("finger", finger(), ("joint_step",))
    angle = np.arctan2(-0.02, 0.03)  # bars along the line between their hinges
    with pytest.raises(SolverError, match="depend on each other"):
        robot.joint_step(np.array([angle, -angle, angle]), np.array([1.0, -1.0, 1.0]), np.zeros(3), h=0.005)


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
