"""Whether this machine kept time while a test ran that needs real time.

A process of its own sleeps for milliseconds and notes every wake-up that came late: what it notes is the machine's,
whatever the tested code did meanwhile. The kernel adds for how much of the time some program waited for a processor.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import monotonic  # by its own name: tests patch the one of the module

PERIOD = 0.002  # s between two wake-ups of the watching process
LATE = 0.02
"""s; a loop of 100 Hz that sleeps this much longer misses periods, and half the loop's own budgets are of this size."""
CROWDED = 0.2
"""Share of the time that some program waited for a processor; alone on two cores these tests have 0.02 to 0.13."""
PAUSE = 0.05
"""s for which a robot of the tests may not run: half of what makes its states old."""
PAUSES = "DIFFPBD_PAUSES"
"""Environment variable that names the file in which robots of the tests note their pauses."""
PRESSURE = Path("/proc/pressure/cpu")

AWAKE = struct.Struct("d")

WATCHING = """
import mmap, os, struct, sys, time
period, late, parent = float(sys.argv[1]), float(sys.argv[2]), os.getppid()
awake = mmap.mmap(int(sys.argv[3]), 8)
due = time.monotonic()
while os.getppid() == parent:
    due += period
    time.sleep(max(0.0, due - time.monotonic()))
    over = time.monotonic() - due
    if over > late:
        print(due, over, flush=True)
        due += over
    struct.pack_into("d", awake, 0, time.monotonic())
"""


class Pulse:
    """Notes the pauses of a robot of the tests, which calls `beat` in its loop."""

    def __init__(self) -> None:
        self._path, self._last = os.environ.get(PAUSES), monotonic()

    def beat(self) -> None:
        now = monotonic()
        if self._path and now - self._last > PAUSE:
            with open(self._path, "a", encoding="ascii") as notes:
                notes.write(f"{self._last} {now - self._last}\n")
        self._last = now


def read_notes(text: str, since: float) -> float:
    """The longest of what was noted [s] and ended since then [monotonic s]; 0 without any."""
    notes = [tuple(map(float, line.split())) for line in text.splitlines()]
    return max((over for begin, over in notes if begin + over >= since), default=0.0)


class Watch:
    """The watching process, and what it and the robots of the tests have noted."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="diffpbd-pauses-")
        os.close(handle)
        self._pauses = Path(name)
        os.environ[PAUSES] = str(self._pauses)
        self._notes, self._file = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile()
        self._file.truncate(AWAKE.size)
        self._awake = mmap.mmap(self._file.fileno(), AWAKE.size)
        words = [sys.executable, "-c", WATCHING, str(PERIOD), str(LATE), str(self._file.fileno())]
        self.process = subprocess.Popen(words, stdout=self._notes, pass_fds=[self._file.fileno()])
        self._until_awake()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._awake.close()
        self._file.close()
        self._notes.close()
        if os.environ.get(PAUSES) == str(self._pauses):
            del os.environ[PAUSES]
        self._pauses.unlink(missing_ok=True)

    def _until_awake(self) -> None:
        now = monotonic()
        while AWAKE.unpack(self._awake[:])[0] < now:
            if self.process.poll() is not None:
                raise RuntimeError(f"the process that watches for stalls has ended with {self.process.returncode}")
            time.sleep(PERIOD)

    def latest(self, since: float) -> float:
        """By how much [s] the latest wake-up since then [monotonic s] was late; 0 where all were in time.

        A stall that has not ended yet is waited for: it is noted when the process wakes up.
        """
        self._until_awake()
        self._notes.seek(0)
        return read_notes(self._notes.read(), since)

    def paused(self, since: float) -> float:
        """For how long [s] a robot of the tests did not run."""
        return read_notes(self._pauses.read_text(encoding="ascii"), since)


def waited() -> float:
    """s for which some program has waited for a processor since the machine started; 0 where the kernel does not count."""
    try:
        found = re.search(r"some .*total=(\d+)", PRESSURE.read_text(encoding="ascii"))
    except OSError:
        return 0.0
    return int(found[1]) * 1e-6 if found else 0.0


class Span:
    """From its making on, what the machine did."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._since, self._waited = watch, monotonic(), waited()

    def stall(self, late: float, crowded: float = CROWDED) -> str:
        """The measured stall in words, or empty where no wake-up was `late` [s] and the processors were free."""
        over = self._watch.latest(self._since)
        if over >= late:
            figures = f"a sleep of {1e3 * PERIOD:g} ms took {1e3 * over:.0f} ms longer (allowed {1e3 * late:g})"
            return f"this machine stalled: {figures}"
        paused = self._watch.paused(self._since)
        if paused >= max(late, PAUSE):
            return f"this machine stalled: a robot of the tests did not run for {1e3 * paused:.0f} ms (allowed {1e3 * PAUSE:g})"
        share = (waited() - self._waited) / max(monotonic() - self._since, 0.1)
        if share >= crowded:
            return (
                f"this machine stalled: programs waited for a processor {share:.0%} of the time (allowed {crowded:.0%})"
            )
        return ""
