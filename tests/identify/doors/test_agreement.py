"""Forms along trajectories against the torque form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.motions import EXACT, samples
from support.recordings.followed import PENDULUM, PENDULUM_TRUTH, followed
from support.robots import loaded

from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.doors.agreement import as_read, check_agreement, misfit
from diffpbd.runtime.identify.result.result import Identification
from diffpbd.runtime.logs.processing import process

NAME = "friction.viscous.elbow"


@pytest.fixture(scope="module")
def found() -> Identification:
    robot = loaded("double_pendulum")
    return identify(robot, samples(robot, {NAME: 0.3}, noise=0.01), ["friction"])


def other(found: Identification, moved: float, worse: float) -> Identification:
    """Another result: the elbow's friction moved by deviations, its torque residual larger by a factor."""
    own = next(e for e in found.estimates if e.name == NAME)
    assert own.std is not None
    estimates = tuple(replace(e, value=e.value + moved * own.std) if e is own else e for e in found.estimates)
    errors = replace(found.train, rmse={**found.train.rmse, "elbow": worse * found.train.rmse["elbow"]})
    return replace(found, estimates=estimates, train=errors)


@pytest.mark.parametrize(
    ("moved", "worse", "refused"), [(4.1, 1e3, False), (4.4, 1e3, True), (-4.4, 1e3, True), (1e3, 1.9, False)]
)
def test_both_torques_and_parameters_are_apart(
    found: Identification, moved: float, worse: float, refused: bool
) -> None:
    """Three joint deviations are 4.24 of one; residuals alone, or parameters alone, are no disagreement."""
    if not refused:
        check_agreement("shooting", other(found, moved, worse), found)
        return
    with pytest.raises(
        SolverError, match=f"does not agree with --form torque.* elbow .*{NAME} is .*nothing was written"
    ):
        check_agreement("shooting", other(found, moved, worse), found)


@pytest.mark.parametrize(("share", "refused"), [(0.9e-6, False), (1.1e-6, True)])
def test_a_trajectory_followed_to_rounding_is_no_disagreement(
    found: Identification, share: float, refused: bool
) -> None:
    apart = other(found, 1e3, 1e3)
    exact = replace(
        apart,
        estimates=tuple(
            replace(e, std=1e3 * share * e.std) if e.name == NAME and e.std is not None else e for e in apart.estimates
        ),
    )
    if refused:
        with pytest.raises(SolverError, match="does not agree"):
            check_agreement("simultaneous", exact, found)
    else:
        check_agreement("simultaneous", exact, found)


def test_less_than_a_twentieth_of_the_torque_is_no_disagreement(found: Identification) -> None:
    size = float(np.sqrt(np.mean(np.vstack([t.measured for t in found.train.traces])[:, 1] ** 2)))
    for part, refused in ((0.04, False), (0.06, True)):
        apart = other(found, 1e3, part * size / found.train.rmse["elbow"])
        small = replace(found, train=replace(found.train, rmse=dict.fromkeys(found.joints, 1e-3 * size)))
        if refused:
            with pytest.raises(SolverError, match="does not agree"):
                check_agreement("shooting", apart, small)
        else:
            check_agreement(
                "shooting",
                replace(apart, train=replace(apart.train, rmse={**apart.train.rmse, "shoulder": 0.0})),
                small,
            )


@pytest.mark.parametrize("held", [False, True])
def test_the_recordings_say_whether_torques_are_held(held: bool) -> None:
    """Read as it was recorded no model that is right is rejected; the other reading is half a sample late or early."""
    robot, rng = loaded("double_pendulum"), np.random.default_rng(0)
    runs = (
        process("run", followed(robot, PENDULUM_TRUTH, 400), EXACT) if held else samples(robot, PENDULUM_TRUTH, seed=0)
    )
    runs = [replace(run, tau=run.tau + 0.05 * rng.normal(size=run.tau.shape)) for run in runs]
    right, wrong = (identify(robot, as_read(runs, own), PENDULUM) for own in (held, not held))
    assert misfit(right) < misfit(wrong)
    assert not any(e.rejected for e in right.estimates) and (held or any(e.rejected for e in wrong.estimates))
