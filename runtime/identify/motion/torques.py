"""Unknown torques: of which joints, with what deviation from readings, and what they make unidentifiable."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.identify.motion.conclusion import End
from diffpbd.runtime.identify.motion.trajectory import Motion
from diffpbd.runtime.identify.result.result import Torques
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = [
    "check_determined",
    "deviations_of",
    "estimated",
    "guessed",
    "unknown_torques",
    "with_estimate",
    "write_torques",
]

TORQUE = 0.1
"""[1] Deviation of a torque reading relative to its joint's RMS: a plain model's residual."""
LEAST_TORQUE = 0.01
"""[N·m or N] Least such deviation: a few quanta of Baxter's readings."""
ALL = "all"
OWN = ("torque_offset", "friction", "rotor_inertia", "spring")
"""Kinds of parameters that act as a torque on one joint."""


def unknown_torques(robot: Robot, joints: str, sigma: str | None) -> dict[str, float]:
    """Deviations of readings by joint, from `--unknown-torque` (names, or `all`) and `--torque-sigma` (a number for all of
    them, or NAME=NUMBER for some); infinite without the latter."""
    names = (
        list(robot.joints) if joints.strip() == ALL else [name.strip() for name in joints.split(",") if name.strip()]
    )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{arg.torques}: {listing(twice)} is named twice.")
    strange = [name for name in names if name not in robot.joints]
    if strange or not names:
        said = f"found {listing(strange)}. {hint(strange[0], robot.joints)}" if strange else "found none."
        raise InputError(f"{arg.torques}: expected `{ALL}` or joints of {robot.name}, {said}")
    found = dict.fromkeys(names, np.inf)
    for part in (sigma or "").split(","):
        name, equals, text = (word.strip() for word in part.rpartition("="))
        if not text and sigma is None:
            continue
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f"{arg.torque_sigma}: expected a positive number of N·m (N for slides), found {text!r}.")
        if equals and name not in found:
            raise InputError(
                f"{arg.torque_sigma}: {name!r} is not among the joints of {arg.torques}, {listing(names)}."
            )
        found |= {name: value} if equals else dict.fromkeys(names, value)
    return found


def deviations_of(robot: Robot, motions: Sequence[Motion], torques: Mapping[str, float] | None) -> FloatArray:
    """Deviations (n,) of readings: those given, zero for joints not named; without any a tenth of the joint's RMS."""
    if torques is not None:
        return np.array([torques.get(joint, 0.0) for joint in robot.joints])
    together = np.vstack([motion.tau for motion in motions])
    return np.asarray(np.maximum(TORQUE * np.sqrt((together**2).mean(axis=0)), LEAST_TORQUE), dtype=np.float64)


def guessed(robot: Robot, motions: Sequence[Motion], alpha: FloatArray, torque: FloatArray) -> list[Motion]:
    """Recordings with readings that are not used replaced by what the recorded motion asks for at this alpha: a start."""
    free = np.flatnonzero(np.isinf(torque))
    if not free.size:
        return list(motions)
    result = []
    for motion in motions:
        q, dq = ((values[1:] + values[:-1]) / 2.0 for values in (motion.q, motion.dq))
        asked = np.asarray(robot.inverse_dynamics(q, dq, np.diff(motion.dq, axis=0) / motion.h, alpha))
        tau = np.array(motion.tau)
        tau[:, free] = asked[:, free]
        result.append(replace(motion, tau=tau))
    return result


def check_determined(robot: Robot, names: Sequence[str], torques: Mapping[str, float]) -> None:
    """Refuse parameters that a torque without a prior can make up for, whatever the motion."""
    free = [joint for joint in robot.joints if torques.get(joint) == np.inf]
    advice = f"Give {arg.torque_sigma}, how far readings may be off, or leave them out of {arg.fit}."
    if len(free) == robot.n and names:
        raise InputError(
            f"{arg.torques}: with the torque of every joint unknown and no {arg.torque_sigma} any value of {listing(names)} is "
            f"made up for by the torques. {advice}"
        )
    own = [name for name in names for joint in free if name.startswith(OWN) and name.endswith(f".{joint}")]
    if own:
        raise InputError(
            f"{arg.torques}: {listing(own)} act as a torque on a joint whose own is unknown without {arg.torque_sigma}; only "
            f"their sum is determined. {advice}"
        )


def estimated(train: Sequence[Samples], end: End) -> list[Torques]:
    """The estimated torques of every recording; none where they were known."""
    parameters = end.coordinates.parameters
    offset = parameters.alpha(end.theta)[parameters.offset_of]
    result = []
    for s, (p, pd, u) in zip(train, end.paths, strict=False):
        result.append(Torques(s.name, s.trimmed(s.time)[:-1], p[:-1], pd[:-1], u, u + offset))
    return result


def with_estimate(samples: Samples, torques: Torques) -> Samples:
    """A recording without torques, with the estimated ones in their place; the last acts at the last two samples."""
    tau = np.array(samples.tau)
    samples.trimmed(tau)[:] = np.vstack([torques.reading, torques.reading[-1:]])
    note = "it has no torques: errors of torque are those of the estimated ones"
    return replace(samples, tau=tau, notes=(*samples.notes, note))


def write_torques(path: str, joints: Sequence[str], torques: Sequence[Torques]) -> None:
    """Write time, q, dq and tau (what the sensor shows) of all recordings, one below the other, whole or not at all: a CSV log
    (.gz compressed), or arrays with the names of the joints (.npz), which also hold `u`, the true torques."""
    blocks = {
        kind: np.concatenate([getattr(t, name) for t in torques])
        for kind, name in (("time", "time"), ("q", "q"), ("dq", "dq"), ("tau", "reading"), ("u", "u"))
    }
    if path.endswith(".npz"):
        file = io.BytesIO()
        np.savez(file, joints=np.array(joints), **blocks)  # type: ignore[arg-type]  # numpy's stub takes only its option here
        write_atomic(path, file.getvalue())
        return
    write_log(path, Log(blocks["time"], tuple(joints), blocks["q"], blocks["dq"], None, blocks["tau"]))
