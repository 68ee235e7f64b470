"""Logs of a robot's joints as samples for identification, read by several workers where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.identify.workers import Map, one_by_one
from diffpbd.runtime.logs.checked import accepted, check_parts, examined, read_checked
from diffpbd.runtime.logs.processing import Processing, Samples, filter_parts, names_of, process
from diffpbd.runtime.logs.recording import Reading, Recording
from diffpbd.runtime.manifest import Joint
from diffpbd.runtime.robot import Robot

__all__ = ["Wanted", "read_recordings", "samples_of"]


@dataclass(frozen=True)
class Wanted:
    """How logs are read and filtered; with `split` the first share of each is apart from the rest; `bare`: a log may have no
    torques."""

    reading: Reading
    processing: Processing
    split: float | None = None
    bare: bool = False

    def __post_init__(self) -> None:
        """Refuses what is no share."""
        if self.split is not None and not 0.0 < self.split < 1.0:  # NaN too
            raise InputError(f"--split: expected a share between 0 and 1, found {self.split:g}.")


@dataclass(frozen=True)
class _Task:
    name: str
    path: str
    joints: tuple[Joint, ...]
    wanted: Wanted


def read_recordings(
    robot: Robot, paths: Sequence[str], wanted: Wanted, spread: Map = one_by_one
) -> tuple[list[Samples], list[Samples]]:
    """Logs of the robot's joints as samples, and the rest of each where they are split; a fault names the file."""
    joints = robot.manifest.robot.joints
    tasks = [_Task(n, str(p), joints, wanted) for n, p in zip(names_of(list(paths)), paths, strict=True)]
    first: list[Samples] = []
    second: list[Samples] = []
    for early, late in spread(_read, tasks):
        first += early
        second += late
    accept = wanted.reading.accept
    return check_parts(robot, first, accept), check_parts(robot, second, accept)


def samples_of(robot: Robot, recordings: Sequence[Recording], wanted: Wanted) -> tuple[list[Samples], list[Samples]]:
    """The same of recordings that are read already, of the robot's joints in its order."""
    joints, reading = robot.manifest.robot.joints, wanted.reading
    parts = [_parted(r.path, accepted(examined(r, reading, joints), reading), wanted) for r in recordings]
    first, second = ([samples for part in parts for samples in part[k]] for k in (0, 1))
    return check_parts(robot, first, reading.accept), check_parts(robot, second, reading.accept)


def _read(task: _Task) -> tuple[list[Samples], list[Samples]]:
    recording = read_checked(task.path, [joint.name for joint in task.joints], task.wanted.reading, task.joints)
    return _parted(task.name, recording, task.wanted)


def _parted(name: str, recording: Recording, wanted: Wanted) -> tuple[list[Samples], list[Samples]]:
    if wanted.split is None:
        return _process(name, recording, wanted), []
    early, late = recording.split(wanted.split)
    return (
        _process(f"{name} to {early.time[-1]:.6g} s", early, wanted),
        _process(f"{name} from {late.time[0]:.6g} s", late, wanted),
    )


def _process(name: str, recording: Recording, wanted: Wanted) -> list[Samples]:
    with_or_without = filter_parts if wanted.bare else process
    return with_or_without(
        name, recording, wanted.processing, breaks=recording.breaks, notes=recording.notes, sound=recording.sound
    )
