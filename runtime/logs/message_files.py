"""Joint state messages of ROS 1 and ROS 2 bags, and of files of JSON lines, in the order of the file.

ROS 1 bags whose chunks are plain or bz2 are read here, with or without an index, also where they were cut off. Everything else
(lz4 chunks; ROS 2: a folder with metadata.yaml, `.db3`, `.mcap`, zstd) is read by PyPI's `rosbags`, the extra `bags`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.errors import InputError, LogError, MessageError
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.base.files import read_beginning, read_bytes
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.records.bag import CompressionError, read_bag
from diffpbd.runtime.records.messages import Header, JointState
from diffpbd.runtime.ros1.messages import SEAJointState

__all__ = ["Message", "Messages", "is_messages", "read_message_file"]

TYPES: dict[str, type[JointState] | type[SEAJointState]] = {
    "sensor_msgs/JointState": JointState,
    "baxter_core_msgs/SEAJointState": SEAJointState,
}
SUFFIXES = {".bag": "ROS 1 bag", ".db3": "ROS 2 recording (SQLite)", ".mcap": "recording (MCAP)"}
BEGINNINGS = {b"#ROSBAG": ".bag", b"SQLite format 3\0": ".db3", b"\x89MCAP0\r\n": ".mcap"}
"""First bytes of such files, whatever their name."""
METADATA = "metadata.yaml"
LINES_TOPIC = "the file"
NANO = 1e-9  # s


@dataclass(frozen=True)
class Message:
    """`time` [s] is that of the recording, `kind` a key of the two message types."""

    topic: str
    kind: str
    time: float
    content: JointState | SEAJointState


@dataclass
class Messages:
    """Content of a file; `damaged` counts messages that could not be decoded, `notes` say what is missing."""

    found: list[Message] = field(default_factory=list)
    damaged: int = 0
    notes: list[str] = field(default_factory=list)


def is_messages(path: str | Path) -> bool:
    """Whether a file contains messages, by its first bytes or its name, or a folder a ROS 2 recording."""
    return Path(path).suffix == ".jsonl" or _suffix(path) is not None


def read_message_file(path: str | Path, renamed: Mapping[str, str] | None = None) -> Messages:
    """All joint state messages, joints `renamed` from the file's names; a file without any is refused."""
    suffix = _suffix(path)
    messages = Messages()
    if suffix is None:
        messages.found = list(_lines(path, messages.notes))
    elif suffix == ".bag":
        _read_ros1(path, messages)
    else:
        _read_with_rosbags(path, suffix, messages)
    if not messages.found:
        said = f" ({'; '.join(messages.notes)})" if messages.notes else ""
        raise InputError(f"{path} has no messages of the types {' and '.join(TYPES)}{said}.")
    return messages if not renamed else _renamed(path, messages, renamed)


def _renamed(path: str | Path, messages: Messages, names: Mapping[str, str]) -> Messages:
    known = {name for message in messages.found for name in message.content.name}
    for name in names:
        if name not in known:
            raise InputError(f"{path} has no joint {name!r} to rename. {hint(name, sorted(known))}")
    messages.found = [
        replace(m, content=replace(m.content, name=tuple(names.get(name, name) for name in m.content.name)))
        for m in messages.found
    ]
    return messages


def _suffix(path: str | Path) -> str | None:
    """Which kind of bag a file or folder is: a key of `SUFFIXES`, empty for a folder; None if it is none."""
    path = Path(path)
    if path.is_dir():
        return "" if (path / METADATA).is_file() else None
    begin = read_beginning(path)
    known = next((suffix for start, suffix in BEGINNINGS.items() if begin.startswith(start)), None)
    return known or (path.suffix if path.suffix in SUFFIXES else None)


def _read_ros1(path: str | Path, into: Messages) -> None:
    try:
        for message in read_bag(path, into.notes):
            kind = TYPES.get(message.type)
            if kind is None:
                continue
            try:
                content = kind.decode(message.data)
            except MessageError:
                into.damaged += 1
                continue
            into.found.append(Message(message.topic, message.type.split("/")[1], message.time, content))
    except CompressionError:
        into.found, into.notes = [], []
        _read_with_rosbags(path, ".bag", into)
    except LogError as error:
        raise InputError(str(error)) from None
    except (KeyError, ValueError, OSError, EOFError, struct.error) as error:
        raise InputError(f"{path} is a damaged ROS bag: {error!r}; repair it with `rosbag reindex`.") from None


def _read_with_rosbags(path: str | Path, suffix: str, into: Messages) -> None:
    what = "ROS 1 bag with lz4 chunks" if suffix == ".bag" else SUFFIXES.get(suffix, "ROS 2 recording")
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise missing(f"{path} is a {what}, which", "rosbags") from None
    target = Path(path)
    try:
        with AnyReader([target], default_typestore=get_typestore(Stores.LATEST)) as reader:
            names = {name.replace("/", "/msg/"): name for name in TYPES}
            wanted = [connection for connection in reader.connections if connection.msgtype in names]
            for connection, nanoseconds, data in reader.messages(wanted) if wanted else ():
                try:
                    content = _of_rosbags(names[connection.msgtype], reader.deserialize(data, connection.msgtype))
                except Exception:
                    into.damaged += 1
                    continue
                kind = connection.msgtype.rpartition("/")[2]
                into.found.append(Message(connection.topic, kind, NANO * nanoseconds, content))
    except Exception as error:
        repair = {".mcap": "; `mcap recover` keeps what is whole", ".db3": "; SQLite's `.recover` keeps what is whole"}
        raise InputError(f"{path} is a damaged or cut {what}: {error}{repair.get(suffix, '')}.") from None


def _of_rosbags(name: str, data: Any) -> JointState | SEAJointState:
    header = Header(0, (int(data.header.stamp.sec), int(data.header.stamp.nanosec)), "")
    fields = [f for f in TYPES[name].__dataclass_fields__ if f not in ("header", "name", "hyst_state")]
    arrays: dict[str, Any] = {f: np.array(getattr(data, f), dtype=np.float64) for f in fields}
    return TYPES[name](header, tuple(data.name), **arrays)


def _lines(path: str | Path, notes: list[str]) -> Iterator[Message]:
    lines = read_bytes(path).decode("utf-8", "replace").splitlines()
    if len(lines) > 1 and lines[-1].strip() and not lines[-1].rstrip().endswith("}"):
        notes.append("the last line was cut off and is left out")
        lines = lines[:-1]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _of_json(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise InputError(
                f'{path}: line {number} is not a joint state message: expected {{"stamp": s, "name": [...], "position": [...], '
                f'"velocity": [...], "effort": [...]}} with finite numbers, found {line.strip()[:60]!r}.'
            ) from None


def _of_json(data: dict[str, Any]) -> Message:
    stamp = round(float(data["stamp"]) / NANO)
    header = Header(0, (stamp // round(1 / NANO), stamp % round(1 / NANO)), "")
    kind = "SEAJointState" if "actual_position" in data else "JointState"
    arrays: dict[str, Any] = {
        name: np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
        for name, values in data.items()
        if isinstance(values, list) and name != "name"
    }
    named = data["name"]
    if not (
        isinstance(named, list) and all(isinstance(name, str) for name in named)
    ):  # the letters of a word are no names
        raise TypeError
    names = tuple(named)
    content = SEAJointState(header, names, **arrays) if kind == "SEAJointState" else JointState(header, names, **arrays)
    return Message(LINES_TOPIC, kind, header.time, content)
