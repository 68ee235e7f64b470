"""Logs as NPZ: arrays named like the columns of a CSV log, or two-dimensional ones with the joints' names.

Either `time` and `q_<joint>`, `dq_<joint>`, … (samples,), or `time` (samples,), `q`, `dq`, `ddq`, `tau` (samples, joints)
and `joints` (or `names`, `joint_names`), their names in order. Both may be mixed.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import read_bytes, size_of
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.base.unpack import TooLargeError, allowance, check_zip
from diffpbd.runtime.logs.size import expect_size
from diffpbd.runtime.logs.table import Table

__all__ = ["NpzTable"]

NAMES = ("joints", "names", "joint_names")
NUMBERS = "fiu"  # kinds of numpy types that are numbers


class NpzTable(Table):
    """The arrays of an NPZ file as columns."""

    def __init__(self, path: str | Path, columns: Mapping[str, str]) -> None:
        """Read the file; other arrays are ignored."""
        arrays = _arrays(path)
        joints = next((_names(path, key, arrays.pop(key)) for key in NAMES if key in arrays), None)
        found: dict[str, FloatArray] = {}
        for name, values in arrays.items():
            if values.dtype.kind not in NUMBERS:
                continue
            if values.ndim == 1:
                found[name] = values.astype(np.float64)
            elif values.ndim == 2:
                found |= _split(path, name, values, joints)
        lengths = {len(values) for values in found.values()}
        if len(lengths) > 1:
            sizes = ", ".join(f"{name} {len(values)}" for name, values in found.items())
            raise InputError(f"{path}: the arrays have different lengths ({sizes}); expected one row a sample in each.")
        if not found:
            raise InputError(
                f"{path} has no array of numbers with one or two dimensions; it has {listing(list(arrays))}."
            )
        self._arrays = found
        super().__init__(path, list(found), lengths.pop(), columns)
        self._by_name = dict(zip(self.header, found.values(), strict=True))

    def cells(self, name: str, *, gaps: bool) -> FloatArray:
        """Numbers of a column."""
        return self._by_name[name]

    def shown(self, name: str, sample: int) -> str:
        """A number."""
        return f"{self._by_name[name][sample]:g}"


def _arrays(path: str | Path) -> dict[str, Any]:
    expect_size(path, size_of(path))
    data = read_bytes(path)
    try:
        check_zip(io.BytesIO(data), len(data))
        _expect_arrays(path, data)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if sum(values.size * np.float64().itemsize for values in arrays.values()) > allowance(len(data)):
            raise TooLargeError(len(data))
        expect_size(path, sum(values.nbytes for values in arrays.values()))
        return arrays
    except TooLargeError as error:
        raise InputError(f"{path}: {error}.") from None
    except (
        ValueError, OSError, EOFError, KeyError, NotImplementedError, MemoryError, zipfile.BadZipFile, zlib.error,
        RuntimeError, SyntaxError,
    ) as error:  # fmt: skip
        raise InputError(f"{path} is not an NPZ file of plain arrays: {error}.") from None


def _expect_arrays(path: str | Path, data: bytes) -> None:
    """Refuse other files that are ZIP archives too."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        inside = archive.namelist()
    if any(name.startswith("xl/") for name in inside):
        raise InputError(f"{path} is a workbook of a spreadsheet; save it as CSV there.")
    if not all(name.endswith(".npy") for name in inside):
        raise InputError(
            f"{path} is a ZIP archive of {listing(inside)}; unpack it, and give the recording that is in it."
        )


def _names(path: str | Path, key: str, values: Any) -> list[str]:
    if values.ndim != 1 or values.dtype.kind not in "US":
        raise InputError(f"{path}: {key}: expected the joints' names, found an array of {values.dtype} {values.shape}.")
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values.tolist()]


def _split(path: str | Path, name: str, values: Any, joints: list[str] | None) -> dict[str, FloatArray]:
    if joints is None:
        raise InputError(
            f"{path}: {name} has shape {values.shape}, but there is no array of joint names; add one called {NAMES[0]}."
        )
    if values.shape[1] != len(joints):
        turned = "; it looks transposed" if values.shape[0] == len(joints) else ""
        raise InputError(
            f"{path}: {name}: expected (samples, {len(joints)}) for the joints {listing(joints)}, found "
            f"{values.shape}{turned}."
        )
    return {f"{name}_{joint}": values[:, k].astype(np.float64) for k, joint in enumerate(joints)}
