"""Replays a log through the same controller: the commands must agree bit for bit."""

from __future__ import annotations

import csv
import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.errors import InputError, LogError
from diffpbd.runtime.base.files import parse_json
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.recorder import BRAKE, CONFIGURATION_TOPIC, START, TICK_TOPIC, YIELD, csv_columns
from diffpbd.runtime.loop.supervisor import Supervisor
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.records.bag import read_bag
from diffpbd.runtime.records.messages import Header, String, Tick

__all__ = ["ReplayReport", "read_run", "replay"]

ROUNDING = 1e-9
"""[N·m] Tolerance of commands if the log's instruction sets are not available: far below a motor's resolution."""


def read_run(path: str | Path, notes: list[str] | None = None) -> tuple[Configuration, Iterator[Tick]]:
    """Configuration and ticks of a `.bag` or `.csv` log; `notes` get a sentence if the end of a bag is missing."""
    target = Path(path)
    if target.is_dir():
        raise LogError(f"{path}: is a folder; a log of `diffpbd run` (.bag or .csv) is expected.")
    if target.suffix == ".bag":
        messages = read_bag(target, notes)
        for message in messages:
            if message.topic == CONFIGURATION_TOPIC:
                configuration = _configuration(String.decode(message.data).data, str(path))
                ticks = (Tick.decode(m.data) for m in messages if m.topic == TICK_TOPIC)
                return configuration, ticks
        raise LogError(f"{path}: has no {CONFIGURATION_TOPIC}: it is not a log of `diffpbd run`.")
    beside = target.with_suffix(".json")
    if target.is_file() and not beside.is_file():
        raise LogError(
            f"{path}: its configuration, which `diffpbd run --log {target.name}` wrote beside it as {beside.name}, is not "
            "there. Bring the two together again; a .bag holds both."
        )
    try:
        text = beside.read_text(encoding="utf-8")
        configuration = _configuration(text, str(path))
        rows = target.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise LogError(f"{path}: cannot be read as a log of `diffpbd run`: {error}.") from None
    return configuration, _csv_ticks(rows, configuration.joints, str(path))


def _configuration(text: str, path: str) -> Configuration:
    try:
        return Configuration.from_json(parse_json(text, path))
    except (InputError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LogError(f"{path}: its configuration cannot be used: {error}") from None


def _csv_ticks(rows: list[str], joints: tuple[str, ...], path: str) -> Iterator[Tick]:
    reader = csv.reader(rows)
    if next(reader, []) != csv_columns(joints):
        raise LogError(f"{path}: the columns are not those of a log of `diffpbd run` with these joints.")
    n = len(joints)
    for row in reader:
        if len(row) != 6 * n + 6:  # the last row of a run that was cut off
            return
        try:
            numbers = np.array([float(value) for value in row[: 6 * n + 1]])
            stamp, age, mode, status = float(row[-5]), float(row[-4]), int(row[-3]), int(row[-2])
            seconds = math.floor(stamp)
        except (ValueError, OverflowError) as error:
            raise LogError(f"{path}: line {reader.line_num} is damaged: {error}.") from None
        blocks = numbers[1:].reshape(6, n)
        q, dq, effort, gravity, law, command = blocks
        header = Header(0, (seconds, round(1e9 * (stamp - seconds))), "")
        yield Tick(
            header, float(numbers[0]), age, mode, status, joints, q, dq, effort,
            gravity, law, command, row[-1],
        )  # fmt: skip


@dataclass(frozen=True)
class ReplayReport:
    """`ticks` replayed; `difference`: the first one whose command or status differs, in words.

    `tolerance`: ignored differences of commands [N·m]."""

    ticks: int
    difference: str
    notes: tuple[str, ...] = ()
    tolerance: float = 0.0

    def __str__(self) -> str:
        same = f"within {self.tolerance:g} N·m, every status" if self.tolerance else "and status bit for bit"
        said = f"{self.ticks} ticks: " + (self.difference or f"every command {same} the same")
        return "; ".join((said if self.ticks else "the log has no control ticks", *self.notes))


def replay(path: str | Path, robot: Robot, *, program: Sequence[str] = ()) -> ReplayReport:
    """Feed a log's states to its controller on `robot` and compare the commands.

    `program`: the words of the controller program's command. A log names its own, but as untrusted
    data it must not choose what is executed.
    """
    notes: list[str] = []
    configuration, ticks = read_run(path, notes)
    words = configuration.controller.get("command")
    if words is not None and list(program) != words:
        command = shlex.quote(shlex.join(map(str, words)))
        raise InputError(f"{path} was made with a program; to run it again, give its command: --program {command}.")
    try:
        supervisor = configuration.supervisor(robot)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise LogError(f"{path}: its configuration cannot be used: {error!r}.") from None
    used, tolerance = robot.instructions, 0.0
    try:
        robot.choose_instructions(configuration.instructions)
    except InputError:
        tolerance = ROUNDING
        notes.append(f"made with {configuration.instructions}, which is not available here, and compared with {used}")
    try:
        return replace(
            _compare(supervisor, ticks, robot, str(path), tolerance), notes=tuple(notes), tolerance=tolerance
        )
    finally:
        robot.choose_instructions(used)
        if close := getattr(supervisor.controller, "close", None):
            close()


def _compare(supervisor: Supervisor, ticks: Iterator[Tick], robot: Robot, path: str, tolerance: float) -> ReplayReport:
    count, origin = 0, 0.0
    for tick in ticks:
        if tick.name != robot.joints:
            raise LogError(f"{path}: joints {', '.join(tick.name)}, expected {', '.join(robot.joints)}.")
        if tick.note == START:
            supervisor.start(tick.position, tick.velocity, tick.age)
            origin = tick.header.time
            continue
        stamp, effort = tick.header.time - origin, tick.effort if len(tick.effort) else None
        if effort is not None and not np.isfinite(effort).all():
            effort = None
        stopping = tick.note in (BRAKE, YIELD)
        if stopping:
            yielding = tick.note == YIELD
            decision = supervisor.brake(tick.time, stamp, tick.position, tick.velocity, effort, yielding=yielding)
        else:
            decision = supervisor.tick(tick.time, stamp, tick.position, tick.velocity, effort)
        count += not stopping
        if int(decision.status) != tick.status:
            return ReplayReport(
                count, f"at {tick.time:.4f} s the status is {int(decision.status)}, in the log {tick.status}"
            )
        if decision.command.tobytes() != np.asarray(tick.command, dtype=np.float64).tobytes():
            worst = float(np.abs(decision.command - tick.command).max())
            if worst <= tolerance:
                continue
            return ReplayReport(count, f"at {tick.time:.4f} s the command differs by {worst:.3g}")
    return ReplayReport(count, "")
