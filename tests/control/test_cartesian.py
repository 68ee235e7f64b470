"""Impedance of the tip near and away from singular poses: the case P63 and its kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.control.cartesian import TaskImpedance, task_inertia
from diffpbd.runtime.errors import InputError

IN_PLANE = [0, 2]  # the arm moves in x and z

pin = pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def case(shared: Path) -> Path:
    return shared / "cases" / "P63-singular-impedance"


class Arm:
    def __init__(self, path: Path) -> None:
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.tip = self.model.getFrameId("tip")

    def at(self, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
        mass = pin.crba(self.model, self.data, np.array(q))
        jacobian = pin.computeFrameJacobian(
            self.model, self.data, np.array(q), self.tip, pin.LOCAL_WORLD_ALIGNED
        )
        return jacobian[IN_PLANE], np.triu(mass) + np.triu(mass, 1).T


def test_straight_almost_straight_and_bent(case: Path) -> None:
    arm = Arm(case / "straight.urdf")
    config = json.loads((case / "config.json").read_text())
    expected = json.loads((case / "expected.json").read_text())
    effort = np.array(expected["effort_limit"], dtype=float)
    law = TaskImpedance(np.array(config["stiffness"], dtype=float), config["damping_ratio"], effort)
    torques = []
    for pose in expected["poses"]:
        jacobian, mass = arm.at(pose["q"])
        torque = law.torque(jacobian, mass, [0.0, 0.0], [0.0, 0.0], config["task_acceleration"])
        assert np.isfinite(torque).all() and (np.abs(torque) <= effort).all()
        torques.append(torque)
    assert np.abs(torques[1] - torques[0]).max() < 5.0
    jacobian, mass = arm.at(expected["poses"][-1]["q"])
    a = np.array(config["task_acceleration"], dtype=float)
    undamped = jacobian.T @ np.linalg.solve(jacobian @ np.linalg.solve(mass, jacobian.T), a)
    np.testing.assert_allclose(torques[-1], undamped, rtol=0, atol=1e-6)
    np.testing.assert_allclose(undamped, expected["poses"][-1]["naive_inertia_shaping_torque"], atol=0.01)


def test_the_torque_is_continuous_through_the_straight_pose(case: Path) -> None:
    arm = Arm(case / "straight.urdf")
    law = TaskImpedance(np.array([800.0, 800.0]), 0.7, np.full(2, 1e9))
    angles = np.linspace(-0.5, 0.5, 20001)
    torques = np.array([
        law.torque(*arm.at([0.2, angle]), [0.01, -0.02], [0.1, 0.1], [40.0, -20.0]) for angle in angles
    ])  # fmt: skip
    assert np.isfinite(torques).all()
    assert np.abs(np.diff(torques, axis=0)).max() < 1.0  # N·m for 5e-5 rad
    assert np.abs(torques).max() < 200.0


def test_damping_is_that_of_the_task_inertia(case: Path) -> None:
    jacobian, mass = Arm(case / "straight.urdf").at([0.2, 1.2])
    stiffness = np.array([800.0, 300.0])
    law = TaskImpedance(stiffness, 1.0, np.full(2, 1e9))
    inertia, root = task_inertia(jacobian, mass)
    np.testing.assert_allclose(root @ root, inertia, atol=1e-12)
    inverse = np.linalg.inv(jacobian.T)
    columns = [inverse @ law.torque(jacobian, mass, [0, 0], e, [0, 0]) for e in np.eye(2)]
    damping = np.array(columns).T
    np.testing.assert_allclose(damping, damping.T, atol=1e-9)
    # Symmetric stiffness: D = 2 √(K Λ) exactly, so both modes are critical.
    even = TaskImpedance(np.array([500.0, 500.0]), 1.0, np.full(2, 1e9))
    columns = [inverse @ even.torque(jacobian, mass, [0, 0], e, [0, 0]) for e in np.eye(2)]
    np.testing.assert_allclose(np.array(columns).T, 2 * np.sqrt(500.0) * root, atol=1e-9)


def test_an_arm_that_cannot_move_its_tip_gets_no_inertia_torque() -> None:
    law = TaskImpedance(np.array([100.0]), 0.7, np.array([10.0]))
    torque = law.torque(np.zeros((1, 1)), np.eye(1), [1.0], [1.0], [1.0])
    np.testing.assert_array_equal(torque, [0.0])


def test_gains_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError):
        TaskImpedance(np.array([-1.0]), 0.7, np.array([10.0]))
