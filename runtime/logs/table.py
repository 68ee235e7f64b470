"""Named columns of a log in any format: joints, values, time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.base.quaternions import path_of
from diffpbd.runtime.logs.mending import expect_seconds

__all__ = ["PATH", "RATES", "TIME_NAMES", "TURN", "Table", "as_recorded", "expect_columns"]

ROUNDED = 0.6
"""[1] Tolerance `OFF` relative to the step to which stamps are rounded."""
OFF = 0.06
"""[s] Largest difference of stamps from the equal steps of --rate: stamps rounded to 0.1 s are 0.05 s off."""
TIME_NAMES = ("time", "t")
MOST = 1e12
"""[rad, m, N…] Largest magnitude that a log may hold; anything beyond is a fault of the recording."""
MOST_TIME = 1e19
"""[1] Largest time in any unit: nanoseconds since 1970 are 1.8e18."""
TURN = tuple(f"q_base_q{part}" for part in "wxyz")
"""The quaternion of a floating base."""
PATH = tuple(f"q_base_turn_{axis}" for axis in "xyz")
"""Columns computed from it: accumulated rotation [rad], world axes."""
LENGTH = 1e-2
"""[1] Tolerance of the length of a recorded quaternion."""
MOST_COLUMNS = 10_000
"""[1] Most columns of a table: 2500 joints with rates, accelerations and torques. A file with more is transposed."""
RATES = (1e-3, 1e6)  # Hz: plausible sampling rates


def as_recorded(joints: Sequence[str]) -> list[str]:
    """Names of the q columns of joints in a log: a floating base's rotation is a quaternion."""
    turns = [name.removeprefix("q_") for name in PATH]
    found = [name for name in joints if name not in turns]
    if len(found) < len(joints):
        at = next(k for k, name in enumerate(joints) if name in turns)
        found[at:at] = [name.removeprefix("q_") for name in TURN]
    return found


def expect_columns(path: str | Path, count: int) -> None:
    """Refuse a table that is wider than any recording, before its cells are looked at."""
    if count > MOST_COLUMNS:
        raise InputError(
            f"{path} has {count} columns, expected at most {MOST_COLUMNS}: a column a quantity of a joint, a row a sample. "
            "A table on its side has to be turned; of a wide one keep the columns that matter."
        )


def even_stamps(path: str | Path, stamps: FloatArray, even: FloatArray) -> FloatArray:
    """Equally spaced times [s] instead of rounded or arrival stamps; refused if the stamps show another rate, or
    a gap."""
    there = np.isfinite(stamps)
    off = stamps[there] - even[there]
    middle = 0.5 * (float(off.max()) + float(off.min())) if there.any() else 0.0
    farthest = float(np.abs(off - middle).max(initial=0.0))
    steps = np.diff(stamps[there])
    grain = float(np.median(steps[steps > 0.0])) if (steps == 0.0).mean() > 0.5 and (steps > 0.0).any() else 0.0
    if farthest > max(OFF, ROUNDED * grain):
        span = float(np.ptp(stamps[there]))
        told = f"{(len(stamps) - 1) / span:.6g} Hz on average" if span > 0.0 else "no rate"
        raise InputError(
            f"{path}: {arg.rate}: stamps in its time column are up to {farthest:.3g} s from even steps at that rate; expected "
            f"at most {OFF:g} s. They tell {told}; without {arg.rate} they are taken as they are."
        )
    return even + middle


class Table(ABC):
    """The columns of a file by name, after renaming; errors name file, sample and column."""

    def __init__(self, path: str | Path, header: Sequence[str], rows: int, columns: Mapping[str, str]) -> None:
        """`header` as the file has it; `columns` renames, from the file's name to the name here."""
        self.path, self.rows = path, rows
        self.notes: list[str] = []
        expect_columns(path, len(header))
        for name in columns:
            if name not in header:
                raise InputError(f"{path} has no column {name!r} to rename. {hint(name, header)}")
        self.header = [columns.get(name, name) for name in header]
        twice = sorted(name for name, count in Counter(self.header).items() if count > 1)
        if twice:
            raise InputError(f"{path}: the columns {listing(twice)} appear more than once; keep one of each.")
        if not rows:
            raise InputError(f"{path} has a header row but no samples.")

    @abstractmethod
    def cells(self, name: str, *, gaps: bool) -> FloatArray:
        """Numbers (samples,) of a column; missing ones are NaN, or refused unless `gaps` are allowed."""

    @abstractmethod
    def shown(self, name: str, sample: int) -> str:
        """A cell as the file has it, for messages."""

    def joints(self, quantity: str) -> tuple[str, ...]:
        """The joints with a column of this quantity, in file order."""
        prefix = f"{quantity}_"
        header = self.header
        if quantity == "q" and self.turns:
            header = [name for name in header if name not in TURN]
            first = self.header.index(TURN[0])
            header[first:first] = PATH
        return tuple(name[len(prefix) :] for name in header if name.startswith(prefix))

    @property
    def turns(self) -> bool:
        """Whether there is the quaternion of a floating base; an incomplete one is refused."""
        missing = [name for name in TURN if name not in self.header]
        if missing and len(missing) < len(TURN):
            raise InputError(
                f"{self.path}: {listing(missing)} of the base's quaternion {', '.join(TURN)} is missing. "
                "`--map FILE.json` renames columns."
            )
        return not missing and not any(name in self.header for name in PATH)

    def turn(self, *, gaps: bool = False) -> FloatArray | None:
        """Its unit quaternions wxyz (samples, 4), or None; with `gaps` NaN for incomplete ones."""
        if not self.turns:
            return None
        turn = np.column_stack([self._numbers(name, gaps=gaps) for name in TURN])
        size = np.linalg.norm(turn, axis=1)
        off = np.abs(size - 1.0) > LENGTH
        if off.any():
            k = int(np.argmax(off))
            raise InputError(
                f"{self.path}: sample {k + 1}: {', '.join(TURN)}: expected a unit quaternion, found one of length "
                f"{size[k]:.6g}."
            )
        return np.asarray(turn / size[:, None], dtype=np.float64)

    def require_same(self, quantity: str, joints: Sequence[str], *, optional: bool) -> None:
        """Refuse a quantity that only some of the joints have."""
        have = self.joints(quantity)
        missing = [f"{quantity}_{joint}" for joint in joints if joint not in have]
        extra = [f"{quantity}_{joint}" for joint in have if joint not in joints]
        if missing and (have or not optional):
            strange = f"; {listing(extra)} have no q column of the same joint" if extra else ""
            way = f"; {arg.rates('positions')} takes all rates from the positions" if quantity == "dq" else ""
            raise InputError(
                f"{self.path}: the columns {listing(missing)} are missing{strange}{way}. `--map FILE.json` renames columns."
            )

    def strangers(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Columns named like a quantity of a joint that has no positions, such as `tau_des1`: ignored."""
        named = {f"{quantity}_{joint}" for quantity in ("dq", "ddq", "tau") for joint in self.joints(quantity)}
        own = {f"{quantity}_{joint}" for quantity in ("dq", "ddq", "tau") for joint in joints}
        return tuple(name for name in self.header if name in named - own)

    def values(self, quantity: str, joints: Sequence[str], *, gaps: bool = False) -> FloatArray | None:
        """(samples, joints), or None if the file lacks the quantity."""
        if not joints or not self.joints(quantity):
            return None
        return np.column_stack([self.column(f"{quantity}_{joint}", gaps=gaps) for joint in joints])

    def column(self, name: str, *, gaps: bool = False) -> FloatArray:
        """(samples,) finite numbers; with `gaps` NaN for missing ones."""
        turn = self.turn(gaps=gaps) if name in PATH else None
        if turn is None:
            return self._numbers(name, gaps=gaps)
        there = np.isfinite(turn).all(axis=1)
        values: FloatArray = np.full(len(turn), np.nan)
        values[there] = path_of(turn[there])[:, PATH.index(name)]
        return values

    def _numbers(self, name: str, *, gaps: bool) -> FloatArray:
        values = self.cells(name, gaps=gaps)
        if not gaps and not np.isfinite(values).all():
            raise self.bad(name, int(np.argmin(np.isfinite(values))))
        most = MOST_TIME if name in TIME_NAMES else MOST
        beyond = np.abs(values) > most
        if gaps:
            values = np.where(np.isfinite(values), values, np.nan)
            beyond &= np.isfinite(values)
        if beyond.any():
            raise self.bad(name, int(np.argmax(beyond)), f"a number within ±{most:g}")
        return values

    def time(self, rate: float | None, *, seconds: bool = True) -> FloatArray:
        """Times, increasing, from the file or from the rate [Hz]; in `seconds`, or in a unit that is corrected later."""
        time = self.stamps(rate)
        if seconds:
            expect_seconds(self.path, time)
        steps = np.diff(time)
        if (steps <= 0).any():
            k = int(np.argmax(steps <= 0))
            raise InputError(
                f"{self.path}: time must increase; sample {k + 2} is at {time[k + 1]:g} s, "
                f"the one before it at {time[k]:g} s."
            )
        return time

    @property
    def timed(self) -> bool:
        """Whether there is a time column."""
        return any(name in self.header for name in TIME_NAMES)

    def stamps(self, rate: float | None, *, gaps: bool = False) -> FloatArray:
        """Times in the file's order and unit, or [s] at equal steps by the rate [Hz], from its first stamp if it has one."""
        names = [name for name in TIME_NAMES if name in self.header]
        if rate is not None:
            if not RATES[0] <= rate <= RATES[1]:  # NaN too
                raise InputError(
                    f"{arg.rate}: expected a positive number of Hz, {RATES[0]:g} to {RATES[1]:g}, found {rate}."
                )
            even = np.arange(self.rows, dtype=np.float64) / rate
            return even_stamps(self.path, self.column(names[0], gaps=gaps), even) if len(names) == 1 else even
        if len(names) != 1:
            found = "both columns time and t" if names else "no column time or t"
            todo = "keep one" if names else f"{self._clock(gaps)}give the sampling rate with {arg.rate} HZ"
            raise InputError(f"{self.path} has {found}; {todo}.")
        return self.column(names[0], gaps=gaps)

    def _clock(self, gaps: bool) -> str:
        """Words on a column that may be the time: it increases and is not a row number."""
        known = [f"{quantity}_" for quantity in ("q", "dq", "ddq", "tau")]
        for name in self.header:
            if any(name.startswith(prefix) for prefix in known):
                continue
            try:
                steps = np.diff(self.cells(name, gaps=gaps))
            except InputError:
                continue
            if len(steps) > 1 and (steps > 0.0).all() and (steps != 1.0).any():
                renamed = json.dumps({name: "time"}, ensure_ascii=False)
                return f"if it is {name}, {arg.columns} FILE.json with {renamed} renames it; else "
        return ""

    def bad(self, name: str, sample: int, expected: str = "a finite number") -> InputError:
        """The error of a cell."""
        return InputError(
            f"{self.path}: sample {sample + 1}, column {name}: expected {expected}, found {self.shown(name, sample)}."
        )
