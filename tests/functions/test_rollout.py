from __future__ import annotations

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime import Robot, SolverError, load
from diffpbd.runtime.functions import rollout as rollout_module

RNG = np.random.default_rng(2)
N = 23
P0, PD0 = RNG.normal(size=(2, 2))
U = RNG.normal(size=(N, 2))
P_BAR, PD_BAR = RNG.normal(size=(2, N + 1, 2))


def test_a_rollout_of_no_steps_is_its_start(twin: Robot) -> None:
    P, _ = twin.rollout(P0, PD0, np.empty((0, 2)))
    assert (P == P0).all() and P.shape == (1, 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_batched_rollouts(twin: Robot, threads: int) -> None:
    starts = RNG.normal(size=(4, 2))
    torques = RNG.normal(size=(4, N, 2))
    h = np.array([0.01, 0.02, 0.03, 0.04])
    P, PD = twin.rollout(starts, PD0, torques, h, threads=threads)
    for row in range(4):
        single = twin.rollout(starts[row], PD0, torques[row], h[row])
        assert (P[row] == single.P).all() and (PD[row] == single.PD).all()


@pytest.mark.parametrize("segment", [1, 5, 22, 23, 100])
def test_segments_change_nothing(twin: Robot, segment: int) -> None:
    whole = twin.vjp_rollout(P0, PD0, U, P_bar=P_BAR, PD_bar=PD_BAR)
    parts = twin.vjp_rollout(P0, PD0, U, P_bar=P_BAR, PD_bar=PD_BAR, segment=segment)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def test_long_rollouts_are_split_by_their_work_memory(twin: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = twin.vjp_rollout(P0, PD0, U, P_bar=P_BAR)
    monkeypatch.setattr(rollout_module, "WORK_LIMIT_BYTES", 200)
    assert twin.vjp_rollout._segment(N) == 3
    for a, b in zip(whole, twin.vjp_rollout(P0, PD0, U, P_bar=P_BAR), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def test_batched_gradients_and_missing_seeds(twin: Robot) -> None:
    starts = RNG.normal(size=(3, 2))
    batch = twin.vjp_rollout(starts, PD0, U, P_bar=P_BAR, threads=2)
    assert batch.U_bar.shape == (3, N, 2) and batch.h_bar.shape == (3,) and batch.alpha_bar.shape == (3, 5)
    for row in range(3):
        single = twin.vjp_rollout(starts[row], PD0, U, P_bar=P_BAR, PD_bar=np.zeros((N + 1, 2)))
        for a, b in zip(batch, single, strict=True):
            assert (np.asarray(a[row]) == np.asarray(b)).all()


def test_long_steps_are_those_of_joint_step() -> None:
    """Beyond half a radian a step has several solutions, of which a guess from the steps before may find another one."""
    robot, rng, compared = load(generated("double_pendulum")), np.random.default_rng(7), 0
    for _ in range(400):
        p, pd = rng.normal(size=2), 40.0 * rng.normal(size=2)
        try:
            P, PD = robot.rollout(p, pd, np.zeros((20, 2)), 0.01)
            for _ in range(20):
                p, pd = robot.joint_step(p, pd, np.zeros(2), 0.01)
        except SolverError:
            continue
        compared += np.abs(np.diff(P, axis=0)).max() > 0.5
        assert np.abs(P[-1] - p).max() < 1e-6
    assert compared > 50
