"""Samples near standstill: left out where recordings that are left out say so, and only there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.motions import motion
from support.robots import loaded

from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.identify.columns import design
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

TRUTH = {"friction.coulomb.shoulder": 0.4, "friction.viscous.elbow": 0.2, "friction.coulomb.elbow": 0.3}
AUTO = Settings(standstill="auto")


def recording(seed: int, stiction: Sequence[float], slow: float = 0.005) -> Samples:
    """A motion, then as long again hardly moving (rad/s), where each joint is held by so much more torque [N·m]."""
    robot = loaded("double_pendulum")
    moving = motion(robot, TRUTH, seed=seed, seconds=3.0, noise=0.02)
    count = len(moving.time)
    rng = np.random.default_rng(100 + seed)
    q = moving.q[-1] + np.zeros((count, 1))
    dq = slow * np.sign(rng.normal(size=(1, robot.n))) + np.zeros((count, 1))
    ddq = np.zeros_like(dq)
    tau = robot.inverse_dynamics(q, dq, ddq, robot.alpha.vector(TRUTH)) + stiction + 0.02 * rng.normal(size=q.shape)
    parts = ((moving.q, q), (moving.dq, dq), (moving.ddq, ddq), (moving.tau, tau))
    time = np.arange(2 * count) / 100.0
    log = Log(time, robot.joints, *(np.vstack(both) for both in parts))
    return process(f"run {seed}", log, Processing(cutoff=None))[0]


def fitted(stiction: Sequence[float], settings: Settings) -> Identification:
    runs = [recording(k, stiction) for k in range(4)]
    return identify(loaded("double_pendulum"), runs, ["friction"], settings=settings)


def test_stiction_is_left_out_and_the_truth_comes_back() -> None:
    kept, auto = (fitted([0.8, -0.5], settings) for settings in (Settings(), AUTO))
    assert sum("samples are left out" in note and "transition velocities" in note for note in auto.notes) == 1
    assert not any("standstill" in note for note in kept.notes)
    for e in auto.estimates:
        assert e.value == pytest.approx(TRUTH.get(e.name, 0.0), abs=0.02), e.name
    assert abs(kept.parameters["torque_offset.shoulder"]) > 0.1


def test_without_stiction_samples_are_kept_and_nothing_changes() -> None:
    kept, auto = (fitted([0.0, 0.0], settings) for settings in (Settings(), AUTO))
    assert sum("all samples are kept" in note for note in auto.notes) == 1
    assert auto.parameters == kept.parameters


def test_what_is_slower_has_no_weight_but_a_joint_that_never_moves_keeps_its() -> None:
    run = recording(0, [0.0, 0.0])
    nothing = np.zeros((len(run), 2))
    empty = (np.zeros(0, dtype=np.intp),) * 2
    own = design.Design(run, empty, (nothing[:, :0],) * 2, nothing, nothing, 0.5 + nothing)
    (found,) = design.moving([own], np.array([0.1, 100.0]))
    assert found.weights is not None
    assert (found.weights[:, 0] == np.where(np.abs(run.dq[:, 0]) >= 0.1, 0.5, 0.0)).all()
    assert (found.weights[:, 1] == 0.5).all() and 0.0 in found.weights[:, 0]
