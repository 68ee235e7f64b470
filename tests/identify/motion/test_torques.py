"""Torques of chosen joints as unknowns of the simultaneous form, and the options of `identify` for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.recordings.followed import PENDULUM, PENDULUM_TRUTH, followed
from support.robots import generated

from diffpbd.runtime import Robot
from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.errors import DiffpbdError
from diffpbd.runtime.commands.identify import command
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.motion.torques import unknown_torques
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.csv import Log, read_log
from diffpbd.runtime.logs.processing import Processing, Samples, filter_parts

EXACT = Processing(cutoff=None)
TRUTH = PENDULUM_TRUTH | {"payload.mass": 0.4}
ELBOW = ["friction.viscous.elbow", "friction.coulomb.elbow", "torque_offset.elbow", "payload.mass"]
KNOWN = {name: value for name, value in TRUTH.items() if name not in ELBOW}
STEPS = 60
FREE = np.inf


@pytest.fixture(scope="module")
def log(pendulum: Robot) -> Log:
    return followed(pendulum, TRUTH, STEPS)


@pytest.fixture(scope="module")
def applied(pendulum: Robot, log: Log) -> np.ndarray:
    """Torques that moved the arm."""
    assert log.tau is not None
    return log.tau[:-1] - pendulum.alpha.vector(TRUTH)[list(pendulum.alpha.indices("torque_offset"))]


def spoilt(log: Log, joint: int) -> Log:
    """The log with nonsense in place of one joint's readings."""
    assert log.tau is not None
    tau = np.array(log.tau)
    tau[:, joint] = 3.0 * np.sin(np.arange(len(tau)))
    return replace(log, tau=tau)


def samples(log: Log) -> list[Samples]:
    return filter_parts("run", log, EXACT)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("torques", "fit"),
    [
        ({"shoulder": FREE}, ELBOW),
        ({"shoulder": 0.1}, [*PENDULUM, "payload.mass"]),
        ({"shoulder": 0.1, "elbow": 0.1}, [*PENDULUM, "payload.mass"]),
        ({}, [*PENDULUM, "payload.mass"]),
    ],
)
def test_torques_and_parameters_together(
    pendulum: Robot, log: Log, applied: np.ndarray, torques: dict[str, float], fit: list[str]
) -> None:
    """Whatever is determined comes to the truth; readings that are not used have no say."""
    free = [joint for joint, deviation in torques.items() if deviation == FREE]
    runs = samples(spoilt(log, 0) if free else log)
    start = KNOWN if free else {}
    result = identify(pendulum, runs, fit, start=start, settings=Settings(form="simultaneous", torques=torques))
    assert not result.lost
    for name, value in TRUTH.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-6), name
    assert result.torques[0].u == pytest.approx(applied, abs=1e-6)
    reading = result.torques[0].reading - result.torques[0].u
    assert reading[:, 1] == pytest.approx(TRUTH["torque_offset.elbow"], rel=1e-6)


def test_a_prior_weighs_readings(pendulum: Robot, log: Log, applied: np.ndarray) -> None:
    """Readings that are off pull the estimate as far as their deviation says: little, or nearly all the way."""
    errors = []
    for sigma in (1e4, 1e-4):
        settings = Settings(form="simultaneous", torques={"shoulder": sigma})
        result = identify(pendulum, samples(spoilt(log, 0)), [], start=TRUTH, settings=settings)
        assert result.estimates and not result.lost
        errors.append(np.abs(result.torques[0].u - applied).max())
    assert errors[0] < 0.1 < 10.0 < errors[1], errors


def test_a_log_without_torques(pendulum: Robot, log: Log, applied: np.ndarray) -> None:
    settings = Settings(form="simultaneous", torques={"shoulder": FREE, "elbow": FREE})
    runs = samples(replace(log, tau=None))
    result = identify(pendulum, runs, [], start=TRUTH, settings=settings)
    assert result.torques[0].u == pytest.approx(applied, abs=1e-6)
    assert "run: it has no torques: errors of torque are those of the estimated ones" in result.notes


def test_joints_and_deviations(pendulum: Robot) -> None:
    assert unknown_torques(pendulum, "all", None) == {"shoulder": FREE, "elbow": FREE}
    assert unknown_torques(pendulum, "elbow", "0.2") == {"elbow": 0.2}
    assert unknown_torques(pendulum, "shoulder, elbow", "elbow=0.2") == {"shoulder": FREE, "elbow": 0.2}


def write(path: Path, log: Log) -> None:
    blocks = {name: values for name in ("q", "dq", "tau") if (values := getattr(log, name)) is not None}
    header = ["time", *(f"{name}_{joint}" for name in blocks for joint in log.joints)]
    rows = np.column_stack([log.time, *blocks.values()])
    path.write_text("\n".join([",".join(header), *(",".join(repr(float(v)) for v in row) for row in rows)]) + "\n")


def invoked(path: Path, words: Sequence[object]) -> tuple[int, str]:
    first = [str(generated("double_pendulum")), str(path), "--cutoff", "0"]
    done = CliRunner().invoke(command, [*first, *(str(word) for word in words)])
    assert done.exception is None or isinstance(done.exception, (DiffpbdError, SystemExit)), done.exception
    return done.exit_code, f"{done.output} {done.exception}"


@pytest.mark.thorough
def test_the_command(
    pendulum: Robot, log: Log, applied: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, params, out = tmp_path / "run.csv", tmp_path / "given.json", tmp_path / "torques.csv"
    write(run, replace(log, tau=None))
    params.write_text(str(TRUTH).replace("'", '"'))
    simultaneous = ["--form", "simultaneous", "--params", params]
    code, text = invoked(run, [*simultaneous, "--unknown-torque", "all", "--torques-out", out])
    assert code == 0, text
    found = read_log(out)
    assert found.tau is not None and len(found.time) == STEPS
    offset = pendulum.alpha.vector(TRUTH)[list(pendulum.alpha.indices("torque_offset"))]
    assert found.tau == pytest.approx(applied + offset, abs=1e-6)
    write(run, log)
    arrays, json_out = tmp_path / "torques.npz", tmp_path / "out.json"
    words = [*simultaneous, "--fit", "payload.mass", "--unknown-torque", "shoulder", "--torque-sigma", "0.1"]
    code, text = invoked(run, [*words, "--torques-out", arrays, "--out", json_out])
    assert code == 0 and '"payload.mass"' in json_out.read_text(), text
    with np.load(arrays) as data:
        assert data["u"] == pytest.approx(applied, abs=1e-6) and data["joints"].tolist() == ["shoulder", "elbow"]
    fails = tmp_path / "none.npz"
    for extra, words_ in (
        (["--unknown-torque", "shoulder", "--fit", "friction", "--form", "simultaneous"], "act as a torque on a joint"),
        (
            ["--unknown-torque", "all", "--form", "shooting"],
            "is an option of --form simultaneous, found --form shooting",
        ),
        (["--fit", "friction"], "--torques-out is an option of --form simultaneous"),
        (["--form", "simultaneous"], "--fit: expected what to fit"),
        (["--form", "simultaneous", "--fit", "friction", "--torque-sigma", "1"], "expected --unknown-torque beside it"),
    ):
        code, text = invoked(run, [*extra, "--torques-out", fails, "--out", tmp_path / "none.json"])
        assert code == 1 and words_ in text, text
    monkeypatch.setitem(ipopt.OPTIONS["ipopt"], "max_iter", 1)
    outputs = ["--torques-out", fails, "--out", tmp_path / "none.json", "--report", tmp_path / "none.html"]
    code, text = invoked(run, [*words[:-4], *outputs])
    assert code == 1 and "Maximum_Iterations_Exceeded" in text and "nothing was written" in text
    code, text = invoked(
        run, ["--form", "shooting", "--continuity", "--fit", "friction", "--out", tmp_path / "none.json"]
    )
    assert code == 1 and "Maximum_Iterations_Exceeded" in text
    assert not list(tmp_path.glob("none*"))
