"""Essential parameters: the textbook's F, what is zero is dropped and what is not is kept, on logs that no filter changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import f as fisher
from support.motions import EXACT, motion
from support.recordings.scenarios import Arm, Scenario, sets
from support.robots import generated, loaded

from diffpbd.runtime import Robot, load
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.report.identification import page
from diffpbd.runtime.report.identification_text import summary

NOISE = 0.1
FIT = ["friction.viscous", "torque_offset", "rotor_inertia"]
TRUTH = {"friction.viscous.shoulder": 0.3, "torque_offset.elbow": -0.6, "rotor_inertia.elbow": 0.2}
ZERO = {"friction.viscous.elbow", "torque_offset.shoulder", "rotor_inertia.shoulder"}


def noisy(robot: Robot, seed: int, truth: dict[str, float] = TRUTH) -> list[Samples]:
    clean = motion(robot, truth, seed=1, seconds=6.0)
    assert clean.tau is not None
    rng = np.random.default_rng(seed)
    return process(f"run {seed}", replace(clean, tau=clean.tau + NOISE * rng.normal(size=clean.tau.shape)), EXACT)


def sought(robot: Robot, run: list[Samples], fit: list[str], **more: object) -> Identification:
    return identify(robot, run, fit, settings=Settings(essential=True), **more)  # type: ignore[arg-type]


def rest(s: Samples, columns: list[np.ndarray], j: int) -> float:
    """Sum of squares that columns of joint j leave of the torque beyond the rigid arm's."""
    robot = loaded("double_pendulum")
    y = (s.tau - np.asarray(robot.inverse_dynamics(s.q, s.dq, s.ddq, robot.alpha.vector())))[:, j]
    A = np.column_stack(columns) if columns else np.zeros((len(y), 1))
    return float(((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2).sum())


def test_the_statistic_is_the_textbooks() -> None:
    robot = loaded("double_pendulum")
    (s,) = noisy(robot, 5)
    own = sought(robot, [s], FIT).essential
    assert own is not None and set(own.dropped) == ZERO
    count, rise = s.tau.size, 0.0
    for j, joint in enumerate(robot.joints):
        columns = {"friction.viscous": s.dq[:, j], "torque_offset": np.ones(len(s)), "rotor_inertia": s.ddq[:, j]}
        kept = [v for kind, v in columns.items() if f"{kind}.{joint}" not in own.dropped]
        whole = rest(s, list(columns.values()), j)
        rise += (rest(s, kept, j) - whole) / (whole / len(s))
    assert own.statistic == pytest.approx(rise / 3, rel=0.3, abs=0.05)
    assert own.quantile == pytest.approx(fisher.isf(0.05, 3, count - 6), rel=1e-3)
    few = {e.name: e for e in own.kept}
    A = np.column_stack([s.ddq[:, 1], np.ones(len(s))])
    y = s.tau - np.asarray(robot.inverse_dynamics(s.q, s.dq, s.ddq, robot.alpha.vector()))
    rotor, offset = np.linalg.lstsq(A, y[:, 1], rcond=None)[0]
    assert few["rotor_inertia.elbow"].value == pytest.approx(rotor, rel=1e-6)
    assert few["torque_offset.elbow"].value == pytest.approx(offset, rel=1e-6)
    std = NOISE * np.sqrt(np.linalg.inv(A.T @ A)[0, 0])
    assert few["rotor_inertia.elbow"].std == pytest.approx(std, rel=0.3)


def test_level_and_power(count: Callable[[int, int], int]) -> None:
    robot, kept, lost, trials = loaded("double_pendulum"), 0, 0, count(12, 200)
    for seed in range(trials):
        own = sought(robot, noisy(robot, seed), FIT).essential
        assert own is not None
        kept += len(ZERO & {e.name for e in own.kept})
        lost += len(set(TRUTH) & set(own.dropped))
    assert lost == 0 and kept <= 3 + 0.1 * 3 * trials  # a level of 5 % one by one


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Robot, list[list[Samples]]]:
    """An arm whose last link is a box along its frame: its products of inertia but one are zero."""
    arm = Arm.of(5)
    arm = replace(arm, com=arm.com * np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    path = tmp_path_factory.mktemp("boxes") / "boxes.urdf"
    path.write_text(arm.urdf)
    logs = [log for own in sets(arm, Scenario(recordings=2), 2) for log in own][:3]
    runs = [process(f"run {k}", log, Processing()) for k, log in enumerate(logs)]
    return load(generated(str(path), functions=("inverse_dynamics", "torque_terms"))), runs


def test_of_bodies(drawn: tuple[Robot, list[list[Samples]]]) -> None:
    robot, (first, second, third) = drawn
    widths = {f"friction.transition_velocity.j{k}": 0.05 for k in range(3)}
    result = sought(robot, [*first, *second], ["inertials", "friction"], start=widths, validate=third)
    own = result.essential
    assert own is not None and own.held == "validation"
    assert {"I.xy l2", "I.yz l2"} <= set(own.dropped) and 0.0 < own.statistic < own.quantile
    assert len(own.kept) + len(own.dropped) == len(result.base) + 9
    assert not [name for name in own.dropped if name.startswith(("friction", "m·c.z"))]
    assert all(few < 1.01 * whole for whole, few in own.errors.values())
    assert "of 24 parameters, fitted without the others" in summary(result) and "are essential</h2>" in page(result)
    assert '"essential_parameters"' in result.to_json()


def test_each_recording_left_out_where_none_is_held() -> None:
    robot = loaded("double_pendulum")
    run = [*noisy(robot, 1), *noisy(robot, 2)]
    result = sought(robot, run, FIT)
    own = result.essential
    assert own is not None and own.held == "each recording left out"
    for joint in robot.joints:
        assert own.errors[joint] == pytest.approx((NOISE, NOISE), rel=0.1)
    assert result.parameters == identify(robot, run, FIT).parameters  # which stay as they are
