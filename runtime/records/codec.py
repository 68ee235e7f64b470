"""Fields to bytes and back, as ROS 1 serializes them: little endian, arrays and strings with a length.

Decoding never trusts a length: an array that would reach beyond the message is a MessageError.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from diffpbd.runtime.base.errors import MessageError
from diffpbd.runtime.records.definitions import BUILTIN, DEFINITIONS, Definition, Field

__all__ = ["Stamp", "decode_values", "encode_values"]

Stamp = tuple[int, int]
"""A ROS time: seconds and nanoseconds."""

_FORMATS = {"bool": "<?", "uint8": "<B", "uint16": "<H", "int32": "<i", "uint32": "<I", "float64": "<d"}
_STRUCTS = {name: struct.Struct(form) for name, form in _FORMATS.items()}
_LENGTH = struct.Struct("<I")
_DOUBLES = np.dtype("<f8")
_TIME = struct.Struct("<II")


class _Cursor:
    """A position in a message; `take` refuses to go beyond its end."""

    __slots__ = ("data", "at", "type")

    def __init__(self, data: bytes, type_name: str) -> None:
        self.data = data
        self.at = 0
        self.type = type_name

    def take(self, count: int) -> int:
        """The position before `count` more bytes."""
        start = self.at
        if start + count > len(self.data):
            raise MessageError(
                f"{self.type}: a field reaches byte {start + count} of a message of {len(self.data)} bytes; "
                "the message is dropped."
            )
        self.at = start + count
        return start


def _read(cursor: _Cursor, field: Field) -> Any:
    if field.array:
        (count,) = _LENGTH.unpack_from(cursor.data, cursor.take(4))
        if field.type == "float64":
            start = cursor.take(8 * count)
            return np.frombuffer(cursor.data, _DOUBLES, count, start).astype(np.float64)
        if field.type == "string":
            return _read_names(cursor, count)
        return tuple(_read_one(cursor, field.type) for _ in range(count))
    return _read_one(cursor, field.type)


_KNOWN: dict[int, tuple[bytes, tuple[str, ...]]] = {}
"""The last names that were read, by their number, with their bytes: a robot sends the same ones a thousand times a second."""
_MOST_KNOWN = 64


def _read_names(cursor: _Cursor, count: int) -> tuple[str, ...]:
    """Strings, decoded with replacement: a name that is not UTF-8 matches nothing and harms nothing."""
    begin = cursor.at
    known = _KNOWN.get(count)
    if known is not None and cursor.data.startswith(known[0], begin):
        cursor.take(len(known[0]))
        return known[1]
    names = tuple(_read_one(cursor, "string") for _ in range(count))
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[count] = cursor.data[begin : cursor.at], names
    return names


def _read_one(cursor: _Cursor, kind: str) -> Any:
    if kind == "string":
        (length,) = _LENGTH.unpack_from(cursor.data, cursor.take(4))
        start = cursor.take(length)
        return cursor.data[start : start + length].decode("utf-8", "replace")
    if kind == "time":
        return _TIME.unpack_from(cursor.data, cursor.take(8))
    if kind in _STRUCTS:
        form = _STRUCTS[kind]
        return form.unpack_from(cursor.data, cursor.take(form.size))[0]
    return tuple(_read(cursor, field) for field in DEFINITIONS[kind].fields)


def decode_values(definition: Definition, data: bytes) -> list[Any]:
    """The values of a message's fields in order; float64[] as arrays, nested messages as tuples."""
    cursor = _Cursor(bytes(data), definition.name)
    values = [_read(cursor, field) for field in definition.fields]
    if cursor.at != len(data):
        raise MessageError(
            f"{definition.name}: {len(data) - cursor.at} bytes are left after the last field; the message is dropped."
        )
    return values


@lru_cache(maxsize=_MOST_KNOWN)
def _names(names: tuple[str, ...]) -> bytes:
    """The bytes of strings in a row; remembered, as those of a command never change."""
    out: list[bytes] = []
    for name in names:
        _write_one(out, "string", name)
    return b"".join(out)


def _write(out: list[bytes], field: Field, value: Any) -> None:
    if not field.array:
        _write_one(out, field.type, value)
        return
    out.append(_LENGTH.pack(len(value)))
    if field.type == "float64":
        out.append(np.asarray(value, dtype=_DOUBLES).tobytes())
        return
    if field.type == "string":
        out.append(_names(tuple(value)))
        return
    for entry in value:
        _write_one(out, field.type, entry)


def _write_one(out: list[bytes], kind: str, value: Any) -> None:
    if kind == "string":
        text = value.encode("utf-8")
        out.append(_LENGTH.pack(len(text)))
        out.append(text)
    elif kind == "time":
        out.append(_TIME.pack(*value))
    elif kind in BUILTIN:
        out.append(_STRUCTS[kind].pack(value))
    else:
        for field, part in zip(DEFINITIONS[kind].fields, value, strict=True):
            _write(out, field, part)


def encode_values(definition: Definition, values: Sequence[Any]) -> bytes:
    """The bytes of a message from the values of its fields in order."""
    out: list[bytes] = []
    try:
        for field, value in zip(definition.fields, values, strict=True):
            _write(out, field, value)
    except (struct.error, TypeError, ValueError, AttributeError) as error:
        raise MessageError(f"{definition.name} cannot hold these values: {error}.") from None
    return b"".join(out)
