"""Compile C, load it, call it and time it; peers and ours go through the same few lines."""
from __future__ import annotations

import ctypes
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

COMPILER = os.environ.get("CC", "cc")
FLAGS = tuple(os.environ.get("BENCH_CFLAGS", "-O2").split())
"""The same flags for peers and ours."""
HERE = Path(__file__).parent
POINTER = ctypes.POINTER(ctypes.c_double)


def compile_c(sources: list[Path], library: Path, *options: str) -> float:
    """Compile `sources` into the shared `library`; returns the seconds it took."""
    start = time.perf_counter()
    subprocess.run([COMPILER, *FLAGS, *options, "-shared", "-fPIC", *map(str, sources), "-lm", "-o", str(library)], check=True)
    return time.perf_counter() - start


def timer(folder: Path) -> ctypes.CDLL:
    """The compiled stop watch."""
    compile_c([HERE / "timer.c"], folder / "timer.so")
    library = ctypes.CDLL(str(folder / "timer.so"))
    library.time_calls.restype = ctypes.c_double
    return library


def pointers(arrays: list[np.ndarray]) -> ctypes.Array[POINTER]:
    return (POINTER * len(arrays))(*(a.ctypes.data_as(POINTER) for a in arrays))


@dataclass
class Native:
    """One C function: `in_size` and `out_size` in doubles; `steps` None for a plain function."""

    library: ctypes.CDLL
    symbol: str
    in_size: tuple[int, ...]
    out_size: tuple[int, ...]
    work_size: int = 0
    steps: int | None = None
    _out: list[np.ndarray] = field(init=False)
    _work: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.fn = getattr(self.library, self.symbol)
        self._out = [np.zeros(size) for size in self.out_size]
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
        return [a.copy() for a in self._out]

    def nanoseconds(self, stopwatch: ctypes.CDLL, states: list[np.ndarray], calls: int) -> float:
        """Mean time of a call over `calls` calls; `states[k]` holds argument k of every state, a row each."""
        arrays = [np.ascontiguousarray(a, dtype=float) for a in states]
        sizes = (ctypes.c_int * len(arrays))(*self.in_size)
        steps = -1 if self.steps is None else self.steps
        taken = stopwatch.time_calls(ctypes.cast(self.fn, ctypes.c_void_p), steps, len(arrays), sizes, pointers(arrays),
                                     pointers(self._out), self._work.ctypes.data_as(POINTER), ctypes.c_long(len(arrays[0])),
                                     ctypes.c_long(calls))
        if taken < 0:
            raise RuntimeError(f"{self.symbol} returned a status while being timed.")
        return float(taken)
