"""The brake's law alone, on arms whose figures are written out, and the torques nearest to it."""

from __future__ import annotations

import numpy as np
import pytest
from support.arms.bench import bench_limits, inertial, mass

from diffpbd.runtime.loop.braking import Brake, nearest
from diffpbd.runtime.loop.motion import Laden, Motion
from diffpbd.runtime.loop.seen import Shown

Q = np.array([0.3, 0.9])
ZERO = np.zeros(2)
SMOOTH = Motion(inertial, None, mass)
NOTHING = Shown(ZERO, ZERO, ZERO)


def rubbing(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    return inertial(q, dq, ddq) + np.array([0.8, 0.3]) * np.sign(dq) + np.array([0.3, 0.3]) * ddq


KNOWN = Motion(rubbing, inertial, mass, lambda load: Laden(inertial, mass))
"""A model that says more of friction and rotors than is in the links."""


def accelerations(motion: Motion, dq: np.ndarray, shown: Shown = NOTHING, real: np.ndarray = ZERO) -> np.ndarray:
    """Accelerations of the arm under the brake's torque and `real`, all else that acts on it [rad/s²]."""
    brake = Brake(bench_limits(), motion)
    brake.begin(shown)
    law, _ = brake.torque(0.0, Q, dq)
    return np.linalg.solve(mass(Q), law + real - inertial(Q, dq, ZERO))


@pytest.mark.parametrize(
    "dq, scaled", [([0.1, 0.2], 1.0), ([0.3, 0.4], 1.0), ([0.9, 0.1], 6.0 / 18.0), ([-0.3, 1.2], 8.0 / 24.0)]
)
def test_decelerations_keep_their_mixture(dq: list[float], scaled: float) -> None:
    """Twenty times the speeds a second, but no more than the speed limit in 0.25 s of any joint: 6 and 8 rad/s²."""
    for motion in (SMOOTH, KNOWN):  # neither the model's friction nor its rotors count
        np.testing.assert_allclose(accelerations(motion, np.array(dq)), -20.0 * scaled * np.array(dq), atol=1e-9)


def test_torque_of_the_decelerations_is_half_of_the_effort_at_the_most() -> None:
    weak = bench_limits(effort=np.array([4.0, 1.0]), speed=np.array([1.5, 2.0]))
    law, _ = Brake(weak, SMOOTH).torque(0.0, Q, np.array([0.3, -0.3]))
    free, _ = Brake(bench_limits(), SMOOTH).torque(0.0, Q, np.array([0.3, -0.3]))
    share = np.max(np.abs(free) / weak.effort)
    assert share > 0.6
    np.testing.assert_allclose(law, free * 0.5 / share)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_what_was_seen_is_counted_on(side: float) -> None:
    """More inertia takes more torque, a held load the same one, and friction that slows a joint is kept from the other."""
    dq = side * np.array([0.2, 0.3])
    more = Shown(np.array([0.3, 0.05]), ZERO, ZERO)
    np.testing.assert_allclose(accelerations(SMOOTH, dq, more, -more.inertia * -20.0 * dq), -20.0 * dq, atol=1e-9)
    load = np.array([9.0, -4.0])
    np.testing.assert_allclose(accelerations(SMOOTH, dq, Shown(ZERO, ZERO, load), -load), -20.0 * dq, atol=1e-9)
    friction = np.array([0.8, 0.3])
    found = accelerations(SMOOTH, dq, Shown(ZERO, friction, ZERO), -side * friction)
    np.testing.assert_allclose(found, -20.0 * dq - side * friction / np.diag(mass(Q)), atol=1e-9)


def test_friction_slows_a_joint_by_no_more_than_its_speed_in_the_time_of_the_braking() -> None:
    """At rest it slows nothing, and what it does within a state or two is over before a torque against it comes."""
    m = mass(Q)
    for moving, slowed in ((0.0, 0.0), (1e-3, 0.02), (0.3, 0.3 / m[1, 1])):
        dq = np.array([0.0, moving])
        law, _ = (brake := Brake(bench_limits(), SMOOTH)).torque(0.0, Q, dq)
        brake.begin(Shown(ZERO, np.array([0.0, 0.3]), ZERO))
        rubbed, _ = brake.torque(0.0, Q, dq)
        np.testing.assert_allclose(rubbed - law, [-m[0, 1] * slowed, 0.0], atol=1e-9)


def test_a_load_is_held_and_braked_with_its_inertia() -> None:
    heavy = lambda q, dq, ddq: 2.0 * inertial(q, dq, ddq) + np.array([3.0, 1.0])  # noqa: E731
    laden = Motion(
        inertial, None, mass, lambda load: Laden(heavy, lambda q: 2.0 * mass(q)) if load[0] else Laden(inertial, mass)
    )
    dq = np.array([0.1, 0.2])
    brake = Brake(bench_limits(), laden)
    brake.begin(Shown(ZERO, ZERO, ZERO, np.array([2.0, 0.0, 0.0, 0.1])))
    law, whole = brake.torque(0.0, Q, dq)
    np.testing.assert_allclose(law, 2.0 * inertial(Q, dq, -20.0 * dq) + [3.0, 1.0])
    np.testing.assert_allclose(whole, 2.0 * mass(Q))
    brake.begin(NOTHING)
    np.testing.assert_allclose(brake.torque(0.0, Q, dq)[0], inertial(Q, dq, -20.0 * dq))


def test_the_way_of_an_arm_that_was_led_is_caught_within_the_inertia_and_let_go_along_the_motion() -> None:
    """50 rad/s² for a radian, of states not more than 0.02 s apart; it goes in 0.05 s once the joint comes back."""
    brake, dq = Brake(bench_limits(), SMOOTH), np.array([0.04, -0.02])
    brake.begin(NOTHING, led=True)
    steady = brake.torque(0.0, Q, dq)[0]
    for stamp, way in ((0.01, 0.01), (0.01, 0.01), (0.02, 0.02), (0.5, 0.04)):
        law, _ = brake.torque(stamp, Q, dq)
        np.testing.assert_allclose(law - steady, mass(Q) @ (-50.0 * way * dq), atol=1e-9)
    back = -0.1 * dq  # too slow for a joint that has turned around
    law, _ = brake.torque(0.51, Q, back)
    before, _ = Brake(bench_limits(), SMOOTH).torque(0.0, Q, back)
    left = -50.0 * 0.04 * np.exp(-0.01 / 0.05) * dq - 50.0 * 0.01 * back
    np.testing.assert_allclose(law - before, mass(Q) @ left, atol=1e-9)


def test_otherwise_only_what_is_faster_than_a_joint_that_slows_down_is_caught() -> None:
    """Its speed falls by 1/e in 0.15 s; what a second joint gains counts."""
    brake, dq = Brake(bench_limits(), SMOOTH), np.array([0.04, 0.02])
    steady = brake.torque(0.0, Q, dq)[0]
    slower = np.exp(-0.01 / 0.15) * dq
    law, _ = brake.torque(0.01, Q, slower)
    np.testing.assert_allclose(law, inertial(Q, slower, -20.0 * slower), atol=1e-9)
    law, _ = brake.torque(0.02, Q, dq)
    beyond = (1.0 - np.exp(-0.02 / 0.15)) * dq
    np.testing.assert_allclose(law - steady, mass(Q) @ (-50.0 * 0.01 * beyond), atol=1e-9)


def test_what_presses_takes_the_place_of_what_was_held_where_it_is_more() -> None:
    brake = Brake(bench_limits(), SMOOTH)
    for held, pressed, left in (
        ([9.0, -4.0], [12.0, -3.0], [12.0, -4.0]), ([9.0, 0.0], [-2.0, 0.0], [-2.0, 0.0]), ([9.0, 1.0], [0.0, 0.0], [9.0, 1.0]),
    ):  # fmt: skip
        brake.begin(Shown(ZERO, ZERO, np.array(held)))
        np.testing.assert_allclose(brake.torque(0.0, Q, ZERO, np.array(pressed))[0], left, atol=1e-12)


def test_a_joint_that_turns_around_is_braked_half_as_hard() -> None:
    brake, dq = Brake(bench_limits(), SMOOTH), np.array([0.1, 0.2])
    brake.torque(0.0, Q, dq)
    brake.torque(0.0, Q, np.array([0.1, 0.04]))  # below 0.05 rad/s it has no direction
    found = brake.torque(0.0, Q, np.array([0.1, -0.2]))[0]
    wanted = -20.0 * np.array([0.1, -0.1])
    np.testing.assert_allclose(found, inertial(Q, np.array([0.1, -0.2]), wanted), atol=1e-9)
    again = brake.torque(0.0, Q, np.array([0.1, -0.2]))[0]
    np.testing.assert_allclose(again, found)
    brake.begin(NOTHING)
    np.testing.assert_allclose(brake.torque(0.0, Q, dq)[0], inertial(Q, dq, -20.0 * dq))


def test_nearest_torques_are_the_best_of_many() -> None:
    """No torque within the room has accelerations nearer to the wanted ones, by the arm's own mass."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        n = int(rng.integers(2, 8))
        root = rng.normal(size=(n, n))
        m = root @ root.T + np.diag(rng.uniform(1e-3, 1.0, n))
        wanted, low = rng.normal(size=n), -rng.uniform(0.1, 1.0, n)
        high = low + rng.uniform(0.1, 1.5, n)
        found = nearest(wanted, low, high, m)
        assert (low <= found).all() and (found <= high).all()
        cost = lambda x, m=m, wanted=wanted: float((x - wanted) @ np.linalg.solve(m, x - wanted))  # noqa: E731
        tried = np.vstack(
            [rng.uniform(low, high, (200, n)), np.clip(found + 0.02 * rng.normal(size=(200, n)), low, high)]
        )
        assert min(map(cost, tried)) >= cost(found) * (1.0 - 1e-2) - 1e-6
        np.testing.assert_array_equal(nearest(wanted, wanted - 1.0, wanted + 1.0, m), wanted)


def test_a_light_joint_goes_along_with_a_heavy_one_that_cannot() -> None:
    """The shoulder may change by 1 N·m where the brake wants 20: the elbow keeps its deceleration, which one factor takes."""
    m, wanted = mass(Q), mass(Q) @ np.array([-20.0, -20.0])
    low, high = np.array([-1.0, -50.0]), np.array([1.0, 50.0])
    chosen = np.linalg.solve(m, nearest(wanted, low, high, m))
    factored = np.linalg.solve(m, wanted * min(1.0 / np.abs(wanted).max(), 1.0))
    clipped = np.linalg.solve(m, np.clip(wanted, low, high))
    assert chosen[1] == pytest.approx(-20.0, abs=0.1) and abs(factored[1]) < 2.0 and clipped[1] < -60.0, (
        chosen,
        clipped,
    )
