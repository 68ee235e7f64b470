"""The reference that yields: no further than it must, and back."""

from __future__ import annotations

import numpy as np
from support.robots import loaded

from diffpbd.runtime.mpc.yielding import SPEED_SHARE, Yielding

H, DELAY = 0.01, 1
REST = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
SPEED = np.array([1.5, 1.5, 1.5, 1.5, 4.0, 4.0, 4.0])
NODES = H * np.arange(6)


def shifted(yielding: Yielding, d: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    robot = loaded("baxter_bare")
    return yielding.shift(REST, rate, robot.gravity(REST) - d, d, np.tile(REST, (6, 1)), np.tile(rate, (6, 1)), NODES)


def yields() -> Yielding:
    robot = loaded("baxter_bare")
    return Yielding(robot, robot.alpha.defaults, H, DELAY, SPEED)


def test_a_push_with_room_to_spare_changes_nothing() -> None:
    yielding = yields()
    P, PD = shifted(yielding, 0.1 * np.eye(7)[5], np.zeros(7))
    np.testing.assert_array_equal(PD, 0.0)
    np.testing.assert_array_equal(P, np.tile(REST, (6, 1)))


def test_the_end_of_a_push_leaves_a_joint_within_its_share_of_the_limit() -> None:
    robot = loaded("baxter_bare")
    for sign in (1.0, -1.0):
        yielding, d = yields(), sign * 2.0 * np.eye(7)[5]
        rate = -sign * 1.5 * np.eye(7)[5]  # against the push: where its end hurts
        P, PD = shifted(yielding, d, rate)
        assert sign * (PD[0, 5] - rate[5]) > 0.5
        p, pd, u = REST, PD[0], robot.gravity(REST) - d
        for _ in range(DELAY + 1):  # the push is over, and what balanced it still acts
            p, pd = robot.joint_step(p, pd, u, H)
        speeds = np.abs(pd) / SPEED
        assert speeds[5] < SPEED_SHARE + 0.05, speeds
        np.testing.assert_allclose(P - REST, NODES[:, None] * (PD - rate), atol=1e-12)


def test_the_way_given_is_made_good() -> None:
    yielding = yields()
    for _ in range(20):
        shifted(yielding, 2.0 * np.eye(7)[5], -1.5 * np.eye(7)[5])
    given = yielding.offset.copy()
    assert given[5] > 0.05
    for _ in range(100):
        shifted(yielding, np.zeros(7), np.zeros(7))
    assert np.abs(yielding.offset).max() < 0.02 * given[5]
