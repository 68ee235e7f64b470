"""The unpacked and decoded text of a table, or a sentence on the file's real format."""

from __future__ import annotations

import codecs
import shlex
import zlib
from pathlib import Path
from typing import Final

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import read_bytes, size_of
from diffpbd.runtime.base.unpack import TooLargeError, unpack_gzip
from diffpbd.runtime.logs.size import expect_size

__all__ = ["text_of"]

GZIP_MAGIC: Final = b"\x1f\x8b"
SAVEZ: Final = 'numpy.savez("log.npz", time=…, q=…, dq=…, tau=…, joints=…) makes a recording of its arrays'
OTHERS: Final = {
    b"PAR1": ("Parquet", 'pandas.read_parquet(FILE).to_csv("log.csv", index=False) makes a table of it'),
    b"ARROW1": ("Arrow", 'pandas.read_feather(FILE).to_csv("log.csv", index=False) makes a table of it'),
    b"\x89HDF": ("HDF5 (or MATLAB 7.3)", f"h5py reads it; {SAVEZ}"),
    b"MATLAB 5.0": ("MATLAB's", f"scipy.io.loadmat reads it; {SAVEZ}"),
    b"\x93NUMPY": ("NumPy's for one array", SAVEZ),
    b"\xd0\xcf\x11\xe0": ("a workbook of a spreadsheet", "save it as CSV there"),
    b"BZh": ("packed by bzip2", "unpack it"),
    b"\xfd7zXZ": ("packed by xz", "unpack it"),
    b"(\xb5/\xfd": ("packed by zstd", "unpack it"),
}
"""Unsupported formats by their first bytes, and what to do."""
UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LOOKED_AT: Final = 1 << 16  # bytes examined to recognise text
TEXT: Final = frozenset({9, 10, 12, 13, *range(32, 127), *range(160, 256)})
"""Bytes that occur in Latin-1 text."""


def text_of(path: str | Path) -> tuple[str, list[str]]:
    """A file's text, and notes on how it was read."""
    expect_size(path, size_of(path))
    data = read_bytes(path)
    for begin, (what, cure) in OTHERS.items():
        if data.startswith(begin):
            raise InputError(f"{path} is no table; its format is {what}: {cure}.")
    try:
        if data.startswith(GZIP_MAGIC):
            data = unpack_gzip(data)
            expect_size(path, len(data))
    except TooLargeError as error:
        raise InputError(f"{path}: {error}.") from None
    except (EOFError, zlib.error) as error:
        name = shlex.quote(str(path))
        raise InputError(
            f"{path} is not a whole gzip file: {error}. Copy it again, or read what is whole: gzip -dc {name} > whole.csv."
        ) from None
    return _decoded(path, data)


def _decoded(path: str | Path, data: bytes) -> tuple[str, list[str]]:
    notes: list[str] = []
    wide = data.startswith(UTF16)
    if data.endswith(b"\0") and not wide:
        whole = data.rstrip(b"\0")
        notes.append(f"{len(data) - len(whole)} bytes of zero at its end are left out, as a computer leaves that stops")
        data = whole
    try:
        return data.decode("utf-16" if wide else "utf-8-sig"), notes
    except UnicodeDecodeError as error:
        if frozenset(data[:LOOKED_AT]) <= TEXT:
            return data.decode("latin-1"), [*notes, "not UTF-8: read as Latin-1"]
        raise InputError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}), so no table as CSV; of a ROS bag or NPZ file "
            f"`diffpbd log {shlex.quote(str(path))} --out CLEAN.csv` makes one."
        ) from None
