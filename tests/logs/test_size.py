"""Tables too large to be read at once are refused before they are read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.logs import size
from diffpbd.runtime.logs.recording import read_recording

TEXT = "time,q_a,dq_a\n" + "".join(f"{0.01 * k:.2f},{k}.0,1.0\n" for k in range(100))


def test_a_file_of_three_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write(TEXT)
        file.truncate(3 << 30)  # a hole: it takes no place on the disk
    with pytest.raises(InputError, match=r"large.csv holds 3 GiB; .* at most 1 GiB .*in pieces"):
        read_recording(path, ("a",))


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npz"])
def test_the_size_from_both_sides(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is what the file holds: packed text unpacked, arrays as they lie in memory."""
    path = tmp_path / f"log.{kind}"
    column = np.arange(1000.0)
    if kind == "npz":
        np.savez_compressed(path, time=column, q_a=column, dq_a=column)
    else:
        path.write_bytes(gzip.compress(TEXT.encode()) if kind == "csv.gz" else TEXT.encode())
    holds = 3 * column.nbytes if kind == "npz" else len(TEXT)
    monkeypatch.setattr(size.expect_size, "__defaults__", (holds,))
    assert len(read_recording(path, ("a",))) in (100, 1000)
    monkeypatch.setattr(size.expect_size, "__defaults__", (holds - 1,))
    with pytest.raises(InputError, match="is read at once"):
        read_recording(path, ("a",))
