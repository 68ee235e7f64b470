"""A log names the instruction sets of its run: replayed with them to the bit, with others to rounding."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.recorder import START, Recorder
from diffpbd.runtime.loop.replay import ROUNDING, replay
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.records.messages import Header, Tick

POSE = np.array([0.1, -0.5, 0.2, 0.9, 0.1, 0.6, 0.0])
LAW = {"name": "impedance", "stiffness": [5.0] * 7, "damping": [1.0] * 7, "goal": POSE.tolist(), "goal_speed": 0.2}
TICKS = 12


@pytest.fixture
def arm() -> Robot:
    return loaded("baxter_bare")


@pytest.fixture
def log(arm: Robot, tmp_path: Path) -> Path:
    """A run of the loop's own parts on states that are made up."""
    made = Configuration(
        arm.name, arm.manifest.abi_hash, arm.joints, LAW, GravityOwner.MODEL, arm.alpha.defaults, limits_of(arm),
        Settings(0.01), instructions=arm.instructions,
    )  # fmt: skip
    supervisor, path, zero = made.supervisor(arm), tmp_path / "run.csv", np.zeros(7)
    recorder = Recorder(path, made.to_json(), arm.joints)
    recorder.open()

    def note(t: float, q: np.ndarray, command: np.ndarray, status: int, text: str) -> None:
        header = Header(0, (0, round(1e9 * t)), "")
        recorder.tick(Tick(header, t, 0.0, 3, status, arm.joints, q, zero, zero, zero, zero, command, text))

    supervisor.start(POSE, zero, 0.0)
    note(0.0, POSE, zero, 0, START)
    for k in range(1, TICKS + 1):
        t, q = 0.01 * k, POSE + 0.001 * k
        decision = supervisor.tick(t, round(1e9 * t) / 1e9, q, zero, zero)
        note(t, q, decision.command, int(decision.status), "")
    recorder.close()
    return path


@pytest.mark.parametrize("name", ["impedance", "cartesian", "mpc"])
def test_what_older_logs_ran_was_a_ramp(arm: Robot, name: str) -> None:
    made = Configuration(
        arm.name, arm.manifest.abi_hash, arm.joints, {"name": name}, GravityOwner.MODEL, arm.alpha.defaults, limits_of(arm),
        Settings(0.01),
    )  # fmt: skip
    assert made.controller["goal_profile"] == "smooth"
    data = made.to_json()
    assert Configuration.from_json(data).controller == made.controller
    data["controller"] = {"name": name, "goal_acceleration": 1.0}
    older = Configuration.from_json(data).controller
    assert older["goal_profile"] == "ramp" and older["goal_acceleration"] is None


def edit(log: Path, instructions: str | None, by: float = 0.0) -> None:
    """Name other instruction sets (None: none, as older logs) and move a command [N·m]."""
    beside = log.with_suffix(".json")
    data = json.loads(beside.read_text())
    data.pop("instructions", None)
    beside.write_text(json.dumps(data if instructions is None else {**data, "instructions": instructions}))
    rows = log.read_text().splitlines()
    cells = rows[-1].split(",")
    first = 1 + 5 * 7  # behind time: q, dq, effort, gravity, law
    cells[first] = repr(float(cells[first]) + by)
    log.write_text("\n".join([*rows[:-1], ",".join(cells)]) + "\n")


@pytest.mark.parametrize("named", ["portable", None])
def test_with_its_own_instruction_sets_every_bit_counts(arm: Robot, log: Path, named: str | None) -> None:
    edit(log, named)
    again = replay(log, arm)
    assert (again.difference, again.ticks, again.tolerance) == ("", TICKS, 0.0) and "bit for bit" in str(again)
    edit(log, "portable", 5e-10)
    assert "differs" in replay(log, arm).difference


def test_where_they_lack_rounding_is_allowed_and_told(arm: Robot, log: Path) -> None:
    edit(log, "x86-64-v9", 0.5 * ROUNDING)
    again = replay(log, arm)
    assert (again.difference, again.ticks, again.tolerance) == ("", TICKS, ROUNDING)
    assert "within 1e-09 N·m" in str(again) and "made with x86-64-v9" in str(again)
    edit(log, "x86-64-v9", 2.0 * ROUNDING)
    assert "differs" in replay(log, arm).difference
