"""The shipped FR3 with a hand as its payload, against the simulator's description and the driver's own model."""

from __future__ import annotations

import importlib.util
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio
import pytest
from support.arms.lone_fr3 import Lone, ticking
from support.made.carrying import HAND, REACH, TURN, carrying

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.load import Body, difference, mounted, payload_of, set_load, with_payload
from diffpbd.runtime.arms.franka.model import compare_model, flange_to_tip
from diffpbd.runtime.arms.franka.run import is_fr3
from diffpbd.runtime.base.errors import InputError, RefusedError

ASSETS = Path(importlib.util.find_spec("franky_sim").origin).parent / "assets"


def states(robot: Robot, number: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    q = rng.uniform(robot.limits.lower, robot.limits.upper, (number, 7))
    return np.stack([q, rng.uniform(-2.0, 2.0, (number, 7)), rng.uniform(-5.0, 5.0, (number, 7))], axis=1)


def test_equal_to_pinocchio_on_the_simulators_description(fr3: Robot) -> None:
    model = pinocchio.buildModelFromUrdf(str(ASSETS / "fr3_clean.urdf"))
    flange = model.frames[model.getFrameId("link8")]
    model.inertias[flange.parentJoint] += flange.placement.act(pinocchio.Inertia(HAND.mass, HAND.com, HAND.inertia))
    data = model.createData()
    alpha = carrying(fr3, HAND)
    for q, dq, ddq in states(fr3, 20):
        torque = pinocchio.rnea(model, data, q, dq, ddq)
        np.testing.assert_allclose(fr3.inverse_dynamics(q, dq, ddq, alpha=alpha), torque, rtol=0, atol=1e-12)
        mass = pinocchio.crba(model, data, q)
        np.testing.assert_allclose(np.triu(fr3.mass_matrix(q, alpha=alpha)), np.triu(mass), rtol=0, atol=1e-13)
        pinocchio.framesForwardKinematics(model, data, q)
        place = data.oMf[model.getFrameId("link8")]
        tip = fr3.tip_pose(q)
        np.testing.assert_allclose(tip.position, place.translation + place.rotation @ REACH, rtol=0, atol=1e-12)
        np.testing.assert_allclose(tip.rotation, place.rotation @ TURN, rtol=0, atol=1e-12)


def test_limits_are_the_tighter_ones_of_both_descriptions(fr3: Robot) -> None:
    described = {j.get("name"): j.find("limit") for j in ElementTree.parse(ASSETS / "fr3_clean.urdf").iter("joint")}
    ranges = {j.get("name"): j.get("range") for j in ElementTree.parse(ASSETS / "fr3.xml").iter("joint")}
    for k, joint in enumerate(fr3.manifest.robot.joints, 1):
        limit, (low, high) = described[f"joint{k}"], map(float, ranges[f"fr3_joint{k}"].split())
        assert joint.lower == max(float(limit.get("lower")), low)
        assert joint.upper == min(float(limit.get("upper")), high)
        assert (joint.velocity, joint.effort) == (float(limit.get("velocity")), float(limit.get("effort")))
    assert is_fr3(fr3.joints)
    assert not is_fr3(("left_s0", *fr3.joints[1:])) and not is_fr3(fr3.joints[:6])
    assert is_fr3(tuple(f"left_{joint}" for joint in fr3.joints))
    for other in ("panda", "xarm", "my_xfr3"):
        assert not is_fr3(tuple(f"{other}_joint{k}" for k in range(1, 8)))


def test_equal_to_the_drivers_model(alone: Lone, fr3: Robot) -> None:
    model = alone.driver.model
    with ticking(alone.simulation):
        state = alone.driver.state
    body = mounted(state)
    assert difference(body, HAND) == ""
    np.testing.assert_allclose(body.inertia, HAND.inertia, atol=1e-9)
    rotation, place = flange_to_tip(alone.driver, fr3, fr3.alpha.defaults, np.array(state.q))
    np.testing.assert_allclose(rotation, TURN, atol=1e-12)
    np.testing.assert_allclose(place, REACH, atol=1e-12)
    for q, dq, _ in states(fr3, 10):
        gravity = model.gravity(q, body.mass, body.com, [0.0, 0.0, -9.81])
        np.testing.assert_allclose(fr3.gravity(q, alpha=alone.alpha), gravity, rtol=0, atol=1e-12)
        mass = model.mass(q, body.inertia, body.mass, body.com)
        np.testing.assert_allclose(fr3.mass_matrix(q, alpha=alone.alpha), mass, rtol=0, atol=1e-13)
        coriolis = model.coriolis(q, dq, body.inertia, body.mass, body.com)
        np.testing.assert_allclose(fr3.coriolis(q, dq, alpha=alone.alpha), coriolis, rtol=0, atol=1e-12)


def test_a_wrong_payload_is_told_by_joint(alone: Lone, fr3: Robot) -> None:
    assert compare_model(alone.driver, fr3, alone.alpha, HAND) == []
    missing = compare_model(alone.driver, fr3, fr3.alpha.defaults, HAND)
    assert any(text.startswith("fr3_joint2: gravity takes up to ") for text in missing)
    heavier = Body(0.73 + 0.1, HAND.com, HAND.inertia)
    slightly = compare_model(alone.driver, fr3, carrying(fr3, heavier), HAND)
    assert slightly == []  # 0.1 kg at 0.8 m: 0.8 N·m of 1.74
    heavier = Body(0.73 + 0.4, HAND.com, HAND.inertia)
    assert compare_model(alone.driver, fr3, carrying(fr3, heavier), HAND) != []
    geared = alone.alpha.copy()
    geared[fr3.alpha.index("rotor_inertia.fr3_joint1")] = 5.0
    assert compare_model(alone.driver, fr3, geared, HAND) == []  # the driver's model has no motors


def test_the_tip_of_another_arm_is_noticed(alone: Lone, fr3: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    pose = fr3.tip_pose

    class Longer:
        def __getattr__(self, name: str) -> object:
            return getattr(fr3, name)

        @staticmethod
        def tip_pose(q: np.ndarray, **options: object) -> object:
            found = pose(q, **options)
            return found._replace(position=found.position + [0.0, 0.0, 5e-3])

    assert any("another arm" in text for text in compare_model(alone.driver, Longer(), alone.alpha, HAND))


def test_a_body_and_what_is_left_of_it() -> None:
    load = Body(0.5, np.array([0.02, -0.03, 0.11]), np.diag([2e-4, 3e-4, 4e-4]))
    mass = HAND.mass + load.mass
    com = (HAND.mass * HAND.com + load.mass * load.com) / mass
    inertia = np.zeros((3, 3))
    for part in (HAND, load):
        arm = part.com - com
        inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    left = Body(mass, com, inertia).without(HAND)
    assert difference(left, load) == ""
    np.testing.assert_allclose(left.inertia, load.inertia, atol=1e-15)
    assert Body(mass, com, inertia).without(Body(mass, com, inertia)).mass == 0.0
    assert "0.730 kg against 0.732 kg" in difference(HAND, Body(0.732, HAND.com, HAND.inertia))
    assert "centres of mass" in difference(HAND, Body(0.73, HAND.com + [0.0, 0.0, 2e-3], HAND.inertia))


def test_the_payload_of_alpha_comes_back(fr3: Robot) -> None:
    body = Body(0.4, np.array([0.1, 0.2, 0.3]), np.array([[3.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 5.0]]) * 1e-3)
    found = payload_of(fr3, with_payload(fr3, fr3.alpha.defaults, body))
    assert found.mass == body.mass
    np.testing.assert_array_equal(found.com, body.com)
    np.testing.assert_array_equal(found.inertia, body.inertia)


def test_the_robot_is_told_its_load(alone: Lone) -> None:
    with ticking(alone.simulation):
        state = alone.driver.state
        wanted = Body(1.23, np.array([-0.005, 0.002, 0.06]), np.diag([0.004, 0.0045, 0.002]))
        found = mounted(set_load(alone.driver, state, wanted))
        assert difference(found, wanted) == ""
        np.testing.assert_allclose(found.inertia, wanted.inertia, atol=1e-8)
        with pytest.raises(InputError, match="0.500 kg, is all that the flange carries"):
            set_load(alone.driver, state, Body(0.5, HAND.com, HAND.inertia))
        with pytest.raises(InputError, match="0.270 kg with a negative inertia"):
            set_load(alone.driver, state, Body(1.0, HAND.com, 0.9 * HAND.inertia))
        assert difference(mounted(set_load(alone.driver, state, HAND)), HAND) == ""


@pytest.mark.parametrize(
    ("mass", "moments", "words"),
    [
        (1.0, [-1e-4, 0.0, 0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, 1e-4], "should be positive"),
        (1.0, [1e-4, 5e-5, 0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, 1e-4], "should be symmetric"),
        (-1.0, np.eye(3).ravel().tolist(), "expected a mass of at least 0"),
        (1.0, [np.nan] * 9, "expected a mass of at least 0 and finite figures"),
    ],
)
def test_a_load_that_is_no_body_does_not_end_the_simulated_robot(
    alone: Lone, mass: float, moments: list[float], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with ticking(alone.simulation):
        before = mounted(alone.driver.state)
        with pytest.raises(Exception, match="(?i)invalid|rejected"):
            alone.driver.set_load(mass, [0.0, 0.0, 0.1], moments)
        assert words in capfd.readouterr().err
        time.sleep(0.05)
        assert difference(mounted(alone.driver.state), before) == ""


class Late:
    """A driver whose first states after a load still tell the old one."""

    def __init__(self, states: list[SimpleNamespace]) -> None:
        self.states = states

    def set_load(self, *_: object) -> None:
        pass

    @property
    def state(self) -> SimpleNamespace:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def carried(load: Body) -> SimpleNamespace:
    """A state without end effector."""
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    parts = {"ee": nothing, "load": load, "total": load}
    fields = {f"m_{part}": body.mass for part, body in parts.items()}
    fields |= {f"F_x_C{part}": body.com for part, body in parts.items()}
    return SimpleNamespace(**fields, **{f"I_{part}": body.inertia for part, body in parts.items()})


def test_states_on_their_way_when_the_load_was_told_are_not_believed() -> None:
    old, new = carried(Body(0.5, np.zeros(3), np.eye(3))), carried(Body(1.0, np.zeros(3), np.eye(3)))
    wanted = Body(1.0, np.zeros(3), np.eye(3))
    assert set_load(Late([old, old, new]), old, wanted) is new
    with pytest.raises(RefusedError, match="0.05 s later its state does not say so: 1.000 kg against 0.500 kg"):
        set_load(Late([old]), old, wanted, patience=0.05)
