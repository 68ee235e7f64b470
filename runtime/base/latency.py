"""Latency and jitter in fixed memory: a histogram with one bin a microsecond. Ticks in real time, with theirs."""

from __future__ import annotations

import threading
import time as clock
from array import array
from collections.abc import Iterator

import numpy as np

__all__ = ["Latency", "RealTime"]

BIN = 1e-6  # s
BINS = 50_000  # up to 50 ms; beyond that the exact maximum is kept


class Latency:
    """Durations [s], counted by microsecond; percentiles are upper edges of bins."""

    def __init__(self) -> None:
        self._bins = array("q", bytes(8 * (BINS + 1)))
        self.maximum = 0.0
        self.count = 0

    def add(self, seconds: float) -> None:
        """Count one."""
        self._bins[min(max(int(seconds / BIN), 0), BINS)] += 1
        self.maximum = max(self.maximum, seconds)
        self.count += 1

    def percentile(self, share: float) -> float:
        """The duration [s] that this share (0 to 1) stays below; 0 without any."""
        if self.count == 0:
            return 0.0
        position = int(np.searchsorted(np.cumsum(np.frombuffer(self._bins, np.int64)), share * self.count))
        return self.maximum if position >= BINS else min((position + 1) * BIN, self.maximum)

    def __str__(self) -> str:
        figures = (self.percentile(0.5), self.percentile(0.99), self.maximum)
        return "p50 {:.3f}, p99 {:.3f}, max {:.3f} ms".format(*(1e3 * figure for figure in figures))


class RealTime:
    """A loop in real time, until `stop` is set."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.lateness = Latency()
        """From the time that a tick was due to its start."""
        self.skipped = 0
        """Ticks that were made up for by a longer one."""

    def ticks(self, period: float) -> Iterator[float]:
        """The monotonic time [s] of each, one every `period` [s]."""
        start, tick = clock.monotonic(), 0
        while not self.stop.is_set():
            following = max(tick + 1, int((clock.monotonic() - start) / period))
            self.skipped += following - tick - 1
            tick = following
            clock.sleep(max(0.0, start + tick * period - clock.monotonic()))
            now = clock.monotonic()
            self.lateness.add(now - start - tick * period)
            yield now
