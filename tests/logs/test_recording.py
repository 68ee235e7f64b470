"""Recordings of every format as the same samples: NPZ, bags, JSON lines; torque chosen and never guessed (P42, P43, P44)."""

from __future__ import annotations

import bz2
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import InputError
from diffpbd.runtime.causes.examination import examine
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, filter_parts
from diffpbd.runtime.logs.recording import Reading, Recording, joints_in, read_recording
from diffpbd.runtime.records import bag as bag_module
from diffpbd.runtime.records.bag import BagWriter
from diffpbd.runtime.records.messages import Header, JointState
from diffpbd.runtime.ros1.messages import SEAJointState

JOINTS = ("a", "b")
TIME = 100.0 + 0.01 * np.arange(200)
Q = np.sin(TIME[:, None] * [1.0, 2.0])
DQ = np.cos(TIME[:, None] * [1.0, 2.0]) * [1.0, 2.0]
TAU = 3.0 * Q + DQ
STATES, SEA = "/robot/joint_states", "/robot/limb/left/gravity_compensation_torques"


def header(t: float) -> Header:
    ns = round(t * 1e9)
    return Header(0, (ns // 10**9, ns % 10**9), "")


def write_bag(path: Path, messages: list[tuple[str, JointState | SEAJointState, float]]) -> Path:
    writer = BagWriter(path)
    for topic, message, time in messages:
        writer.write(topic, type(message), message.encode(), time)
    writer.close()
    return path


def states(names: tuple[str, ...] = JOINTS, shuffle: bool = False) -> list[tuple[str, JointState, float]]:
    rng = np.random.default_rng(2)
    found = []
    for k, t in enumerate(TIME.tolist()):
        order = rng.permutation(len(names)) if shuffle else np.arange(len(names))
        columns = [JOINTS.index(names[j]) for j in order]
        message = JointState(header(t), tuple(names[j] for j in order), Q[k, columns], DQ[k, columns], TAU[k, columns])
        found.append((STATES, message, t + 0.002))
    return found


def sea(**efforts: np.ndarray) -> list[tuple[str, SEAJointState, float]]:
    return [
        (SEA, SEAJointState(header(t), JOINTS, actual_position=Q[k], actual_velocity=DQ[k],
                            **{name: values[k] for name, values in efforts.items()}), t)
        for k, t in enumerate(TIME.tolist())
    ]  # fmt: skip


def test_npz_of_both_shapes_and_csv_are_the_same(tmp_path: Path) -> None:
    write_log(tmp_path / "log.csv", Log(TIME, JOINTS, Q, DQ, None, TAU))
    turned = {"joints": np.array(["b", "a"]), "q": Q[:, ::-1], "dq": DQ[:, ::-1], "tau": TAU[:, ::-1]}
    np.savez(tmp_path / "tables.npz", time=TIME, **turned)
    named = {f"{k}_{j}": v[:, i] for k, v in (("q", Q), ("dq", DQ), ("tau", TAU)) for i, j in enumerate(JOINTS)}
    np.savez_compressed(tmp_path / "columns.npz", t=TIME, **named, comment="left alone", extra=np.zeros((2, 2, 2)))
    for name in ("log.csv", "tables.npz", "columns.npz"):
        found = read_recording(tmp_path / name, JOINTS)
        for values, expected in ((found.time, TIME), (found.q, Q), (found.dq, DQ), (found.tau, TAU)):
            np.testing.assert_array_equal(values, expected)
        assert not found.notes and not found.breaks
        assert set(joints_in(tmp_path / name, Reading())) == set(JOINTS)


def test_a_bag_is_mapped_by_name_in_every_message_and_merged_with_other_publishers(tmp_path: Path) -> None:
    grippers = [(STATES, JointState(header(t), ("grip",), np.zeros(1), np.zeros(1), np.zeros(1)), t) for t in TIME[::3]]
    both = sorted([*states(shuffle=True), *grippers], key=lambda entry: entry[2])
    found = read_recording(write_bag(tmp_path / "run.bag", both), ("b", "a"))
    np.testing.assert_allclose(found.time, TIME, atol=1e-6)
    np.testing.assert_array_equal(found.q, Q[:, ::-1])
    assert found.tau is not None
    np.testing.assert_array_equal(found.tau, TAU[:, ::-1])
    assert any("67 messages of other publishers" in note for note in found.notes) and not found.breaks


def test_a_bag_s_torque_is_chosen(tmp_path: Path) -> None:
    path = write_bag(tmp_path / "run.bag", [*states(), *sea(actual_effort=TAU + 1.0, commanded_effort=0.0 * TAU)])
    for name, expected in (("effort", TAU), ("actual_effort", TAU + 1.0), ("commanded_effort", 0.0 * TAU)):
        found = read_recording(path, JOINTS, Reading(torque=name))
        np.testing.assert_array_equal(found.tau, expected)
        constant = [f for f in examine(found)[1] if f.kind == "constant" and "constant (0)" in f.message]
        assert bool(constant) == (name == "commanded_effort")


def test_a_rejected_message_breaks_the_recording(tmp_path: Path) -> None:
    entries = states()
    topic, good, t = entries[80]
    entries[80] = topic, JointState(good.header, good.name, good.position[:1], good.velocity, good.effort), t
    found = read_recording(write_bag(tmp_path / "run.bag", entries), JOINTS)
    assert len(found) == 199 and found.breaks == (80,) and any("array length (1)" in note for note in found.notes)


def test_two_topics_of_the_same_joints_are_not_mixed(tmp_path: Path) -> None:
    other = [("/desired", message, t) for _, message, t in states()]
    path = write_bag(tmp_path / "run.bag", [*states(), *other])
    assert len(read_recording(path, JOINTS, Reading(topic="/desired"))) == 200


def test_joints_of_two_publishers_are_joined_and_that_is_said(tmp_path: Path) -> None:
    slow = [entry for k, entry in enumerate(states(("b",))) if k % 2 == 0]
    path = write_bag(tmp_path / "run.bag", sorted([*states(("a",)), *slow], key=lambda entry: entry[2]))
    found = read_recording(path, JOINTS)
    assert len(found) == 199 and np.abs(found.q - Q[:199]).max() < 2e-4
    assert any("no message has all the joints" in note and "of b are interpolated" in note for note in found.notes)


def test_nothing_is_interpolated_over_a_gap_of_the_slower_publisher(tmp_path: Path) -> None:
    slow = [entry for k, entry in enumerate(states(("b",))) if k % 2 == 0 and not 60 < k < 80]  # from 60 to 80
    path = write_bag(tmp_path / "run.bag", sorted([*states(("a",)), *slow], key=lambda entry: entry[2]))
    found = read_recording(path, JOINTS)
    there = np.round((found.time - TIME[0]) / 0.01).astype(int)
    assert not set(range(61, 80)) & set(there.tolist()) and {60, 81} <= set(there.tolist())
    assert found.breaks == (61,)


def test_damaged_bags(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "short.bag")
    for topic, message, t in states():
        code = message.encode()
        writer.write(topic, JointState, code[:-4] if 101.0 < t < 101.05 else code, t)
    writer.close()
    found = read_recording(tmp_path / "short.bag", JOINTS)
    assert "damaged messages are left out" in found.notes[0] and len(found) < 200


def test_partial_messages(shared: Path, tmp_path: Path) -> None:
    lines = next((shared / "cases").glob("P42-*")) / "messages.jsonl"
    entries = []
    for line in lines.read_text().splitlines():
        m = json.loads(line)
        arrays = (np.array(m[key], dtype=float) for key in ("position", "velocity", "effort"))
        entries.append((STATES, JointState(header(m["stamp"]), tuple(m["name"]), *arrays), 5.0 + m["stamp"]))
    for path in (lines, write_bag(tmp_path / "p42.bag", entries)):
        found = read_recording(path, ("j1", "j2"))
        assert found.time.tolist() == pytest.approx([1.0, 1.03, 1.08]) and found.breaks == (1, 2)
        assert found.q.tolist() == [[0.1, 0.2], [0.13, 0.23], [0.18, 0.28]]
        assert found.tau is not None and found.tau.tolist() == [[1.0, 2.0], [1.1, 2.1], [1.5, 2.5]]
        said = "; ".join(found.notes)
        for words in (
            "array length (1), j2 missing (1), zero stamp (1)",
            "1 messages of other publishers",
            "tau_j1 (2)",
        ):
            assert words in said


def test_partial_messages_of_every_kind(tmp_path: Path) -> None:
    """Any faults in any place: what is kept is what was sent, and everything else is counted."""
    rng = np.random.default_rng(5)
    for trial in range(10):
        entries, kept, lost = [], [], 0
        for k, (topic, m, t) in enumerate(states(shuffle=True)):
            fault = int(rng.integers(40))
            if fault == 0:  # positions alone
                m = JointState(m.header, m.name, m.position)
            elif fault == 1:
                m = JointState(m.header, m.name[:1], m.position[:1], m.velocity[:1], m.effort[:1])
            elif fault == 2:
                m = JointState(m.header, m.name, m.position, m.velocity, m.effort * np.nan)
            elif fault == 3:
                m = JointState(m.header, m.name, m.position, m.velocity[:1], m.effort)
            elif fault == 4:
                m = JointState(Header(), m.name, m.position, m.velocity, m.effort)
            elif fault == 5:
                m = JointState(
                    m.header, (*m.name, "extra"), *(np.append(v, 9.0) for v in (m.position, m.velocity, m.effort))
                )
            elif fault == 6:
                entries.append((topic, JointState(m.header, ("grip",), np.zeros(1)), t))
            lost += fault < 5
            kept += [k] if fault >= 5 else []
            entries.append((topic, m, t))
        found = read_recording(write_bag(tmp_path / f"{trial}.bag", entries), JOINTS)
        np.testing.assert_array_equal(found.q, Q[kept])
        np.testing.assert_array_equal(found.tau, TAU[kept])
        counted = (" messages are rejected", " samples are left out")
        counts = [int(note.split(" of ")[0]) for note in found.notes if any(words in note for words in counted)]
        assert sum(counts) == lost
        assert set(found.breaks) == {i for i in range(1, len(kept)) if kept[i] > kept[i - 1] + 1}


def test_torque_columns_of_a_table_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    fields = ("q", "dq", "actual_effort", "commanded_effort", "motor_torque", "label_effort")
    blocks = {"q": Q, "dq": DQ, "actual_effort": TAU, "commanded_effort": 0.0 * TAU, "motor_torque": 2.0 * TAU}
    names = [f"{f}_{j}" for f in fields[:5] for j in JOINTS] + ["label_effort_a"]  # of one joint alone: no candidate
    table = np.column_stack([TIME, *(blocks[f] for f in fields[:5]), TIME])
    np.savetxt(path, table, delimiter=",", header=",".join(["time", *names]), comments="", fmt="%.17g")
    with pytest.raises(InputError, match="has 3 signals that may be the torque") as caught:
        read_recording(path, JOINTS)
    assert "motor_torque: not a name known here" in str(caught.value) and "label" not in str(caught.value)
    found = read_recording(path, ("b", "a"), Reading(torque="motor_torque"))
    np.testing.assert_array_equal(found.tau, 2.0 * TAU[:, ::-1])
    np.savetxt(path, table[:, :7], delimiter=",", header=",".join(["time", *names[:6]]), comments="", fmt="%.17g")
    only = read_recording(path, JOINTS)
    np.testing.assert_array_equal(only.tau, TAU)
    assert "torque from actual_effort" in only.notes


@pytest.mark.parametrize("per_period", [10, 12, 25, 100])
@pytest.mark.parametrize("periods", [3.3, 6.0])
def test_rates_of_positions_alone(per_period: int, periods: float) -> None:
    t = np.arange(int(per_period * periods)) / per_period
    w, phase = 2.0 * np.pi, 0.7
    motion = Log(t, ("a",), np.sin(w * t + phase)[:, None], np.zeros((len(t), 1)))
    (part,) = filter_parts("x", Recording("x", t, ("a",), motion.q, None, None, None), Processing(cutoff=None))
    inner = slice(per_period // 2, -(per_period // 2))
    assert np.abs(part.dq[:, 0] / w - np.cos(w * t + phase))[inner].max() < 2e-3
    assert np.abs(part.ddq[:, 0] / w**2 + np.sin(w * t + phase))[inner].max() < 4e-3


def test_coarse_positions_have_rates_without_lag(shared: Path) -> None:
    path = next((shared / "cases").glob("P44-*")) / "coarse.csv"
    for cutoff in (None, 5.0):
        found = read_recording(path, ("a",), Reading(columns={"q": "q_a"}))
        (part,) = filter_parts("coarse", found, Processing(cutoff=cutoff))
        inner = slice(6, -6) if cutoff is None else slice(15, -15)
        rate = np.pi * np.cos(2.0 * np.pi * part.time)
        assert np.abs(part.dq[:, 0] - rate)[inner].max() < 0.02 * np.pi
        lags = [float(part.dq[inner, 0] @ np.roll(rate, shift)[inner]) for shift in range(-3, 4)]
        assert int(np.argmax(lags)) == 3
        assert np.abs(part.ddq[:, 0] + 2.0 * np.pi**2 * np.sin(2.0 * np.pi * part.time))[inner].max() < 0.4
        assert "derivative of a cubic spline through the filtered positions" in part.notes[0]
    assert "5 Hz" in Processing(cutoff=5.0).describe()


def test_missing_cells_of_a_table_break_it_and_words_are_refused(tmp_path: Path) -> None:
    text = ["time,q_a,dq_a,tau_a,label"]
    text += [f"{k / 100},{k},1,{'' if k == 30 else 'nan' if k == 60 else 2.0 * k},x" for k in range(100)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(text))
    found = read_recording(path, ("a",))
    assert len(found) == 98 and found.breaks == (30, 59) and any("tau_a (2)" in note for note in found.notes)
    first, second = found.split(0.5)
    assert (len(first), len(second)) == (49, 49) and first.breaks == (30,) and second.breaks == (10,)


def test_chunks_of_bz2_are_read(tmp_path: Path) -> None:
    path = write_bag(tmp_path / "run.bag", states())
    plain = read_recording(path, JOINTS)
    data = path.read_bytes()
    records = list(bag_module._records(data, len(bag_module.MAGIC), "x", []))
    (fields, body) = next(r for r in records if r[0]["op"] == bytes([bag_module.CHUNK]))
    packed = bag_module._record(
        {**fields, "compression": b"bz2", "size": struct.pack("<I", len(body))}, bz2.compress(body)
    )
    path.write_bytes(bag_module.MAGIC + packed)
    np.testing.assert_array_equal(read_recording(path, JOINTS).q, plain.q)


@pytest.mark.parametrize("key", ["stamp", "name", "position", "velocity", "effort"])
@pytest.mark.parametrize("value", ["x", 1e400, 10**400, [[1]], {"a": 1}, ["1", "x"], [{}], "ab", None])
def test_a_line_of_another_kind_is_named(tmp_path: Path, key: str, value: object) -> None:
    """Never a raw error: the recording without the line, or a sentence that says which."""
    message = {"name": ["a", "b"], "velocity": [1.0, -1.0], "effort": [1.0, 2.0]}
    lines = [{**message, "stamp": 1.0 + 0.01 * k, "position": [0.01 * k, -0.01 * k]} for k in range(60)]
    lines[30][key] = value
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    try:
        found = read_recording(path, JOINTS)
        assert len(found.time) == 59 and any(
            word in note for note in found.notes for word in ("(1)", "1 messages of other")
        )
    except InputError as error:
        assert "line 31 is not a joint state message: expected" in str(error)


@pytest.mark.parametrize("name", ["log.jsonl", "log_zeros_first.jsonl"])
def test_a_second_publisher_of_zeros_neither_counts_nor_splits(shared: Path, name: str) -> None:
    folder = next((shared / "cases").glob("R02-*"))
    wanted = json.loads((folder / "expected.json").read_text())
    found = read_recording(folder / name, ("shoulder", "elbow"))
    assert len(found) == wanted["kept"] and not found.breaks
    assert f"{wanted['rejected']} of 750 messages are left out" in " ".join(found.notes)
    assert found.dq is not None and np.abs(found.dq).max() == pytest.approx(wanted["max_abs_dq"], abs=1e-6)
    assert (found.q[1:, 1] != 0.0).all()
