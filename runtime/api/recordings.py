"""Recordings of a robot's joints, from a file of any format or from memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from diffpbd.runtime.api.words import in_python
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.recording import Reading, Recording, joints_in, read_recording
from diffpbd.runtime.model.robot import Robot

__all__ = ["Logged", "read_log", "recording_of"]


class _Simulated(Protocol):
    """A run that can be had as a log."""

    def log(self) -> Log: ...


Logged: TypeAlias = "str | Path | Recording | Log | _Simulated"
"""A file, a recording that was read, or a run."""


@in_python
def read_log(
    path: str | Path,
    robot: Robot | None = None,
    *,
    rate: float | None = None,
    columns: Mapping[str, str] | None = None,
    torque: str | None = None,
    topic: str | None = None,
) -> Recording:
    """A recording from CSV, NPZ, a ROS bag or JSON lines: `.time` [s], `.q`, `.dq`, `.ddq`, `.tau` (samples, joints).

    Of the joints of `robot`, in its order; without it of all joints in the file. `rate` [Hz] where it has no time column,
    `columns` from the file's names to q_<joint>, dq_<joint>, tau_<joint>; `torque` the field that is the joint torque, `topic`
    of a bag. Samples that cannot be used are left out; `.notes` say so.
    """
    reading = Reading(rate, columns or {}, torque, topic)
    joints = joints_in(path, reading) if robot is None else robot.joints
    return read_recording(path, joints, reading)


def recording_of(robot: Robot, log: Any, name: str = "the recording") -> Recording:
    """A recording of the robot's joints, in its order, from what is in memory already."""
    if isinstance(log, Recording) and log.joints == robot.joints:
        return log
    if isinstance(log, Recording):
        name, log = log.path, Log(log.time, log.joints, log.q, log.dq, log.ddq, log.tau, turn=log.turn)  # type: ignore[arg-type]
    found = log if isinstance(log, Log) else log.log() if hasattr(log, "log") else None
    if not isinstance(found, Log):
        raise InputError(
            f"{name}: expected a file's name, a recording of diffpbd.read_log or a run of diffpbd.simulate, found a "
            f"{type(log).__name__}."
        )
    found = found.select(robot.joints)
    if robot.manifest.robot.floating and found.turn is None:
        raise InputError(f"{name}: it has no quaternion of the base, which {robot.name} has.")
    return Recording(name, found.time, found.joints, found.q, found.dq, found.ddq, found.tau, turn=found.turn)
