"""Logs as CSV (`.gz` allowed): one header row, then one sample a row.

Columns: `time` (or `t`) [s], `q_<joint>` [rad or m], `dq_<joint>` [rad/s or m/s], optional `ddq_<joint>` and
`tau_<joint>` [N·m or N]; joints by name in any order. Other columns are left alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import read_bytes, read_json, write_atomic
from diffpbd.runtime.names import hint, listing

__all__ = ["Log", "TorqueLog", "has_states", "read_column_map", "read_log", "read_torques", "write_log"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
TIME_NAMES = ("time", "t")
QUANTITIES = ("q", "dq", "ddq", "tau")
MOST = 1e12
"""[s, rad, m, N…] Largest magnitude that a log may hold; anything beyond is a fault of the recording."""
MAX_SHOWN = 60  # characters of a wrong cell in a message
RATES = (1e-3, 1e6)  # Hz: sampling rates that are believed
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
    """A recording: time (samples,) [s]; q [rad or m], rates dq, ddq, tau [N·m or N] (samples, joints)."""

    time: FloatArray
    joints: tuple[str, ...]
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray | None = None
    tau: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def select(self, joints: Sequence[str]) -> Log:
        """The columns of these joints, in this order; a missing joint is refused by name."""
        columns = _columns_of(self.joints, joints)
        ddq = None if self.ddq is None else self.ddq[:, columns]
        tau = None if self.tau is None else self.tau[:, columns]
        return Log(self.time, tuple(joints), self.q[:, columns], self.dq[:, columns], ddq, tau)


def _columns_of(have: Sequence[str], want: Sequence[str]) -> list[int]:
    missing = [joint for joint in want if joint not in have]
    if missing:
        raise InputError(
            f"The log has no columns for the joints {listing(missing)}; it has {listing(have)}. "
            "`--map FILE.json` renames columns."
        )
    return [have.index(joint) for joint in want]


def read_log(path: str | Path, *, rate: float | None = None, columns: Mapping[str, str] | None = None) -> Log:
    """Read a log that has q and dq of every joint.

    `rate` [Hz] makes the time of a file without a time column; `columns` renames columns, from the file's
    name to the name here.
    """
    table = _Table(path, columns or {})
    joints = table.joints("q")
    if not joints:
        raise InputError(
            f"{path}: no column named q_<joint> was found; the columns are {listing(table.header)}. "
            "`--map FILE.json` renames columns."
        )
    for quantity in ("dq", "ddq", "tau"):
        table.require_same(quantity, joints, optional=quantity != "dq")
    values = {quantity: table.values(quantity, joints) for quantity in QUANTITIES}
    q, dq = values["q"], values["dq"]
    assert q is not None and dq is not None  # required above
    return Log(table.time(rate), joints, q, dq, values["ddq"], values["tau"])


def read_torques(
    path: str | Path, *, rate: float | None = None, columns: Mapping[str, str] | None = None
) -> TorqueLog:
    """Read only the time and the tau columns of a log."""
    table = _Table(path, columns or {})
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
    table = _Table(path, columns or {})
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *(f"{name}_{joint}" for name, _ in present for joint in log.joints)])
    for row in np.column_stack([log.time, *(block for _, block in present)]):
        writer.writerow([repr(float(value)) for value in row])
    data = text.getvalue().encode("utf-8")
    write_atomic(path, gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


class _Table:
    """The cells of a file, with errors that name file, line and column."""

    def __init__(self, path: str | Path, columns: Mapping[str, str]) -> None:
        self.path = path
        reader = csv.reader(io.StringIO(_text(path), newline=""))
        try:
            rows = [row for row in reader if row]
        except csv.Error as error:
            raise InputError(f"{path}: line {reader.line_num}: not CSV: {error}.") from None
        if not rows:
            raise InputError(f"{path} is empty; expected a header row and samples.")
        header = [name.strip() for name in rows[0]]
        for name in columns:
            if name not in header:
                raise InputError(f"{path} has no column {name!r} to rename. {hint(name, header)}")
        self.header = [columns.get(name, name) for name in header]
        self._rows = rows[1:]
        self._check()

    def _check(self) -> None:
        twice = sorted({name for name in self.header if self.header.count(name) > 1})
        if twice:
            raise InputError(f"{self.path}: the columns {listing(twice)} appear more than once.")
        if all(_is_number(name) for name in self.header):
            raise InputError(
                f"{self.path}: the first row holds numbers; expected a header row of column names."
            )
        if not self._rows:
            raise InputError(f"{self.path} has a header row but no samples.")
        for k, row in enumerate(self._rows):
            if len(row) != len(self.header):
                raise InputError(
                    f"{self.path}: sample {k + 1} has {len(row)} values, the header has {len(self.header)} "
                    "columns."
                )

    def joints(self, quantity: str) -> tuple[str, ...]:
        """The joints with a column of this quantity, in file order."""
        prefix = f"{quantity}_"
        return tuple(name[len(prefix) :] for name in self.header if name.startswith(prefix))

    def require_same(self, quantity: str, joints: Sequence[str], *, optional: bool) -> None:
        """Refuse a quantity that is there for some joints only."""
        have = self.joints(quantity)
        missing = [f"{quantity}_{joint}" for joint in joints if joint not in have]
        extra = [f"{quantity}_{joint}" for joint in have if joint not in joints]
        if extra:
            raise InputError(f"{self.path}: the columns {listing(extra)} have no q column of the same joint.")
        if missing and (have or not optional):
            raise InputError(f"{self.path}: the columns {listing(missing)} are missing.")

    def values(self, quantity: str, joints: Sequence[str]) -> FloatArray | None:
        """(samples, joints), or None where the file lacks the quantity."""
        if not joints or not self.joints(quantity):
            return None
        return np.column_stack([self._column(f"{quantity}_{joint}") for joint in joints])

    def time(self, rate: float | None) -> FloatArray:
        """Times [s] from the file or from the rate [Hz]."""
        names = [name for name in TIME_NAMES if name in self.header]
        if rate is not None:
            if not RATES[0] <= rate <= RATES[1]:  # NaN too
                raise InputError(f"--rate: expected a positive number of Hz, {RATES[0]:g} to {RATES[1]:g}, found {rate}.")
            if names:
                raise InputError(
                    f"{self.path} has a column {names[0]!r}; give --rate only for logs without one."
                )
            return np.arange(len(self._rows), dtype=np.float64) / rate
        if len(names) != 1:
            found = "both columns time and t" if names else "no column time or t"
            todo = "keep one" if names else "give the sampling rate with --rate HZ"
            raise InputError(f"{self.path} has {found}; {todo}.")
        time = self._column(names[0])
        steps = np.diff(time)
        if (steps <= 0).any():
            k = int(np.argmax(steps <= 0))
            raise InputError(
                f"{self.path}: time must increase; sample {k + 2} is at {time[k + 1]:g} s, "
                f"the one before it at {time[k]:g} s."
            )
        return time

    def _column(self, name: str) -> FloatArray:
        position = self.header.index(name)
        cells = [row[position] for row in self._rows]
        try:
            values = np.array([float(cell) for cell in cells])
        except ValueError:
            k = next(k for k, cell in enumerate(cells) if not _is_number(cell))
            raise self._bad(name, k, cells[k]) from None
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            raise self._bad(name, k, cells[k])
        if (np.abs(values) > MOST).any():
            k = int(np.argmax(np.abs(values) > MOST))
            raise self._bad(name, k, cells[k], f"a number within ±{MOST:g}")
        return values

    def _bad(self, name: str, sample: int, cell: str, expected: str = "a finite number") -> InputError:
        return InputError(
            f"{self.path}: sample {sample + 1}, column {name}: expected {expected}, found {cell[:MAX_SHOWN]!r}."
        )


def _text(path: str | Path) -> str:
    data = read_bytes(path)
    try:
        if data.startswith(GZIP_MAGIC):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file: {error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
