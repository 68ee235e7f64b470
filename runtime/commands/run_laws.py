"""Settings of the laws of `diffpbd run` that need the model: a net torque map, and cartesian impedance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import parse_json, read_json

__all__ = ["cartesian_settings", "net_torque_settings"]

TIP_STIFFNESS = (200.0, 200.0, 200.0, 5.0, 5.0, 5.0)  # N/m and N·m/rad
TIP_DAMPING = 0.7  # of critical
POSTURE = 0.2
"""Share of the joints' stiffness with which the cartesian controller holds what does not move the tip."""


def net_torque_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The map in the file of --net-torque-map and its scaling; nothing without one."""
    if not options["net_torque_map"]:
        return {}
    table = NetTorqueMap.from_json(read_json(options["net_torque_map"]))
    return {"net_torque": table.to_json(), "scaling": options["scaling"]}


def cartesian_settings(options: Mapping[str, Any], stiffness: Sequence[float], damping: Sequence[float]) -> dict[str, Any]:
    """Settings of the cartesian controller; `stiffness` [N·m/rad] and `damping` [N·m·s/rad] a joint."""
    return {
        "stiffness": _numbers(options["tip_stiffness"], "--tip-stiffness", TIP_STIFFNESS),
        "offset": _numbers(options["tip_offset"], "--tip-offset", (0.0, 0.0, 0.0)),
        "damping_ratio": TIP_DAMPING, "speed": options["goal_speed"], "damping": list(damping),
        "posture": [POSTURE * value for value in stiffness],
    }  # fmt: skip


def _numbers(text: str | None, option: str, default: tuple[float, ...]) -> list[float]:
    """A JSON list of as many numbers as the default has."""
    data = list(default) if text is None else parse_json(text, option)
    if not (
        isinstance(data, list) and len(data) == len(default) and all(type(value) in (int, float) for value in data)
    ):
        raise InputError(f"{option}: expected a list of {len(default)} numbers, found {data!r}.")
    return [float(value) for value in data]
