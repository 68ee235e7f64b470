"""Bags of both ROS generations, bags that were cut off (N11, N12), and tables as other tools write them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.recordings.bags import recorded, stamp

from diffpbd.runtime import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.recording import Reading, Recording, joints_in, read_recording
from diffpbd.runtime.records import bag as bag_module
from diffpbd.runtime.records.bag import BagWriter
from diffpbd.runtime.records.messages import Header, JointState

JOINTS = ("turn", "elbow")
TIME = 1.7e9 + 0.01 * np.arange(800)
Q = np.column_stack([np.sin(TIME), 0.1 + 0.0 * TIME])
TAU = np.column_stack([1.0 + 0.0 * TIME, 0.1 * np.arange(800)])


def ros1_bag(path: Path, count: int = 800) -> Path:
    writer = BagWriter(path)
    for k in range(count):
        message = JointState(Header(k, stamp(TIME[k]), ""), JOINTS, Q[k], np.zeros(2), TAU[k])
        writer.write("/joint_states", JointState, message.encode(), TIME[k], "/n")
    writer.close()
    return path


def by_rosbags(path: Path, kind: str, count: int = 200) -> Path:
    return recorded(path, kind, Log(TIME[:count], JOINTS, Q, np.zeros((800, 2)), tau=TAU))


def expect_first(found: Recording, count: int) -> None:
    assert len(found) == count
    np.testing.assert_allclose(found.time, TIME[:count], atol=1e-6)
    np.testing.assert_array_equal(found.q, Q[:count])
    np.testing.assert_array_equal(found.tau, TAU[:count])


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_n11_a_bag_that_was_cut_off(tmp_path: Path, share: float) -> None:
    data = ros1_bag(tmp_path / "whole.bag").read_bytes()
    cut = tmp_path / "cut.bag"
    cut.write_bytes(data[: int(share * len(data))])
    found = read_recording(cut, JOINTS)
    assert 0.85 * share * 800 < len(found) < 800
    expect_first(found, len(found))
    (note,) = [note for note in found.notes if "cut off" in note]
    assert "in the middle of a chunk, of which" in note and "% are there" in note
    code = CliRunner().invoke(cli, ["log", str(cut), "--rates", "positions"])
    assert code.exit_code == 0 and "cut off in the middle of a chunk" in code.output


def test_a_bag_of_several_chunks_that_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bag_module, "CHUNK_SIZE", 20_000)
    data = ros1_bag(tmp_path / "whole.bag").read_bytes()
    lengths = []
    for end in (60_000, 61_000, 75_000):
        (tmp_path / "cut.bag").write_bytes(data[:end])
        found = read_recording(tmp_path / "cut.bag", JOINTS)
        lengths.append(len(found))
        expect_first(found, len(found))
        assert any("cut off in the middle of a" in note for note in found.notes)
    assert lengths == sorted(lengths) and lengths[-1] > lengths[0]
    whole = read_recording(tmp_path / "whole.bag", JOINTS)
    assert len(whole) == 800 and not any("cut" in note for note in whole.notes)


@pytest.mark.parametrize("kind", ["lz4", "db3", "mcap", "mcap_zstd", "db3_zstd"])
def test_n12_recordings_of_other_tools(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = by_rosbags(tmp_path / ("run.bag" if kind == "lz4" else "run"), kind)
    expect_first(read_recording(path, JOINTS), 200)
    assert joints_in(path, Reading()) == JOINTS
    if kind in ("db3", "mcap"):
        expect_first(read_recording(next(path.glob(f"*.{kind}")), JOINTS), 200)
        reading = Reading(columns={"turn": "shoulder"})
        assert read_recording(path, ("elbow", "shoulder"), reading).joints == ("elbow", "shoulder")
        with pytest.raises(InputError, match="no joint 'trun' to rename. Did you mean turn"):
            read_recording(path, JOINTS, Reading(columns={"trun": "turn"}))
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(
        InputError, match=r"is a (ROS 1 bag with lz4 chunks|ROS 2 recording).*pip install 'diffpbd\[bags\]'"
    ):
        read_recording(path, JOINTS)


@pytest.mark.parametrize(
    ("name", "what"), [("ros2.db3", r"ROS 2 recording \(SQLite\)"), ("ros2.mcap", r"recording \(MCAP\)")]
)
def test_n12_files_that_hold_no_more_than_their_beginning(
    shared: Path, name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = next((shared / "cases").glob("N12-*")) / name
    with pytest.raises(InputError, match=f"is a damaged or cut {what}"):
        read_recording(path, JOINTS)
    code = CliRunner().invoke(cli, ["log", str(path)])
    assert code.exit_code == 1 and "damaged or cut" in code.output
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(InputError, match=f"is a {what}, which needs rosbags, which is not installed"):
        read_recording(path, JOINTS)


ROWS = [(0.01 * k, 0.1 * k, 1.5, 2.0 + k) for k in range(30)]


def table(delimiter: str = ",", decimal: str = ".", header: str = "time,q_a,dq_a,tau_a") -> str:
    lines = [header.replace(",", delimiter)]
    lines += [delimiter.join(f"{value:.4f}".replace(".", decimal) for value in row) for row in ROWS]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        table(),
        table(";"),
        table(";", ","),
        table("\t"),
        table(" "),
        table("\t", ","),
        "# a robot\n\n% of 2024\n" + table(),
        table(header="# time,q_a,dq_a,tau_a"),
        table().replace("\n0.1000", "\n# half a second\n0.1000"),
        table(";", ",").replace("\n", "\r\n"),
    ],
)
def test_tables_of_other_tools(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.csv").write_text(text, newline="")
    found = read_recording(tmp_path / "log.csv", ("a",))
    assert found.dq is not None and found.tau is not None
    np.testing.assert_allclose(np.column_stack([found.time, found.q, found.dq, found.tau]), ROWS, atol=1e-4)
    assert not found.notes


def test_foreign_columns_are_left_alone_and_said(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [(0.01 * k, 0.1 * k, 1.5, 2.0, 3.0, 4.0) for k in range(30)]
    np.savetxt(path, rows, delimiter=",", header="time,q_1,dq_1,tau_1,tau_des1,tau_des_1", comments="")
    found = read_recording(path, ("1",))
    assert found.tau is not None and (found.tau == 2.0).all()
    assert "left alone: tau_des1, tau_des_1, of joints without positions" in found.notes
    assert (read_recording(path, ("1",), Reading(torque="tau_des")).tau == 4.0).all()
    renamed = tmp_path / "map.json"
    renamed.write_text(json.dumps({"tau_1": "measured", "tau_des1": "tau_1"}))
    output = CliRunner().invoke(cli, ["log", str(path), "--joints", "1", "--cutoff", "0", "--map", str(renamed)]).output
    assert "the torque of 1 is constant (3)" in output
