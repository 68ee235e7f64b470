"""Recordings of robots with closed loops: projects motions onto the loops and solves joints without an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.model.closed import Closed, of
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples  # scipy

__all__ = ["expect_led", "on_loops"]


def expect_led(robot: Robot, pose: Mapping[str, float]) -> None:
    """Refuses starts of joints that do not follow from closed loops."""
    facts = robot.manifest.robot
    led = facts.passive if facts.loops else ()
    if strangers := [joint for joint in pose if joint not in led]:
        raise InputError(
            f"{arg.pose} {strangers[0]}: it is for joints without a motor of closed loops; "
            + (f"{robot.name} has {listing(led)}." if led else f"{robot.name} has none.")
        )


def on_loops(robot: Robot, parts: Sequence[Samples], pose: Mapping[str, float]) -> list[Samples]:
    """Parts of recordings, projected onto the closed loops of a robot, if it has any."""
    expect_led(robot, pose)
    closed = of(robot)
    return list(parts) if closed is None or not closed.looped else [_closed(closed, part, pose) for part in parts]


def _closed(closed: Closed, samples: Samples, pose: Mapping[str, float]) -> Samples:
    """Samples with joints without an encoder, which start near `pose`, or else zero."""
    robot = closed.robot
    there = [robot.joints.index(joint) for joint in samples.joints]
    derived = tuple(joint for joint in robot.joints if joint not in samples.joints)

    def wide(values: FloatArray) -> FloatArray:
        found = np.zeros((*values.shape[:-1], robot.n))
        found[..., there] = values
        return found

    noise = samples.noise and (wide(samples.noise[0]), None if samples.noise[1] is None else wide(samples.noise[1]))
    q, dq, ddq, tau = (wide(values) for values in (samples.q, samples.dq, samples.ddq, samples.tau))
    notes, measured = samples.notes, np.array([joint not in derived for joint in robot.joints])
    if derived:
        q[:, ~measured] = [pose.get(joint, 0.0) for joint in derived]
        q = closed.followed(q, measured)
        start = ", ".join(f"{joint} = {x:.4g}" for joint, x in zip(derived, q[0, ~measured].tolist(), strict=True))
        notes = (
            *notes,
            f"without encoders, from the loops: {start} at its start ({arg.pose} tells another way of closing)",
        )
    read = q, dq, ddq
    q, dq, ddq = closed.completed(q, dq, ddq, measured)
    return replace(
        samples, joints=robot.joints, q=q, dq=dq, ddq=ddq, tau=tau, noise=noise, notes=notes, derived=derived, read=read
    )
