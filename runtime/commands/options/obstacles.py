"""Options that place obstacles: words of a command line, and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click
import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import read_bytes, read_json
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.options import option
from diffpbd.runtime.folder.manifest import OBSTACLES
from diffpbd.runtime.model.obstacles import rows_of

__all__ = ["ObstacleWords", "of_words", "read_obstacles"]

KINDS = {"sphere": "spheres", "capsule": "capsules", "box": "boxes", "plane": "planes"}
"""Numbers of one obstacle, as a command line names it."""
Rows: TypeAlias = "dict[str, list[list[float]]]"
"""By kind."""


def of_words(words: Sequence[str]) -> Rows:
    """Rows of words KIND=X,Y,…; a ValueError or an InputError refuses others."""
    found: Rows = {}
    for word in words:
        name, _, text = (part.strip() for part in word.partition("="))
        kind = KINDS.get(name, name)
        if kind not in OBSTACLES:
            raise ValueError(f"expected KIND=X,Y,… with a KIND of {', '.join(KINDS)}, found {word!r}.")
        try:
            row = [float(number) for number in text.split(",")]
        except ValueError:
            raise ValueError(f"expected numbers between commas, found {word!r}.") from None
        found.setdefault(kind, []).extend(rows_of(kind, row).tolist())
    return found


def read_obstacles(path: str | Path) -> Rows:
    """Rows in a file: JSON {"spheres": [[…]], …}, NPZ with an array a kind, or CSV with a line KIND,X,Y,… an obstacle."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        return _of_csv(path)
    if ending not in (".json", ".npz"):
        raise InputError(f"{path}: obstacles are read from .json, .npz or .csv; found {ending or 'no ending'}.")
    data = read_json(path) if ending == ".json" else _of_npz(path)
    if not isinstance(data, Mapping):
        raise InputError(f'{path}: expected an object such as {{"spheres": [[0.4, 0, 0.3, 0.1]]}}, found {data!r}.')
    for kind in data:
        if kind not in OBSTACLES:
            raise InputError(f"{path}: there is no kind {kind!r} of obstacles. {hint(str(kind), OBSTACLES)}")
    return {kind: _named(path, kind, data[kind]) for kind in data}


def _named(path: str | Path, kind: str, given: Any) -> list[list[float]]:
    try:
        return list(rows_of(kind, given).tolist())
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _of_npz(path: str | Path) -> dict[str, Any]:
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as file:
            return {kind: file[kind] for kind in file.files}
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is no NPZ of numbers: {error}.") from None


def _of_csv(path: str | Path) -> Rows:
    found: Rows = {}
    for k, row in enumerate(csv.reader(io.StringIO(read_bytes(path).decode("utf-8-sig", "replace"))), 1):
        if not row or row[0].startswith("#"):
            continue
        try:
            for kind, rows in of_words([f"{row[0]}={','.join(row[1:])}"]).items():
                found.setdefault(kind, []).extend(rows)
        except (ValueError, InputError) as error:
            raise InputError(f"{path}: line {k}: {error}") from None
    if not found:
        raise InputError(f"{path}: no obstacle in it; expected lines KIND,X,Y,…, such as spheres,0.4,0,0.3,0.1.")
    return found


@dataclass(frozen=True)
class ObstacleWords:
    """Obstacles that stand still."""

    obstacle: Rows = option(
        "An obstacle, in the world [m]: sphere=X,Y,Z,RADIUS, capsule= both ends and radius, box= centre, quaternion wxyz and "
        "sides, plane= normal and height; repeatable.", make=dict, metavar="KIND=X,Y,…", many=True, parse=of_words,
    )  # fmt: skip
    obstacles: str | None = option("Obstacles of a file (.json, .npz, .csv).", None, metavar="FILE")

    def placed(self) -> Rows:
        """Rows by kind, of the words and the file."""
        found = {kind: list(rows) for kind, rows in self.obstacle.items()}
        for kind, rows in ({} if self.obstacles is None else read_obstacles(self.obstacles)).items():
            found.setdefault(kind, []).extend(rows)
        return found

    def expect_distance(self, least: float | None) -> None:
        """Refuses obstacles where no distance is kept."""
        if least is None and (self.obstacle or self.obstacles is not None):
            word = "--obstacles" if self.obstacles is not None else "--obstacle"
            raise click.UsageError(f"{word}: a plan keeps away from obstacles by --clearance M; expected it with them.")
