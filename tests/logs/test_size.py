"""Tables too large to be read at once are refused before they are read."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.logs import size
from diffpbd.runtime.logs.recording import Reading, joints_in, read_recording

TEXT = "time,q_a,dq_a\n" + "".join(f"{0.01 * k:.2f},{k}.0,1.0\n" for k in range(100))


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
    monkeypatch.setattr(size, "LARGEST", holds)
    assert len(read_recording(path, ("a",))) in (100, 1000)
    monkeypatch.setattr(size, "LARGEST", holds - 1)
    with pytest.raises(InputError, match="is read at once"):
        read_recording(path, ("a",))


@pytest.mark.parametrize("mark", [",", ";", " "])
def test_the_width_from_both_sides(mark: str, tmp_path: Path) -> None:
    """Ten thousand columns are read; a file with more is refused at once, as a table on its side is."""
    path = tmp_path / "wide.csv"
    for others, wide in ((9_997, False), (9_998, True)):
        names = ["time", "q_a", "dq_a", *(f"x{k}" for k in range(others))]
        rows = [[f"{0.01 * k:g}", *["1"] * (others + 2)] for k in range(3)]
        path.write_text("\n".join(mark.join(row) for row in [names, *rows]) + "\n")
        if wide:
            with pytest.raises(
                InputError, match=r"wide.csv has 10001 columns, expected at most 10000: .*has to be turned"
            ):
                read_recording(path, ("a",))
        else:
            assert len(read_recording(path, ("a",))) == 3


def test_a_wide_table_is_refused_before_its_cells_are_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    cells = ",".join(["0.1"] * 200_000)
    path.write_text("time," + ",".join(f"q_j{k}" for k in range(199_999)) + f"\n{cells}\n" * 2)
    begin = time.process_time()
    with pytest.raises(InputError, match="200000 columns"):
        joints_in(path, Reading())
    assert time.process_time() - begin < 1.0  # a minute where every name is compared with every other
    path = tmp_path / "wide.npz"
    np.savez(path, q=np.zeros((1, 10_001)), joints=np.array([f"j{k}" for k in range(10_001)]))
    with pytest.raises(InputError, match="10001 columns"):
        read_recording(path, ("j0",))
