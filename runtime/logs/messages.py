"""Joint state messages of a bag, or of a file of JSON lines, as the rows of a recording.

Supported are sensor_msgs/JointState and baxter_core_msgs/SEAJointState; joints are mapped by name in every message.
A row comes from one message; only if no message has all the joints are several combined, with a note.

A line of a `.jsonl` file is `{"stamp": s, "name": [...], "position": [...], "velocity": [...], "effort": [...]}`, with any
other field of the two message types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.logs.cleaning import GAP
from diffpbd.runtime.logs.message_files import Message, read_message_file
from diffpbd.runtime.logs.torque import choose
from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import JointState
from diffpbd.runtime.ros1.messages import SEAJointState

__all__ = ["Rows", "joints_of", "read_messages"]

EFFORTS = {
    "JointState": ("effort",),
    "SEAJointState": (
        "actual_effort", "commanded_effort", "gravity_model_effort", "gravity_only", "hysteresis_model_effort",
        "crosstalk_model_effort",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """time (rows,) [s], q, dq, tau (rows, joints); dq and tau are NaN if a message had none, None if no message had any."""

    time: FloatArray
    q: FloatArray
    dq: FloatArray | None
    tau: FloatArray | None
    torque: str | None
    notes: tuple[str, ...]
    broken: tuple[int, ...]
    """Rows before which messages of these joints were rejected."""


def read_messages(
    path: str | Path,
    joints: Sequence[str],
    *,
    torque: str | None,
    topic: str | None,
    renamed: Mapping[str, str] | None = None,
) -> Rows:
    """The rows of these joints; `torque` is the effort field to take, `topic` the topic if several have the joints.

    `renamed` are joints' names, from the messages' to those here.
    """
    file = read_message_file(path, renamed)
    messages = file.found
    known = {name for m in messages for name in m.content.name}
    missing = [joint for joint in joints if joint not in known]
    if missing:
        raise InputError(
            f"{path}: no joint state message names {listing(missing)}. {hint(missing[0], sorted(known))} Topics: "
            f"{listing(sorted({m.topic for m in messages}))}."
        )
    ours = [m for m in messages if any(joint in m.content.name for joint in joints)]
    if topic is not None:
        _refuse_topic(path, topic, messages, ours)
        ours = [m for m in ours if m.topic == topic]
    field = choose(str(path), _candidates(ours), torque)
    kinds = [kind for kind, fields in EFFORTS.items() if field in fields] if field else list(EFFORTS)
    topics = sorted({m.topic for m in ours if m.kind in kinds})
    if len(topics) > 1:
        raise InputError(
            f"{path}: the topics {listing(topics)} all name these joints; choose one with {arg.topic} NAME."
        )
    notes = [*file.notes, *([f"{file.damaged} damaged messages are left out"] if file.damaged else [])]
    if field is not None:
        notes.append(f"joint states of {topics[0]}, torque from {field}")
    states = [_joint_state(m, field) for m in messages if m.topic in topics and m.kind in kinds]
    return _rows(path, states, tuple(joints), field, notes)


def joints_of(path: str | Path, renamed: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The joint names of the most frequent kind of message."""
    messages = read_message_file(path, renamed).found
    names = Counter(tuple(sorted(m.content.name)) for m in messages)
    if not names:
        raise InputError(f"{path} has no joint state messages.")
    ordered = names.most_common(1)[0][0]
    return next(m.content.name for m in messages if tuple(sorted(m.content.name)) == ordered)


def _refuse_topic(path: str | Path, topic: str, messages: list[Message], ours: list[Message]) -> None:
    if topic not in {m.topic for m in ours}:
        have = sorted({m.topic for m in messages})
        raise InputError(f"{path}: the topic {topic!r} has no joint states of these joints. {hint(topic, have)}")


def _candidates(messages: list[Message]) -> list[str]:
    """Effort fields that are not empty in some message."""
    fields = [field for kind in EFFORTS for field in EFFORTS[kind]]
    filled = {f for m in messages for f in EFFORTS[m.kind] if len(getattr(m.content, f))}
    return [field for field in fields if field in filled]


def _joint_state(message: Message, field: str | None) -> tuple[JointState, float]:
    m = message.content
    if isinstance(m, SEAJointState):
        effort = getattr(m, field) if field else np.empty(0)
        return JointState(m.header, m.name, m.actual_position, m.actual_velocity, effort), message.time
    return m, message.time


def _rows(
    path: str | Path,
    states: list[tuple[JointState, float]],
    joints: tuple[str, ...],
    field: str | None,
    notes: list[str],
) -> Rows:
    reader, every = JointStateReader(joints), len(states)
    states = _without_twins(states)
    if len(states) < every:
        notes.append(
            f"{every - len(states)} of {every} messages are left out: fuller ones of the same joints have their stamps, as "
            "where two publishers share a topic"
        )
    found, broken = _offer(reader, states)
    if not found:
        groups = _groups(states, joints)
        if groups:
            return _merged(path, states, joints, groups, field, notes)
    rejected = ", ".join(f"{reason} ({number})" for reason, number in reader.rejected.items())
    if reader.rejected:
        notes.append(f"{sum(reader.rejected.values())} of {len(states)} messages are rejected: {rejected}")
    others = sum(reader.ignored.values())
    if others:
        notes.append(f"{others} messages of other publishers on the same topic name none of these joints")
    if not found:
        raise InputError(f"{path}: no message can be used: {rejected or 'none names these joints'}.")
    time, q, dq, tau = _arrays(found)
    return Rows(time, q, _some(dq), _some(tau) if field else None, field, tuple(notes), tuple(broken))


def _without_twins(states: list[tuple[JointState, float]]) -> list[tuple[JointState, float]]:
    """Without messages that have the joints and the stamp of one with more quantities."""

    def twins(m: JointState) -> tuple[float, frozenset[str]]:
        return m.header.time, frozenset(m.name)

    def filled(m: JointState) -> int:
        return bool(len(m.velocity)) + bool(len(m.effort))

    most: dict[tuple[float, frozenset[str]], int] = {}
    for m, _ in states:
        most[twins(m)] = max(most.get(twins(m), 0), filled(m))
    return [(m, received) for m, received in states if not m.header.time or filled(m) == most[twins(m)]]


def _offer(reader: JointStateReader, states: list[tuple[JointState, float]]) -> tuple[list[LimbState], list[int]]:
    """States accepted by the robot's own reader, and the indices before which it rejected a message."""
    found: list[LimbState] = []
    broken: list[int] = []
    rejected = 0
    for message, received in states:
        state = reader.offer(message, received)
        if state is not None:
            if sum(reader.rejected.values()) > rejected and found:
                broken.append(len(found))
            rejected = sum(reader.rejected.values())
            found.append(state)
    return found, broken


def _arrays(states: list[LimbState]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    n = len(states[0].q)
    none = np.full(n, np.nan)
    return (
        np.array([s.stamp for s in states]),
        np.array([s.q for s in states]).reshape(-1, n),
        np.array([s.dq for s in states]).reshape(-1, n),
        np.array([none if s.effort is None else s.effort for s in states]).reshape(-1, n),
    )


def _some(values: FloatArray) -> FloatArray | None:
    """None if all values are missing."""
    return values if np.isfinite(values).any() else None


def _groups(states: list[tuple[JointState, float]], joints: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Disjoint sets of joints from single messages that together are all joints; empty if there are none."""
    sets = Counter(tuple(joint for joint in joints if joint in message.name) for message, _ in states)
    chosen: list[tuple[str, ...]] = []
    for group, _ in sets.most_common():
        if group and not any(joint in other for other in chosen for joint in group):
            chosen.append(group)
    return chosen if sorted(j for group in chosen for j in group) == sorted(joints) else []


def _merged(
    path: str | Path,
    states: list[tuple[JointState, float]],
    joints: tuple[str, ...],
    groups: list[tuple[str, ...]],
    field: str | None,
    notes: list[str],
) -> Rows:
    """Rows at the stamps of the fastest publisher; values of the others are interpolated."""
    streams = []
    for group in groups:
        reader = JointStateReader(group)
        found, _ = _offer(reader, [(m, r) for m, r in states if any(joint in m.name for joint in group)])
        if not found:
            raise InputError(f"{path}: no message of {listing(group)} can be used: {dict(reader.rejected)}.")
        streams.append((group, *_arrays(found)))
    streams.sort(key=lambda stream: -len(stream[1]))
    time = streams[0][1]
    blocks = np.full((3, len(time), len(joints)), np.nan)
    for group, stamps, *values in streams:
        columns = [joints.index(joint) for joint in group]
        for block, own in zip(blocks, values, strict=True):
            block[:, columns] = own if stamps is time else _interpolated(time, stamps, own)
    slower = "; ".join(listing(group) for group, *_ in streams[1:])
    notes.append(
        f"no message has all the joints: rows are at the stamps of {listing(streams[0][0])}, and the values of {slower} are "
        "interpolated to them between messages of their own publishers"
    )
    return Rows(time, blocks[0], _some(blocks[1]), _some(blocks[2]) if field else None, field, tuple(notes), ())


def _interpolated(time: FloatArray, stamps: FloatArray, values: FloatArray) -> FloatArray:
    """Linear interpolation, NaN across gaps."""
    result = np.full((len(time), values.shape[1]), np.nan)
    order = np.argsort(stamps, kind="stable")  # a restarted clock: searched only, rows keep their order
    stamps, values = stamps[order], values[order]
    after = np.clip(np.searchsorted(stamps, time), 1, max(1, len(stamps) - 1))
    if len(stamps) < 2:
        return result
    width = stamps[after] - stamps[after - 1]
    inside = (
        (time >= stamps[after - 1])
        & (time <= stamps[after])
        & (width <= GAP * np.median(np.diff(stamps)))
        & (width > 0.0)
    )
    share = ((time - stamps[after - 1]) / np.where(width > 0.0, width, 1.0))[:, None]
    result[inside] = (values[after - 1] + share * (values[after] - values[after - 1]))[inside]
    return result
