from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pytest
from click.testing import CliRunner
from support.recordings.followed import PENDULUM, PENDULUM_TRUTH, arm_truth, followed
from support.robots import generated, loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.commands.identify import command
from diffpbd.runtime.identify.doors.forms import ALONG, identify
from diffpbd.runtime.identify.motion.trajectory import motions, parameters_of
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.result.result import Identification
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

EXACT = Processing(cutoff=None)
TRUE = 1e-6  # relative


@pytest.fixture(scope="module")
def log(pendulum: Robot) -> Log:
    return followed(pendulum, PENDULUM_TRUTH, 100)


@pytest.fixture(scope="module")
def samples(log: Log) -> list[Samples]:
    return process("run", log, EXACT)


def assert_true(result: Identification, truth: dict[str, float]) -> None:
    for estimate in result.estimates:
        wanted = truth[estimate.name]
        assert estimate.value == pytest.approx(wanted, rel=TRUE, abs=TRUE * 1e-2), estimate.name


@pytest.mark.parametrize("form", sorted(ALONG))
def test_the_truth_of_a_pendulum(pendulum: Robot, samples: list[Samples], form: str) -> None:
    result = identify(pendulum, samples, PENDULUM, validate=samples, settings=Settings(form))
    assert result.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")
    assert not result.lost and result.rank == result.unknowns == 7
    assert_true(result, PENDULUM_TRUTH)
    assert {e.name for e in result.estimates} == set(PENDULUM_TRUTH)
    assert result.validate is not None and result.iterations > 0


@pytest.mark.thorough("simultaneous")
@pytest.mark.parametrize("form", sorted(ALONG))
def test_slides_rotors_and_a_payload(form: str) -> None:
    robot = loaded("prismatic_skew")
    truth = {f"rotor_inertia.{joint}": 0.004 + 0.002 * k for k, joint in enumerate(robot.joints)}
    truth |= {f"friction.viscous.{joint}": 0.2 + 0.1 * k for k, joint in enumerate(robot.joints)} | {
        "payload.mass": 0.7
    }
    result = identify(robot, process("run", followed(robot, truth, 25), EXACT), list(truth), settings=Settings(form))
    assert not result.lost
    assert_true(result, truth)


def test_baxter() -> None:
    robot = loaded("baxter")
    truth = arm_truth(robot)
    result = identify(
        robot,
        process("run", followed(robot, truth, 100), EXACT),
        ["friction", "spring"],
        settings=Settings(form="shooting"),
    )
    assert not result.lost and len(result.estimates) == 22
    assert_true(result, truth)


def test_residual_derivatives(pendulum: Robot, samples: list[Samples]) -> None:
    parameters = parameters_of(pendulum, tuple(PENDULUM_TRUTH), pendulum.alpha.vector(), "shooting")
    windows = Windows(pendulum, motions(samples, "shooting"), parameters, 0.2)
    theta = np.array(list(PENDULUM_TRUTH.values())) * 1.1
    states = windows.states + 0.01
    found = windows.condense(theta, states)
    by_theta, by_states = found.by_theta, found.by_states
    assert found.value == pytest.approx(windows.half_mean_square(theta, states))
    assert found.total == pytest.approx(found.blocks.sum(axis=0))
    for k in range(len(theta)):
        step = 1e-6 * np.eye(len(theta))[k]
        slope = (windows.half_mean_square(theta + step, states) - windows.half_mean_square(theta - step, states)) / 2e-6
        assert by_theta[k] == pytest.approx(slope, rel=1e-4, abs=1e-6 * np.abs(by_theta).max())
    step = np.zeros_like(states)
    step[1, 2] = 1e-6
    slope = (windows.half_mean_square(theta, states + step) - windows.half_mean_square(theta, states - step)) / 2e-6
    assert by_states[1, 2] == pytest.approx(slope, rel=1e-4)


def test_two_recordings_of_different_steps(pendulum: Robot, samples: list[Samples]) -> None:
    second = process("other", followed(pendulum, PENDULUM_TRUTH, 120, h=0.004, seed=5), EXACT)
    result = identify(pendulum, [*samples, *second], PENDULUM, settings=Settings(form="shooting"))
    assert_true(result, PENDULUM_TRUTH)


@pytest.mark.parametrize("form", sorted(ALONG))
def test_what_the_motion_does_not_depend_on_is_named(pendulum: Robot, log: Log, form: str) -> None:
    names = ["friction.viscous.shoulder", "payload.mass", "gravity.y"]
    runs = process("run", log, EXACT)
    start = {name: value for name, value in PENDULUM_TRUTH.items() if name not in names}
    result = identify(pendulum, runs, names, start=start, settings=Settings(form))
    assert [item.name for item in result.lost] == ["gravity.y"]
    stds = {e.name: e.std for e in result.estimates}
    assert stds["gravity.y"] is None and stds["payload.mass"] is not None
    assert result.parameters["gravity.y"] == pytest.approx(0.0, abs=1e-12)
    assert result.parameters["payload.mass"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("form", sorted(ALONG))
def test_an_arm_at_rest_says_nothing_of_friction(pendulum: Robot, log: Log, form: str) -> None:
    alpha = pendulum.alpha.vector({"payload.mass": 0.4})
    q = np.tile([1.0, -0.5], (30, 1)) + 1e-14 * np.random.default_rng(0).normal(size=(30, 2))
    still = replace(log, time=log.time[:30], q=q, dq=1e-14 * q, tau=np.asarray(pendulum.gravity(q, alpha)))
    result = identify(
        pendulum, process("run", still, EXACT), ["friction.viscous", "payload.mass"], settings=Settings(form)
    )
    assert {item.name for item in result.lost} == {f"friction.viscous.{joint}" for joint in pendulum.joints}
    assert result.parameters["payload.mass"] == pytest.approx(0.4, abs=1e-6)
    assert all(e.std is None for e in result.estimates if e.name.startswith("friction"))


@pytest.mark.parametrize("form", sorted(ALONG))
def test_noise_is_covered_by_the_deviations(pendulum: Robot, log: Log, form: str) -> None:
    rng = np.random.default_rng(0)
    noisy = replace(log, q=log.q + 1e-3 * rng.normal(size=log.q.shape), dq=log.dq + 1e-2 * rng.normal(size=log.q.shape))
    result = identify(pendulum, process("run", noisy, EXACT), PENDULUM, settings=Settings(form))
    errors = [(e.value - PENDULUM_TRUTH[e.name]) / (e.std or np.nan) for e in result.estimates]
    assert 0.1 < np.sqrt(np.mean(np.square(errors))) < 3.0


def test_refusals(pendulum: Robot, samples: list[Samples], monkeypatch: pytest.MonkeyPatch) -> None:
    wild = [replace(s, tau=s.tau * 1e6) for s in samples]
    with pytest.raises(SolverError):
        identify(pendulum, wild, PENDULUM, settings=Settings(form="shooting"))
    monkeypatch.setitem(ipopt.OPTIONS["ipopt"], "max_iter", 1)
    with pytest.raises(SolverError, match="Maximum_Iterations_Exceeded"):
        identify(pendulum, samples, PENDULUM, settings=Settings(form="shooting"))


@pytest.mark.thorough
@pytest.mark.parametrize("form", sorted(ALONG))
def test_the_command(log: Log, tmp_path: Path, form: str) -> None:
    columns: dict[str, np.ndarray] = {}
    for kind, values in (("q", log.q), ("dq", log.dq), ("tau", log.tau)):
        assert values is not None
        columns |= {f"{kind}_{joint}": values[:, k] for k, joint in enumerate(log.joints)}
    rows = [",".join(["time", *columns])]
    rows += [",".join(repr(float(x)) for x in (t, *(v[k] for v in columns.values()))) for k, t in enumerate(log.time)]
    path, out = tmp_path / "run.csv", tmp_path / "params.json"
    path.write_text("\n".join(rows) + "\n")
    command_words = [
        str(generated("double_pendulum")),
        str(path),
        "--fit",
        ",".join(PENDULUM),
        "--form",
        form,
        "--cutoff",
        "0",
    ]
    done = CliRunner().invoke(command, [*command_words, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert '"spring.rest.shoulder"' in out.read_text()
    source = json.loads(out.read_text())["provenance"]
    assert source["command"] == ["diffpbd", "identify", *command_words, "--out", str(out)]
    assert source["logs"] == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()} and source["validate"] == {}
    assert source["robot"]["content_hash"] == loaded("double_pendulum").manifest.content_hash != ""
    assert source["versions"]["casadi"] == casadi.__version__
    holes = [row if k % 4 else row.replace(row.split(",")[1], "nan") for k, row in enumerate(rows[1:])]
    for bad, words in ((rows[:4], "too short"), ([rows[0], *holes], "too short|nan|finite|no number")):
        path.write_text("\n".join(bad) + "\n")
        failed = CliRunner().invoke(command, [*command_words, "--out", str(tmp_path / "none.json")])
        assert failed.exit_code == 1 and not (tmp_path / "none.json").exists()
        assert re.search(words, str(failed.exception), re.IGNORECASE)
