"""A motion that is over, shown again and again in the page of `--view`."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.arms.viewer import Viewer
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.records.messages import Header, Tick

__all__ = ["play"]

TORQUE_MODE = 3
PAUSE = 1.0  # s between two rounds
FRAME = 0.02  # s between two states that are sent


def play(
    robot: Robot, time: FloatArray, q: FloatArray, dq: FloatArray, tau: FloatArray, say: Callable[[str], None],
    *, rounds: int | None = None, meshes: str | None = None,
) -> None:  # fmt: skip
    """Serve the page and play the motion (samples, n) in real time until Ctrl-C, or so many `rounds`; `say` hears where it
    is. `meshes` is a URDF whose shapes are shown."""
    with Viewer(robot, meshes=meshes) as viewer:
        say(f"view: {viewer.url} (Ctrl-C ends it)")
        try:
            done = 0
            while rounds is None or done < rounds:
                _once(viewer, robot, time - time[0], q, dq, tau)
                done += 1
                clock.sleep(PAUSE)
        except KeyboardInterrupt:
            return


def _once(viewer: Viewer, robot: Robot, time: FloatArray, q: FloatArray, dq: FloatArray, tau: FloatArray) -> None:
    def show(k: int) -> None:
        viewer.tick(
            Tick(
                Header(), time=float(time[k]), mode=TORQUE_MODE, name=robot.joints, position=q[k], velocity=dq[k],
                command=tau[k], effort=tau[k], gravity=np.zeros(robot.n), law=np.zeros(robot.n),
            )
        )  # fmt: skip

    begin = clock.monotonic()
    while (now := clock.monotonic() - begin) < time[-1]:
        show(int(np.searchsorted(time, now, side="right")) - 1)
        clock.sleep(FRAME)
    show(len(time) - 1)
