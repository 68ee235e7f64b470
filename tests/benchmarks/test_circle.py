"""The circle as a joint trajectory, and the loop around MuJoCo's arm: errors, pushes, payloads, limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import loaded

from benchmarks.circle.__main__ import circle as command
from benchmarks.circle.reference import circle
from benchmarks.circle.runs import PUSHES, START, Circle, pushes, run
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError

URDF = Path(__file__).parents[2] / "codegen" / "robots" / "baxter.urdf"


@pytest.fixture(scope="module")
def arm() -> Robot:
    return loaded("baxter")


@pytest.fixture(scope="module")
def start(arm: Robot) -> np.ndarray:
    return np.array([START.get(joint.split("_")[-1], 0.0) for joint in arm.joints])


@pytest.mark.parametrize("axes", [(1, 2), (0, 1)])
def test_the_tip_is_on_the_circle_turned_never_and_rates_are_exact(arm: Robot, start: np.ndarray, axes: tuple) -> None:
    found = circle(arm, start, axes=axes)
    position, rotation = arm.tip_pose(found.p)
    np.testing.assert_allclose(position, found.tip, atol=1e-10)
    np.testing.assert_allclose(rotation, np.broadcast_to(arm.tip_pose(start).rotation, rotation.shape), atol=1e-9)
    centre = found.tip[0] - 0.15 * np.eye(3)[axes[0]]
    np.testing.assert_allclose(np.linalg.norm(found.tip - centre, axis=1), 0.15, atol=1e-12)
    h = found.period
    eighth = (found.p[:-4] - 8 * found.p[1:-3] + 8 * found.p[3:-1] - found.p[4:]) / (12 * h)  # fourth order
    np.testing.assert_allclose(found.pd[2:-2], eighth, atol=1e-5)
    assert np.abs(found.pd[[0, -1]]).max() == 0.0
    tip_speed = np.linalg.norm(np.diff(found.tip, axis=0), axis=1) / h
    assert tip_speed.max() == pytest.approx(np.pi * 0.3 / 4.0, rel=1e-3)
    assert (found.p[:, 2] == start[2]).all()


def test_laps_follow_each_other(arm: Robot, start: np.ndarray) -> None:
    two = circle(arm, start, laps=2, ramp=0.4)
    lap = round(4.0 / two.period)
    k = round(1.0 / two.period)
    np.testing.assert_allclose(two.p[k], two.p[k + lap], atol=1e-9)
    np.testing.assert_allclose(two.pd[k], two.pd[k + lap], atol=1e-9)


def test_what_cannot_be_followed_is_refused(arm: Robot, start: np.ndarray) -> None:
    with pytest.raises(InputError, match="rad/s"):
        circle(arm, start, lap=0.5)
    with pytest.raises(SolverError, match="does not reach"):
        circle(arm, start, diameter=1.6)
    with pytest.raises(InputError, match="expected an arm of 6 or 7"):
        circle(loaded("double_pendulum"), [0.0, 0.0])


DIFFERENT = ("1 kg, -20 %", "1 kg, +20 %")
AS_GOOD = 0.02
"""Share of a speed limit by which predictive control may stay behind what no law can change."""


@pytest.mark.thorough
def test_computed_torque_keeps_to_the_circle_and_an_observer_helps(arm: Robot) -> None:
    pytest.importorskip("mujoco")
    chosen = ("undisturbed", "pushed -z", DIFFERENT[1])
    plain, observed = (run(arm, URDF, Circle(disturbance=on), only=chosen) for on in (False, True))
    assert plain["undisturbed"].rms() < 2.5e-4  # m; an encoder step at arm's length
    assert observed["undisturbed"].rms() < 2.5e-4
    assert 0.03 < plain["pushed -z"].error.max() < 0.05 and observed["pushed -z"].error.max() < 0.012
    assert 1e-3 < plain[DIFFERENT[1]].rms() < 6e-3 and observed[DIFFERENT[1]].rms() < 5e-4
    for found in (plain, observed):
        assert found["pushed -z"].rms(5.0) < 1e-3  # and back after the push at 2 s
        for name, track in found.items():
            assert min(track.limits.values()) > 0.1, (name, track.limits)


@pytest.mark.thorough
def test_predictive_control_survives_every_push_that_can_be_survived(
    arm: Robot, count: Callable[[int, int], int]
) -> None:
    """At 2 s a push along +x has w1 beyond its limit before any law can act; in every other direction limits are kept."""
    pytest.importorskip("mujoco")
    found = run(arm, URDF, Circle(law="mpc"), only=tuple(PUSHES)[: count(2, len(PUSHES))])
    rows = {row[0]: (float(row[-2].split()[0]), float(row[-1])) for row in pushes(arm, found)[1]}
    for name, (unavoidable, speed) in rows.items():
        assert speed > min(unavoidable, 0.1) - AS_GOOD, (name, rows)
        assert (speed > 0.0) is (name != "pushed +x")
        assert min(found[name].limits[kind] for kind in ("position", "torque")) > 0.0
        assert found[name].error.max() < 0.09 and found[name].rms(5.0) < 3e-3
    assert rows["pushed +x"][0] < -0.2


@pytest.mark.thorough
def test_predictive_control_keeps_to_the_circle_with_another_payload(arm: Robot) -> None:
    pytest.importorskip("mujoco")
    found = run(arm, URDF, Circle(law="mpc"), only=("undisturbed", *DIFFERENT))
    for name, track in found.items():
        assert track.rms() < 1.5e-3 and min(track.limits.values()) > 0.1, (name, track.limits)


@pytest.mark.thorough
def test_command_writes_table_and_picture(arm: Robot, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    out = tmp_path / "circle.png"
    done = CliRunner().invoke(command, [str(arm.folder), "--no-disturbance", "--push-at", "1", "--out", str(out)])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "tip error RMS" in done.output and "unavoidable" in done.output and out.read_bytes().startswith(b"\x89PNG")
