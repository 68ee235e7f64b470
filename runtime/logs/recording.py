"""Recordings of any format, cleaned and ready to be filtered: CSV, NPZ, ROS bags, JSON lines of joint state messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.files import read_beginning
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.logs.cleaning import clean, expect_stamps
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.logs.mending import Mending
from diffpbd.runtime.logs.message_files import is_messages
from diffpbd.runtime.logs.npz import NpzTable
from diffpbd.runtime.logs.table import PATH, Table, as_recorded
from diffpbd.runtime.logs.torque import choose, looks_like_torque

__all__ = ["Reading", "Recording", "joints_in", "read_recording"]

NPZ = b"PK"  # first bytes of such files
DERIVED = ("q", "dq", "ddq")


@dataclass(frozen=True)
class Reading:
    """Settings for reading files.

    `rate` [Hz] of files without a time column, `columns` to rename (the file's name → the name here), `torque`: signal of
    the joint torque, `topic` of a bag, `mending`: corrections, `accept`: kinds of grave findings to accept. `passive` joints
    have no motor and may lack torques in a table.
    """

    rate: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    torque: str | None = None
    topic: str | None = None
    mending: Mending = field(default_factory=Mending)
    accept: tuple[str, ...] = ()
    passive: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recording:
    """Samples in the order in which they were recorded: time (samples,) [s], q [rad or m], dq, ddq, tau [N·m or N]
    (samples, joints), all finite, or None if the file has none.

    Parts begin at the samples `breaks`; within a part time increases. `notes` say what was left out and why.
    """

    path: str
    time: FloatArray
    joints: tuple[str, ...]
    q: FloatArray
    dq: FloatArray | None
    ddq: FloatArray | None
    tau: FloatArray | None
    breaks: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    sound: bool = True
    """Whether its motion is sound."""
    whole: bool = True
    """Whether no sample was left out for a missing value."""
    turn: FloatArray | None = None
    """Quaternions wxyz (samples, 4) of a floating base; q has its accumulated rotation."""

    def __len__(self) -> int:
        return len(self.time)

    def split(self, share: float) -> tuple[Recording, Recording]:
        """The first `share` of the samples, and the rest."""
        cut = round(share * len(self))
        if not 0 < cut < len(self):
            raise InputError(f"{self.path}: {len(self)} samples are too few to be split at {share:g}.")
        first, second = slice(0, cut), slice(cut, len(self))
        return self._rows(first, ()), self._rows(second, self.notes)

    def _rows(self, rows: slice, without: Sequence[str]) -> Recording:
        blocks: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[rows]
            for name in ("q", "dq", "ddq", "tau", "turn")
        }
        breaks = tuple(b - rows.start for b in self.breaks if rows.start < b < rows.stop)
        notes = tuple(note for note in self.notes if note not in without)
        return replace(self, time=self.time[rows], breaks=breaks, notes=notes, **blocks)


def joints_in(path: str | Path, reading: Reading) -> tuple[str, ...]:
    """All joints with positions in a file."""
    if is_messages(path):
        from diffpbd.runtime.logs.messages import joints_of

        return joints_of(path, reading.columns)
    return _table(path, reading).joints("q")


def read_recording(path: str | Path, joints: Sequence[str], reading: Reading | None = None) -> Recording:
    """The recording of these joints, in this order; faults of single samples are left out and counted."""
    reading = reading or Reading()
    found = _from_messages(path, joints, reading) if is_messages(path) else _from_table(path, joints, reading)
    return _cleaned(found)


def _table(path: str | Path, reading: Reading) -> Table:
    return (NpzTable if read_beginning(path).startswith(NPZ) else CsvTable)(path, reading.columns)


def _from_messages(path: str | Path, joints: Sequence[str], reading: Reading) -> Recording:
    from diffpbd.runtime.logs.messages import read_messages

    if reading.rate is not None:
        raise InputError(f"{path}: messages have stamps; give {arg.rate} only for tables.")
    rows = read_messages(path, joints, torque=reading.torque, topic=reading.topic, renamed=reading.columns)
    return Recording(str(path), rows.time, tuple(joints), rows.q, rows.dq, None, rows.tau, rows.broken, rows.notes)


def _from_table(path: str | Path, joints: Sequence[str], reading: Reading) -> Recording:
    if reading.topic is not None:
        raise InputError(f"{path}: {arg.topic} is for bags; a table has none.")
    table = _table(path, reading)
    have = table.joints("q")
    if not have:
        raise InputError(
            f"{path}: no column named q_<joint> was found; the columns are {listing(table.header)}. "
            "`--map FILE.json` renames columns."
        )
    missing = [joint for joint in joints if joint not in have]
    if missing:
        raise InputError(
            f"{path}: The log has no columns for the joints {listing(as_recorded(missing))}; it has "
            f"{listing(as_recorded(have))}. `--map FILE.json` renames columns; {_without(len(missing) == len(joints))}."
        )
    used = DERIVED[:1] if reading.mending.derive else DERIVED
    for quantity in used[1:]:
        table.require_same(quantity, have, optional=True)
    unmoved = [joint for joint in reading.passive if joint not in table.joints("tau")]
    table.require_same("tau", [joint for joint in have if joint not in unmoved], optional=True)
    time = table.stamps(reading.rate, gaps=True)
    q, dq, ddq = (table.values(quantity, joints, gaps=True) if quantity in used else None for quantity in DERIVED)
    assert q is not None  # joints are among those with positions
    driven = [joint for joint in joints if joint not in unmoved]
    signal = choose(str(path), _signals(table, driven) if driven else [], reading.torque)
    tau: FloatArray | None = None
    strange = table.strangers(have)
    notes = tuple(table.notes)
    notes += (f"left alone: {listing(strange)}, of joints without positions",) if strange else ()
    if signal is not None:
        tau = np.zeros((len(q), len(joints)))
        for joint in driven:
            tau[:, joints.index(joint)] = table.column(_column(table, signal, joint, len(driven)), gaps=True)
        notes = (*notes, *((f"torque from {signal}",) if signal != "tau" else ()))
    if reading.mending.sort:
        order = np.argsort(time, kind="stable")
        time, q = time[order], q[order]
        dq, ddq, tau = (None if v is None else v[order] for v in (dq, ddq, tau))
    turn = table.turn(gaps=True) if {*PATH} <= {f"q_{joint}" for joint in joints} else None
    if turn is not None and reading.mending.sort:
        turn = turn[order]
    return Recording(str(path), time, tuple(joints), q, dq, ddq, tau, (), notes, turn=turn)


def _expect_one_clock(r: Recording) -> None:
    """Refuse tables whose torques are in other rows than the rest."""
    if r.tau is None:
        return
    read, moved = (np.isfinite(values).all(axis=1) for values in (r.tau, r.q))
    if read.any() and moved.any() and not (read & moved).any():
        raise InputError(
            f"{r.path}: positions ({moved.sum()} rows) and torques ({read.sum()} rows) stand in different rows, as of two "
            "clocks; interpolate the torques at the stamps of the positions (numpy.interp), and write both into the same rows."
        )


def _without(all_of_them: bool) -> str:
    """What to do about joints without columns."""
    return (
        "a recording of another robot: leave it out" if all_of_them else "a joint without a column has to be recorded"
    )


def _signals(table: Table, joints: Sequence[str]) -> list[str]:
    """Fields with a column `<field>_<joint>` for every joint, or `<field>` for a single joint."""
    found = []
    for name in table.header:
        field_ = name.removesuffix(f"_{joints[0]}")
        bare = field_ == name
        if bare and len(joints) > 1 or not looks_like_torque(field_) or field_ in found:
            continue
        if all(_column(table, field_, joint, len(joints)) in table.header for joint in joints):
            found.append(field_)
    return found


def _column(table: Table, signal: str, joint: str, joints: int) -> str:
    name = f"{signal}_{joint}"
    return signal if joints == 1 and name not in table.header else name


def _cleaned(r: Recording) -> Recording:
    """The recording without unusable samples."""
    blocks = {name: values for name in ("q", "dq", "ddq", "tau") if (values := getattr(r, name)) is not None}
    notes = list(r.notes)
    for name, values in blocks.items():
        for joint, column in zip(r.joints, values.T, strict=True):
            if not np.isfinite(column).any():
                raise InputError(f"{r.path}: {name} of {joint} has no number at all.")
    columns = {f"{name}_{joint}": v[:, k] for name, v in blocks.items() for k, joint in enumerate(r.joints)}
    expect_stamps(r.path, r.time, columns)
    found = clean(r.time, columns)
    if not len(found.keep):
        _expect_one_clock(r)
        raise InputError(f"{r.path}: no sample can be used: {'; '.join(found.notes)}.")
    kept = {name: values[found.keep] for name, values in blocks.items()}
    if r.turn is not None:
        kept["turn"] = r.turn[found.keep]
    before = np.searchsorted(found.keep, r.breaks)  # the first kept sample at or after a break
    breaks = {int(b) for b in before if 0 < b < len(found.keep)} | set(found.breaks)
    return replace(
        r, time=r.time[found.keep], breaks=tuple(sorted(breaks)), notes=(*notes, *found.notes),
        whole=r.whole and not found.missing, **kept,
    )  # fmt: skip
