"""Cases P42 to P49 through the command, as a user would type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run
from support.robots import generated

SYMBOLIC = ("mass", "com", "inertia")
GRAVITY = 9.81  # m/s^2
MASS = 1.5  # kg, of P46's bob


def case(shared: Path, name: str) -> Path:
    return next((shared / "cases").glob(f"{name}-*"))


@pytest.fixture(scope="module")
def slow(shared: Path) -> Path:
    return generated(str(case(shared, "P46") / "slow.urdf"), symbolic=SYMBOLIC)


def identified(
    tmp_path: Path, robot: Path, log: Path, columns: dict[str, str], *words: object
) -> tuple[dict[str, Any], str]:
    """params.json and what was printed."""
    renamed, out = tmp_path / "map.json", tmp_path / "params.json"
    renamed.write_text(json.dumps(columns))
    code, text = run("identify", robot, log, "--map", renamed, "--cutoff", 0, "--out", out, *words)
    assert code == 0, text
    return json.loads(out.read_text()), text


def swing(*quantities: str) -> dict[str, str]:
    return {quantity: f"{quantity}_swing" for quantity in quantities}


def values(data: dict[str, Any]) -> dict[str, float]:
    return {name: entry["value"] for name, entry in data["parameters"].items()}


def test_p42_messages_are_counted(shared: Path, tmp_path: Path) -> None:
    messages = case(shared, "P42") / "messages.jsonl"
    code, text = run("log", messages, "--joints", "j1,j2", "--cutoff", 0, "--out", tmp_path / "clean.csv")
    assert code == 1 and not (tmp_path / "clean.csv").exists()  # three rows that do not touch are no recording
    for words in ("3 samples of j1, j2", "array length (1), j2 missing (1), zero stamp (1)", "too short"):
        assert words in text, text


def test_p43_the_torque_is_not_guessed(shared: Path, tmp_path: Path, slow: Path) -> None:
    log, out = case(shared, "P43") / "s1_static.csv", tmp_path / "params.json"
    columns = {"actual_position": "q_swing", "actual_velocity": "dq_swing"}
    (tmp_path / "map.json").write_text(json.dumps(columns))
    code, text = run("identify", slow, log, "--map", tmp_path / "map.json", "--fit", "com", "--out", out)
    assert code == 1 and not out.exists()
    for name in ("actual_effort", "commanded_effort", "gravity_model_effort", "hysteresis_model_effort"):
        assert f"\n  {name}: " in text
    data, text = identified(tmp_path, slow, log, columns, "--fit", "com.bob.x,com.bob.z", "--torque", "actual_effort")
    amplitude = MASS * GRAVITY * np.hypot(values(data)["com.bob.x"], values(data)["com.bob.z"])
    assert amplitude == pytest.approx(12.4, abs=0.1) and "constant" not in text
    _, text = identified(tmp_path, slow, log, columns, "--fit", "com.bob.x,com.bob.z", "--torque", "commanded_effort")
    assert "the torque of swing is constant (0) in all samples" in text


def test_p44_rates_of_coarse_positions(shared: Path, tmp_path: Path) -> None:
    renamed, out = tmp_path / "map.json", tmp_path / "clean.csv"
    renamed.write_text('{"q": "q_a"}')
    code, text = run("log", case(shared, "P44") / "coarse.csv", "--map", renamed, "--out", out)
    assert code == 0 and "zero-phase Butterworth low-pass of order 4 at 5 Hz" in text and "cubic spline" in text, text
    found = np.genfromtxt(out, delimiter=",", names=True)
    error = found["dq_a"] - np.pi * np.cos(2.0 * np.pi * found["time"])
    assert np.abs(error[6:-6]).max() < 0.02 * np.pi


def test_p46_stays_physical_with_a_warning(shared: Path, tmp_path: Path, slow: Path) -> None:
    log, columns = case(shared, "P46") / "slow.csv", swing("q", "dq", "ddq", "tau")
    for prior, words in (("0.01", "it follows the prior"), ("1e-6", "close to its physical limit")):
        data, text = identified(tmp_path, slow, log, columns, "--fit", "com,inertia,friction", "--prior", prior)
        p = values(data)
        square = p["com.bob.x"] ** 2 + p["com.bob.z"] ** 2
        assert p["inertia.bob.yy"] > 0.0 and p["inertia.bob.yy"] + MASS * square >= MASS * square > 0.0
        assert words in text and data["status"] == "Solve_Succeeded"
    assert data["parameters"]["inertia.bob.yy"]["std"] > 0.05 and not data.get("rejected")  # nothing is missing


def test_p47_two_starts_one_answer(shared: Path, tmp_path: Path, slow: Path) -> None:
    log, columns = case(shared, "P47") / "swing.csv", swing("q", "dq", "ddq", "tau")
    start, found = tmp_path / "start.json", []
    for guess in (
        {"friction.viscous.swing": 1e-8, "friction.coulomb.swing": 1e-8},
        {
            "friction.viscous.swing": 2.0,
            "friction.coulomb.swing": 1.0,
            **{f"inertia.bob.{m}": 0.5 for m in ("xx", "yy", "zz")},
        },
    ):
        start.write_text(json.dumps(guess))
        fit = ("--fit", "com,inertia,friction.viscous,friction.coulomb", "--params", start)
        p = values(identified(tmp_path, slow, log, columns, *fit)[0])
        x, z = MASS * p["com.bob.x"], MASS * p["com.bob.z"]
        J = p["inertia.bob.yy"] + (x * x + z * z) / MASS
        found.append([J, x, z, p["friction.viscous.swing"], p["friction.coulomb.swing"]])
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert found[0] == pytest.approx([0.11, 0.02, 0.41, 0.5, 0.0], abs=0.02)


def test_p48_an_offset_is_a_parameter(shared: Path, tmp_path: Path, slow: Path) -> None:
    log, columns = case(shared, "P48") / "static.csv", swing("q", "dq", "tau")
    known = tmp_path / "known.json"
    known.write_text('{"com.bob.x": 0.0}')
    data, text = identified(tmp_path, slow, log, columns, "--fit", "com.bob.z,friction", "--params", known)
    assert values(data)["torque_offset.swing"] == pytest.approx(1.3, abs=0.08)
    assert abs(MASS * GRAVITY * values(data)["com.bob.z"]) == pytest.approx(5.2, abs=0.08)
    assert set(data["not_identifiable"]) == {"friction.coulomb.swing", "friction.viscous.swing"}
    data, text = identified(tmp_path, slow, log, columns, "--fit", "com.bob.z", "--params", known)
    assert data["bias"]["train"]["swing"] == pytest.approx(1.3, abs=0.08)
    assert abs(MASS * GRAVITY * values(data)["com.bob.z"]) == pytest.approx(5.2, abs=0.08)
    assert "torque_offset.swing" in text  # the bias is named with what would take it


def test_p48_offsets_of_every_size(tmp_path: Path, slow: Path) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        offset, half, length = rng.uniform(-3.0, 3.0), rng.uniform(0.0, 0.6), rng.uniform(0.1, 0.5)
        up = np.linspace(-1.4, 1.4, 15)
        q = np.concatenate([up, up[::-1]])
        approach = np.repeat([1.0, -1.0], 15)
        # the bob hangs above the axis: the sensor holds it back
        tau = -MASS * GRAVITY * length * np.sin(q) + offset + half * approach + 0.02 * rng.normal(size=30)
        rows = np.column_stack([2.0 * np.arange(30), q, 0.0 * q, tau])
        log, known = tmp_path / "static.csv", tmp_path / "known.json"
        np.savetxt(log, rows, delimiter=",", header="t,q,dq,tau", comments="", fmt="%.17g")
        known.write_text('{"com.bob.x": 0.0}')
        words = ("--fit", "com.bob.z,friction", "--params", known)
        data, _ = identified(tmp_path, slow, log, swing("q", "dq", "tau"), *words)
        assert values(data)["torque_offset.swing"] == pytest.approx(offset, abs=0.08)
        assert values(data)["com.bob.z"] == pytest.approx(length, abs=0.08 / (MASS * GRAVITY))
        assert values(data)["friction.coulomb.swing"] == 0.0  # no sign is credited at rest


def test_p49_a_still_joint(shared: Path, tmp_path: Path) -> None:
    folder = case(shared, "P49")
    robot = generated(str(folder / "still2.urdf"), symbolic=SYMBOLIC)
    columns = {f"{k}{j}": f"{k}_j{j}" for k in ("q", "dq", "ddq", "tau") for j in (1, 2)}
    data, text = identified(tmp_path, robot, folder / "still.csv", columns, "--fit", "inertials,friction")
    assert "joint j2 never moved" in text and "Rank " in text and "condition " in text
    assert {"friction.coulomb.j2", "friction.viscous.j2"} <= set(data["not_identifiable"])
    assert data["parameters"]["friction.viscous.j1"]["std"] is not None
    assert np.isfinite(list(values(data).values())).all()
