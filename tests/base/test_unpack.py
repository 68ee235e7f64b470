"""Bombs and honest files, from both sides of the limit, and bags that are damaged anywhere."""

from __future__ import annotations

import bz2
import gzip
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import InputError
from diffpbd.runtime.base import unpack
from diffpbd.runtime.base.errors import DiffpbdError, LogError
from diffpbd.runtime.base.unpack import TooLargeError, allowance, unpack_gzip
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.logs.npz import NpzTable
from diffpbd.runtime.records.bag import CHUNK, MAGIC, BagWriter, _record, read_bag
from diffpbd.runtime.records.messages import Tick
from diffpbd.runtime.ros1.messages import Float64

U32 = struct.Struct("<I")


@pytest.fixture(autouse=True)
def low_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "FLOOR", 1 << 20)


def bomb_bag(path: Path, size: int) -> None:
    content = bz2.compress(b"\0" * size)
    header = {"op": bytes([CHUNK]), "compression": b"bz2", "size": U32.pack(size % (1 << 32))}
    path.write_bytes(MAGIC + _record(header, content))


def test_a_bag_of_a_few_bytes_does_not_fill_the_memory(tmp_path: Path) -> None:
    bomb_bag(tmp_path / "bomb.bag", 50 << 20)
    assert (tmp_path / "bomb.bag").stat().st_size < 500
    with pytest.raises(LogError, match="bomb.bag: .* packed bytes hold more than 1 MiB"):
        list(read_bag(tmp_path / "bomb.bag"))
    bomb_bag(tmp_path / "small.bag", 1 << 19)
    assert list(read_bag(tmp_path / "small.bag")) == []


def test_many_small_chunks_are_one_bomb(tmp_path: Path) -> None:
    content = bz2.compress(b"\0" * (1 << 19))
    chunk = _record({"op": bytes([CHUNK]), "compression": b"bz2", "size": U32.pack(1 << 19)}, content)
    (tmp_path / "bomb.bag").write_bytes(MAGIC + chunk * 20)
    with pytest.raises(LogError, match="packed bytes hold more"):
        list(read_bag(tmp_path / "bomb.bag"))


def test_gzip_from_both_sides() -> None:
    packed = gzip.compress(b"\0" * (4 << 20))
    with pytest.raises(TooLargeError):
        unpack_gzip(packed)
    noise = np.random.default_rng(0).bytes(3 << 20)
    assert unpack_gzip(gzip.compress(noise)) == noise
    exact = allowance(0)
    packed = gzip.compress(b"\0" * exact)
    assert len(unpack_gzip(packed)) == exact
    assert unpack_gzip(gzip.compress(b"one") + gzip.compress(b"two") + b"\0\0") == b"onetwo"
    for k in (1, 12, len(packed) - 9, len(packed) - 1):
        with pytest.raises(EOFError):
            unpack_gzip(packed[:k])


def test_a_table_that_is_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"0\n" * (8 << 20)))
    with pytest.raises(InputError, match=r"log\.csv\.gz: .* packed bytes hold more"):
        CsvTable(path, {})


def npz(path: Path, **arrays: np.ndarray) -> Path:
    np.savez_compressed(path, **arrays)
    return path


@pytest.mark.parametrize("kind", [np.float64, np.uint8])
def test_arrays_that_are_a_bomb(tmp_path: Path, kind: type) -> None:
    """Bytes become numbers of eight bytes: those count."""
    path = npz(tmp_path / "log.npz", time=np.zeros(1 << 20, dtype=kind), q_a=np.zeros(1 << 20, dtype=kind))
    with pytest.raises(InputError, match=r"log\.npz: .* packed bytes hold more"):
        NpzTable(path, {})
    NpzTable(npz(tmp_path / "good.npz", time=np.arange(100.0), q_a=np.zeros(100)), {})


def test_an_array_that_says_it_is_huge(tmp_path: Path) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (1 << 45,)})
    with zipfile.ZipFile(tmp_path / "log.npz", "w") as archive:
        archive.writestr("time.npy", head.getvalue())
    with pytest.raises(InputError, match="is not an NPZ file of plain arrays"):
        NpzTable(tmp_path / "log.npz", {})


def written(path: Path, count: int = 20) -> bytes:
    bag = BagWriter(path)
    for k in range(count):
        bag.write("/t", Float64, Float64(float(k)).encode(), 100.0 + k)
    bag.close()
    return path.read_bytes()


def test_a_bag_cut_anywhere_gives_what_is_whole(tmp_path: Path) -> None:
    """Also within the only chunk: every message before the cut."""
    path = tmp_path / "cut.bag"
    data = written(path)
    counts = []
    for cut in range(len(MAGIC), len(data), 17):
        path.write_bytes(data[:cut])
        values = [Float64.decode(message.data).data for message in read_bag(path)]
        assert values == [float(k) for k in range(len(values))]
        counts.append(len(values))
    assert counts == sorted(counts) and set(counts) == set(range(21))


def test_a_bag_damaged_anywhere_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "damaged.bag"
    data = written(path, 5)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(400):
        changed = bytearray(data)
        for at in rng.integers(len(MAGIC), len(data), size=rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        path.write_bytes(changed)
        try:
            for message in read_bag(path):
                Tick.decode(message.data)
        except DiffpbdError:
            refused += 1
    assert refused > 40
