"""Logs as CSV (`.gz` allowed): one header row, then one sample a row.

Columns: `time` (or `t`) [s], `q_<joint>` [rad or m], `dq_<joint>` [rad/s or m/s], optional `ddq_<joint>` and
`tau_<joint>` [N·m or N]; joints by name in any order. Other columns are left alone. Columns may be separated by semicolons
(decimal commas are read then), tabs or blanks; lines that begin with # or % are comments, and the last one before numbers
alone is the header.
"""

from __future__ import annotations

import csv
import io
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import read_bytes, read_json, size_of
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.base.quaternions import PLACE, path_of
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.base.unpack import TooLargeError, unpack_gzip
from diffpbd.runtime.logs.size import expect_size
from diffpbd.runtime.logs.table import Table, as_recorded, expect_columns

__all__ = ["CsvTable", "Log", "TorqueLog", "has_states", "read_column_map", "read_log", "read_torques", "write_log"]

QUANTITIES = ("q", "dq", "ddq", "tau")
COMMENTS = "#%"  # how lines begin that are no samples
MAX_SHOWN = 60  # characters of a wrong cell in a message
GZIP_MAGIC = b"\x1f\x8b"


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
    columns of q where these are not the joints', of a robot with a floating base."""

    time: FloatArray
    joints: tuple[str, ...]
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray | None = None
    tau: FloatArray | None = None
    positions: tuple[str, ...] = ()
    turn: FloatArray | None = None
    """Quaternions wxyz (samples, 4) of a floating base; q is the sum of its turns then."""

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

    `rate` [Hz] makes the time of a file without a time column, or even steps in place of its stamps; `untimed` that of
    one that happens to have none; `columns` renames columns, from the file's name to the name here. Without `seconds` the
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
        lines, comment = _without_comments(_text(path))
        if not lines:
            raise InputError(f"{path} is empty; expected a header row and samples.")
        delimiter = _delimiter(lines[0])
        expect_columns(path, len(lines[0].split(None if delimiter == " " else delimiter)))
        rows = _rows(path, lines, delimiter)
        if all(_is_number(name) for name in rows[0]) and comment is not None:
            named = next(csv.reader([comment], delimiter=_delimiter(comment)))
            rows = [named, *rows] if len(named) == len(rows[0]) else rows  # as numpy writes it
        header = [name.strip() for name in rows[0]]
        self._rows = rows[1:]
        if delimiter != "," and any("," in cell for row in self._rows[:1] for cell in row):
            self._rows = [[cell.replace(",", ".") for cell in row] for row in self._rows]
        if all(_is_number(name) for name in header):
            raise InputError(f"{path}: the first row holds numbers; expected a header row of column names.")
        super().__init__(path, header, len(self._rows), columns)
        for k, row in enumerate(self._rows):
            if len(row) != len(self.header):
                commas = delimiter == "," and len(row) > len(self.header)
                hint = " Where commas are decimal points, columns have to be separated by semicolons." if commas else ""
                raise InputError(
                    f"{self.path}: sample {k + 1} has {len(row)} values, the header has {len(self.header)} columns.{hint}"
                )

    def cells(self, name: str, *, gaps: bool) -> FloatArray:
        """Numbers of a column; with `gaps` an empty cell is NaN."""
        position = self.header.index(name)
        texts = [row[position] for row in self._rows]
        if gaps:
            texts = [text if text.strip() else "nan" for text in texts]
        try:
            return np.array([float(text) for text in texts])
        except ValueError:
            raise self.bad(name, next(k for k, text in enumerate(texts) if not _is_number(text))) from None

    def shown(self, name: str, sample: int) -> str:
        """The text of a cell."""
        return repr(self._rows[sample][self.header.index(name)][:MAX_SHOWN])


def _without_comments(text: str) -> tuple[list[str], str | None]:
    """The lines that are not empty and do not begin with # or %, and the last comment before the first of them."""
    lines: list[str] = []
    comment = None
    for line in io.StringIO(text, newline=""):
        stripped = line.strip()
        if not stripped:
            continue
        if stripped[0] not in COMMENTS:
            lines.append(line)
        elif not lines:
            comment = stripped.lstrip(COMMENTS + " ")
    return lines, comment


def _delimiter(line: str) -> str:
    """What separates the columns of the header: a comma, else a semicolon, a tab or blanks."""
    return next((mark for mark in (";", "\t", ",", " ") if mark in line.strip()), ",")


def _rows(path: str | Path, lines: Sequence[str], delimiter: str) -> list[list[str]]:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        return [row[:-1] if delimiter == " " and row and not row[-1] else row for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: not CSV: {error}.") from None


def _text(path: str | Path) -> str:
    expect_size(path, size_of(path))
    data = read_bytes(path)
    try:
        if data.startswith(GZIP_MAGIC):
            data = unpack_gzip(data)
            expect_size(path, len(data))
        return data.decode("utf-8-sig")
    except TooLargeError as error:
        raise InputError(f"{path}: {error}.") from None
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file: {error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}), so no table; of a ROS bag or NPZ file "
            f"`diffpbd log {shlex.quote(str(path))} --out CLEAN.csv` makes one."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
