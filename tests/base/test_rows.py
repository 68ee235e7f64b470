from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.base.rows import write_rows


def test_floats_in_full_or_with_digits_and_texts_quoted(tmp_path: Path) -> None:
    rows = [["a,b", 1, np.float64(0.1), 1 / 3], ["", True, float("nan"), -0.0]]
    write_rows(tmp_path / "full.csv", ["name", "k", "x", "y"], rows)
    assert (tmp_path / "full.csv").read_bytes() == b'name,k,x,y\n"a,b",1,0.1,0.3333333333333333\n,True,nan,-0.0\n'
    write_rows(tmp_path / "short.csv", ["x"], np.array([[1 / 3], [2e9 / 3]]), digits=3)
    assert (tmp_path / "short.csv").read_text(encoding="utf-8") == "x\n0.333\n6.67e+08\n"


def test_a_gz_is_compressed_and_the_same_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name, now in (("one.csv.gz", 1e9), ("two.csv.gz", 1.7e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        write_rows(tmp_path / name, ["x"], [[1.5]])
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1] and gzip.decompress(found[0]) == b"x\n1.5\n"
