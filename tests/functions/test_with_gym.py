"""Gymnasium's checker, rows beside Gymnasium's vector of single environments, physics beside joint_step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support.robots import generated, loaded

from diffpbd.runtime import InputError, SolverError

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed (extra gym)")
gym = pytest.importorskip("diffpbd.gym")
ROWS = 5


def test_gymnasium_s_checker_finds_nothing() -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("diffpbd/Reach-v0", robot=str(generated("double_pendulum")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    assert gymnasium.make_vec("diffpbd/Reach-v0", num_envs=3, robot=loaded("double_pendulum")).num_envs == 3


def test_rows_are_single_environments_side_by_side() -> None:
    """Through episodes that end and start anew, by time and beyond the limits."""
    robot = loaded("double_pendulum")
    options = {"duration": 0.5, "share": 1.0, "spread": 6.0}
    ours = gym.ReachVector(robot, ROWS, **options)
    theirs = gymnasium.vector.SyncVectorEnv([lambda: gym.Reach(robot, **options)] * ROWS)
    random, ended = np.random.default_rng(0), np.zeros(2, dtype=int)
    np.testing.assert_array_equal(ours.reset(seed=4)[0], theirs.reset(seed=4)[0])
    for _ in range(120):
        action = random.uniform(-1.5, 1.5, (ROWS, robot.n)).astype(np.float32) + 0.5
        found, wanted = ours.step(action), theirs.step(np.clip(action, -1.0, 1.0))
        for one, other in zip(found[:4], wanted[:4], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        ended += found[2].sum(), found[3].sum()
    assert (ended > 3).all(), "episodes ended by limits and by time"


def test_an_action_is_torque_beside_gravity_s() -> None:
    robot = loaded("double_pendulum")
    env = gym.Reach(robot, substeps=3, share=0.2, alpha={"payload.mass": 0.5})
    seen, _ = env.reset(seed=1)
    p, pd, goal = seen[:2].astype(float), np.zeros(2), seen[4:] + seen[:2]
    p = env._p[0].copy()
    action = np.array([0.5, -0.25], dtype=np.float32)
    for _ in range(3):
        u = robot.gravity(p, {"payload.mass": 0.5}) + 0.2 * np.array([40.0, 20.0]) * action
        p, pd = robot.joint_step(p, pd, u, alpha={"payload.mass": 0.5})
    after, reward, lost, late, _ = env.step(action)
    np.testing.assert_allclose(after, [*p, *pd, *(goal - p)], rtol=1e-6, atol=1e-6)
    error = np.mean((goal - p) ** 2)
    assert reward == pytest.approx(1 / (1 + error / 0.09) - 0.01 * np.mean(action**2), rel=1e-5)
    assert not lost and not late


def test_a_row_without_a_solution_ends_alone() -> None:
    robot = loaded("double_pendulum")
    task = gym.ReachTask(robot, substeps=1)
    p, pd = np.zeros((3, 2)), np.array([[0.0, 0.0], [900.0, -900.0], [0.1, 0.0]])
    with pytest.raises(SolverError):
        robot.joint_step(p[1], pd[1], np.zeros(2))
    after, _, lost = task.moved(p, pd, np.zeros((3, 2)))
    assert lost.tolist() == [False, True, False] and after[2, 0] == pytest.approx(0.001, rel=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"share": 0.0}, "share must be"),
        ({"substeps": 0}, "substeps"),
        ({"duration": np.nan}, "duration"),
        ({"h": 0.0}, "h must"),
        ({"substeps": 1.5}, "substeps"),
    ],
)
def test_options_without_meaning_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        gym.Reach(loaded("double_pendulum"), **options)


def test_actions_and_seeds_of_another_shape_are_refused() -> None:
    """One action for all rows, or a column of them, would be taken for actions of every row."""
    robot = loaded("double_pendulum")
    one, many = gym.Reach(robot), gym.ReachVector(robot, 3)
    one.reset(seed=0), many.reset(seed=[1, 2, 3])
    for wrong in (0.5, np.zeros(1), np.zeros(3), np.zeros((1, 2)), [0.1, np.nan]):
        with pytest.raises(InputError, match="action"):
            one.step(wrong)
    for wrong in (np.zeros(2), np.zeros((3, 1)), np.zeros((1, 2)), np.zeros((2, 3))):
        with pytest.raises(InputError, match=r"action: expected shape \(3, 2\)"):
            many.step(wrong)
    with pytest.raises(InputError, match="one for each of 3 rows, found 2"):
        many.reset(seed=[1, 2])
