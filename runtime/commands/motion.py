"""A simulated motion as a movie, and in the page of --view."""

from __future__ import annotations

from typing import Protocol

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.commands.results import note
from diffpbd.runtime.robot import Robot

__all__ = ["filmed", "played"]


class Motion(Protocol):
    """What a run has: time (samples,) [s]; q, dq, tau (samples, n)."""

    @property
    def time(self) -> FloatArray: ...
    @property
    def q(self) -> FloatArray: ...
    @property
    def dq(self) -> FloatArray: ...
    @property
    def tau(self) -> FloatArray: ...


def filmed(robot: Robot, run: Motion, movie: str | None) -> None:
    """Write the GIF, if one is asked for."""
    if movie is None:
        return
    from diffpbd.runtime.report.movie import movie as draw

    draw(robot, run.time, run.q, movie, title=robot.name)


def played(robot: Robot, run: Motion) -> None:
    """Show the motion until Ctrl-C."""
    from diffpbd.runtime.arms.playback import play

    play(robot, run.time, run.q, run.dq, run.tau, note)
