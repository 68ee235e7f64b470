"""Torque over motor current from runs with and without a known payload, on simulated currents with noise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion
from support.robots import generated

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify.doors.drive_gains import drive_gains
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

GAINS = np.array([11.5, -4.2])  # N·m/A; the second drive is wired the other way round
PAYLOAD = {"payload.mass": 2.0, "payload.com.x": 0.1, "payload.com.z": 0.05}
FRICTION = {f"friction.{kind}.{joint}": 0.3 for kind in ("coulomb", "viscous") for joint in ("turn", "elbow")}


@pytest.fixture(scope="module")
def arm2(shared: Path) -> Robot:
    return load(generated(str(next((shared / "cases").glob("N02-*")) / "arm2.urdf")))


def currents(robot: Robot, payload: dict[str, float], seed: int, noise: float) -> Log:
    log = motion(robot, {**FRICTION, **payload}, seed=seed, seconds=12.0)
    assert log.tau is not None
    rng = np.random.default_rng(seed)
    return Log(log.time, log.joints, log.q, log.dq, None, log.tau / GAINS + noise * rng.normal(size=log.tau.shape))


def samples(robot: Robot, payload: dict[str, float], seed: int, noise: float) -> list[Samples]:
    return process(f"run {seed}", currents(robot, payload, seed, noise), Processing())


def test_gains_within_their_deviations(arm2: Robot) -> None:
    far = []
    for seed in range(8):
        free, carrying = samples(arm2, {}, seed, 0.05), samples(arm2, PAYLOAD, seed + 100, 0.05)
        found = drive_gains(arm2, free, carrying, PAYLOAD)
        values, deviations = (np.array([getattr(gain, key) for gain in found]) for key in ("value", "std"))
        np.testing.assert_allclose(values, GAINS, rtol=0.02)
        far.append((values - GAINS) / deviations)
    scatter = np.sqrt(np.mean(np.square(far)))
    assert 0.3 < scatter < 3.0, scatter


def test_noise_does_not_pull_the_gains(arm2: Robot) -> None:
    """Least squares of torque on the current would lose the share of the noise in it."""
    biases = []
    for seed in range(6):
        free, carrying = samples(arm2, {}, seed, 0.4), samples(arm2, PAYLOAD, seed + 100, 0.4)
        biases.append(
            [
                gain.value / true - 1.0
                for gain, true in zip(drive_gains(arm2, free, carrying, PAYLOAD), GAINS, strict=True)
            ]
        )
    assert np.abs(np.mean(biases, axis=0)).max() < 0.03, biases


def test_what_a_payload_does_not_tell(arm2: Robot) -> None:
    free = samples(arm2, {}, 1, 0.05)
    with pytest.raises(InputError, match="payload: expected a mass above 0"):
        drive_gains(arm2, free, free, {"payload.com.x": 0.1})
    with pytest.raises(InputError, match="at least one of each"):
        drive_gains(arm2, free, [], PAYLOAD)
    rng = np.random.default_rng(0)
    stand = [
        process(
            "still",
            Log(np.arange(300) / 100, arm2.joints, *np.zeros((2, 300, 2)), None, rng.normal(size=(300, 2))),
            Processing(),
        )
        for _ in range(2)
    ]
    found = drive_gains(arm2, *stand, PAYLOAD)  # noise alone: a gain is infinite but for chance
    assert all(gain.value is None or (gain.std or 0.0) > 0.5 * abs(gain.value) for gain in found), found


def test_the_command_and_what_it_mends(arm2: Robot, tmp_path: Path) -> None:
    runs = []
    for name, payload, seed in (("free", {}, 1), ("loaded", PAYLOAD, 2)):
        runs.append(tmp_path / f"{name}.csv")
        write_log(runs[-1], currents(arm2, payload, seed, 0.05))
    given = json.dumps({"mass": 2.0, "com.x": 0.1, "com.z": 0.05})
    words = ["drive-gain", str(arm2.folder), str(runs[0]), "--loaded", str(runs[1]), "--payload", given]
    same = CliRunner().invoke(cli, [*words, "--loaded", str(runs[0])])
    assert same.exit_code == 1 and "free.csv is also a LOG without the payload" in same.output
    huge = CliRunner().invoke(cli, [*words, "--scale", "tau=1e308"])
    assert huge.exit_code == 2 and "from 1e-12 to 1e+12, found 'tau=1e308'" in huge.output
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0 and "N·m/A" in result.output, result.output
    option = result.output.strip().splitlines()[-1].split()
    assert option[0] == "--drive-gain"
    found = dict(pair.split("=") for pair in option[1].split(","))
    assert [float(found[joint]) for joint in arm2.joints] == pytest.approx(GAINS.tolist(), rel=0.02)
    identify = ["identify", str(arm2.folder), str(runs[0]), "--fit", "friction"]
    refused = CliRunner().invoke(cli, identify)
    assert refused.exit_code == 1 and "elbow: its torque has the wrong sign" in refused.output
    out = tmp_path / "params.json"
    mended = CliRunner().invoke(cli, [*identify, *option, "--out", str(out)])
    assert mended.exit_code == 0, mended.output
    values = {name: entry["value"] for name, entry in json.loads(out.read_text())["parameters"].items()}
    assert all(values[name] == pytest.approx(0.3, abs=0.05) for name in FRICTION)


@pytest.mark.parametrize(("change", "refused"), [(0.0, "never changes"), (1e-6, None)])
def test_currents_that_are_none_are_refused(arm2: Robot, change: float, refused: str | None) -> None:
    """A copy of a run, and a current that keeps its value."""
    free, carrying = samples(arm2, {}, 0, 0.05), samples(arm2, PAYLOAD, 100, 0.05)
    with pytest.raises(InputError, match="copy and run 0 have the same currents"):
        drive_gains(arm2, free, [replace(free[0], name="copy")], PAYLOAD)
    tau = carrying[0].tau.copy()
    tau[:, 1] = 2.0 + change * np.sin(np.arange(len(tau)))
    still = [replace(carrying[0], tau=tau)]
    if refused:
        with pytest.raises(InputError, match=f"run 100: the current of elbow {refused}"):
            drive_gains(arm2, free, still, PAYLOAD)
    else:
        drive_gains(arm2, free, still, PAYLOAD)
