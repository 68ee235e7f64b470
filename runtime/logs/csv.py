"""Logs as CSV (`.gz` allowed): one header row, then one sample per row.

Columns: `time` (or `t`) [s], `q_<joint>` [rad or m], `dq_<joint>` [rad/s or m/s], optional `ddq_<joint>` and
`tau_<joint>` [N·m or N]; joints by name in any order. Other columns are left alone. Columns may be separated by semicolons
(decimal commas are read then), tabs or blanks; lines that begin with # or % are comments, and the last one before numbers
alone is the header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import read_json
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.base.quaternions import PLACE, path_of
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.logs.lines import MISSING, is_number, split, wrong_row
from diffpbd.runtime.logs.table import TIME_NAMES, Table, as_recorded
from diffpbd.runtime.logs.text import text_of

__all__ = ["CsvTable", "Log", "TorqueLog", "has_states", "read_column_map", "read_log", "read_torques", "write_log"]

QUANTITIES = ("q", "dq", "ddq", "tau")
MAX_SHOWN = 60  # characters of a wrong cell in a message


@dataclass(frozen=True)
class TorqueLog:
    """Torques by time: time (samples,) [s] and tau (samples, joints) [N·m or N]."""

    time: FloatArray
    joints: tuple[str, ...]
    tau: FloatArray

    def select(self, joints: Sequence[str]) -> TorqueLog:
        """The columns of these joints, in this order; a missing joint is refused by name."""
        columns = _columns_of(self.joints, joints)
        return TorqueLog(self.time, tuple(joints), self.tau[:, columns])


@dataclass(frozen=True)
class Log:
    """A recording: time (samples,) [s]; q [rad or m], rates dq, ddq, tau [N·m or N] (samples, joints). `positions` names the
    columns of q if they are not the joints', for a robot with a floating base."""

    time: FloatArray
    joints: tuple[str, ...]
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray | None = None
    tau: FloatArray | None = None
    positions: tuple[str, ...] = ()
    turn: FloatArray | None = None
    """Quaternions wxyz (samples, 4) of a floating base; q then has its accumulated rotation."""

    def __len__(self) -> int:
        return len(self.time)

    def select(self, joints: Sequence[str]) -> Log:
        """The columns of these joints, in this order; a missing joint is refused by name."""
        columns = _columns_of(self.joints, joints)
        ddq = None if self.ddq is None else self.ddq[:, columns]
        tau = None if self.tau is None else self.tau[:, columns]
        q, turn = self.q, self.turn
        if len(self.positions) > len(self.joints):
            turn = q[:, PLACE]
            q = np.hstack([q[:, :3], path_of(turn), q[:, PLACE.stop :]])
        return Log(self.time, tuple(joints), q[:, columns], self.dq[:, columns], ddq, tau, turn=turn)


def _columns_of(have: Sequence[str], want: Sequence[str]) -> list[int]:
    missing = [joint for joint in want if joint not in have]
    if missing:
        raise InputError(
            f"The log has no columns for the joints {listing(as_recorded(missing))}; it has {listing(as_recorded(have))}. "
            "`--map FILE.json` renames columns."
        )
    return [have.index(joint) for joint in want]


def read_log(
    path: str | Path,
    *,
    rate: float | None = None,
    untimed: float | None = None,
    columns: Mapping[str, str] | None = None,
    passive: Sequence[str] = (),
    seconds: bool = True,
) -> Log:
    """Read a log that has q and dq of every joint; torques of `passive` ones may be missing and are zero.

    `rate` [Hz] gives the time of a file without a time column, or equal steps instead of its stamps; `untimed`: only
    without a time column; `columns` renames columns, from the file's name to the name here. Without `seconds` the
    time may be in any unit.
    """
    table = CsvTable(path, columns or {})
    joints = table.joints("q")
    if not joints:
        raise InputError(
            f"{path}: no column named q_<joint> was found; the columns are {listing(table.header)}. "
            "`--map FILE.json` renames columns."
        )
    moved = [joint for joint in joints if joint not in passive or joint in table.joints("tau")]
    for quantity in ("dq", "ddq", "tau"):
        table.require_same(quantity, moved if quantity == "tau" else joints, optional=quantity != "dq")
    values = {quantity: table.values(quantity, moved if quantity == "tau" else joints) for quantity in QUANTITIES}
    if (tau := values["tau"]) is not None:
        every: FloatArray = np.zeros((len(tau), len(joints)))
        every[:, [joints.index(joint) for joint in moved]] = tau
        values["tau"] = every
    q, dq = values["q"], values["dq"]
    assert q is not None and dq is not None  # required above
    assumed = untimed if rate is None and not table.timed else rate
    return Log(table.time(assumed, seconds=seconds), joints, q, dq, values["ddq"], values["tau"], turn=table.turn())


def read_torques(path: str | Path, *, rate: float | None = None, columns: Mapping[str, str] | None = None) -> TorqueLog:
    """Read only the time and the tau columns of a log."""
    table = CsvTable(path, columns or {})
    joints = table.joints("tau")
    tau = table.values("tau", joints)
    if tau is None:
        raise InputError(
            f"{path}: no column named tau_<joint> was found; the columns are {listing(table.header)}. "
            "`--map FILE.json` renames columns."
        )
    return TorqueLog(table.time(rate), joints, tau)


def has_states(path: str | Path, *, columns: Mapping[str, str] | None = None) -> bool:
    """True if the file has q and dq columns, so that `read_log` can be asked for it."""
    table = CsvTable(path, columns or {})
    return bool(table.joints("q") and table.joints("dq"))


def read_column_map(path: str | Path) -> dict[str, str]:
    """The file of `--map`: a JSON object from a column's name in the log to the name here."""
    data = read_json(path)
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data.values()):
        raise InputError(f'{path}: expected an object of column names such as {{"pos_1": "q_elbow"}}.')
    return data


def write_log(path: str | Path, log: Log) -> None:
    """Write a log, whole or not at all; compressed if the name ends in `.gz`."""
    blocks = [("q", log.q), ("dq", log.dq), ("ddq", log.ddq), ("tau", log.tau)]
    present = [(name, block) for name, block in blocks if block is not None]
    named = {"q": log.positions or log.joints}
    header = ["time", *(f"{name}_{joint}" for name, _ in present for joint in named.get(name, log.joints))]
    write_rows(path, header, np.column_stack([log.time, *(block for _, block in present)]))


class CsvTable(Table):
    """The cells of a CSV file."""

    def __init__(self, path: str | Path, columns: Mapping[str, str]) -> None:
        """Read the file; only the shape of its rows is checked."""
        text, notes = text_of(path)
        self._lines = split(path, text)
        self._rows = self._lines.rows
        super().__init__(path, self._lines.header, len(self._rows), columns)
        self.notes += [*notes, *self._lines.notes]

    def cells(self, name: str, *, gaps: bool) -> FloatArray:
        """Numbers of a column; with `gaps` an empty cell is NaN. Stamps may be dates (ISO 8601)."""
        if self._lines.wrong and not gaps:
            k = min(self._lines.wrong)
            raise InputError(wrong_row(self.path, k, self._lines.wrong[k], len(self.header)) + self._lines.hint)
        position = self.header.index(name)
        texts = [row[position] for row in self._rows]
        try:
            return np.array([float(text) for text in texts])
        except ValueError:
            pass
        if gaps:
            texts = [text if (word := text.strip().lower()) and word not in MISSING else "nan" for text in texts]
        read = date if name in TIME_NAMES else float
        try:
            return np.array([read(text) for text in texts])
        except ValueError:
            raise self.bad(name, next(k for k, text in enumerate(texts) if not is_number(text))) from None

    def shown(self, name: str, sample: int) -> str:
        """The text of a cell."""
        return repr(self._rows[sample][self.header.index(name)][:MAX_SHOWN])


def date(text: str) -> float:
    """Seconds since 1970 of a date in ISO 8601, without a zone of UTC; or of a number."""
    if is_number(text):
        return float(text)
    found = datetime.fromisoformat(re.sub(r"Z$", "+00:00", text.strip()))
    return (found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)).timestamp()
