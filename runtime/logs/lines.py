"""Splits a table's text into header and rows, without comments, units and repeated headers; finds incomplete rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.logs.table import expect_columns

__all__ = ["MISSING", "Lines", "is_number", "split"]

COMMENTS: Final = "#%"  # first characters of comments
MARKS: Final = (";", "\t", "|", ",", " ")
"""Column separators; the first one in the header is used."""
MISSING: Final = frozenset(
    "na n/a #n/a nan null none nil missing - -- ? #div/0! #value! #ref! #num! inf -inf +inf infinity -infinity".split()
)
"""Words (lower case) for a missing number."""
UNIT: Final = re.compile(
    r"\s*(\[[^\[\]]*\]|\s\((s|sec|ms|us|ns|rad|rad/s|rad/s[²2^]*|deg|deg/s|°|°/s|N·?m|Nm|N|A|m|m/s|mm)\))$"
)
"""A unit at the end of a column's name."""
UNITS: Final = frozenset(
    "s sec ms us µs ns rad rad/s rad/s² rad/s^2 rad/s2 deg deg/s ° °/s n·m nm n.m n*m n a m m/s m/s² m/s^2 mm - 1".split()
)
WRONG: Final = 0.01
"""[1] Largest part of rows with another number of cells than the header."""


@dataclass(frozen=True)
class Lines:
    """The `header`, the `rows` of cells, of equal length; `wrong`: rows that had another
    number of cells, with that number; they hold no numbers. `notes` say what was left out."""

    header: list[str]
    rows: list[list[str]]
    wrong: dict[int, int]
    notes: list[str]
    hint: str


def split(path: str | Path, text: str) -> Lines:
    """Split a table's text; refused without a header."""
    lines, comment = _without_comments(text)
    notes: list[str] = []
    delimiter = None
    if lines and (told := re.fullmatch(r"sep=(.)", lines[0].strip())):  # a spreadsheet's
        delimiter, lines = told[1], lines[1:]
    if not lines:
        raise InputError(f"{path} is empty; expected a header row and samples.")
    delimiter = delimiter or _delimiter(lines[0])
    expect_columns(path, len(lines[0].split(None if delimiter == " " else delimiter)))
    rows = _rows(path, lines, delimiter)
    if all(is_number(name) for name in rows[0]) and comment is not None:
        named = next(csv.reader([comment], delimiter=_delimiter(comment)))
        rows = [named, *rows] if len(named) == len(rows[0]) else rows  # as numpy writes it
    first = rows[0]
    if all(is_number(name) for name in first):
        raise InputError(f"{path}: the first row holds numbers; expected a header row of column names.")
    header = [UNIT.sub("", name.strip()) for name in first]
    if header != [name.strip() for name in first]:
        notes.append("units in the header are left out")
    rows = rows[1:]
    if rows and len(rows[0]) == len(first) and all(cell.strip().lower() in UNITS for cell in rows[0]):
        rows = rows[1:]
        notes.append("a row of units below the header is left out")
    count = len(rows)
    rows = [row for row in rows if row != first]
    if len(rows) < count:
        notes.append(f"its header stands there again {count - len(rows)} times, as where files were put together")
    if delimiter != "," and any("," in cell for row in rows[:1] for cell in row):
        rows = [[cell.replace(",", ".") for cell in row] for row in rows]
    if len(rows) > 1 and len(rows[-1]) < len(header):
        notes.append(f"the last row was cut off ({len(rows[-1])} of {len(header)} values) and is left out")
        rows = rows[:-1]
    return _even(path, header, rows, notes, delimiter)


def _even(path: str | Path, header: list[str], rows: list[list[str]], notes: list[str], delimiter: str) -> Lines:
    """Blanks rows with another number of cells; refuses many of them."""
    wrong = {k: len(row) for k, row in enumerate(rows) if len(row) != len(header)}
    commas = delimiter == "," and any(count > len(header) for count in wrong.values())
    hint = " Where commas are decimal points, columns have to be separated by semicolons." if commas else ""
    if len(wrong) > WRONG * len(rows):
        k = min(wrong)
        raise InputError(wrong_row(path, k, wrong[k], len(header)) + hint)
    if wrong:
        k = min(wrong)
        notes.append(
            f"{len(wrong)} rows have another number of values than the header, first sample {k + 1} with {wrong[k]}"
        )
        rows = [["nan"] * len(header) if j in wrong else row for j, row in enumerate(rows)]
    return Lines(header, rows, wrong, notes, hint)


def wrong_row(path: str | Path, sample: int, count: int, columns: int) -> str:
    """A sentence on a row with another number of cells."""
    return f"{path}: sample {sample + 1} has {count} values, the header has {columns} columns."


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
    """The column separator of the header; default comma."""
    return next((mark for mark in MARKS if mark in line.strip()), ",")


def _rows(path: str | Path, lines: Sequence[str], delimiter: str) -> list[list[str]]:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        return [row[:-1] if delimiter == " " and row and not row[-1] else row for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: not CSV: {error}.") from None


def is_number(cell: str) -> bool:
    """Whether a cell is read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
