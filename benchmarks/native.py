"""Load C functions, call them and time them; peers and ours go through the same few lines."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from diffpbd.runtime.folder.compiler import COMPILE_FLAGS, LINK_FLAGS, find_compiler

HERE = Path(__file__).parent
POINTER = ctypes.POINTER(ctypes.c_double)
PLAIN = -1
"""What timer.c takes for the number of steps of a plain function."""


def compile_c(source: Path, library: Path, *options: str) -> float:
    """Compile one C file into the shared `library` with the flags of generated code; returns the seconds."""
    start = time.perf_counter()
    command = [*find_compiler(), *COMPILE_FLAGS, str(source), *options, *LINK_FLAGS, "-o", str(library)]
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def stopwatch(folder: Path) -> ctypes.CDLL:
    """The compiled timer.c."""
    compile_c(HERE / "timer.c", folder / "timer.so")
    library = ctypes.CDLL(str(folder / "timer.so"))
    library.time_calls.restype = ctypes.c_double
    return library


def pointers(arrays: Sequence[np.ndarray | None]) -> ctypes.Array[POINTER]:
    return (POINTER * len(arrays))(*(a.ctypes.data_as(POINTER) if a is not None else POINTER() for a in arrays))


@dataclass
class Native:
    """One C function: sizes of its arguments in doubles (an output of size 0 is not asked for: NULL).

    `steps` is None for a plain function, else the number of steps that a rollout is called with.
    """

    library: ctypes.CDLL
    symbol: str
    in_size: tuple[int, ...]
    out_size: tuple[int, ...]
    work_size: int = 0
    steps: int | None = None
    _out: list[np.ndarray | None] = field(init=False)
    _work: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.fn = getattr(self.library, self.symbol)
        self._out = [np.zeros(size) if size else None for size in self.out_size]
        self._work = np.zeros(max(self.work_size, 1))

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """The outputs for one state, as flat column-major vectors."""
        arrays = [np.ascontiguousarray(a, dtype=float).ravel() for a in inputs]
        if tuple(a.size for a in arrays) != self.in_size:
            raise ValueError(f"{self.symbol}: sizes {[a.size for a in arrays]}, expected {list(self.in_size)}.")
        head = () if self.steps is None else (self.steps,)
        status = self.fn(*head, pointers(arrays), pointers(self._out), self._work.ctypes.data_as(POINTER))
        if status:
            raise RuntimeError(f"{self.symbol} returned status {status}.")
        return [a.copy() for a in self._out if a is not None]

    def microseconds(self, watch: ctypes.CDLL, states: Sequence[np.ndarray], calls: int) -> float:
        """Mean time of a call; row r of `states[k]` is argument k of state r, one row is shared by all states."""
        arrays = [np.ascontiguousarray(a, dtype=float) for a in states]
        rows = max(len(a) for a in arrays)
        if any(len(a) not in (1, rows) or a.shape[1] != s for a, s in zip(arrays, self.in_size, strict=True)):
            raise ValueError(f"{self.symbol}: shapes {[a.shape for a in arrays]}, sizes {list(self.in_size)}.")
        strides = (ctypes.c_int * len(arrays))(*(a.shape[1] if len(a) > 1 else 0 for a in arrays))
        taken = watch.time_calls(
            ctypes.cast(self.fn, ctypes.c_void_p), PLAIN if self.steps is None else self.steps, len(arrays), strides,
            pointers(arrays), pointers(self._out), self._work.ctypes.data_as(POINTER), ctypes.c_long(rows),
            ctypes.c_long(calls),
        )  # fmt: skip
        if taken < 0:
            raise RuntimeError(f"{self.symbol} returned a status while it was timed.")
        return float(taken) / 1e3
