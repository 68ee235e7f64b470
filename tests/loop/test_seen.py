"""What a run shows of an arm, from motions and torques that are written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.arms.bench import EFFORT, gravity, inertial, mass

from diffpbd.runtime.loop.motion import Laden, Motion
from diffpbd.runtime.loop.seen import Seen
from diffpbd.runtime.mpc.history import History

STEP = 4e-3
Torque = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def shown(besides: Torque, *, still: bool = False, motion: Motion | None = None, until: float = 1.2) -> Seen:
    """Of two joints that swing, or of which the second stands, while their motors give more than their links take."""
    seen, acted = Seen(np.array(EFFORT), motion or Motion(inertial, None, mass)), History(None)
    for k in range(round(until / STEP)):
        t, swing = k * STEP, np.array([1.0, 0.0 if still else 1.0])
        q = np.array([0.3, 0.9]) - 0.2 * np.cos(6.0 * t + np.array([0.0, 0.6])) * swing
        dq = 1.2 * np.sin(6.0 * t + np.array([0.0, 0.6])) * swing
        ddq = 7.2 * np.cos(6.0 * t + np.array([0.0, 0.6])) * swing
        seen.add(t, q, dq, acted)
        acted.begin(t, inertial(q, dq, ddq) + besides(q, dq, ddq))
    return seen


@pytest.mark.parametrize("rotor", [0.0, 0.05, 0.3])
def test_inertia_that_the_links_do_not_have(rotor: float) -> None:
    """Four fifths of it less three deviations: never more than there is, and nothing where there is none."""
    found = shown(lambda q, dq, ddq: rotor * ddq).shown().inertia
    assert (found <= 0.85 * rotor + 1e-3).all() and (found >= 0.8 * rotor - 0.06).all(), found
    assert shown(lambda q, dq, ddq: rotor * ddq, still=True).shown().inertia[1] == 0.0  # it was not seen to accelerate


def test_friction_is_no_load_and_a_load_is_no_friction() -> None:
    rubbed = shown(lambda q, dq, ddq: np.array([2.0, 0.6]) * np.tanh(dq / 1e-3), until=0.8).shown()
    assert rubbed.friction == pytest.approx([2.0, 0.6], rel=0.2) and np.abs(rubbed.held).max() < 0.35, rubbed
    loaded = shown(lambda q, dq, ddq: np.array([5.0, -1.5])).shown()
    assert loaded.held[0] == pytest.approx(5.0, rel=0.15) and loaded.friction.max() < 0.2, loaded
    assert -1.6 < loaded.held[1] < -0.1  # no more than its motor gives, which accelerates it besides


def test_the_motor_of_a_joint_at_rest_is_seen_to_hold_what_is_on_it() -> None:
    """Whatever friction bears besides; but not what takes a torque that it did not give."""
    held = shown(lambda q, dq, ddq: np.array([0.0, 0.9]) - [0.0, inertial(q, dq, ddq)[1]], still=True).shown().held
    assert abs(held[1]) <= 0.9
    steady = shown(lambda q, dq, ddq: np.array([0.0, 0.9]), still=True).shown().held
    assert steady[1] == pytest.approx(0.9, abs=0.3)
    assert shown(lambda q, dq, ddq: -inertial(q, dq, ddq)).shown().held == pytest.approx([0.0, 0.0], abs=1e-9)


def heavier(load: np.ndarray) -> Laden:
    """A mass 0.4 m along the second link; where the tip is makes no difference to two joints in a plane."""
    more = load[0] * np.array([[0.41, 0.16], [0.16, 0.16]])

    def dynamics(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        return inertial(q, dq, ddq) + gravity(q, load[0]) - gravity(q) + more @ ddq

    return Laden(dynamics, lambda q: mass(q) + more)


def test_a_load_at_the_tip_is_found_with_its_mass() -> None:
    motion = Motion(inertial, None, mass, heavier)

    def borne(kg: float) -> Torque:
        return lambda q, dq, ddq: heavier(np.array([kg, 0, 0, 0])).dynamics(q, dq, ddq) - inertial(q, dq, ddq)

    load = shown(borne(1.5), motion=motion).shown().load
    assert load is not None and load[0] == pytest.approx(1.5, rel=0.1), load
    for nothing in (borne(0.0), borne(0.05), lambda q, dq, ddq: np.array([2.0, 0.6]) * np.sign(dq)):
        assert shown(nothing, motion=motion).shown().load is None


@pytest.mark.parametrize("until", [0.8, 0.9, 1.0, 1.1])
def test_the_motor_of_a_joint_at_rest_holds_a_load_by_no_more_than_it_gave_for_it(until: float) -> None:
    """Part of its 2 N·m is for what the other joint's motion takes here; friction bears the rest of the load."""
    gave, real, zero = 2.0, np.array([2.0, 0.0, 0.0, 0.0]), np.zeros(2)
    last: list[tuple[np.ndarray, ...]] = []

    def borne(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        last.append((q, dq, ddq))
        bare, laden = inertial(q, dq, ddq), heavier(real).dynamics(q, dq, ddq)
        return np.array([laden[0] - bare[0], gave - bare[1]])

    found = shown(borne, still=True, motion=Motion(inertial, None, mass, heavier), until=until).shown()
    assert found.load is not None
    laden, (q, dq, ddq) = heavier(found.load), last[-1]
    weight = laden.dynamics(q, zero, zero)[1]
    for_motion = laden.dynamics(q, dq, ddq)[1] - weight
    most = min(gave, max(gave - for_motion, 0.0))
    assert -1e-9 <= found.held[1] + weight <= most + 0.4, (found.held[1] + weight, most)


def test_what_drives_a_joint_is_told_once_the_last_states_agree() -> None:
    """Beyond a tenth of the effort, along the motion, after 0.045 s."""
    drive = np.array([-12.0, 0.0])  # the motor holds back a joint that moves forwards at the end
    for until, side in ((0.3, 1.0), (0.8, -1.0)):
        way = np.sign(np.sin(6.0 * (until - STEP)))
        found = shown(lambda q, dq, ddq, way=way: way * drive, until=until).pressed()
        assert way == side and found == pytest.approx([-7.0 * way, 0.0], abs=0.7), found
    assert (shown(lambda q, dq, ddq: -drive, until=0.3).pressed() == 0.0).all()
    assert (shown(lambda q, dq, ddq: drive, until=0.03).pressed() == 0.0).all()


def test_nothing_was_seen_at_the_start() -> None:
    seen = Seen(np.array(EFFORT), Motion(inertial, None, mass))
    found = seen.shown()
    assert found.load is None and not (
        found.inertia.any() or found.friction.any() or found.held.any() or seen.pressed().any()
    )
