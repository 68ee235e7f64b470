"""Instrumental variables: the textbook's formula, rates with noise, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion
from support.robots import generated, loaded

from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.identify.torque.instruments import by_positions
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

JOINTS = ("shoulder", "elbow")
WIDTHS = {f"friction.transition_velocity.{j}": 0.3 for j in JOINTS}
TRUTH = WIDTHS | {
    "friction.coulomb.shoulder": 0.6, "friction.viscous.shoulder": 0.2, "friction.coulomb.elbow": 0.4,
    "friction.viscous.elbow": 0.1, "torque_offset.shoulder": 0.3, "rotor_inertia.shoulder": 0.5, "rotor_inertia.elbow": 0.2,
}  # fmt: skip


def log(seed: int, noise: float) -> Log:
    """A motion below 1 Hz; positions with 1e-4 rad of noise, rates with `noise` [rad/s]."""
    rng, run = (
        np.random.default_rng(seed + 99),
        motion(loaded("double_pendulum"), TRUTH, seed=seed, seconds=12.0, noise=0.05),
    )
    errors = rng.normal(size=(2, *run.q.shape))
    return Log(run.time, run.joints, run.q + 1e-4 * errors[0], run.dq + noise * errors[1], None, run.tau)


def recorded(noise: float, runs: int = 8) -> list[Samples]:
    return [s for k in range(runs) for s in process(f"run {k}", log(k, noise), Processing())]


def fitted(run: list[Samples], fit: str, instruments: float | None) -> Identification:
    return identify(
        loaded("double_pendulum"), run, fit.split(","), start=WIDTHS, settings=Settings(instruments=instruments)
    )


def off(result: Identification, name: str) -> float:
    """Error in deviations."""
    (e,) = [e for e in result.estimates if e.name == name]
    return (e.value - TRUTH[name]) / (e.std or e.formal or np.nan)


def said(result: Identification) -> str:
    (note,) = [note for note in result.notes if "by instruments" in note]
    return note


def test_the_estimate_is_the_textbooks() -> None:
    """(ZᵀA)⁻¹Zᵀy with columns by hand: the elbow's torque less that of the rigid arm is viscous·rate + offset."""
    robot, run = loaded("double_pendulum"), recorded(0.2, 1)
    result = identify(robot, run, ["friction.viscous", "torque_offset"], settings=Settings(instruments=2.0))
    s, z = run[0], by_positions(run[0], 2.0)
    y = s.tau - s.smooth(np.asarray(robot.inverse_dynamics(s.q, s.dq, s.ddq, robot.alpha.vector())))
    for j, joint in enumerate(JOINTS):
        A, Z = (s.smooth(np.column_stack([own.dq[:, j], np.ones(len(own.dq))])) for own in (s, z))
        Z[(s.time < 0.5) | (s.time > s.time[-1] - 0.5)] = 0.0
        viscous, offset = np.linalg.solve(Z.T @ A, Z.T @ s.trimmed(y)[:, j])
        assert result.parameters[f"friction.viscous.{joint}"] == pytest.approx(viscous, rel=1e-7)
        assert result.parameters[f"torque_offset.{joint}"] == pytest.approx(offset, rel=1e-7)


def test_noise_in_rates_biases_rotors_and_instruments_do_not() -> None:
    run = recorded(0.2)
    plain, own = (fitted(run, "friction,rotor_inertia", hz) for hz in (None, 2.0))
    name = "rotor_inertia.shoulder"
    values = [r.parameters[name] - TRUTH[name] for r in (plain, own)]
    assert values[0] < -0.02 and abs(values[1]) < 0.5 * abs(values[0]), values
    assert abs(off(own, name)) < 2.5
    assert "noise of the motion biases least squares" in said(own) and name in said(own)


def test_without_noise_both_agree() -> None:
    run = recorded(0.0, 4)
    own = fitted(run, "friction,rotor_inertia", 2.0)
    assert "least squares agrees within chance" in said(own)
    assert all(abs(off(own, name)) < 3.5 for name in TRUTH if name.startswith(("friction.c", "friction.v", "torque")))
    for joint in JOINTS:  # central differences take 0.07 % of accelerations at 1 Hz
        assert own.parameters[f"rotor_inertia.{joint}"] == pytest.approx(TRUTH[f"rotor_inertia.{joint}"], abs=0.003)


def test_of_whole_bodies_the_base_parameters_are_by_instruments() -> None:
    run = recorded(0.2, 4)
    plain, own = (fitted(run, "inertials", hz) for hz in (None, 2.0))
    assert own.parameters == plain.parameters and said(own).startswith("base parameters are by instruments")
    changed = [a.value != b.value for a, b in zip(plain.base, own.base, strict=True)]
    assert changed and all(changed) and all(e.std is None or e.std > 0.0 for e in own.base)


def test_the_command(tmp_path: Path) -> None:
    write_log(tmp_path / "run.csv", log(0, 0.1))
    out = tmp_path / "params.json"
    words = [
        "identify",
        str(generated("double_pendulum")),
        str(tmp_path / "run.csv"),
        "--fit",
        "friction,rotor_inertia",
    ]
    done = CliRunner().invoke(cli, [*words, "--instruments", "2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "estimates are by instruments" in done.output
    assert json.loads(out.read_text())["parameters"]["rotor_inertia.elbow"]["value"] == pytest.approx(0.2, abs=0.05)
