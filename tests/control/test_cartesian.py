"""Impedance of the tip near and away from singular poses: the case P63 and its kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.control.law import Setup
from diffpbd.runtime.control.laws import law_of
from diffpbd.runtime.control.laws.cartesian import CartesianController, TaskImpedance, rotation_error, task_inertia
from diffpbd.runtime.control.net_torque import without_gravity
from diffpbd.runtime.loop.configuration import limits_of

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
        jacobian = pin.computeFrameJacobian(self.model, self.data, np.array(q), self.tip, pin.LOCAL_WORLD_ALIGNED)
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


POSE = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
STIFFNESS = [200.0, 300.0, 400.0, 5.0, 5.0, 5.0]


def controller(**changed: object) -> CartesianController:
    robot = loaded("baxter_bare")
    settings = {
        "stiffness": STIFFNESS, "damping_ratio": 0.7, "offset": [0.0, 0.0, 0.0], "speed": 0.1,
        "posture": [6.0, 6.0, 4.0, 4.0, 1.0, 1.0, 1.0], "damping": [3.0, 3.0, 1.5, 1.5, 0.2, 0.2, 0.2],
    }  # fmt: skip
    settings["effort"] = limits_of(robot).effort
    return CartesianController(robot, robot.alpha.defaults, **{**settings, **changed})


def settled(law: CartesianController, force: tuple[float, ...], seconds: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """Tip position [m] and joints after a force on the tip [N], gravity owned by the robot."""
    robot = loaded("baxter_bare")
    viscous = {f"friction.viscous.{joint}": 0.1 for joint in robot.joints}  # the bare wrist has 3e-4 kg·m² only
    alpha, q, dq = without_gravity(robot, robot.alpha.vector(viscous)), POSE.copy(), np.zeros(7)
    law.start(q)
    for k in range(round(seconds / 0.004)):
        outside = robot.tip_jacobian(q)[:3].T @ np.array(force)
        q, dq = robot.joint_step(q, dq, law.output(0.004 * k, q, dq) + outside, h=0.004, alpha=alpha)
    return robot.tip_pose(q).position, q


def test_the_tip_yields_by_its_stiffness_in_each_direction() -> None:
    start = loaded("baxter_bare").tip_pose(POSE).position
    rest, _ = settled(controller(), (0.0, 0.0, 0.0), 0.5)
    np.testing.assert_allclose(rest, start, atol=1e-12)
    for axis in range(3):
        force = np.eye(3)[axis] * 8.0
        moved, _ = settled(controller(), tuple(force))
        np.testing.assert_allclose(moved - start, force / STIFFNESS[axis], atol=2e-3)


def test_the_goal_is_reached_and_the_elbow_comes_to_rest() -> None:
    start = loaded("baxter_bare").tip_pose(POSE)
    moved, q = settled(controller(offset=[-0.05, 0.03, 0.08]), (0.0, 0.0, 0.0), 5.0)
    np.testing.assert_allclose(moved - start.position, [-0.05, 0.03, 0.08], atol=2e-3)
    turned = loaded("baxter_bare").tip_pose(q).rotation
    assert np.abs(rotation_error(start.rotation, turned)).max() < 0.02
    assert np.abs(q - POSE).max() < 0.4


def test_the_tip_is_damped_by_its_ratio_and_the_null_space_by_its_own_damper() -> None:
    """With even stiffness the force is −2 ζ √(k Λ) times the speed, Λ by the arm's own mass; beside the tip −d dq is left."""
    robot = loaded("baxter_bare")
    law = controller(stiffness=[300.0] * 3 + [1e-9] * 3, damping_ratio=0.7, damping=[0.0] * 7, posture=[0.0] * 7)
    jacobian, mass = robot.tip_jacobian(POSE), robot.mass_matrix(POSE)
    law.start(POSE)
    values, axes = np.linalg.eigh(np.linalg.inv(jacobian[:3] @ np.linalg.solve(mass, jacobian[:3].T)))
    dq = np.array([0.1, -0.2, 0.3, 0.2, -0.1, 0.1, 0.2])
    force = axes @ (2.0 * 0.7 * np.sqrt(300.0 * values) * (axes.T @ (-jacobian[:3] @ dq)))
    np.testing.assert_allclose(law.output(0.0, POSE, dq), jacobian[:3].T @ force, rtol=0.02, atol=0.02)
    alone = np.linalg.svd(jacobian)[2][-1]  # the motion that leaves the tip where it is
    law = controller(damping=[1.5] * 7)
    law.start(POSE)
    np.testing.assert_allclose(law.output(0.0, POSE, 0.4 * alone), -0.6 * alone, atol=1e-6)


def test_the_sum_of_all_parts_stays_within_the_efforts_in_its_own_direction() -> None:
    """Each part alone is within them."""
    robot = loaded("baxter_bare")
    effort, posture = limits_of(robot).effort, [2e4] * 7
    laws = [controller(posture=posture), controller(posture=posture, effort=1e9 * effort)]
    q = POSE + 0.02 * np.linalg.svd(robot.tip_jacobian(POSE))[2][-1]
    for law in laws:
        law.start(POSE)
    bounded, free = (law.output(0.0, q, np.zeros(7)) for law in laws)
    share = np.abs(free / effort).max()
    assert share > 2.0
    np.testing.assert_allclose(bounded, free / share, rtol=1e-9)


def test_the_way_begins_without_a_jump_and_ends_on_time() -> None:
    """A ramp asks for its speed at once, which the damper answers; the smooth way is asked for by nobody."""
    asked = {"offset": [0.0, 0.0, 0.1], "speed": 0.1}
    ramp, smooth = controller(**asked, profile="ramp"), controller(**asked)
    for law in (ramp, smooth):
        law.start(POSE)
    still = np.zeros(7)
    assert np.abs(smooth.output(0.0, POSE, still)).max() < 1e-9 < 0.1 < np.abs(ramp.output(0.0, POSE, still)).max()
    end = 1.0 + np.sqrt(6.0 * 0.1 / 20.0)  # the way at full speed, and one rise of the speed, bounded by the jerk
    late = [law.output(time, POSE, still) for law, time in ((ramp, 1.0), (smooth, end), (smooth, end - 0.02))]
    np.testing.assert_allclose(late[0], late[1], atol=1e-9)
    assert np.abs(late[2] - late[1]).max() > 1e-6


def test_a_straight_arm_gets_finite_torques_within_the_limits() -> None:
    law, rng = controller(offset=[0.3, 0.3, 0.3], speed=100.0), np.random.default_rng(1)
    for pose in (np.zeros(7), np.array([0.0, 0.0, 0.0, 1e-9, 0.0, 0.0, 0.0])):
        law.start(pose)
        torque = law.output(1.0, pose + 1e-6 * rng.normal(size=7), rng.normal(size=7))
        assert np.isfinite(torque).all()
        assert (np.abs(torque) <= limits_of(loaded("baxter_bare")).effort).all()


def test_rotation_error_at_and_near_half_a_turn() -> None:
    for angle in (0.0, 1e-12, 0.4, 2.0, np.pi - 1e-6):
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        np.testing.assert_allclose(rotation_error(turn, np.eye(3)), [0, 0, angle], atol=1e-9)
        np.testing.assert_allclose(rotation_error(np.eye(3), turn), [0, 0, -angle], atol=1e-9)


def test_a_controller_is_made_again_from_its_settings() -> None:
    robot = loaded("baxter_bare")
    setup = Setup(robot, robot.alpha.defaults, limits_of(robot), 0.004)
    law = law_of({
        "name": "cartesian", "stiffness": [200.0] * 3 + [5.0] * 3, "damping_ratio": 0.7, "offset": [0.0, 0.0, 0.1],
        "speed": 0.1, "posture": [2.0] * 7, "damping": [1.0] * 7,
    })  # fmt: skip
    again = law_of(json.loads(json.dumps(law.settings())))
    one, other = law.make(setup), again.make(setup)
    for controller in (one, other):
        controller.start(POSE)
    q, dq = POSE + 0.01, np.full(7, 0.1)
    np.testing.assert_array_equal(one.output(0.3, q, dq), other.output(0.3, q, dq))
