"""Joint torques from a recorded motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.recordings import Logged, recording_of
from diffpbd.runtime.api.words import expect_options, in_python, values_of
from diffpbd.runtime.base.html import motion_table
from diffpbd.runtime.causes.checked import check_parts, read_whole
from diffpbd.runtime.functions.parameters import AlphaOrFile
from diffpbd.runtime.logs.closed_samples import on_loops
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.recording import Reading, Recording
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.torques.contact_forces import Forces, forces_in, given_forces
from diffpbd.runtime.torques.estimation import Estimate, estimate
from diffpbd.runtime.torques.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import TorqueHow
    from diffpbd.runtime.logs.processing import Samples

__all__ = ["TorqueEstimate", "estimate_torque"]


@dataclass(frozen=True, repr=False)
class TorqueEstimate(Estimate):
    """Torques of a recording: `u` (steps, n) [N·m or N] held from `time` on for `h` [s]; `reading` is what a sensor shows."""

    robot: Robot = field(kw_only=True)
    parts: tuple[Samples, ...] = field(kw_only=True)
    estimates: tuple[Estimate, ...] = field(kw_only=True)

    def __repr__(self) -> str:
        return f"<TorqueEstimate of {self.robot.name}: {len(self.time)} torques at steps of {self.h:.4g} s>"

    def _repr_html_(self) -> str:
        caption = f"{self.robot.name}: {len(self.time)} torques at steps of {self.h:.4g} s"
        return motion_table(caption, self.robot.joints, self.q, self.u, self.robot.positions)

    def log(self) -> Log:
        """Motion and sensor torques as a log."""
        return Log(self.time, self.robot.joints, self.q, self.dq, None, self.reading, self.robot.positions)

    @in_python
    def save(self, path: str | Path) -> None:
        """The log as CSV (`.gz` allowed)."""
        write_log(path, self.log())

    @in_python
    def plot(self, path: str | Path | None = None) -> Picture:
        """Estimated and recorded torques by joint; also written to `path`."""
        from diffpbd.runtime.report.torque_plots import plot_estimate

        parts = None if any(part.unread for part in self.parts) else self.parts
        title = f"{self.robot.name}: estimated torques"
        return drawn(lambda file: plot_estimate(file, self.robot, parts, self.estimates, title), path)


@in_python
def estimate_torque(
    robot: Robot,
    log: Logged,
    *,
    cutoff: float | None = 5.0,
    alpha: AlphaOrFile | None = None,
    pose: Mapping[str, float] | None = None,
    forces: Mapping[str, npt.ArrayLike] | None = None,
    **how: Unpack[TorqueHow],
) -> TorqueEstimate:
    """The joint torques [N·m or N] behind a recorded motion; parts between gaps follow each other.

    `log` is a CSV file, a recording of `read_log` (any format) or a run of `simulate`; it is filtered at `cutoff` [Hz] (None:
    not). `alpha` is a vector or values by name, `pose` about where joints without motor and encoder, in closed loops, are at
    its start. `forces` on contacts at the samples, of a robot that touches something (loss "nodes"): by name (samples, 3), in
    world axes on the sphere [N]; of a file its columns force_<contact>_x, _y, _z. `how`: `loss` ("angle+omega", "angle",
    "omega", "nodes"), `weights`, `horizon`, `start`, `carry`, `optimizer`, `friction`, see docs/torque-estimation.md.

    InputError for a recording that does not fit, SolverError where a step fails.
    """
    from diffpbd.runtime.logs.processing import Processing, filter_parts

    expect_options("estimate_torque", how, keywords("TorqueHow"))
    values = values_of(robot, alpha)
    if isinstance(log, (str, Path)):
        recording = read_whole(log, robot, Reading())
    else:
        recording = recording_of(robot, log)
    settings = Settings(**how)
    made = filter_parts(
        recording.path, recording, Processing(cutoff=cutoff), breaks=recording.breaks, notes=recording.notes,
        sound=recording.sound, whole=recording.whole,
    )  # fmt: skip
    parts = check_parts(robot, on_loops(robot, made, pose or {}), ())
    pressed = _forces(robot, log, recording, forces)
    found = [
        estimate(
            robot, p.p, p.dq, 1.0 / p.rate, settings, alpha=values, time=p.time if pressed is None else pressed.at(p)
        )
        for p in parts
    ]  # fmt: skip
    return _joined(robot, parts, found)


def _forces(robot: Robot, log: Logged, recording: Recording, forces: Mapping[str, Any] | None) -> Forces | None:
    if forces is not None and (forces or robot.manifest.robot.contacts):
        return given_forces(robot, recording.time, forces, recording.path)
    if robot.manifest.robot.contacts and isinstance(log, (str, Path)):
        return forces_in(log, robot)
    return None


def _joined(robot: Robot, parts: Sequence[Samples], found: Sequence[Estimate]) -> TorqueEstimate:
    def together(name: str) -> Any:
        return np.concatenate([getattr(e, name) for e in found])

    arrays = {name: together(name) for name in ("time", "q", "dq", "u", "loss")}
    first = found[0]
    return TorqueEstimate(
        **arrays, offset=first.offset, h=first.h, held=first.held, unsettled=sum(e.unsettled for e in found),
        again=sum(e.again for e in found), robot=robot, parts=tuple(parts), estimates=tuple(found),
    )  # fmt: skip
