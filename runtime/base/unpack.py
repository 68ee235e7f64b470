"""Packed files unpacked as far as an honest one goes: a few kilobytes can hold gigabytes of one byte."""

from __future__ import annotations

import bz2
import zipfile
import zlib
from typing import BinaryIO

__all__ = ["TooLargeError", "allowance", "check_zip", "unpack_bz2", "unpack_gzip"]

FLOOR = 64 << 20
"""[bytes] Any file may hold so much."""
RATIO = 100
"""[1] … and so many times its size on top. Recordings of physical arms pack to a tenth, of simulated ones at rest to a
fiftieth; bombs to a thousandth (gzip) or less than a millionth (bz2)."""
_GZIP = 31  # window bits of zlib: a gzip header


class TooLargeError(ValueError):
    """Packed data that unpack to more than an honest file of their size."""

    def __init__(self, packed: int) -> None:
        super().__init__(
            f"{packed} packed bytes hold more than {allowance(packed) >> 20} MiB, which no recording does; if it "
            "is one, unpack it first"
        )


def allowance(packed: int) -> int:
    """Bytes that a packed file of this size may hold."""
    return FLOOR + RATIO * packed


def unpack_gzip(data: bytes) -> bytes:
    """A gzip file of one or more members. Raises TooLargeError, zlib.error, or EOFError where it is cut."""
    content, rest = bytearray(), data
    while rest.strip(b"\0"):
        unpacker = zlib.decompressobj(_GZIP)
        content += unpacker.decompress(rest, allowance(len(data)) - len(content) + 1)
        if len(content) > allowance(len(data)):
            raise TooLargeError(len(data))
        if not unpacker.eof:
            raise EOFError("it ends before its end mark")
        rest = unpacker.unused_data
    return bytes(content)


def unpack_bz2(data: bytes, allowed: int, packed: int) -> bytes:
    """As far as the data go: a stream that is cut gives its whole blocks. Raises TooLargeError, OSError."""
    unpacker = bz2.BZ2Decompressor()
    content = unpacker.decompress(data, allowed + 1)
    if len(content) > allowed:
        raise TooLargeError(packed)
    return content


def check_zip(file: BinaryIO, packed: int) -> None:
    """Refuse a zip file whose entries unpack to too much. Raises TooLargeError, zipfile.BadZipFile."""
    with zipfile.ZipFile(file) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > allowance(packed):
            raise TooLargeError(packed)
