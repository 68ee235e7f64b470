"""Recordings of a robot's joints, from a file of any format or from memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.words import expect_options, in_python
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.causes.findings import expect_kinds
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.cutting import cut_out, expect_files
from diffpbd.runtime.logs.mending import Mending, expect_seconds, mended, unwrapped
from diffpbd.runtime.logs.recording import Reading, Recording, joints_in, read_recording
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import ReadHow

__all__ = ["Logged", "of_record", "read_log", "reading_of", "recording_of"]


class _Simulated(Protocol):
    """A run that can be had as a log."""

    def log(self) -> Log: ...


Logged: TypeAlias = "str | Path | Recording | Log | _Simulated"
"""A file, a recording that was read, or a run."""


@in_python
def read_log(path: str | Path, robot: Robot | None = None, **how: Unpack[ReadHow]) -> Recording:
    """A recording from CSV, NPZ, a ROS bag or JSON lines: `.time` [s], `.q`, `.dq`, `.ddq`, `.tau` (samples, joints).

    Of the joints of `robot`, in its order; without it of all joints in the file. `rate` [Hz] where it has no time column,
    `columns` from the file's names to q_<joint>, dq_<joint>, tau_<joint>; `torque` the field that is the joint torque, `topic`
    of a bag. Samples that cannot be used are left out; `.notes` say so.

    Put right on request, as by the options of `diffpbd log`: `degrees`, `time_unit` ("ms"), `unwrap`, `flip` (joints), `scale`,
    `shift`, `drift`, `stretch` (numbers by column or quantity), `drive_gain` [N·m/A], `despike`, `sort`, `derive` (rates from
    positions), `cut` (file's name, from, to [s since its first sample]). Nothing is examined here: `identify` does.
    """
    expect_options("read_log", how, keywords("ReadHow"))
    reading = reading_of(how)
    mending = reading.mending
    joints, facts = (joints_in(path, reading), ()) if robot is None else (robot.joints, robot.manifest.robot.joints)
    expect_files(mending.cut, [path])
    found: Recording = cut_out(mended(read_recording(path, joints, reading), mending, facts), mending.cut)
    expect_seconds(path, found.time)
    return replace(found, q=unwrapped(found.q, range(len(joints)), found.breaks)[0]) if mending.unwrap else found


def reading_of(how: Mapping[str, Any]) -> Reading:
    """How a file is read, by keywords."""
    made = {**how, "flip": _names(how.get("flip", ()))}
    gain, accept = how.get("drive_gain", {}), how.get("accept")
    made["drive_gain"] = gain if isinstance(gain, Mapping) else {"": gain}
    made["mending"] = Mending(**of_record(Mending, made))
    made["columns"] = how.get("columns") or {}
    made["accept"] = expect_kinds(None if accept is None else ",".join(_names(accept)))
    return Reading(**of_record(Reading, made))


def of_record(record: Any, how: Mapping[str, Any]) -> dict[str, Any]:
    """Those keywords that are fields of a dataclass."""
    return {field.name: how[field.name] for field in fields(record) if field.name in how}


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


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
