"""The log of a run: everything received and sent, written by a separate thread.

`.bag`: every message received (as its bytes), one diffpbd_msgs/Tick a control tick, and the configuration.
`.csv`: one row a tick in the project's log format, with the configuration in a `.json` beside it.
"""

from __future__ import annotations

import csv
import io
import json
import threading
import time as clock
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from diffpbd.runtime.base.errors import LogError
from diffpbd.runtime.records.bag import BagWriter
from diffpbd.runtime.records.messages import Message, Receipt, String, Tick

__all__ = [
    "BRAKE",
    "CONFIGURATION_TOPIC",
    "START",
    "TICK_TOPIC",
    "YIELD",
    "Recorder",
    "configuration_file",
    "csv_columns",
]

TICK_TOPIC = "/diffpbd/tick"
CONFIGURATION_TOPIC = "/diffpbd/configuration"
START = "start"
"""Note of the tick with the pose at which the controller was started."""
YIELD = "yield"
"""Note of a tick of a yielding arm."""
BRAKE = "brake"
"""Note of a tick of the stop, which brakes the arm."""
QUEUE_LIMIT = 100_000  # messages; about 20 s at the highest rates: a disk that slow cannot hold the log
SUFFIXES = (".bag", ".csv")
FLUSH_PERIOD = 0.5  # s; the part of a log that a kill may lose
PERIOD = 0.05  # s; polling period of the writing thread, which the loop never wakes


class _Sink(Protocol):
    def message(self, message: Message, receipt: Receipt, time: float) -> None: ...
    def tick(self, tick: Tick, time: float) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class _BagSink:
    def __init__(self, path: Path, configuration: str, time: float) -> None:
        self._bag = BagWriter(path)
        self._bag.write(CONFIGURATION_TOPIC, String, String(configuration).encode(), time)
        self._bag.flush()

    def message(self, message: Message, receipt: Receipt, time: float) -> None:
        self._bag.write(receipt.topic, type(message), receipt.data, time, receipt.publisher)

    def tick(self, tick: Tick, time: float) -> None:
        self._bag.write(TICK_TOPIC, Tick, tick.encode(), time)

    def flush(self) -> None:
        self._bag.flush()

    def close(self) -> None:
        self._bag.close()


def csv_columns(joints: tuple[str, ...]) -> list[str]:
    """The header row: time, q_, dq_, tau_ (measured) of every joint, the state's stamp, then the tick's
    result."""
    columns = ["time"]
    for kind in ("q", "dq", "tau", "gravity", "law", "command"):
        columns += [f"{kind}_{joint}" for joint in joints]
    return [*columns, "stamp", "age", "mode", "status", "note"]


def configuration_file(path: str | Path) -> Path | None:
    """The file beside a log at `path` that holds its configuration; a bag has it inside."""
    return Path(path).with_suffix(".json") if Path(path).suffix == ".csv" else None


class _CsvSink:
    def __init__(self, path: Path, configuration: str, joints: tuple[str, ...]) -> None:
        beside = configuration_file(path)
        assert beside is not None
        beside.write_text(configuration + "\n", encoding="utf-8")
        self._file = path.open("w", newline="", encoding="utf-8")
        self._rows = io.StringIO()
        self._writer = csv.writer(self._rows)
        self._writer.writerow(csv_columns(joints))

    def message(self, message: Message, receipt: Receipt, time: float) -> None:
        """Ignored: a table of ticks has no other messages."""

    def tick(self, tick: Tick, time: float) -> None:
        numbers: list[Any] = [repr(tick.time)]
        for values in (tick.position, tick.velocity, tick.effort, tick.gravity, tick.law, tick.command):
            padded = values.tolist() if len(values) else [float("nan")] * len(tick.name)
            numbers += [repr(value) for value in padded]
        self._writer.writerow([*numbers, repr(tick.header.time), repr(tick.age), tick.mode, tick.status, tick.note])

    def flush(self) -> None:
        self._file.write(self._rows.getvalue())
        self._file.flush()
        self._rows.seek(0)
        self._rows.truncate()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._file.close()


class Recorder:
    """Accepts messages from any thread without waiting and writes them in its own.

    `failure` is why the log is no longer complete (disk full, too slow), or empty; the loop watches it.
    """

    def __init__(self, path: str | Path, configuration: dict[str, Any], joints: tuple[str, ...]) -> None:
        """For a log at `path` (.bag or .csv); nothing is written before `open`."""
        self.path = Path(path)
        if self.path.suffix not in SUFFIXES:
            raise LogError(f"{path}: a log ends in {' or '.join(SUFFIXES)}.")
        self.failure = ""
        self._configuration = configuration
        self._joints = joints
        self._sink: _Sink | None = None
        self._queue: deque[tuple[Message, Receipt | None, float]] = deque()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)

    def open(self) -> None:
        """Open the log, replacing an existing one, and begin to write; a LogError if it cannot be written."""
        text = json.dumps(self._configuration, sort_keys=True)
        try:
            if self.path.suffix == ".bag":
                self._sink = _BagSink(self.path, text, clock.time())
            else:
                self._sink = _CsvSink(self.path, text, self._joints)
        except OSError as error:
            raise LogError(f"{self.path}: the log cannot be written: {error.strerror}.") from None
        self._thread.start()

    def message(self, message: Message, receipt: Receipt) -> None:
        """A message that came in."""
        self._put((message, receipt, clock.time() + receipt.time - clock.monotonic()))

    def tick(self, tick: Tick) -> None:
        """A control tick."""
        self._put((tick, None, clock.time()))

    def _put(self, entry: tuple[Message, Receipt | None, float]) -> None:
        if self.failure:
            return
        if len(self._queue) >= QUEUE_LIMIT:
            self.failure = f"{self.path}: the disk is too slow for the log"
            return
        self._queue.append(entry)

    def _write_all(self) -> None:
        flushed = clock.monotonic()
        while True:
            ending = self._closing.wait(PERIOD)
            try:
                wrote = bool(self._queue)
                while self._queue:
                    message, receipt, time = self._queue.popleft()
                    assert self._sink is not None
                    if receipt is not None:
                        self._sink.message(message, receipt, time)
                    elif isinstance(message, Tick):
                        self._sink.tick(message, time)
                if wrote and self._sink is not None and clock.monotonic() >= flushed + FLUSH_PERIOD:
                    self._sink.flush()
                    flushed = clock.monotonic()
            except OSError as error:
                self.failure = f"{self.path}: the log cannot be written: {error.strerror}"
                self._queue.clear()
                return
            if ending:
                return

    def close(self) -> None:
        """Write what is left and close, if it was opened; `failure` says if that did not succeed."""
        if self._sink is None:
            return
        self._closing.set()
        self._thread.join()
        try:
            self._sink.close()
        except OSError as error:
            self.failure = self.failure or f"{self.path}: the log cannot be written: {error.strerror}"
