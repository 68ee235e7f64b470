"""The simulated robot itself: timeouts, gravity compensation, e-stop; and its node on a graph without ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from diffpbd.runtime import InputError, Robot
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.records.messages import JointState
from diffpbd.runtime.ros1 import Node
from diffpbd.runtime.ros1.master_server import LocalMaster
from diffpbd.runtime.ros1.messages import EndpointState, SEAJointState

from .conftest import REST, URDF, wait_until
from .running import execute

pytest.importorskip("pinocchio")

from diffpbd.runtime.arms.baxter.simulated.node import SimulatedNode, quaternion
from diffpbd.runtime.arms.baxter.simulated.plant import ENCODER_STEP, Plant, PlantSettings
from diffpbd.runtime.arms.baxter.simulated.robot import SimulatedBaxter

POSITION, TORQUE = 1, 3


def robot(**options: bool) -> SimulatedBaxter:
    plant = Plant(URDF)
    plant.q = np.array(REST)
    made = SimulatedBaxter(plant, 0.0, **options)
    made.super_enable(True)
    return made


def torques(made: SimulatedBaxter, start: float, end: float, values: np.ndarray, suppress: bool) -> None:
    for now in np.arange(start, end, 0.01):
        if suppress:
            made.suppress(now)
        made.command(TORQUE, made.plant.joints, values, now)
        made.advance(now)


def test_the_arm_floats_with_one_owner_of_gravity_only() -> None:
    rest = np.array(REST)
    own = robot()
    torques(own, 0.0, 0.5, np.zeros(7), suppress=False)
    assert np.abs(own.plant.q - rest).max() < 1e-6
    nobody = robot()
    torques(nobody, 0.0, 0.5, np.zeros(7), suppress=True)
    assert np.abs(nobody.plant.q - rest).max() > 0.1
    twice = robot()
    torques(twice, 0.0, 0.5, twice.plant.compensation(rest), suppress=False)
    assert np.abs(twice.plant.q - rest).max() > 0.1 and twice.audit.gravity_twice > 0


@pytest.mark.parametrize("disable", [False, True])
def test_a_command_timeout_holds_or_disables(disable: bool) -> None:
    made = robot(disable_on_timeout=disable)
    torques(made, 0.0, 0.1, np.zeros(7), suppress=False)
    assert made.mode == TORQUE
    made.advance(0.28)
    assert made.mode == TORQUE and made.enabled
    made.advance(0.35)
    assert made.enabled is not disable and (disable or made.mode == POSITION)


def test_enabling_is_refused_while_stopped() -> None:
    made = robot()
    made.press(True)
    made.super_enable(True)
    assert not made.enabled and made.assembly() == (False, False, True, False, 1, 1)
    made.super_reset()
    assert made.stopped
    made.press(False)
    made.super_reset()
    made.super_enable(True)
    assert made.enabled and made.assembly() == (True, True, False, False, 0, 0)


def test_friction_lets_the_arm_stand_and_takes_energy() -> None:
    plant = Plant(URDF, PlantSettings(spring_stiffness=0.0))
    plant.q = np.array(REST)
    plant.dq = np.array([0.5, -0.5, 0.5, -0.5, 1.0, -1.0, 1.0])
    energies = []
    for _ in range(3500):
        mass, bias = plant.mass_and_bias()
        energies.append(0.5 * plant.dq @ mass @ plant.dq)
        plant.advance(plant.compensation(plant.q), mass, bias)
    assert (np.diff(energies) < 1e-4).all()
    assert np.abs(plant.dq).max() < 1e-12


def test_sensors_are_quantised() -> None:
    plant = Plant(URDF)
    plant.q = np.array(REST) + 1e-5
    q, _, effort = plant.measured(np.full(7, 0.00123))
    np.testing.assert_allclose(np.round(q / ENCODER_STEP), q / ENCODER_STEP, atol=1e-9)
    np.testing.assert_array_equal(effort, np.zeros(7))


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_dual"])
def test_what_is_no_single_arm_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="one arm with the joints s0.*w2.*description are .*"):
        Plant(URDF.parent / f"{name}.urdf")


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedNode]:
    """The simulated robot on a master of ours: no ROS anywhere."""
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    master = LocalMaster()
    plant = Plant(URDF)
    plant.q = np.array(REST)
    made = SimulatedNode(SimulatedBaxter(plant, time.monotonic()), master=master.uri)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.close()
    thread.join()
    master.close()


def test_two_publishers_of_joint_states(node: SimulatedNode) -> None:
    names: dict[str, set[tuple[str, ...]]] = {}
    efforts: list[SEAJointState] = []
    with Node("listener", master=node.node.master.uri) as listener:
        listener.subscribe("/robot/joint_states", JointState,
                           lambda m, r: names.setdefault(r.publisher, set()).add(m.name))  # fmt: skip
        listener.subscribe(
            "/robot/limb/left/gravity_compensation_torques", SEAJointState, lambda m, r: efforts.append(m)
        )
        wait_until(lambda: len(names) == 2 and efforts, "not both publishers are heard")
    arm = next(iter(names["/simulated_baxter"]))
    assert arm == tuple(sorted(arm)) and len(arm) == 17
    spring = efforts[0].gravity_model_effort - efforts[0].gravity_only
    assert np.flatnonzero(np.abs(spring) > 1e-9).tolist() == [1]


def test_the_endpoint_is_the_generated_robots_tip(node: SimulatedNode, arm_robot: Robot) -> None:
    heard: list[EndpointState] = []
    moving = Plant(URDF)
    moving.q, moving.dq = np.array(REST), np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.6, 0.7])
    twist = np.concatenate(moving.endpoint()[2:])
    np.testing.assert_allclose(twist, arm_robot.tip_jacobian(moving.q) @ moving.dq, atol=1e-12)
    node.robot.super_enable(True)
    with Node("listener", master=node.node.master.uri) as listener:
        listener.subscribe("/robot/limb/left/endpoint_state", EndpointState, lambda m, r: heard.append(m))
        wait_until(lambda: len(heard) > 3, "the endpoint is not heard")
    position, rotation = arm_robot.tip_pose(np.array(REST))
    (x, y, z, w), place = heard[-1].pose[1], heard[-1].pose[0]
    np.testing.assert_allclose(place, position, atol=5e-3)  # it sank a little until it was enabled
    turned = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z)]]
    np.testing.assert_allclose(turned, rotation[:2, :2], atol=5e-3)
    assert heard[-1].wrench == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.7, np.pi - 1e-9, np.pi, -np.pi])
def test_quaternions_at_every_angle(angle: float) -> None:
    axis = np.array([0.48, -0.6, 0.64])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    found = np.array(quaternion(rotation.tolist()))
    expected = np.array([*(np.sin(angle / 2) * axis), np.cos(angle / 2)])
    assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < 1e-8
    assert found[3] >= 0.0


def test_a_run_without_ros(node: SimulatedNode, arm_robot: Robot) -> None:
    uri = node.node.master.uri
    assert execute(arm_robot, uri).text == "the robot is disabled."
    report = execute(arm_robot, uri, owner=GravityOwner.MODEL, enable=True, duration=0.4)
    assert report.reason is Reason.FINISHED, report
    # The disabled arm sank until then, so what was measured is a message old.
    assert node.robot.audit.first_errors and max(node.robot.audit.first_errors) < 0.02
    assert node.robot.audit.over_limit == node.robot.audit.gravity_twice == 0
