"""Logs of a robot's joints as samples for identification, read by several workers where there are some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.causes.checked import accepted, check_parts, examined, read_checked
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.identify.settings.workers import Map, one_by_one
from diffpbd.runtime.logs.closed_samples import expect_led, on_loops
from diffpbd.runtime.logs.processing import Processing, Samples, filter_parts, names_of, process
from diffpbd.runtime.logs.recording import Reading, Recording, joints_in
from diffpbd.runtime.model.robot import Robot

__all__ = ["Wanted", "read_recordings", "samples_of"]


@dataclass(frozen=True)
class Wanted:
    """How logs are read and filtered; with `split` the first share of each is apart from the rest; `bare`: a log may have no
    torques. `pose` says where joints without an encoder are about at the start of every log [rad or m]; others are at zero."""

    reading: Reading
    processing: Processing
    split: float | None = None
    bare: bool = False
    pose: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what is no share."""
        if self.split is not None and not 0.0 < self.split < 1.0:  # NaN too
            raise InputError(f"{arg.split}: expected a share between 0 and 1, found {self.split:g}.")


@dataclass(frozen=True)
class _Task:
    name: str
    path: str
    joints: tuple[Joint, ...]
    passive: tuple[str, ...]
    wanted: Wanted


def read_recordings(
    robot: Robot, paths: Sequence[str], wanted: Wanted, spread: Map = one_by_one
) -> tuple[list[Samples], list[Samples]]:
    """Logs of the robot's joints as samples, and the rest of each where they are split; a fault names the file."""
    wanted, joints, optional = _wanted(robot, wanted), robot.manifest.robot.joints, _optional(robot)
    named = zip(names_of(list(paths)), paths, strict=True)
    return _checked(robot, spread(_read, [_Task(n, str(p), joints, optional, wanted) for n, p in named]), wanted)


def samples_of(robot: Robot, recordings: Sequence[Recording], wanted: Wanted) -> tuple[list[Samples], list[Samples]]:
    """The same of recordings that are read already, of the robot's joints in its order."""
    wanted, joints = _wanted(robot, wanted), robot.manifest.robot.joints
    parts = [_parted(r.path, accepted(examined(r, wanted.reading, joints), wanted.reading), wanted) for r in recordings]
    return _checked(robot, parts, wanted)


def _wanted(robot: Robot, wanted: Wanted) -> Wanted:
    """With the robot's passive joints; a pose of others is refused."""
    expect_led(robot, wanted.pose)
    return replace(wanted, reading=replace(wanted.reading, passive=robot.manifest.robot.passive))


def _optional(robot: Robot) -> tuple[str, ...]:
    facts = robot.manifest.robot
    return facts.passive if facts.loops else ()


def _checked(
    robot: Robot, parts: Sequence[tuple[list[Samples], list[Samples]]], wanted: Wanted
) -> tuple[list[Samples], list[Samples]]:
    """First and second parts, on the loops where there are some, held against the robot."""
    first, second = ([samples for part in parts for samples in part[k]] for k in (0, 1))
    first, second = (on_loops(robot, samples, wanted.pose) for samples in (first, second))
    accept = wanted.reading.accept
    return check_parts(robot, first, accept), check_parts(robot, second, accept)


def _read(task: _Task) -> tuple[list[Samples], list[Samples]]:
    facts = task.joints
    if task.passive:
        have = joints_in(task.path, task.wanted.reading)
        facts = tuple(joint for joint in facts if joint.name in have or joint.name not in task.passive)
    recording = read_checked(task.path, [joint.name for joint in facts], task.wanted.reading, facts)
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
        name, recording, wanted.processing, breaks=recording.breaks, notes=recording.notes, sound=recording.sound,
        whole=recording.whole,
    )  # fmt: skip
