"""A simulated motion as a movie, as a report, and in the page of --view."""

from __future__ import annotations

from typing import Any, Protocol

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.commands.results.results import note
from diffpbd.runtime.loop.replay import read_run
from diffpbd.runtime.model.clearance import Distances, distances_of
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.shapes import read_shapes

__all__ = ["expect_meshes", "filmed", "nearest", "nearest_of_log", "played", "reported"]


FEW = 5
"""Files that a note names."""


class Motion(Protocol):
    """Motion of a run: time (samples,) [s]; q, dq, tau (samples, n)."""

    @property
    def time(self) -> FloatArray: ...
    @property
    def q(self) -> FloatArray: ...
    @property
    def dq(self) -> FloatArray: ...
    @property
    def tau(self) -> FloatArray: ...


def expect_meshes(robot: Robot, meshes: str | None, movie: str | None, view: bool) -> None:
    """Refuse, before any work, shapes that cannot be read or that nothing would show."""
    if meshes is None:
        return
    if not (movie or view):
        raise click.UsageError("--meshes is of --view and --movie; give one of them.")
    if left_out := read_shapes(meshes, robot).left_out:
        named = "; ".join(left_out[:FEW]) + ("; …" if len(left_out) > FEW else "")
        note(f"note: --meshes {meshes}: shapes that cannot be read are not drawn: {named}")


def filmed(robot: Robot, run: Motion, movie: str | None, meshes: str | None = None) -> None:
    """Write the GIF, if one is asked for; `meshes` is a URDF whose shapes are drawn."""
    if movie is None:
        return
    from diffpbd.runtime.report.movie import movie as draw

    shapes = None if meshes is None else read_shapes(meshes, robot)
    draw(robot, run.time, run.q, movie, title=robot.name, shapes=shapes)


def reported(robot: Robot, run: Motion, words: str, path: str | None, reference: FloatArray | None = None) -> None:
    """Write the page of --report, if one is asked for; `reference` (samples, n) is what was followed."""
    if path is None:
        return
    from diffpbd.runtime.report.motion import Signal, motion_page

    joints = {joint.name: joint for joint in robot.manifest.robot.joints}
    positions = []
    for k, name in enumerate(robot.positions):
        own = joints.get(name)
        wanted = reference[:, k] if reference is not None and reference.shape[1] == len(robot.positions) else None
        unit, bounds = ("1", (None, None)) if own is None else (own.unit, (own.lower, own.upper))
        positions.append(Signal(name, unit, run.q[:, k], wanted, bounds))
    torques = []
    for k, joint in enumerate(joints.values()):
        most = joint.effort
        bounds = (None if most is None else -most, most)
        torques.append(Signal(joint.name, joint.effort_unit, run.tau[:, k], None, bounds))
    write_atomic(path, motion_page(robot.name, words, run.time, positions, torques))


def played(robot: Robot, run: Motion, meshes: str | None = None) -> None:
    """Show the motion until Ctrl-C."""
    from diffpbd.runtime.arms.playback import play

    play(robot, run.time, run.q, run.dq, run.tau, note, meshes=meshes)


def nearest(distances: Distances | None, time: FloatArray, q: FloatArray) -> tuple[str, dict[str, Any]]:
    """The nearest pair in the samples, and in how many anything touches: in words, and for programs."""
    if distances is None:
        return "", {}
    values = distances.at(q)
    least = values.min(axis=1)
    k, inside = int(np.argmin(least)), int((least < 0.0).sum())
    text = f"{distances.words(values[k])} at {time[k]:.4g} s"
    pair = distances.pairs[int(np.argmin(values[k]))]
    found = {"distance": float(least[k]), "between": list(pair), "time": float(time[k]), "touching_samples": inside}
    if inside:
        what = "the robot itself or an obstacle" if distances.placed else "the robot itself"
        return f"note: the motion goes through {what} in {inside} of {len(least)} samples: {text}", {"nearest": found}
    return f"nearest{'' if distances.placed else ' links'}: {text}", {"nearest": found}


def nearest_of_log(robot: Robot, log: str) -> tuple[str, dict[str, Any]]:
    """The same of the measured poses in the log of a run; nothing without distances."""
    configuration, ticks = read_run(log)
    distances = distances_of(robot, configuration.alpha, configuration.obstacles)
    measured = [] if distances is None else [(t.time, t.position) for t in ticks if np.isfinite(t.position).all()]
    if not measured:
        return "", {}
    return nearest(distances, np.array([time for time, _ in measured]), np.array([q for _, q in measured]))
