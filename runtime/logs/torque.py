"""Chooses the joint torque signal of a recording: never guessed if there are several."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint

__all__ = ["MEANINGS", "choose", "looks_like_torque"]

MEANINGS = {
    "tau": "the log's own torque column",
    "effort": "the effort of sensor_msgs/JointState: what the driver reports, on Baxter the measured torque",
    "actual_effort": "measured by the joint's torque sensor",
    "commanded_effort": "what was asked for, without the gravity and spring torques that Baxter adds by itself: zero while "
    "it holds its own weight",
    "gravity_model_effort": "the robot's own model of gravity: computed, not measured",
    "gravity_only": "the gravity part of the robot's own model: computed, not measured",
    "hysteresis_model_effort": "the robot's own model of the external springs: computed, not measured",
    "crosstalk_model_effort": "the robot's own model of what one joint's load does to another's sensor: computed",
}
UNKNOWN = "not a name known here; see the recording's own documentation"
WORDS = ("effort", "torque", "tau")


def looks_like_torque(field: str) -> bool:
    """Whether a column's or field's name may be a torque."""
    return field in MEANINGS or any(word in field.lower() for word in WORDS)


def choose(where: str, candidates: Sequence[str], wanted: str | None) -> str | None:
    """The signal: the wanted one, `tau`, or the only one; None if there is none.

    Several candidates without a choice are refused with a line on each.
    """
    if wanted is not None:
        if wanted not in candidates:
            raise InputError(f"{where} has no torque signal {wanted!r}. {hint(wanted, candidates)}")
        return wanted
    if "tau" in candidates:
        return "tau"
    if len(candidates) > 1:
        lines = "".join(f"\n  {name}: {MEANINGS.get(name, UNKNOWN)}" for name in candidates)
        raise InputError(
            f"{where} has {len(candidates)} signals that may be the torque; choose with {arg.torque} FIELD:{lines}"
        )
    return candidates[0] if candidates else None
