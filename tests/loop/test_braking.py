"""The brake's law alone, on arms whose figures are written out, and the torques nearest to it."""

from __future__ import annotations

import numpy as np
import pytest
from support.bench_arm import bench_limits, inertial, mass

from diffpbd.runtime.loop.braking import Brake, nearest
from diffpbd.runtime.loop.motion import Motion

Q = np.array([0.3, 0.9])
ZERO = np.zeros(2)
RUBBED = np.array([0.8, 0.3])


def rubbing(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    return inertial(q, dq, ddq) + RUBBED * np.sign(dq)


SMOOTH, KNOWN = Motion(inertial, None, mass), Motion(rubbing, inertial, mass)


def accelerations(
    motion: Motion, dq: np.ndarray, external: np.ndarray, friction: np.ndarray, mean: np.ndarray
) -> np.ndarray:
    """What the arm does under the brake's torque and all that acts on it [rad/s²]."""
    law, _ = Brake(bench_limits(), motion).torque(Q, dq, external, mean)
    return np.linalg.solve(mass(Q), law + friction - inertial(Q, dq, ZERO))


@pytest.mark.parametrize(
    "dq, scaled", [([0.1, 0.2], 1.0), ([0.3, 0.4], 1.0), ([0.9, 0.1], 6.0 / 18.0), ([-0.3, 1.2], 8.0 / 24.0)]
)
def test_decelerations_keep_their_mixture(dq: list[float], scaled: float) -> None:
    """Twenty times the speeds a second, but no more than the speed limit in 0.25 s of any joint: 6 and 8 rad/s²."""
    found = accelerations(SMOOTH, np.array(dq), ZERO, ZERO, np.array(dq))
    np.testing.assert_allclose(found, -20.0 * scaled * np.array(dq), atol=1e-9)


def test_torque_of_the_decelerations_is_half_of_the_effort_at_the_most() -> None:
    weak = bench_limits(effort=np.array([4.0, 1.0]), speed=np.array([1.5, 2.0]))
    law, _ = Brake(weak, SMOOTH).torque(Q, np.array([0.3, -0.3]), ZERO, ZERO)
    free, _ = Brake(bench_limits(), SMOOTH).torque(Q, np.array([0.3, -0.3]), ZERO, ZERO)
    share = np.max(np.abs(free) / weak.effort)
    assert share > 0.6
    np.testing.assert_allclose(law, free * 0.5 / share)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_what_drives_the_arm_is_countered_and_friction_is_left(side: float) -> None:
    dq = side * np.array([0.2, 0.3])
    driving = side * np.array([9.0, 4.0])
    np.testing.assert_allclose(accelerations(SMOOTH, dq, driving, driving, dq), -20.0 * dq, atol=1e-9)
    friction = -side * RUBBED
    for motion, external in ((SMOOTH, friction), (KNOWN, ZERO)):
        found = accelerations(motion, dq, external, friction, dq)
        np.testing.assert_allclose(found, -20.0 * dq + friction / np.diag(mass(Q)), atol=1e-9)
    far = -side * np.array([9.0, 4.0])  # more than friction may be is countered, down to a tenth of the effort
    law, _ = Brake(bench_limits(), Motion(inertial)).torque(Q, dq, far, dq)
    bare, _ = Brake(bench_limits(), Motion(inertial)).torque(Q, dq, ZERO, dq)
    np.testing.assert_allclose(law - bare, -far - side * np.array([5.0, 1.5]), atol=1e-9)


def test_friction_of_a_joint_at_rest_slows_nothing() -> None:
    for moving, share in ((0.0, 0.0), (0.025, 0.5), (0.05, 1.0), (0.5, 1.0), (-0.5, 0.0)):
        dq = np.array([0.0, moving])
        law, _ = Brake(bench_limits(), SMOOTH).torque(Q, dq, np.array([0.0, -0.3]), np.array([0.0, 0.2]))
        bare, _ = Brake(bench_limits(), SMOOTH).torque(Q, dq, ZERO, ZERO)
        m = mass(Q)
        np.testing.assert_allclose(law - bare, [-share * m[0, 1] * 0.3 / m[1, 1], 0.0], atol=1e-9)


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
