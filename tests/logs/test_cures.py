"""A recording that is spoiled in one way: what is said names it, and the option that is said brings the truth back.

Torques are pinocchio's, with friction that the fit must find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner
from support.robots import generated

from diffpbd.runtime.cli import cli

ARM = """<robot name="cured_arm">
<link name="base"/>
<link name="arm"><inertial><origin xyz="0.2 0 0.02"/><mass value="3"/>
  <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
<link name="fore"><inertial><origin xyz="0.15 0.02 0"/><mass value="1.5"/>
  <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.015" iyz="0" izz="0.015"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-2.5" upper="2.5" effort="60" velocity="4"/></joint>
<joint name="elbow" type="revolute"><parent link="arm"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-2.5" upper="2.5" effort="30" velocity="4"/></joint>
</robot>"""
JOINTS = ("shoulder", "elbow")
VISCOUS, COULOMB, WIDTH = (0.8, 0.4), (0.9, 0.3), 0.01
RATE, SECONDS = 99.0, 40.0


@dataclass
class Table:
    """Time (samples,) [s]; q, dq, tau (samples, 2)."""

    time: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray

    def written(self, path: Path, timed: bool = True) -> Path:
        names = [f"{kind}_{joint}" for kind in ("q", "dq", "tau") for joint in JOINTS]
        values = [self.q, self.dq, self.tau]
        if timed:
            names, values = ["time", *names], [self.time[:, None], *values]
        np.savetxt(path, np.hstack(values), delimiter=",", header=",".join(names), comments="", fmt="%.10g")
        return path


def recorded() -> Table:
    model = pin.buildModelFromXML(ARM)
    data, rng = model.createData(), np.random.default_rng(2)
    time = np.arange(int(SECONDS * RATE)) / RATE
    q, dq, ddq = np.zeros((3, len(time), 2))
    for k, middle in enumerate((0.4, -0.6)):
        q[:, k] = middle
        for _ in range(3):
            omega, phase = rng.uniform(0.8, 3.0), rng.uniform(0.0, 6.0)
            size = 0.8 / omega
            q[:, k] += size * np.sin(omega * time + phase)
            dq[:, k] += size * omega * np.cos(omega * time + phase)
            ddq[:, k] -= size * omega**2 * np.sin(omega * time + phase)
    tau = np.array([pin.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    tau += np.array(COULOMB) * np.tanh(dq / WIDTH) + np.array(VISCOUS) * dq
    noise = rng.standard_normal((3, *q.shape))
    return Table(time, q + 1e-5 * noise[0], dq + 2e-3 * noise[1], tau + 0.02 * noise[2])


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    urdf = tmp_path_factory.mktemp("arm") / "cured_arm.urdf"
    urdf.write_text(ARM)
    return generated(str(urdf))


def fitted(arm: Path, log: Path, *options: str) -> tuple[int, str, dict[str, float]]:
    out = log.with_suffix(".json")
    words = ["identify", str(arm), str(log), "--fit", "friction", "--out", str(out), *options]
    done = CliRunner().invoke(cli, words)
    found = json.loads(out.read_text())["parameters"] if done.exit_code == 0 else {}
    return done.exit_code, done.output, {name: entry["value"] for name, entry in found.items()}


def expect_truth(found: dict[str, float]) -> None:
    for joint, viscous, coulomb in zip(JOINTS, VISCOUS, COULOMB, strict=True):
        assert found[f"friction.viscous.{joint}"] == pytest.approx(viscous, abs=0.03)
        assert found[f"friction.coulomb.{joint}"] == pytest.approx(coulomb, abs=0.03)


def stuck(t: Table) -> None:
    t.tau[1000:1700, 1] = t.tau[1000, 1]


def spiked(t: Table) -> None:
    rng = np.random.default_rng(3)
    t.tau[rng.choice(len(t.time), 60, replace=False), 0] += 60.0


def mirrored(t: Table) -> None:
    t.q[:, 1] *= -1.0
    t.dq[:, 1] *= -1.0


def shifted(t: Table) -> None:
    t.q[:, 1] += 0.1


def slow(t: Table) -> None:
    t.time *= 1.98


SPOILED: dict[str, tuple[Callable[[Table], None], str]] = {
    "mirrored": (mirrored, r"elbow: its positions and rates have the wrong sign.*\((--scale \S+ --scale [^)\s]+)\)"),
    "spikes": (spiked, r"shoulder: its torque jumps for single samples 60 times, by up to 60.*\((--despike) "),
    "zero": (shifted, r"joint elbow reads as if its encoder's zero were off by -0.*Correct.*: (--shift \S+)"),
    "clock": (slow, r"the clock counts 1.98 s for each second.*else (--scale time=[0-9.]+)"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_is_said_brings_the_truth_back(arm: Path, tmp_path: Path, name: str) -> None:
    spoil, said = SPOILED[name]
    table = recorded()
    spoil(table)
    log = table.written(tmp_path / "log.csv")
    _, output, _ = fitted(arm, log)
    cure = re.search(said, " ".join(output.split()))
    assert cure, output
    code, output, found = fitted(arm, log, *cure[1].rstrip(".").split())
    assert code == 0, output
    expect_truth(found)
    assert not re.search(said, " ".join(output.split())), output


def test_a_sound_recording_is_said_nothing_of(arm: Path, tmp_path: Path) -> None:
    code, output, found = fitted(arm, recorded().written(tmp_path / "log.csv"))
    assert code == 0 and "warning" not in output and "reads as if" not in output, output
    expect_truth(found)


def test_a_torque_that_is_stuck_is_cut_out(arm: Path, tmp_path: Path) -> None:
    table = recorded()
    stuck(table)
    code, output, _ = fitted(arm, table.written(tmp_path / "log.csv"))
    assert code == 1 and "elbow: its torque stays at" in output and "for 7.06 s" in output and "cut these" in output, (
        output
    )
    keep = np.r_[:1000, 1700 : len(table.time)]
    cut = Table(table.time[keep], table.q[keep], table.dq[keep], table.tau[keep])
    code, output, found = fitted(arm, cut.written(tmp_path / "cut.csv"))
    assert code == 0, output
    expect_truth(found)


def test_a_rate_that_is_not_the_recordings(arm: Path, tmp_path: Path) -> None:
    """A table without time at 99 Hz, called one of 50."""
    log = recorded().written(tmp_path / "log.csv", timed=False)
    code, output, _ = fitted(arm, log, "--rate", "50")
    assert code == 1 and "--rates positions" not in output, output
    cure = re.search(r"(--rate [0-9.]+) if", " ".join(output.split()))
    assert cure, output
    code, output, found = fitted(arm, log, *cure[1].split())
    assert code == 0, output
    expect_truth(found)
