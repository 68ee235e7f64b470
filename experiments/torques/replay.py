"""A recording beside its simulation, the paper's cover figure: the tip's path as measured and as simulated under torque.

The torques are those that the discrete dynamics need between the recorded poses, so no force sensor is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.logs.table import RATES
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import legend_below, new_figure, panel, save, stroke
from experiments.poses import RECORDED

__all__ = ["Replay", "Replaying", "plot", "read_recording", "replay", "summary", "write_paths"]

LARGEST_OVER = 0.5  # s: the tip error is drawn as its largest over so long
STIFFNESS, DAMPING = 25.0, 10.0  # 1/s², 1/s; of the feedback, critically damped at 5 rad/s
FORWARD, BACK, MEASURED = "torque from poses", "torque from poses and feedback", "measured torque"


RECORDING = "test_circle_XY_T2_r10.csv.gz"
"""Of a physical left arm; it has no time column."""


@dataclass(frozen=True, kw_only=True)
class Replaying:
    """The recording, and how it is simulated."""

    data: str = option("Folder of the recordings.", metavar="DIR", reads=Path)
    log: str = option("The recording in it.", RECORDING, metavar="FILE")
    rate: float | None = option(
        f"Samples a second of a log without times (default: {RECORDED:g} for {RECORDING}).", None, span=RATES
    )
    window: float = option(
        "Seconds until a run without feedback starts again on the recording.", 1.0, span=(0.0, 1e7), open=True
    )
    params: str | None = option(
        "Values such as params.json of identify; also replays the measured torques.", None, metavar="FILE", reads=Path
    )

    @property
    def untimed(self) -> float | None:
        """The rate [Hz] that the recording is read with."""
        return RECORDED if self.rate is None and self.log == RECORDING else self.rate


@dataclass(frozen=True, eq=False)
class Replay:
    """time (samples,) [s], the measured tip (samples, 3) [m] and simulated ones by name; `torque` (samples, n) [N·m] by
    name; `window` [s] after which the runs without feedback start again on the recording."""

    joints: tuple[str, ...]
    time: FloatArray
    measured: FloatArray
    simulated: Mapping[str, FloatArray]
    torque: Mapping[str, FloatArray]
    window: float


def read_recording(path: str | Path, robot: Robot, rate: float | None = None) -> Samples:
    """The longest part of a log between its gaps, filtered as for identification; `rate` [Hz] if it has no times."""
    log = read_log(path, rate=rate).select(robot.joints)
    return max(process(Path(path).name, log, Processing()), key=len)


def replay(robot: Robot, samples: Samples, *, alpha: FloatArray, window: float, measured: bool) -> Replay:
    """Simulate the recording's motion from its poses; with `measured` also under its measured torques.

    `alpha` should have the friction and springs of the recorded arm where measured torques drive it.
    """
    h, q = 1.0 / samples.rate, samples.q
    steps = round(window * samples.rate)
    if not 2 <= steps <= len(q) - 3:
        raise InputError(f"The window of {window:g} s is {steps} samples; expected 2 to {len(q) - 3}.")
    node = robot.node_torque(q[:-2], q[1:-1], q[2:], h, alpha)
    # Torque held over the step between two poses: the mean of what both of them need. That of one step alone would
    # alternate. The first and last pose have no neighbour and are left out.
    q, rate, tau = q[1:-1], (q[2:] - q[:-2]) / (2.0 * h), samples.tau[1:-1]
    # Both are what a sensor reads; its offset moves no joint.
    offset = np.array([alpha[robot.alpha.index(f"torque_offset.{joint}")] for joint in robot.joints])
    drives = {FORWARD: 0.5 * (node[:-1] + node[1:]) - offset}
    if measured:
        drives[MEASURED] = 0.5 * (tau[:-1] + tau[1:]) - offset
    paths = {name: _windows(robot, q, rate, drive, steps, h, alpha) for name, drive in drives.items()}
    paths[BACK], drives[BACK] = _with_feedback(robot, q, rate, drives[FORWARD], h, alpha)
    tips = {name: np.asarray(robot.tip_pose(path, alpha).position) for name, path in paths.items()}
    time = samples.time[1:-1] - samples.time[1]
    return Replay(robot.joints, time, np.asarray(robot.tip_pose(q, alpha).position), tips, drives, steps * h)


def _windows(
    robot: Robot, q: FloatArray, rate: FloatArray, drive: FloatArray, steps: int, h: float, alpha: FloatArray
) -> FloatArray:
    """Positions (samples, n), from the recorded state again every `steps` steps."""
    path: FloatArray = q.copy()
    for begin in range(0, len(drive), steps):
        end = min(begin + steps, len(drive))
        try:
            driven = robot.rollout(q[begin], rate[begin], drive[begin:end], h=h, alpha=alpha).P
        except SolverError as error:
            raise SolverError(
                f"From {begin * h:.2f} s: {error} Without feedback an arm leaves its path faster and faster; a shorter "
                "window may help."
            ) from None
        path[begin + 1 : end + 1] = driven[1:]
    return path


def _with_feedback(
    robot: Robot, q: FloatArray, rate: FloatArray, drive: FloatArray, h: float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Positions and torques of one run from the first pose to the last."""
    path, torque = q.copy(), drive.copy()
    p, pd = q[0], rate[0]
    for k in range(len(drive)):
        feedback = STIFFNESS * (q[k] - p) + DAMPING * (rate[k] - pd)
        torque[k] = drive[k] + robot.mass_matrix(p, alpha) @ feedback
        p, pd = robot.joint_step(p, pd, torque[k], h=h, alpha=alpha)
        path[k + 1] = p
    return path, torque


def summary(found: Replay) -> tuple[list[str], list[list[str]]]:
    """Head and rows: how far the simulated tip is from the measured one."""
    rows = []
    for name, tip in found.simulated.items():
        error = 1e3 * np.linalg.norm(tip - found.measured, axis=1)
        restarts = "-" if name == BACK else f"{found.window:.2f}"
        rows.append([name, restarts, f"{np.sqrt((error**2).mean()):.3g}", f"{error.max():.3g}"])
    return ["driven by", "restart after [s]", "tip error RMS [mm]", "largest [mm]"], rows


def plot(path: str | Path, title: str, found: Replay) -> None:
    """PNG: the tip's path from above and from the side, and its error over time."""
    made = new_figure(12.0, 4.5)
    made.suptitle(title)
    above, side, error = made.subplots(1, 3)
    for view, axes in ((above, (0, 1)), (side, (0, 2))):
        panel(view, "", *(f"{'xyz'[k]} [m]" for k in axes)).set_aspect("equal", adjustable="datalim")
        view.plot(*found.measured[:, axes].T, "k", linewidth=2.5, alpha=0.35, label="measured")
        for k, (name, tip) in enumerate(found.simulated.items()):
            view.plot(*tip[:, axes].T, **stroke(k), linewidth=0.8, label=name)
    panel(error, "", "time [s]", f"largest tip error over {LARGEST_OVER:g} s [mm]")
    for k, tip in enumerate(found.simulated.values()):
        distance = 1e3 * np.linalg.norm(tip - found.measured, axis=1)
        count = max(1, round(LARGEST_OVER / (found.time[1] - found.time[0])))
        begins = np.arange(0, len(distance), count)
        largest = np.maximum.reduceat(np.maximum(distance, 1e-4), begins)
        error.semilogy(found.time[begins], largest, **stroke(k), drawstyle="steps-post")
    legend_below(made, above)
    save(path, made)


def write_paths(path: str | Path, found: Replay) -> None:
    """CSV: one row a sample."""
    names = {"measured": found.measured, **found.simulated}
    header = ["time_s", *(f"{name} {axis} [m]" for name in names for axis in "xyz")]
    write_rows(path, header, np.hstack([found.time[:, None], *names.values()]), digits=9)
