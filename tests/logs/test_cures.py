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
TIP = np.array([0.2, 0.0, 0.0])  # m, in the last link


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


def recorded(load: float = 0.0, since: float = 0.0, seed: int = 2) -> Table:
    """With a point of `load` [kg] at the link frame of the last link from a time [s] on."""
    model, loaded = (pin.buildModelFromXML(ARM) for _ in range(2))
    loaded.inertias[2] += pin.Inertia(load, TIP, np.zeros((3, 3)))
    data, other, rng = model.createData(), loaded.createData(), np.random.default_rng(seed)
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
    rows = zip(time, q, dq, ddq, strict=True)
    tau = np.array([pin.rnea(*((model, data) if t < since or not load else (loaded, other)), *row) for t, *row in rows])
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


def rounded(t: Table) -> None:
    t.time = np.round(t.time, 1)


def rounded_finely(t: Table) -> None:
    """99 samples a second by hundredths: now and then a step of two."""
    t.time = np.round(t.time, 2)


def shuffled(t: Table) -> None:
    order = np.random.default_rng(0).permutation(len(t.time))
    t.time, t.q, t.dq, t.tau = t.time[order], t.q[order], t.dq[order], t.tau[order]


SPOILED: dict[str, tuple[Callable[[Table], None], str]] = {
    "mirrored": (mirrored, r"elbow: its positions and rates have the wrong sign.*\((--scale \S+ --scale [^)\s]+)\)"),
    "spikes": (spiked, r"shoulder: its torque jumps for single samples 60 times, by up to 60.*\((--despike) "),
    "zero": (shifted, r"joint elbow reads as if its encoder's zero were off by -0.*or (--shift \S+) corrects"),
    "clock": (slow, r"the clock counts 1.98 s for each second.*else (--scale time=[0-9.]+)"),
    "rounded": (rounded, r"3559 of 3959 stamps repeat.*rounded to 0.1 s; (--rate [0-9.]+) "),
    "rounded finely": (rounded_finely, r"split it; (--bridge 0.03)"),
    "shuffled": (shuffled, r"time goes back at .*no order\? (--sort) "),
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


@pytest.mark.parametrize("zero", [0.1, -0.3])
def test_the_zero_of_an_encoder_is_a_parameter(arm: Path, tmp_path: Path, zero: float) -> None:
    table = recorded()
    table.q[:, 1] += zero
    log = table.written(tmp_path / "log.csv")
    out = tmp_path / "params.json"
    words = ["identify", str(arm), str(log), "--fit", "friction,sensor.zero.elbow", "--out", str(out)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0 and "reads as if" not in done.output, done.output
    found = json.loads(out.read_text())
    own = found["sensor"]["sensor.zero.elbow"]
    assert own["value"] == pytest.approx(-zero, abs=1e-3) and abs(own["value"] + zero) < 4.0 * own["std"] < 4e-3
    expect_truth({name: entry["value"] for name, entry in found["parameters"].items()})


def test_zeros_are_of_hinges_of_open_trees(arm: Path, tmp_path: Path) -> None:
    code, output, _ = fitted(arm, recorded().written(tmp_path / "log.csv"), "--fit", "sensor.zero.wrist")
    assert code == 1 and "has no parameters 'sensor.zero.wrist'" in output, output


def test_a_load_that_is_taken_up_on_the_way(arm: Path, tmp_path: Path) -> None:
    table = recorded(load=1.0, since=22.0)
    _, output, _ = fitted(arm, table.written(tmp_path / "log.csv"))
    said = re.search(r"a load were taken up or set down at about (\S+) s", " ".join(output.split()))
    assert said and float(said[1]) == pytest.approx(22.0, abs=1.5), output
    assert "Try" not in output
    cut = int(float(said[1]) * RATE)
    for rows, fit in ((slice(0, cut - 150), "friction"), (slice(cut + 150, None), "friction,payload.mass,payload.com")):
        part = Table(table.time[rows], table.q[rows], table.dq[rows], table.tau[rows])
        code, output, found = fitted(arm, part.written(tmp_path / "part.csv"), "--fit", fit)
        assert code == 0 and "reads as if" not in output, output
        expect_truth(found)
        assert found.get("payload.mass", 1.0) == pytest.approx(1.0, abs=0.02)


def test_a_zero_that_is_another_one_in_each_recording(arm: Path, tmp_path: Path) -> None:
    logs = []
    for k, zero in enumerate((0.0, 0.5, -0.4)):
        table = recorded(seed=k)
        table.tau[:, 0] += zero
        logs.append(table.written(tmp_path / f"log{k}.csv"))
    _, output, _ = fitted(arm, logs[0], *map(str, logs[1:]))
    assert "shoulder reads as if its torque's zero were another one in each" in " ".join(output.split()), output
    assert "elbow reads" not in output
    for log in logs:
        code, output, found = fitted(arm, log)
        assert code == 0 and "reads as if" not in output, output
        expect_truth(found)


def test_a_sound_recording_is_said_nothing_of(arm: Path, tmp_path: Path) -> None:
    code, output, found = fitted(arm, recorded().written(tmp_path / "log.csv"))
    assert code == 0 and "warning" not in output and "reads as if" not in output, output
    expect_truth(found)


def test_a_torque_that_is_stuck_is_cut_out(arm: Path, tmp_path: Path) -> None:
    table = recorded()
    stuck(table)
    code, output, _ = fitted(arm, table.written(tmp_path / "log.csv"))
    assert code == 1 and "elbow: its torque stays at" in output and "for 7.06 s" in output, output
    cure = re.search(r"\((--cut log.csv=\S+)\)", output)
    assert cure, output
    code, output, found = fitted(arm, tmp_path / "log.csv", *cure[1].split())
    assert code == 0 and "samples are cut out" in output, output
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


def test_even_steps_are_held_against_the_stamps(arm: Path, tmp_path: Path) -> None:
    """Another rate than theirs, and a hole, are refused; stamps of arrival are taken."""
    table = recorded()
    code, output, _ = fitted(arm, table.written(tmp_path / "log.csv"), "--rate", "98")
    assert code == 1 and "They tell 99 Hz on average" in output, output
    for hole, refused in ((0.11, False), (0.13, True)):
        late = Table(np.where(table.time > 20.0, table.time + hole, table.time), table.q, table.dq, table.tau)
        code, output, _ = fitted(arm, late.written(tmp_path / "late.csv"), "--rate", "99")
        assert (code == 1 and "from even steps" in output) == refused, output
    arrival = Table(
        table.time + np.abs(np.random.default_rng(1).normal(0.0, 0.004, len(table.time))), table.q, table.dq, table.tau
    )
    code, output, found = fitted(arm, arrival.written(tmp_path / "arrival.csv"), "--rate", "99")
    assert code == 0, output
    expect_truth(found)
