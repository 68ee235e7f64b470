"""Recordings as ROS writes them, by a library of their own (PyPI's rosbags)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diffpbd.runtime.logs.csv import Log


def stamp(t: float) -> tuple[int, int]:
    nanoseconds = round(t * 1e9)
    return nanoseconds // 10**9, nanoseconds % 10**9


def recorded(path: Path, kind: str, log: Log) -> Path:
    """A recording that another library wrote: `lz4` a ROS 1 bag, else a ROS 2 folder by storage (and zstd)."""
    assert log.tau is not None
    rosbags = pytest.importorskip("rosbags")
    assert rosbags is not None
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
    from rosbags.rosbag2 import Writer as Writer2
    from rosbags.typesys import Stores, get_typestore

    first = kind == "lz4"
    store = get_typestore(Stores.ROS1_NOETIC if first else Stores.ROS2_HUMBLE)
    types: dict[str, Any] = store.types
    state, head, time = (
        types[name] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    if first:
        writer: Any = Writer1(path)
        writer.set_compression(Writer1.CompressionFormat.LZ4)
    else:
        plugin = StoragePlugin.SQLITE3 if kind.startswith("db3") else StoragePlugin.MCAP
        writer = Writer2(path, version=9, storage_plugin=plugin)
        if kind.endswith("zstd"):
            writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for k, t in enumerate(log.time):
            header = head(*([k] if first else []), stamp=time(*stamp(t)), frame_id="")
            message = state(
                header=header, name=list(log.joints), position=log.q[k], velocity=log.dq[k], effort=log.tau[k]
            )
            data = (store.serialize_ros1 if first else store.serialize_cdr)(message, state.__msgtype__)
            writer.write(connection, round(t * 1e9), data)
    return path
