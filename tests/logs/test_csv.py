from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.logs.csv import Log, read_column_map, read_log, read_torques, write_log

GOOD = "time,q_a,q_b,dq_a,dq_b,tau_b,tau_a\n0,1,2,3,4,5,6\n0.5,7,8,9,10,11,12\n"


def write(tmp_path: Path, text: str, name: str = "log.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_joints_by_name_in_any_order(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, GOOD))
    assert log.joints == ("a", "b") and len(log) == 2
    assert log.time.tolist() == [0, 0.5] and log.ddq is None
    assert log.tau is not None and log.tau.tolist() == [[6, 5], [12, 11]]
    swapped = log.select(("b", "a"))
    assert swapped.q.tolist() == [[2, 1], [8, 7]] and swapped.tau is not None
    assert swapped.tau[0].tolist() == [5, 6]


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize("full", [False, True])
def test_written_and_read_is_the_same(tmp_path: Path, name: str, full: bool) -> None:
    q, dq, ddq, tau = np.random.default_rng(4).normal(size=(4, 5, 2))
    log = Log(np.linspace(0.0, 0.4, 5), ("a", "b"), q, dq, ddq if full else None, tau if full else None)
    write_log(tmp_path / name, log)
    again = read_log(tmp_path / name)
    for field in ("time", "q", "dq", "ddq", "tau"):
        a, b = getattr(log, field), getattr(again, field)
        assert (a is None and b is None) or (a == b).all()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_gzip_is_told_by_content_and_byte_order_marks_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(gzip.compress(("\ufeff" + GOOD.replace("\n", "\r\n")).encode()))
    assert read_log(path).joints == ("a", "b")


def test_rate_and_map(tmp_path: Path) -> None:
    path = write(tmp_path, "pos, vel ,label\n1,2,x\n3,4,y\n")
    columns = tmp_path / "map.json"
    columns.write_text(json.dumps({"pos": "q_a", "vel": "dq_a"}), encoding="utf-8")
    log = read_log(path, rate=100, columns=read_column_map(columns))
    assert log.time.tolist() == [0, 0.01] and log.q.tolist() == [[1], [3]]


def test_torques_alone(tmp_path: Path) -> None:
    torques = read_torques(write(tmp_path, "t,tau_b,tau_a\n0,1,2\n1,3,4\n")).select(("a", "b"))
    assert torques.tau.tolist() == [[2, 1], [4, 3]]


def test_a_rate_for_files_without_times_only(tmp_path: Path) -> None:
    timed, untimed = tmp_path / "timed.csv", tmp_path / "untimed.csv"
    timed.write_text("time,q_a,dq_a\n0,1,0\n0.5,2,0\n")
    untimed.write_text("q_a,dq_a\n1,0\n2,0\n")
    assert [read_log(path, untimed=100.0).time[1] for path in (timed, untimed)] == [0.5, 0.01]
