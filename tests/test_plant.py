"""MuJoCo's arm against the generated dynamics, and its friction, encoders, delay, push and payload."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from benchmarks.circle.runs import plant_alpha
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.simulate.plant import Measurement, MujocoPlant, PlantFacts

pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

URDF = Path(__file__).parents[1] / "codegen" / "robots" / "baxter.urdf"
TIP = "left_hand_link"
POSE = np.array([0.2, -0.8, 0.3, 1.4, -0.2, 0.9, 0.4])


@pytest.fixture(scope="module")
def arm() -> Robot:
    return loaded("baxter")


def swing(facts: PlantFacts, steps: int, payload: float = 0.0) -> Measurement:
    plant = MujocoPlant(URDF, TIP, facts, payload=payload)
    measured = plant.reset(POSE)
    for _ in range(steps):
        measured = plant.step(np.zeros(7))
    return measured


@pytest.mark.parametrize("payload", [0.0, 1.2])
def test_without_friction_it_is_the_generated_dynamics_to_the_order_of_eulers_step(arm: Robot, payload: float) -> None:
    alpha = arm.alpha.vector({"payload.mass": payload})
    p = arm.rollout(POSE, np.zeros(7), np.zeros((600, 7)), h=0.0005, alpha=alpha).P[-1]
    ideal = [PlantFacts({}, {}, {}, 0.0, 0, physics=physics) for physics in (1e-3, 5e-4, 2.5e-4)]
    errors = [np.abs(swing(facts, 30, payload).p - p).max() for facts in ideal]
    assert errors[0] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2) and errors[1] / errors[2] == pytest.approx(2.0, abs=0.2)


def test_joints_limits_and_tip_are_the_generated_robots(arm: Robot) -> None:
    plant = MujocoPlant(URDF, TIP)
    facts = arm.manifest.robot.joints
    assert plant.joints == arm.joints
    np.testing.assert_allclose(plant.effort, [joint.effort for joint in facts])
    np.testing.assert_allclose([plant.lower, plant.upper], [[j.lower for j in facts], [j.upper for j in facts]])
    plant.reset(POSE)
    np.testing.assert_allclose(plant.tip, arm.tip_pose(POSE).position, atol=1e-12)
    still = plant_alpha(arm, PlantFacts(coulomb={}, viscous={}))
    holding = arm.inverse_dynamics(POSE, np.zeros(7), np.zeros(7), still)
    np.testing.assert_allclose(plant.compensation(POSE), holding, atol=1e-9)


def test_friction_holds_still_and_the_own_compensation_floats() -> None:
    floating = MujocoPlant(URDF, TIP, PlantFacts(coulomb={}, viscous={}, compensated=True))
    start = floating.reset(POSE)
    for _ in range(50):
        end = floating.step(np.zeros(7))
    assert np.abs(end.p - start.p).max() < 1e-3
    held = MujocoPlant(URDF, TIP, PlantFacts(compensated=True))
    held.reset(POSE)
    nudge = 0.5 * np.array([0.8, 0.8, 0.6, 0.6, 0.2, 0.2, 0.15])  # N·m, half of Coulomb friction
    moved = []
    for plant in (held, floating):
        plant.reset(POSE)
        for _ in range(50):
            plant.step(nudge)
        moved.append(np.abs(plant.position - POSE).max())
    assert moved[0] < 0.02 and moved[1] > 0.1


def test_a_command_acts_one_period_late_and_is_limited() -> None:
    facts = PlantFacts(coulomb={}, viscous={}, compensated=True, encoder=0.0)
    plant = MujocoPlant(URDF, TIP, facts)
    plant.reset(POSE)
    torque = np.array([1e3, 0, 0, 0, 0, 0, 0])
    first = plant.step(torque)
    assert np.abs(first.pd).max() < 1e-3
    second = plant.step(np.zeros(7))
    assert second.pd[0] > 0.1
    limited = MujocoPlant(URDF, TIP, facts)
    limited.reset(POSE)
    for u in (50.0 * torque / 1e3, np.zeros(7)):
        same = limited.step(u)
    np.testing.assert_array_equal(same.pd, second.pd)
    with pytest.raises(InputError, match="7 finite torques"):
        plant.step(np.full(7, np.nan))


def test_encoders_are_quantised_and_push_and_payload_are_felt(arm: Robot) -> None:
    plant = MujocoPlant(URDF, TIP, PlantFacts(coulomb={}, viscous={}, compensated=True))
    measured = plant.reset(POSE)
    np.testing.assert_allclose(measured.p / 3.835e-4, np.round(measured.p / 3.835e-4), atol=1e-9)
    assert 0 < np.abs(measured.p - POSE).max() <= 3.835e-4 / 2 + 1e-12
    plant.push([0.0, 0.0, 30.0], 0.01)
    plant.step(np.zeros(7))
    jacobian, mass = arm.tip_jacobian(POSE)[:3], arm.mass_matrix(POSE)
    expected = 0.01 * np.linalg.solve(mass, jacobian.T @ [0.0, 0.0, 30.0])
    np.testing.assert_allclose(plant.velocity, expected, atol=0.05 * np.abs(expected).max())
    after = plant.velocity
    plant.step(np.zeros(7))
    assert np.abs(plant.velocity - after).max() < 0.1 * np.abs(after).max()  # the push is over
    plant.reset(POSE)
    plant.payload(1.0)
    for _ in range(10):
        plant.step(np.zeros(7))
    assert plant.tip[2] < arm.tip_pose(POSE).position[2] - 0.005  # the robot's own compensation does not know it
    with pytest.raises(InputError, match="at least 0 kg"):
        plant.payload(-1.0)
    with pytest.raises(InputError, match="no link"):
        MujocoPlant(URDF, "left_hand")
    with pytest.raises(InputError, match="multiple"):
        PlantFacts(period=0.01, physics=0.003)
