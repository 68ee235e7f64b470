"""Tosses: a free body's recorded poses, many short throws in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.logs.table import LENGTH, TIME_NAMES, TURN

__all__ = ["Toss", "parted", "read_tosses"]

TOSS = "toss"
PLACES = (("x", "y", "z"), ("q_base_x", "q_base_y", "q_base_z"))
TURNS = (("qw", "qx", "qy", "qz"), TURN)
"""Names of columns, either of a motion capture's file or of this project's logs."""
UNEVEN = 0.05
"""[1] Share of a sample by which stamps may be off even steps."""
FEWEST = 6
"""[1] Samples of a toss: a state has twelve numbers, a pose six."""

SLOWEST = 0.05
"""[s] Between samples; shorter than an impact's windows are long."""
FARTHEST = 50.0
"""[m] A body that is thrown goes no further: such places are in millimetres."""


@dataclass(frozen=True)
class Toss:
    """A throw: samples every `h` [s], poses (samples, 7): place [m] and unit quaternion wxyz of the base, world axes."""

    name: str
    h: float
    p: FloatArray

    @property
    def steps(self) -> int:
        """Number of steps between samples."""
        return len(self.p) - 1


def read_tosses(path: str | Path, columns: Mapping[str, str], rate: float | None = None) -> list[Toss]:
    """The tosses of a CSV file, in its order: `x`, `y`, `z` [m] and `qw`, `qx`, `qy`, `qz` (or `q_base_x` …) of the base in
    world axes, `time` [s] unless `rate` [Hz] is given, and `toss`, which changes where the next one begins. `columns`
    renames."""
    table = CsvTable(path, columns)
    place, turn = (_names(table, path, choices) for choices in (PLACES, TURNS))
    x, q = (np.column_stack([_numbers(table, path, name) for name in names]) for names in (place, turn))
    length = np.linalg.norm(q, axis=1)
    if (strange := np.abs(length - 1.0) > LENGTH).any():
        k = int(np.argmax(strange))
        raise InputError(
            f"{path}: sample {k + 1}: {', '.join(turn)}: expected a unit quaternion, found one of length {length[k]:.6g}."
        )
    p = np.hstack([x, q / length[:, None]])
    number = _numbers(table, path, TOSS) if TOSS in table.header else np.zeros(len(p))
    time = _time(table, path, rate, len(p))
    edges = [0, *(np.flatnonzero(np.diff(number) != 0.0) + 1).tolist(), len(p)]
    return [
        _toss(f"{Path(path).name} toss {number[a]:g}", p[a:b], time[a:b])
        for a, b in zip(edges, edges[1:], strict=False)
    ]


def _names(table: CsvTable, path: str | Path, choices: Sequence[Sequence[str]]) -> Sequence[str]:
    for names in choices:
        if all(name in table.header for name in names):
            return names
    shown = " or ".join(", ".join(names) for names in choices)
    raise InputError(
        f"{path}: expected the columns {shown} of the base's pose, found {listing(table.header)}. `--map FILE.json` renames "
        "columns."
    )


def _numbers(table: CsvTable, path: str | Path, name: str) -> FloatArray:
    """A column without gaps: a toss with a lost pose is two."""
    found = table.cells(name, gaps=False)
    if (lost := ~np.isfinite(found)).any():
        k = int(np.argmax(lost))
        raise InputError(
            f"{path}: sample {k + 1}: {name} is {found[k]:g}; leave lost samples out and split the toss there."
        )
    return found


def _time(table: CsvTable, path: str | Path, rate: float | None, count: int) -> FloatArray:
    if rate is not None:
        return np.arange(count) / rate
    for name in TIME_NAMES:
        if name in table.header:
            return _numbers(table, path, name)
    raise InputError(f"{path}: it has no column time [s]; give {arg.rate} HZ for poses at even steps.")


def _toss(name: str, p: FloatArray, time: FloatArray) -> Toss:
    if len(p) < FEWEST:
        raise InputError(f"{name}: {len(p)} samples, expected at least {FEWEST}.")
    h = float(np.ptp(time)) / (len(p) - 1)
    off = np.abs(np.diff(time) - h)
    if not h > 0.0 or off.max() > UNEVEN * h:
        k = int(np.argmax(off))
        raise InputError(
            f"{name}: expected samples at even steps, found {time[k + 1] - time[k]:.6g} s after sample {k + 1} beside "
            f"{h:.6g} s on average. Split the toss there, or give {arg.rate} HZ where only the stamps are uneven."
        )
    if h > SLOWEST:
        raise InputError(f"{name}: {h:g} s between samples, expected at most {SLOWEST:g} s; are the stamps in seconds?")
    if (span := float(np.ptp(p[:, :3], axis=0).max())) > FARTHEST:
        raise InputError(f"{name}: it goes {span:g} m, expected at most {FARTHEST:g} m; are places in metres?")
    turn = p[:, 3:]
    same = np.cumprod(np.concatenate([[1.0], np.where((turn[1:] * turn[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)]))
    return Toss(name, h, np.hstack([p[:, :3], turn * same[:, None]]))


def parted(tosses: Sequence[Toss], share: float, seed: int) -> tuple[list[Toss], list[Toss]]:
    """A share of the tosses, drawn at random, and the rest."""
    if not 0.0 < share < 1.0:  # NaN too
        raise InputError(f"{arg.split}: expected a share between 0 and 1, found {share:g}.")
    count = round(share * len(tosses))
    if not 0 < count < len(tosses):
        raise InputError(f"{arg.split}: {share:g} of {len(tosses)} tosses leaves none on one side.")
    drawn = set(np.random.default_rng(seed).permutation(len(tosses))[:count].tolist())
    return [t for k, t in enumerate(tosses) if k in drawn], [t for k, t in enumerate(tosses) if k not in drawn]
