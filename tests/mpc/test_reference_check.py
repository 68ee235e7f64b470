"""References are held against the robot before anything moves (N05): jumps, turns, speeds, accelerations, starts, goals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.command import run
from support.robots import generated, loaded

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.logs.csv import Log, read_log, write_log
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import LogReference, way_of
from diffpbd.runtime.mpc.reference_check import REACH, check_goal, read_reference

SPEED = 4.0  # rad/s, limit of arm2's elbow


def case(shared: Path) -> Path:
    return next((shared / "cases").glob("N05-*"))


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return generated(str(next((shared / "cases").glob("N02-*")) / "arm2.urdf"))


@pytest.fixture(scope="module")
def arm2(folder: Path) -> Robot:
    return load(folder)


def elbow(tmp_path: Path, q: np.ndarray, dq: np.ndarray | None = None, step: float = 0.01) -> Path:
    """A log in which the elbow alone moves."""
    t = step * np.arange(len(q))
    dq = np.gradient(q, step) if dq is None else dq
    zero = np.zeros(len(q))
    path = tmp_path / "reference.csv"
    write_log(path, Log(t, ("turn", "elbow"), np.column_stack([zero, q]), np.column_stack([zero, dq])))
    return path


def test_n05_a_turn_is_followed_the_way_it_was_made(shared: Path, tmp_path: Path, folder: Path) -> None:
    log, out = case(shared) / "wrapped.csv", tmp_path / "run.csv"
    code, text = run("mpc", folder, "--reference", log, "--duration", 4, "--out", out)
    assert code == 0 and "2 steps of 2π are taken out" in text, text
    found = read_log(out)
    assert found.dq[10:, 0].min() > -0.5 and found.q[-1, 0] > 4.0  # recorded: -0.23 to 2.03 rad/s, forwards
    code, text = run("mpc", folder, "--reference", log, "--no-unwrap", "--duration", 4, "--out", tmp_path / "no.csv")
    assert code == 1 and "turn: 2 jumps of up to 6.26" in text and not (tmp_path / "no.csv").exists()


def test_n05_glued_recordings_are_refused_or_bridged(shared: Path, tmp_path: Path, folder: Path) -> None:
    log, out = case(shared) / "glued.csv", tmp_path / "run.csv"
    code, text = run("mpc", folder, "--reference", log, "--duration", 6, "--out", out)
    assert code == 1 and "elbow jumps by 1.499 rad at 2 s" in text and not out.exists(), text
    code, text = run("mpc", folder, "--reference", log, "--bridge-jumps", "--goal-speed", 0.5, "--out", out)
    assert code == 0 and "1 jumps are bridged at 0.5 rad/s" in text, text
    found = read_log(out)
    assert np.abs(found.dq[:, 1]).max() < 0.6 and found.time[-1] == pytest.approx(
        read_log(log).time[-1] + 1.499 / 0.5, abs=0.05
    )


def test_bridges_are_at_the_speed_and_keep_the_rest(shared: Path, arm2: Robot) -> None:
    log = read_log(case(shared) / "glued.csv")
    reference, notes = read_reference(case(shared) / "glued.csv", arm2, Reading(), Approach(0.5), bridge=True)
    assert "1 jumps are bridged" in notes[-1] and reference.reach == np.inf
    with pytest.raises(InputError, match="Take a higher --goal-speed"):
        read_reference(case(shared) / "glued.csv", arm2, Reading(), Approach(1e-9), bridge=True)
    assert (np.diff(reference.time) > 0.0).all()
    assert np.abs(np.diff(reference.q, axis=0) / np.diff(reference.time)[:, None]).max() < 0.55
    reference.start(reference.q[0])
    for since, was in ((0.5, 0.5), (reference.time[-1] - 0.5, log.time[-1] - 0.5)):
        P, _ = reference.at(np.array([since]))
        np.testing.assert_allclose(P[0], [np.interp(was, log.time, column) for column in log.q.T], atol=1e-3)


@pytest.mark.parametrize(("size", "refused"), [(0.98, False), (1.04, True)])
def test_speeds_from_both_sides(tmp_path: Path, arm2: Robot, size: float, refused: bool) -> None:
    t = 0.01 * np.arange(150)
    speed = size * SPEED
    q = speed / 4.0 * np.sin(4.0 * t)
    for path in (elbow(tmp_path, q), elbow(tmp_path, 0.9 * q, speed * np.cos(4.0 * t))):
        if refused:
            with pytest.raises(InputError, match=f"elbow: .* {speed:.3g}.* rad/s at .* beyond its limit of 4"):
                read_reference(path, arm2, Reading(), Approach(0.5))
        else:
            read_reference(path, arm2, Reading(), Approach(0.5))


@pytest.mark.parametrize(("share", "refused"), [(0.9, False), (1.1, True)])
def test_accelerations_by_the_torque_they_take(tmp_path: Path, arm2: Robot, share: float, refused: bool) -> None:
    t, omega, size = 0.002 * np.arange(500), 10.0, 0.3
    q, dq, ddq = (
        size * omega**k * wave for k, wave in enumerate((np.sin(omega * t), np.cos(omega * t), -np.sin(omega * t)))
    )
    zero = np.zeros(500)
    peak = np.abs(arm2.inverse_dynamics(*(np.column_stack([zero, v]) for v in (q, dq, ddq)))[:, 1]).max()
    weaker = load(arm2.folder)
    facts = weaker.manifest.robot
    joints = (facts.joints[0], replace(facts.joints[1], effort=float(peak) / share))
    weaker.manifest = replace(weaker.manifest, robot=replace(facts, joints=joints))
    path = elbow(tmp_path, q, step=0.002)
    if refused:
        with pytest.raises(InputError, match="elbow: an acceleration of .* takes .* beyond its limit"):
            read_reference(path, weaker, Reading(), Approach(0.5))
    else:
        read_reference(path, weaker, Reading(), Approach(0.5))


def test_a_start_far_away_is_refused_by_joint(tmp_path: Path, folder: Path, arm2: Robot) -> None:
    log = elbow(tmp_path, 0.1 * np.sin(0.01 * np.arange(100)))
    reference, _ = read_reference(log, arm2, Reading(), Approach(0.5))
    reference.start(np.array([0.0, 0.99 * REACH]))
    with pytest.raises(InputError, match="elbow: at 0 s the reference is at 0, 0.202 away from the start pose's 0.202"):
        reference.start(np.array([0.0, 1.01 * REACH]))
    words = ("mpc", folder, "--reference", log, "--q0", "[0, 1]", "--duration", 0.5, "--out", tmp_path / "run.csv")
    code, text = run(*words)
    assert code == 1 and "elbow" in text and "--bridge-jumps" in text
    code, text = run(*words, "--bridge-jumps")
    assert code == 0 and np.abs(read_log(tmp_path / "run.csv").dq).max() < 0.7


def test_joints_without_ends_are_followed_in_their_turn(arm2: Robot) -> None:
    time, q = np.array([0.0, 1.0]), np.array([[6.0, 0.0], [6.4, 0.0]])
    reference = way_of(arm2, time, q, np.full((2, 2), 0.1), Approach(0.5), REACH)
    reference.start(np.array([-0.2, 0.0]))  # a turn below
    P, _ = reference.at(np.array([0.0, 1.0]))
    np.testing.assert_allclose(P[:, 0], [-0.2, 6.4 - 2.0 * np.pi])
    plain = LogReference(time, q, q, Approach(0.5))
    plain.start(np.array([-0.2, 0.0]))
    assert plain.at(np.array([100.0]))[0][0, 0] == pytest.approx(6.4)


def test_goals_outside_of_the_limits_and_durations_that_do_not_do(tmp_path: Path, folder: Path, arm2: Robot) -> None:
    out = tmp_path / "run.csv"
    check_goal(arm2, np.array([40.0, 2.5]))
    for goal in (2.51, -2.51):
        code, text = run("mpc", folder, "--goal", json.dumps({"elbow": goal}), "--out", out)
        assert code == 1 and f"--goal: joint elbow: {goal:g} rad is outside of its limits -2.5 to 2.5" in text
    code, text = run("mpc", folder, "--goal", '{"elbow": 1}', "--out", out)
    assert code == 0 and "note: the goal" not in text and "317 ticks" in text  # by default as long as the way takes
    code, text = run("mpc", folder, "--goal", '{"elbow": 1}', "--duration", 1, "--out", out)
    assert (
        code == 0
        and "note: the goal of elbow is 1 away, which takes 2.173 s at --goal-speed 0.5; --duration is 1 s" in text
    )
    assert "at the end elbow is 0.5433 rad from the goal" in text
    code, text = run("mpc", folder, "--goal", '{"elbow": 1}', "--duration", 3, "--out", out)
    assert code == 0 and "note: the goal" not in text and "from the goal" in text and "bound for" not in text
    words = ("--goal", '{"elbow": 1}', "--duration", 2, "--goal-speed", 3, "--bounds", '{"u": [60, 1.5]}')
    code, text = run("mpc", folder, *words, "--out", out)
    assert code == 0 and "elbow was at its torque bound for" in text, text


def test_run_checks_a_reference_and_a_goal_in_the_same_way(tmp_path: Path) -> None:
    robot = loaded("baxter")
    t = 0.01 * np.arange(300)
    q = np.zeros((300, robot.n))
    q[:, 3] = 1.0 + 0.5 * (t > 1.5)
    write_log(tmp_path / "log.csv", Log(t, robot.joints, q, np.zeros_like(q)))
    words = ("run", generated("baxter"), "--controller", "mpc")
    code, text = run(*words, "--reference", tmp_path / "log.csv")
    assert code == 1 and "left_e1 jumps by 0.5 rad at 1.5" in text, text
    code, text = run(*words, "--goal", '{"left_e1": 3}')
    assert code == 1 and "joint left_e1: 3 rad is outside of its limits" in text, text
