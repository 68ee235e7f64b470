from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded, with_table

import diffpbd
from diffpbd.runtime import load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.loop.clearance import above


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["mpc", str(generated("double_pendulum")), *(str(word) for word in words)])
    return result.exit_code, result.output


def test_to_a_goal_and_along_what_came_out(tmp_path: Path) -> None:
    out, again, plot = tmp_path / "run.csv", tmp_path / "again.csv", tmp_path / "run.png"
    goal = ("--goal", '{"elbow": 0.3}', "--goal-speed", 1, "--horizon", 8, "--duration", 0.5)
    code, text = run(*goal, "--out", out, "--plot", plot)
    assert code == 0, text
    assert "50 ticks of 0.01 s: 50 solved; solver: 50 solved" in text and "tick: median" in text
    log = read_log(out)
    assert log.q.shape == (51, 2) and log.tau is not None and plot.stat().st_size > 10_000
    assert abs(log.q[-1] - [0.0, 0.3]).max() < 0.02
    code, text = run(
        "--reference", out, "--horizon", 5, "--delay", 1, "--weights", '{"u": [1e-9, 1e-9]}', "--bounds", '{"u": 35}',
        "--out", again,
    )  # fmt: skip
    assert code == 0, text
    assert abs(read_log(again).q - log.q).max() < 0.02


def test_an_unknown_load_is_found(tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    words = (
        "--goal",
        "[0, 0.2]",
        "--horizon",
        8,
        "--duration",
        0.8,
        "--load",
        '{"elbow": -2}',
        "--delay",
        1,
        "--out",
        out,
    )
    ends = []
    for option in ("--no-disturbance", "--disturbance"):
        code, text = run(*words, option)
        assert code == 0 and "solver alone: median" in text, text
        found = re.search(r"disturbance estimated .*, elbow (-[\d.]+)\n", text)
        assert (found is not None) is (option == "--disturbance"), text
        assert found is None or abs(float(found[1]) + 2.0) < 0.05
        ends.append(abs(read_log(out).q[-1, 1] - 0.2))
    assert ends[1] < 0.2 * ends[0], ends


def test_a_load_beyond_the_torque_is_said(tmp_path: Path) -> None:
    """On both sides of what the elbow's 20 N·m bear."""
    words = ("--goal", "[0, 0.2]", "--horizon", 8, "--duration", 0.3, "--disturbance", "--bounds", '{"u": [60, 20]}')
    said = {}
    for torque in (-15, -60):
        _, text = run(*words, "--load", json.dumps({"elbow": torque}), "--out", tmp_path / "run.csv")
        said[torque] = "elbow cannot be held: weight and the estimated load of" in text
        assert "take load off" in text or not said[torque]
    assert said == {-15: False, -60: True}


def test_a_lasting_load_on_a_light_joint_is_held(tmp_path: Path) -> None:
    """0.2 N·m on the last joint once took it to its stop: its goal moved away from what might end at once."""
    robot, load = loaded("baxter_bare"), 0.2 * np.eye(7)[6]
    mpc = diffpbd.Mpc(robot, disturbance=0.02, delay=0)
    q0 = [0, -0.55, 0, 0.75, 0, 1.26, 0]
    run = mpc.run_to({"left_s0": 0.3}, q0=q0, duration=4.0, within=None, plant=diffpbd.Plant(load=load))
    assert abs(run.q[-1] - [0.3, *q0[1:]]).max() < 1e-4
    assert 0.1 < abs(run.q[:, 6]).max() < 2.0  # until it is known to last, it is yielded to; the stop is at 3.06


def test_the_other_back_end(tmp_path: Path) -> None:
    code, text = run(
        "--goal", "[0.1, 0.1]", "--horizon", 4, "--duration", 0.05, "--backend", "ipopt", "--out", tmp_path / "run.csv"
    )
    assert code == 0 and "5 solved; solver: 5 solved" in text, text


def test_a_start_outside_of_the_limits_is_refused(tmp_path: Path) -> None:
    joint = load(generated("double_pendulum")).manifest.robot.joints[1]
    assert joint.upper is not None
    for angle, refused in ((joint.upper, False), (joint.upper + 1e-3, True), (40.0, True)):
        words = ("--goal", "[0, 0]", "--q0", f'{{"{joint.name}": {angle}}}', "--duration", 0.02)
        code, output = run(*words, "--out", tmp_path / "run.csv")
        assert code == refused, output
        assert not refused or f"--q0: joint {joint.name}: {angle:g} rad is outside of its limits" in output


def test_the_recipes_table_holds_for_start_goal_and_reference(tmp_path: Path) -> None:
    plain = generated("double_pendulum")
    robot = load(plain)
    alpha, poses = robot.alpha.defaults, np.array([[0.0, 0.0], [0.3, 0.0]])

    def lowest(q: np.ndarray) -> float:
        return float(above(robot, alpha, 99.0)(q).split(" down to ")[1].split(" m")[0])

    low, high = sorted(map(lowest, poses))
    assert low < high - 0.01
    raised = with_table(plain, tmp_path / "raised", 0.5 * (low + high))
    hanging, lifted = sorted(poses.tolist(), key=lambda q: lowest(np.array(q)))
    log = tmp_path / "log.csv"
    log.write_text("time,q_shoulder,q_elbow,dq_shoulder,dq_elbow\n" + "".join(
        f"{0.01 * k},{hanging[0]},{hanging[1]},0,0\n" for k in range(50)
    ))  # fmt: skip
    for words, what in (
        (("--goal", lifted, "--q0", lifted), ""), (("--goal", lifted, "--q0", hanging), "start of --q0"),
        (("--goal", hanging, "--q0", lifted), "goal"), (("--reference", log), "reference"),
    ):  # fmt: skip
        line = ["mpc", str(raised), *map(str, words), "--duration", "0.02", "--out", str(tmp_path / "run.csv")]
        result = CliRunner().invoke(cli, line)
        assert result.exit_code == bool(what), result.output
        assert not what or f"The {what} cannot be reached" in result.output and "below the table's" in result.output


def test_a_reference_of_another_robot_is_refused_by_name(tmp_path: Path) -> None:
    log = tmp_path / "other.csv"
    log.write_text("time,q_a,dq_a\n0,0,0\n1,0,0\n")
    code, output = run("--reference", log, "--out", tmp_path / "run.csv")
    assert code == 1 and "shoulder" in output


def test_params_are_taken(tmp_path: Path) -> None:
    params = tmp_path / "params.json"
    params.write_text(json.dumps({"payload.mass": 0.5}))
    code, text = run(
        "--goal", "[0, 0]", "--duration", 0.1, "--q0", "[0.5, 0]", "--params", params, "--out", tmp_path / "a.csv"
    )
    assert code == 0, text
    first = read_log(tmp_path / "a.csv").tau
    assert first is not None and np.isfinite(first).all()
    code, _ = run("--goal", "[0, 0]", "--duration", 0.1, "--q0", "[0.5, 0]", "--out", tmp_path / "b.csv")
    second = read_log(tmp_path / "b.csv").tau
    assert second is not None and abs(first - second).max() > 0.1


def test_a_goal_of_the_tip_is_said_with_what_is_left_of_the_way(tmp_path: Path) -> None:
    robot, out = load(generated("double_pendulum")), tmp_path / "run.csv"
    goal = robot.tip_pose([0.3, -0.2]).position
    words = ("--tip-goal", json.dumps(goal.tolist()), "--horizon", 5, "--out", out, "--json")
    code, text = run(*words)
    assert code == 0, text
    said = json.loads(text[text.index("{") :])
    end = robot.tip_pose([said["positions"][joint] for joint in robot.joints]).position
    assert said["tip_away"] == pytest.approx(float(np.linalg.norm(end - goal)), abs=1e-12) and said["tip_away"] < 0.01
    code, text = run(*words[:-1])
    assert f"at the end the tip is {said['tip_away']:.3g} m from its goal" in text
