"""Reads the recordings of a command: applies corrections, checks consistency and the robot, refuses grave findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.causes.cause import Finding
from diffpbd.runtime.causes.examination import examine, examine_torques
from diffpbd.runtime.causes.findings import refuse, said, sound
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.cutting import cut_out
from diffpbd.runtime.logs.mending import expect_seconds, mended
from diffpbd.runtime.logs.recording import Reading, Recording, read_recording
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples  # scipy

__all__ = [
    "Checked",
    "accepted",
    "check_parts",
    "examine_parts",
    "examined",
    "read_checked",
    "read_examined",
    "read_whole",
]


@dataclass(frozen=True)
class Checked:
    """A recording and its findings, which are in its notes too."""

    recording: Recording
    findings: tuple[Finding, ...]


def read_examined(
    path: str | Path, joints: Sequence[str], reading: Reading | None = None, facts: Sequence[Joint] = ()
) -> Checked:
    """The recording of these joints, corrected by `reading`, with all findings; nothing is refused."""
    return examined(read_recording(path, joints, reading), reading, facts)


def examined(recording: Recording, reading: Reading | None = None, facts: Sequence[Joint] = ()) -> Checked:
    """`read_examined` for a recording that has been read."""
    reading = reading or Reading()
    recording = mended(recording, reading.mending, facts)
    expect_seconds(recording.path, recording.time)
    recording = cut_out(recording, reading.mending.cut)
    recording, findings = examine(recording, facts, unwrap=reading.mending.unwrap, passive=reading.passive)
    noted = replace(recording, notes=(*recording.notes, *said(findings)), sound=sound(findings))
    return Checked(noted, tuple(findings))


def read_checked(
    path: str | Path, joints: Sequence[str], reading: Reading | None = None, facts: Sequence[Joint] = ()
) -> Recording:
    """`read_examined`; a recording with a grave finding that is not accepted is refused."""
    return accepted(read_examined(path, joints, reading, facts), reading)


def accepted(found: Checked, reading: Reading | None = None) -> Recording:
    """The recording, unless something grave that `reading` does not accept was found."""
    refuse(found.recording.path, found.findings, (reading or Reading()).accept)
    return found.recording


def read_whole(path: str | Path, robot: Robot, reading: Reading) -> Recording:
    """`read_checked` for a log to be followed or estimated along, of which no sample may be missing.

    Joints without a motor that follow from closed loops may be missing in it and in the result."""
    facts = robot.manifest.robot.joints
    try:
        log = read_log(
            path, rate=reading.rate, columns=reading.columns, passive=robot.manifest.robot.passive,
            seconds=False,
        )  # fmt: skip
        optional = robot.manifest.robot.passive if robot.manifest.robot.loops else ()
        facts = tuple(joint for joint in facts if joint.name in log.joints or joint.name not in optional)
        log = log.select([joint.name for joint in facts])
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    recording = Recording(str(path), log.time, log.joints, log.q, log.dq, log.ddq, log.tau, turn=log.turn)
    if reading.mending.cut:
        raise InputError(f"{path}: {arg.cut} leaves a hole where every sample counts; cut the file at one of its ends.")
    reading = replace(reading, passive=robot.manifest.robot.passive)
    return accepted(examined(recording, reading, facts), reading)


def examine_parts(robot: Robot, parts: Sequence[Samples]) -> list[Finding]:
    """Findings about the torques of one recording (its filtered parts) from the robot's dynamics; none for a robot with
    contacts, whose motion does not determine the torque."""
    if robot.manifest.robot.contacts:
        return []
    return examine_torques(robot, parts)


def check_parts(robot: Robot, parts: Sequence[Samples], accept: Sequence[str]) -> list[Samples]:
    """Parts of one or more recordings with notes on their torques; a recording with a grave finding is refused.

    Torques are only checked if the motion is sound.
    """
    checked = list(parts)
    for name in dict.fromkeys(part.recording for part in parts if part.sound):
        own = [k for k, part in enumerate(parts) if part.recording == name]
        findings = examine_parts(robot, [parts[k] for k in own])
        refuse(name, findings, accept)
        checked[own[0]] = replace(parts[own[0]], notes=(*parts[own[0]].notes, *said(findings)))
    return checked
