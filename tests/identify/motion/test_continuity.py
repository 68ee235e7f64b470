"""Windows of shooting tied to each other: one trajectory over every recording."""

from __future__ import annotations

import re
from dataclasses import replace

import casadi
import numpy as np
import pytest
from support.recordings.followed import PENDULUM_TRUTH, followed

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify.motion import arrow, shooting
from diffpbd.runtime.identify.motion.conclusion import End
from diffpbd.runtime.identify.motion.trajectory import Motion, motions, parameters_of
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, process

EXACT = Processing(cutoff=None)
NAMES = tuple(PENDULUM_TRUTH)
TIED = Settings(form="shooting", continuity=True)


def recorded(robot: Robot, steps: int, noise: int | None = None, seed: int = 1) -> list[Motion]:
    log = followed(robot, PENDULUM_TRUTH, steps, seed=seed)
    return motions(process("run", log if noise is None else noisy(log, noise), EXACT), "shooting")


def noisy(log: Log, seed: int) -> Log:
    rng = np.random.default_rng(seed)
    return replace(log, q=log.q + 1e-3 * rng.normal(size=log.q.shape), dq=log.dq + 1e-2 * rng.normal(size=log.q.shape))


def shot(robot: Robot, runs: list[Motion], window: float, settings: Settings = TIED) -> End:
    parameters = parameters_of(robot, NAMES, robot.alpha.vector(), "shooting")
    return shooting.shoot(robot, runs, parameters, lambda _line: None, settings, window=window)


def gap(found: End) -> tuple[int, float]:
    """Windows joined, and the largest gap in SI units."""
    match = re.search(r"(\d+) windows joined .* to (\S+) \(SI", " ".join(found.notes))
    assert match is not None
    return int(match[1]), float(match[2])


def test_the_truth_of_a_joined_trajectory(pendulum: Robot) -> None:
    found = shot(pendulum, recorded(pendulum, 60) + recorded(pendulum, 43, seed=4), 0.1)
    assert found.theta == pytest.approx(list(PENDULUM_TRUTH.values()), rel=1e-6)
    count, largest = gap(found)
    assert count == 5 + 4 and largest < 1e-9  # 6 and 5 windows; the recordings themselves are not tied


@pytest.mark.thorough
def test_one_trajectory_however_it_is_cut(pendulum: Robot) -> None:
    """With noise the windows' length makes no difference, and neither does a single window; untied windows are another fit."""
    runs = recorded(pendulum, 60, noise=0)
    whole = shot(pendulum, runs, 1.0)
    variance = np.diag(np.linalg.inv(whole.information))
    deviation = np.sqrt(variance * whole.mean_square)
    assert not any("joined" in note for note in whole.notes)
    for window in (0.1, 0.25):
        found = shot(pendulum, runs, window)
        assert gap(found)[1] < 1e-9
        assert np.abs((found.theta - whole.theta) / deviation).max() < 1e-2
        assert found.mean_square == pytest.approx(whole.mean_square, rel=1e-6)
        assert np.diag(np.linalg.inv(found.information)) == pytest.approx(variance, rel=1e-2)
    apart = shot(pendulum, runs, 0.1, Settings())
    assert np.abs((apart.theta - whole.theta) / deviation).max() > 0.1
    assert (np.diag(np.linalg.inv(apart.information)) > variance).all()


def test_sensitivities_of_the_ends(pendulum: Robot) -> None:
    parameters = parameters_of(pendulum, NAMES, pendulum.alpha.vector(PENDULUM_TRUTH), "shooting")
    windows = Windows(pendulum, recorded(pendulum, 23), parameters, 0.1, tied=True)
    theta, states = np.array(list(PENDULUM_TRUTH.values())), windows.states + 0.01
    found = windows.condense(theta, states)
    assert windows.ties.tolist() == [[a, b] for run in windows.motions for a, b in zip(run, run[1:], strict=False)]
    for k in (0, 5):
        d = 1e-6 * np.eye(len(theta))[k]
        slope = (windows.condense(theta + d, states).ends - windows.condense(theta - d, states).ends) / 2e-6
        assert found.by_start[:, :, k] == pytest.approx(slope, rel=1e-5, abs=1e-8)
    d = np.zeros_like(states)
    d[:, 1] = 1e-6
    slope = (windows.condense(theta, states + d).ends - windows.condense(theta, states - d).ends) / 2e-6
    assert found.by_start[:, :, len(theta) + 1] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_the_pattern_of_the_equations() -> None:
    ties, m, size, count = np.array([[0, 2], [2, 1]]), 3, 2, 4
    pattern = arrow.equations(m, size, count, ties, 1)
    dense = np.zeros((5, m + size * count))
    dense[:4, :3] = dense[4, :3] = 1.0
    dense[0:2, 3:5] = dense[2:4, 7:9] = 1.0  # the states before
    dense[[0, 1], [7, 8]] = dense[[2, 3], [5, 6]] = 1.0
    assert np.array_equal(casadi.DM(pattern.sparsity, 1.0).full(), dense)


def test_windows_that_do_not_join_are_a_failure(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shooting, "JOINED", 0.0)
    with pytest.raises(SolverError, match="apart where they should join; nothing was written"):
        shot(pendulum, recorded(pendulum, 40), 0.1)
