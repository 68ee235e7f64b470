"""ROS 1 bags (format 2.0): a writer that any ROS tool can read, and a sequential reader.

The reader needs no index, so it also reads a bag whose writer was killed, up to the last whole record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from diffpbd.runtime.base.errors import LogError
from diffpbd.runtime.base.unpack import TooLargeError, allowance, unpack_bz2
from diffpbd.runtime.records.messages import Message

__all__ = ["BagMessage", "BagWriter", "CompressionError", "read_bag"]

MAGIC = b"#ROSBAG V2.0\n"
HEADER_SIZE = 4096  # bytes of the bag's own header record with its padding; fixed by the format
CHUNK_SIZE = 1 << 18  # bytes of a chunk before it is written
MAXIMUM_RECORD = 1 << 30  # bytes; a longer record is a broken file
MESSAGE, BAG_HEADER, INDEX, CHUNK, CHUNK_INFO, CONNECTION = 2, 3, 4, 5, 6, 7
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


def _time(seconds: float) -> bytes:
    nanoseconds = round(seconds * 1e9)
    return struct.pack("<II", nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000)


def _fields(fields: dict[str, bytes]) -> bytes:
    data = b""
    for name, value in fields.items():
        entry = name.encode() + b"=" + value
        data += _U32.pack(len(entry)) + entry
    return data


def _record(fields: dict[str, bytes], data: bytes) -> bytes:
    header = _fields(fields)
    return _U32.pack(len(header)) + header + _U32.pack(len(data)) + data


class BagWriter:
    """Writes a bag; a message is safe from a crash of this program once its chunk is flushed."""

    def __init__(self, path: str | Path) -> None:
        """Open a new file at `path`."""
        self._file: BinaryIO = Path(path).open("wb")
        self._connections: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._chunk = bytearray()
        self._index: dict[int, list[tuple[bytes, int]]] = {}
        self._infos: list[bytes] = []
        self._span: tuple[float, float] | None = None
        self._file.write(MAGIC)
        self._write_header(0)

    def _write_header(self, index_position: int) -> None:
        fields = {
            "op": bytes([BAG_HEADER]), "index_pos": _U64.pack(index_position),
            "conn_count": _U32.pack(len(self._connections)), "chunk_count": _U32.pack(len(self._infos)),
        }  # fmt: skip
        padding = HEADER_SIZE - len(_record(fields, b""))
        self._file.write(_record(fields, b" " * padding))

    def write(self, topic: str, kind: type[Message], data: bytes, time: float, publisher: str = "") -> None:
        """Add a serialized message received or sent at `time` [s since the epoch]."""
        key = (topic, publisher)
        if key not in self._connections:
            number = len(self._connections)
            record = self._connection(number, topic, kind, publisher)
            self._connections[key] = (number, record)
            self._chunk += record
        number = self._connections[key][0]
        stamp = _time(time)
        self._index.setdefault(number, []).append((stamp, len(self._chunk)))
        low, high = self._span or (time, time)
        self._span = (min(low, time), max(high, time))
        header = {"op": bytes([MESSAGE]), "conn": _U32.pack(number), "time": stamp}
        self._chunk += _record(header, data)
        if len(self._chunk) >= CHUNK_SIZE:
            self.flush()

    @staticmethod
    def _connection(number: int, topic: str, kind: type[Message], publisher: str) -> bytes:
        definition = kind.DEFINITION
        fields = {"op": bytes([CONNECTION]), "conn": _U32.pack(number), "topic": topic.encode()}
        data = {
            "topic": topic.encode(), "type": definition.name.encode(), "md5sum": definition.md5.encode(),
            "message_definition": definition.full_text.encode(), "callerid": publisher.encode(),
        }  # fmt: skip
        return _record(fields, _fields(data))

    def flush(self) -> None:
        """Write the open chunk with its index."""
        if self._span is None:
            return
        position = self._file.tell()
        fields = {
            "op": bytes([CHUNK]), "compression": b"none", "size": _U32.pack(len(self._chunk)),
        }  # fmt: skip
        self._file.write(_record(fields, bytes(self._chunk)))
        counts = b""
        for number, entries in self._index.items():
            index = b"".join(stamp + _U32.pack(at) for stamp, at in entries)
            self._file.write(_record({
                "op": bytes([INDEX]), "ver": _U32.pack(1), "conn": _U32.pack(number),
                "count": _U32.pack(len(entries)),
            }, index))  # fmt: skip
            counts += _U32.pack(number) + _U32.pack(len(entries))
        self._infos.append(_record({
            "op": bytes([CHUNK_INFO]), "ver": _U32.pack(1), "chunk_pos": _U64.pack(position),
            "start_time": _time(self._span[0]), "end_time": _time(self._span[1]),
            "count": _U32.pack(len(self._index)),
        }, counts))  # fmt: skip
        self._file.flush()
        self._chunk, self._index, self._span = bytearray(), {}, None

    def close(self) -> None:
        """Flush, write the index and close; the file is closed even if that fails."""
        try:
            self.flush()
            position = self._file.tell()
            for _, record in self._connections.values():
                self._file.write(record)
            for info in self._infos:
                self._file.write(info)
            self._file.seek(len(MAGIC))
            self._write_header(position)
        finally:
            self._file.close()


@dataclass(frozen=True)
class BagMessage:
    """A message of a bag: `type` is package/Type, `time` [s] that of the recording."""

    topic: str
    type: str
    md5: str
    data: bytes
    time: float


def _split(data: bytes, where: str) -> dict[str, bytes]:
    fields: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        (length,) = _U32.unpack_from(data, at)
        name, equals, value = data[at + 4 : at + 4 + length].partition(b"=")
        if not equals:
            raise LogError(f"{where}: a record header without a name: not a ROS bag, or damaged.")
        fields[name.decode("ascii", "replace")] = value
        at += 4 + length
    return fields


class CompressionError(LogError):
    """Chunks that this reader cannot unpack."""


@dataclass(frozen=True)
class _Cut:
    """The record that the end of the data cuts off: its header (None if that is cut too), and what is there of its body."""

    header: dict[str, bytes] | None
    body: bytes
    size: int


def _records(data: bytes, at: int, where: str, cut: list[_Cut]) -> Iterator[tuple[dict[str, bytes], bytes]]:
    """Whole records from `at` on; one that is cut off at the end of the data is put into `cut`."""
    while at < len(data):
        if at + 4 > len(data):
            cut.append(_Cut(None, b"", 0))
            return
        (header_size,) = _U32.unpack_from(data, at)
        if header_size > MAXIMUM_RECORD:
            raise LogError(f"{where}: a record header of {header_size} bytes: not a ROS bag, or damaged.")
        if at + 8 + header_size > len(data):
            cut.append(_Cut(None, b"", 0))
            return
        header = _split(data[at + 4 : at + 4 + header_size], where)
        at += 4 + header_size
        (size,) = _U32.unpack_from(data, at)
        if at + 4 + size > len(data):
            cut.append(_Cut(header, data[at + 4 :], size))
            return
        yield header, data[at + 4 : at + 4 + size]
        at += 4 + size


def read_bag(path: str | Path, notes: list[str] | None = None) -> Iterator[BagMessage]:
    """The messages of a bag in the order of the file; chunks may be plain or bz2.

    Of a bag that was cut off, the whole messages of the open chunk are read too, and `notes` get a sentence on what is missing.
    A LogError where it is damaged otherwise, or where its chunks unpack to more than a recording does.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}.") from None
    if not data.startswith(MAGIC):
        raise LogError(f"{path}: not a ROS bag of format 2.0.")
    try:
        yield from _read(data, str(path), notes)
    except TooLargeError as error:
        raise LogError(f"{path}: {error}.") from None
    except (LookupError, ValueError, OSError, struct.error) as error:  # a field is missing, or is not what it should be
        raise LogError(f"{path}: damaged: {type(error).__name__} {error}.") from None


def _read(data: bytes, path: str, notes: list[str] | None) -> Iterator[BagMessage]:
    connections: dict[bytes, tuple[str, str, str]] = {}
    cut: list[_Cut] = []
    chunks = _Chunks(path, len(data))
    for header, body in _records(data, len(MAGIC), path, cut):
        if header.get("op") == bytes([CHUNK]):
            inner = _records(chunks.unpacked(header, body), 0, path, [])
        else:
            inner = iter([(header, body)])
        yield from _messages(inner, connections, path)
    if not cut:
        return
    share = ""
    if cut[0].header is not None and cut[0].header.get("op") == bytes([CHUNK]):
        share = f", of which {100 * len(cut[0].body) // max(1, cut[0].size)} % are there"
        inner = _records(chunks.unpacked(cut[0].header, cut[0].body), 0, path, [])
        yield from _messages(inner, connections, path)
    if notes is not None:
        record = "chunk" if share else "record"
        notes.append(f"the file is cut off in the middle of a {record}{share}: what was recorded after that is missing")


class _Chunks:
    """Unpacks a bag's chunks, all together to no more than a recording of its size."""

    def __init__(self, path: str, packed: int) -> None:
        self._path = path
        self._packed = packed
        self._left = allowance(packed)

    def unpacked(self, header: dict[str, bytes], body: bytes) -> bytes:
        """The records of a chunk, as far as it is there."""
        compression = header.get("compression", b"none")
        if compression == b"bz2":
            content = unpack_bz2(body, self._left, self._packed)
            self._left -= len(content)
            return content
        if compression != b"none":
            raise CompressionError(
                f"{self._path}: compression {compression.decode('ascii', 'replace')} is not read here; "
                f"run `rosbag decompress {self._path}` first."
            )
        return body


def _messages(
    records: Iterator[tuple[dict[str, bytes], bytes]], connections: dict[bytes, tuple[str, str, str]], where: str
) -> Iterator[BagMessage]:
    for fields, content in records:
        if fields.get("op") == bytes([CONNECTION]):
            facts = _split(content, where)
            connections[fields["conn"]] = (fields["topic"].decode(), facts["type"].decode(), facts["md5sum"].decode())
        elif fields.get("op") == bytes([MESSAGE]):
            topic, kind, md5 = connections[fields["conn"]]
            seconds, nanoseconds = struct.unpack("<II", fields["time"])
            yield BagMessage(topic, kind, md5, content, seconds + 1e-9 * nanoseconds)
