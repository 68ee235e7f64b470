"""Message definitions as ROS writes them, their fields, md5 sums and full texts.

The md5 sums are computed from the texts as genmsg does, so a wrong text cannot pass for the right type.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["BUILTIN", "DEFINITIONS", "Definition", "Field"]

BUILTIN = frozenset(("bool", "uint8", "uint16", "int32", "uint32", "float64", "string", "time"))
"""The primitive types that the definitions here use; others are not implemented."""

SEPARATOR = "=" * 80  # between the parts of a full text; fixed by ROS


@dataclass(frozen=True)
class Field:
    """One field: `type` without its brackets, a primitive or the full name of a message."""

    name: str
    type: str
    array: bool


@dataclass(frozen=True)
class Definition:
    """A message type: `name` is package/Type, `constants` are integers by name."""

    name: str
    text: str
    fields: tuple[Field, ...]
    constants: tuple[tuple[str, int], ...]
    md5: str
    full_text: str


_TEXTS = {
    "std_msgs/Empty": "",
    "std_msgs/Bool": "bool data",
    "std_msgs/UInt16": "uint16 data",
    "std_msgs/Float64": "float64 data",
    "std_msgs/String": "string data",
    "std_msgs/Header": "uint32 seq\ntime stamp\nstring frame_id",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/Twist": "Vector3 linear\nVector3 angular",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "sensor_msgs/JointState": (
        "Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
    ),
    "baxter_core_msgs/JointCommand": (
        "int32 mode\nfloat64[] command\nstring[] names\n"
        "int32 POSITION_MODE=1\nint32 VELOCITY_MODE=2\nint32 TORQUE_MODE=3\nint32 RAW_POSITION_MODE=4"
    ),
    "baxter_core_msgs/SEAJointState": (
        "Header header\nstring[] name\nfloat64[] commanded_position\nfloat64[] commanded_velocity\n"
        "float64[] commanded_acceleration\nfloat64[] commanded_effort\nfloat64[] actual_position\n"
        "float64[] actual_velocity\nfloat64[] actual_effort\nfloat64[] gravity_model_effort\n"
        "float64[] gravity_only\nfloat64[] hysteresis_model_effort\nfloat64[] crosstalk_model_effort\n"
        "float64 hystState"
    ),
    "baxter_core_msgs/AssemblyState": (
        "bool ready\nbool enabled\nbool stopped\nbool error\n"
        "uint8 estop_button\nuint8 ESTOP_BUTTON_UNPRESSED=0\nuint8 ESTOP_BUTTON_PRESSED=1\n"
        "uint8 ESTOP_BUTTON_UNKNOWN=2\nuint8 ESTOP_BUTTON_RELEASED=3\n"
        "uint8 estop_source\nuint8 ESTOP_SOURCE_NONE=0\nuint8 ESTOP_SOURCE_USER=1\n"
        "uint8 ESTOP_SOURCE_UNKNOWN=2\nuint8 ESTOP_SOURCE_FAULT=3\nuint8 ESTOP_SOURCE_BRAIN=4"
    ),
    "baxter_core_msgs/EndpointState": (
        "Header header\ngeometry_msgs/Pose pose\ngeometry_msgs/Twist twist\ngeometry_msgs/Wrench wrench"
    ),
    "diffpbd_msgs/Tick": (
        "Header header\nfloat64 time\nfloat64 age\nuint8 mode\nuint8 status\nstring[] name\n"
        "float64[] position\nfloat64[] velocity\nfloat64[] effort\nfloat64[] gravity\n"
        "float64[] law\nfloat64[] command\nstring note"
    ),
}
"""Ours is only diffpbd_msgs/Tick, one control tick in a log: times [s], angles [rad], torques [N·m]."""


def _full_name(name: str, package: str) -> str:
    if name in BUILTIN or "/" in name:
        return name
    return "std_msgs/Header" if name == "Header" else f"{package}/{name}"


def _parse(name: str, done: dict[str, Definition]) -> Definition:
    package = name.split("/")[0]
    fields: list[Field] = []
    constants: list[tuple[str, int]] = []
    md5_constants: list[str] = []
    md5_fields: list[str] = []
    parts: list[str] = []
    for line in _TEXTS[name].splitlines():
        declared, rest = line.split(None, 1)
        if "=" in rest:
            constant, value = rest.split("=")
            constants.append((constant, int(value)))
            md5_constants.append(f"{declared} {constant}={value}")
            continue
        array = declared.endswith("[]")
        field = Field(rest, _full_name(declared.removesuffix("[]"), package), array)
        fields.append(field)
        if field.type in BUILTIN:
            md5_fields.append(f"{declared} {rest}")
        else:
            if field.type not in done:
                done[field.type] = _parse(field.type, done)
            md5_fields.append(f"{done[field.type].md5} {rest}")
            parts += [field.type, *(part for part in _parts(field.type, done))]
    digest = hashlib.md5("\n".join(md5_constants + md5_fields).encode(), usedforsecurity=False).hexdigest()
    full = _TEXTS[name] + "\n"
    for part in dict.fromkeys(parts):
        full += f"\n{SEPARATOR}\nMSG: {part}\n{_TEXTS[part]}\n"
    return Definition(name, _TEXTS[name], tuple(fields), tuple(constants), digest, full)


def _parts(name: str, done: dict[str, Definition]) -> list[str]:
    """The message types inside a message, in order of appearance."""
    found: list[str] = []
    for field in done[name].fields:
        if field.type not in BUILTIN:
            found += [field.type, *_parts(field.type, done)]
    return found


def _all() -> dict[str, Definition]:
    done: dict[str, Definition] = {}
    for name in _TEXTS:
        if name not in done:
            done[name] = _parse(name, done)
    return done


DEFINITIONS = _all()
"""Every known message type by its full name."""
