"""Holds a recording against itself and against the robot: all causes of the catalogue that a recording shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from diffpbd.runtime.causes.catalogue import SEEN
from diffpbd.runtime.causes.cause import Finding
from diffpbd.runtime.causes.measured import ADVANTAGE, EXPLAINED, Measured, Reading, measured
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples

__all__ = ["examine", "examine_torques"]

CLOSE_SECOND = 0.9
"""[1] Ratio of the unexplained parts of two readings below which the better one is accepted."""


def examine(
    recording: Recording, facts: Sequence[Joint] = (), *, unwrap: bool | None = None, passive: Sequence[str] = ()
) -> tuple[Recording, list[Finding]]:
    """The recording, unwrapped and split where positions jump, and all findings.

    `facts` are the robot's joints, as far as they are known. `unwrap` as in `Mending`. `passive` joints have no motor.
    """
    log = Recorded(recording, {joint.name: joint for joint in facts}, unwrap, passive)
    findings: list[Finding] = []
    for cause in SEEN:
        if not (cause.timed and log.timeless):
            found = list(cause.seen(log))
            log.timeless |= cause.of_clock and bool(found)
            findings += found
    if log.spiked:
        log.recording = replace(log.recording, q=recording.q, dq=recording.dq)
    return replace(log.recording, notes=(*recording.notes, *log.notes)), findings


def examine_torques(robot: Robot, parts: Sequence[Samples]) -> list[Finding]:
    """Findings about the torques of one recording, given as its filtered parts."""
    torques = measured(robot, parts)
    if torques is None:
        return []
    return _other_readings(torques) or [finding for cause in SEEN for finding in cause.measured(torques)]


def _other_readings(torques: Measured) -> list[Finding]:
    """The reading of the motion that leaves much less of all torques unexplained than the recording as it is, than a reversed
    sign of a torque (the two are indistinguishable for a pendulum about its lowest pose), and than every other one; none for
    robots with loops or a floating base."""
    facts = torques.robot.manifest.robot
    if facts.loops or facts.base_freedoms or not torques.judged:
        return []
    before = torques.left(torques.as_is)
    found: list[tuple[float, Reading, Finding]] = []
    for cause in SEEN:
        for way in cause.readings(torques):
            after = torques.left(way)
            if after < ADVANTAGE * before and after < 1.0 - EXPLAINED:
                figure = (
                    f"unexplained are {100.0 * before:.0f} % of all torques as it stands and {100.0 * after:.0f} % so"
                )
                found.append((after, way, Finding(cause, way.joint, f"{way.what}: {figure}", way.cure, grave=True)))
    after, best, finding = min(found, key=lambda own: own[0], default=(0.0, torques.as_is, None))
    if finding is None or (best.rival is not None and after >= ADVANTAGE * torques.left(best.rival)):
        return []
    close = any(other < after / CLOSE_SECOND and way.what != best.what for other, way, _ in found)
    return [] if close else [finding]
