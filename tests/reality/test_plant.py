"""The plant of the reality bench against pinocchio, closed forms and its own account of energy."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.reality.single import bar

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

import pinocchio
from support.reality import KINDS, Differences, RealArm
from support.reality.arm import STEP

BY_NAME = pytest.mark.parametrize("name", sorted(KINDS), ids=lambda name: f"an_{name}")
FREE = Differences(friction=0.0)
MASS, ARM, MOMENT = 2.0, 0.3, 0.02 + 2.0 * 0.3**2
"""kg, m, kg·m² about the joint, of that bar."""


def coast(arm: RealArm, torque: np.ndarray, seconds: float) -> np.ndarray:
    """Positions (steps, n) of the links under a constant torque."""
    path = []
    for _ in range(round(seconds / STEP)):
        arm.apply(torque, STEP)
        path.append(arm.q)
    return np.array(path)


@BY_NAME
@pytest.mark.parametrize("rotor", [0.0, 0.2])
def test_the_model_itself_moves_as_by_pinocchio(name: str, rotor: float) -> None:
    """Half a second with torques that speed it up, beside an exact integration; and not as with one link heavier."""
    arm = RealArm(name, Differences(friction=0.0, rotor=rotor))
    arm._spring[:], arm.gears.lower[:], arm.gears.upper[:] = 0.0, -9.0, 9.0
    model = pinocchio.buildModelFromUrdf(str(arm.kind.urdf()))
    model.armature[:] = rotor
    data, rng = model.createData(), np.random.default_rng(1)
    start = arm.q
    torque = pinocchio.rnea(model, data, start, np.zeros(arm.n), rng.uniform(-3.0, 3.0, arm.n))

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[arm.n :], pinocchio.aba(model, data, x[: arm.n], x[arm.n :], torque)])

    assert tuple(model.names)[1:] == arm.joints
    exact = solve_ivp(rate, (0.0, 0.5), np.concatenate([start, np.zeros(arm.n)]), rtol=1e-10, atol=1e-12).y[: arm.n, -1]
    found = coast(arm, torque, 0.5)[-1]
    assert np.abs(found - start).max() > 0.1
    off = np.abs(found - exact).max()
    assert off < 2e-4 * np.abs(found - start).max(), off
    model.inertias[2].mass *= 1.05
    heavier = solve_ivp(rate, (0.0, 0.5), np.concatenate([start, np.zeros(arm.n)]), rtol=1e-8).y[: arm.n, -1]
    assert np.abs(found - heavier).max() > 10.0 * off


@BY_NAME
def test_masses_and_inertias_are_scaled_by_joint(name: str) -> None:
    masses, inertias = np.linspace(0.9, 1.1, 8), np.linspace(1.3, 0.7, 8)
    arm = RealArm(name, Differences(mass=tuple(masses), inertia=tuple(inertias), load=1.5, load_at=(0.03, -0.02, 0.08)))
    model = pinocchio.buildModelFromUrdf(str(arm.kind.urdf()))
    frame = model.frames[model.getFrameId(arm.links.hand)]
    for k in range(arm.n):
        body = model.inertias[k + 1]
        model.inertias[k + 1] = pinocchio.Inertia(
            masses[k] * body.mass, body.lever, masses[k] * inertias[k] * np.array(body.inertia)
        )
    ball = pinocchio.Inertia(1.5, np.array([0.03, -0.02, 0.08]), 1.5e-4 * np.eye(3))
    model.appendBodyToJoint(frame.parentJoint, ball, frame.placement)
    data, arm._spring[:] = model.createData(), 0.0
    np.testing.assert_allclose(arm.holding(), pinocchio.computeGeneralizedGravity(model, data, arm.q), atol=1e-6)
    expected = np.triu(pinocchio.crba(model, data, arm.q))
    np.testing.assert_allclose(np.triu(arm.inertia()), expected, rtol=1e-6, atol=1e-8)


@BY_NAME
def test_energy_stays_without_friction_and_goes_with_it(name: str) -> None:
    def fall(differences: Differences) -> np.ndarray:
        arm = RealArm(name, differences)
        arm.gears.lower[:], arm.gears.upper[:] = -9.0, 9.0
        found = []
        for _ in range(600):
            found.append(arm.energy())
            arm.apply(np.zeros(arm.n), STEP)
        return np.array(found)

    for rigid in (None, 5e3):
        free = fall(Differences(friction=0.0, rotor=0.1, stiffness=rigid, gear_damping=0.0))
        rubbed = fall(Differences(friction=1.0, rotor=0.1, stiffness=rigid))
        lost = rubbed[0] - rubbed[-1]
        assert lost > 1.0 and (np.diff(rubbed) < 1e-3 * lost).all()
        assert np.abs(free - free[0]).max() < 0.02 * lost, (np.abs(free - free[0]).max(), lost)


def test_an_elastic_joint_swings_as_two_masses_do(tmp_path: Path) -> None:
    """Rotor and link against each other: w² = k (1/B + 1/I)."""
    rotor, stiffness = 0.05, 4e3
    arm = RealArm(bar(tmp_path), Differences(rotor=rotor, stiffness=stiffness, gear_damping=0.0))
    arm.gears.theta[:] = 1e-2
    bent = []
    for _ in range(1000):
        arm.apply(np.zeros(1), STEP)
        bent.append((arm.gears.theta - arm.gears.q)[0])
    signs = np.sign(bent)
    crossed = np.flatnonzero(signs[1:] != signs[:-1])
    times = [k - bent[k] / (bent[k + 1] - bent[k]) for k in crossed]
    found = np.pi * (len(times) - 1) / (STEP * (times[-1] - times[0]))
    assert found == pytest.approx(np.sqrt(stiffness * (1.0 / rotor + 1.0 / MOMENT)), rel=3e-3)
    assert np.abs(bent[-50:]).max() == pytest.approx(1e-2, rel=0.02), "nothing damps it"


def test_a_load_takes_the_torque_of_its_weight_and_bends_the_gear(tmp_path: Path) -> None:
    for load, far in ((0.0, 0.0), (1.5, 0.4)):
        differences = Differences(load=load, load_at=(far, 0.0, 0.0), stiffness=2e3, rotor=0.01, gear_damping=1.0)
        arm = RealArm(bar(tmp_path, "0 -1 0"), differences)
        arm.place([0.0])
        weight = 9.81 * (MASS * ARM + load * far)
        assert arm.holding()[0] == pytest.approx(weight, rel=1e-7)
        coast(arm, arm.holding(), 0.5)
        assert arm.gears.theta[0] - arm.q[0] == pytest.approx(weight / 2e3, rel=1e-6)
        assert np.abs(arm.q).max() < 1e-6
    arm.carry(0.0)
    assert arm.holding()[0] == pytest.approx(9.81 * MASS * ARM, rel=1e-7)


@pytest.mark.parametrize("stiffness", [None, 1e4])
def test_friction_holds_a_joint_up_to_its_bound_and_slows_it_beyond(tmp_path: Path, stiffness: float | None) -> None:
    for torque, moves in ((1.45, False), (1.55, True)):
        arm = RealArm(bar(tmp_path), Differences(stiffness=stiffness, rotor=0.1, stribeck=0.02, gear_damping=1.0))
        arm.gears.coulomb[:], arm.gears.breakaway[:], arm._viscous[:] = 1.0, 1.5, 2.0
        coast(arm, np.array([torque]), 1.0)
        assert bool(np.abs(arm.dq[0]) > 0.1) is moves
        assert moves or np.abs(arm.dq[0]) < 1e-9
    assert arm.dq[0] == pytest.approx((1.55 - 1.0) / 2.0, rel=0.02)  # dry friction in motion is the lower one
    coast(arm, np.zeros(1), 1.0)
    assert np.abs(arm.dq[0]) < 1e-9


@pytest.mark.parametrize("stiffness", [None, 2000.0])
def test_a_hard_stop_takes_energy_and_gives_none(stiffness: float | None) -> None:
    """The last joint of an FR3 in motion is driven into its end; a speed only set to zero there made 16 000 rad/s."""
    arm = RealArm("fr3", Differences(friction=0.0, rotor=0.05, stiffness=stiffness))
    arm.gears.dq[:] = arm.gears.dtheta[:] = [0.4, 0.3, -0.3, 0.2, 0.3, -0.4, 2.0]
    arm.gears.upper[6] = arm.q[6] + 0.05
    hold = arm.holding()
    before = arm.energy()
    given = 0.0
    for _ in range(round(0.2 / STEP)):
        q = arm.gears.theta.copy()
        arm.apply(hold, STEP)
        given += float(hold @ (arm.gears.theta - q))
        assert arm.q[6] <= arm.gears.upper[6]
        assert arm.energy() - given < before + 0.02
    assert arm.energy() - given < before - (0.05 if stiffness is None else 0.0)  # an elastic gear's rotor springs back


def test_a_push_and_a_wall_act_at_the_hand() -> None:
    arm = RealArm("ur5e", FREE)
    model = pinocchio.buildModelFromUrdf(str(arm.kind.urdf()))
    data = model.createData()
    frame = model.getFrameId(arm.links.hand)
    jacobian = pinocchio.computeFrameJacobian(model, data, arm.q, frame, pinocchio.LOCAL_WORLD_ALIGNED)[:3]
    force = np.array([10.0, -5.0, 7.0])
    q, h = arm.q, 10
    arm.push(force)
    for _ in range(h):
        arm.apply(arm.holding(), STEP)
    expected = np.linalg.solve(arm.inertia(), jacobian.T @ force)
    np.testing.assert_allclose(
        (arm.q - q) * 2.0 / (h * STEP) ** 2, expected, rtol=0.05, atol=0.02 * np.abs(expected).max()
    )

    arm = RealArm("ur5e", Differences(friction=0.0))
    arm._viscous[:] = 30.0
    place, normal = arm.hand(), np.array([0.0, 0.0, 1.0])
    arm.wall(2e4, place, normal)
    rest, pressed = arm.holding(), np.zeros(arm.n)
    pressed = arm.links.jacobian().T @ (-20.0 * normal)  # the motors press the hand down by 20 N
    coast(arm, rest + pressed, 2.0)
    assert arm.wall_force == pytest.approx(20.0, rel=0.15)
    assert arm.hand()[2] == pytest.approx(place[2] - arm.wall_force / 2e4, abs=1e-5)
    arm.wall(2e4, place - [0.0, 0.0, 0.1], normal)
    arm.apply(rest, STEP)
    assert arm.wall_force == 0.0, "it does not pull"


@BY_NAME
def test_it_is_quick(name: str) -> None:
    """CPU time; 50 and 90 times as quick as the arm were measured."""
    for differences in (Differences(), Differences.drawn(3, stiffness=5e3)):
        arm = RealArm(name, differences)
        torque, begin = arm.holding(), time.process_time()
        coast(arm, torque, 0.5)
        assert time.process_time() - begin < 0.5 / 15.0
