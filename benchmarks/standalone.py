"""Helpers of benchmarks that run by themselves: on numpy, a generated folder, and whatever peers are installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime import InputError, Robot, load

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench-results"
URDF = ROOT / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
LIBRARY = ROOT / "generated" / "baxter_bare"
H = 0.01
"""[s] Of every step that is timed."""


class Skipped(Exception):
    """A peer that cannot be timed here, with the reason."""


def open_library(folder: Path) -> Robot:
    """The generated robot of a folder, compiled there by its Makefile if need be."""
    if not (folder / "manifest.json").is_file():
        raise Skipped(f"{folder} is not a generated folder (diffpbd generate baxter_bare)")
    try:
        return load(folder)
    except InputError:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        subprocess.run(["make", "-s", "-B", "-j", str(cores), "-C", str(folder), "shared"], check=True)
        return load(folder)


def installed(*packages: str) -> dict[str, str]:
    """Versions by the names of distributions; Skipped names those that are missing."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise Skipped(f"{package} is not installed") from None
    return found


class Budget:
    """Wall-clock seconds that a run may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._start = seconds, time.perf_counter()

    @property
    def left(self) -> float:
        return self.seconds - (time.perf_counter() - self._start)

    def require(self, seconds: float, what: str) -> None:
        """Skip what would not fit."""
        if self.left < seconds:
            raise Skipped(f"left out: about {seconds:.0f} s for {what}, {max(self.left, 0.0):.0f} s of --budget left")


@dataclass(frozen=True)
class Measured:
    """Seconds a call: median, least, and how many calls."""

    median: float
    least: float
    calls: int


def repeated(call: Callable[[], Any], seconds: float = 0.3, clock: Callable[[], float] = time.perf_counter) -> Measured:
    """Time a call that ends when its work is done, again and again for about so many seconds, at least three times.

    One call goes before, to warm up. Of one that takes longer than all that together a single further call is enough, of one
    that takes ten times as long none.
    """
    start = clock()
    call()
    first = clock() - start
    if first > 10.0 * seconds:
        return Measured(first, first, 1)
    least = 1 if first > 3.0 * seconds else 3
    taken: list[float] = []
    while len(taken) < least or sum(taken) < seconds:
        start = clock()
        call()
        taken.append(clock() - start)
    return Measured(float(np.median(taken)), min(taken), len(taken))


def machine() -> dict[str, Any]:
    """Facts about where it runs."""
    return {"machine": platform.platform(), "processor": processor(), "cores": os.cpu_count(), "numpy": np.__version__,
            "python": platform.python_version()}  # fmt: skip


def processor() -> str:
    """The processor's name as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), platform.processor())


def table(lines: Sequence[Sequence[str]]) -> str:
    """Aligned columns, the first to the left; the first line holds the heads."""
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    rows = []
    for line in lines:
        cells = [
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        rows.append("  ".join(cells).rstrip())
    return "\n".join(rows)


def write(folder: Path, name: str, facts: dict[str, Any], text: str) -> None:
    """NAME.json and NAME.txt, and the text on the terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    (folder / f"{name}.txt").write_text(text + "\n")
    print(f"{text}\n\nWritten: {folder / name}.json and .txt")
