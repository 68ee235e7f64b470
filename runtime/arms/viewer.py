"""`--view`: a local web page in a process of its own, fed with datagrams, so it can never delay the loop."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from types import TracebackType

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.records.messages import Tick

__all__ = ["ADDRESS", "Viewer"]

ADDRESS = "127.0.0.1"
"""Where the page and its datagrams live: this machine only."""
VIEW_PERIOD = 0.05  # s between two states shown
MISSING_VISER = 3  # exit code of the page's process


class Viewer:
    """Starts the page on entering; `url` is where it is, `tick` shows a control tick now and then."""

    def __init__(self, robot: Robot, *, port: int = 8080, meshes: str | None = None) -> None:
        """`port` of the page; another free one is taken if it is in use. `meshes`: a URDF whose shapes are shown."""
        self._meshes = [] if meshes is None else [meshes]
        self.url = ""
        self._robot = robot
        self._port = port
        self._process: subprocess.Popen[str] | None = None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._due = float("-inf")

    def __enter__(self) -> Viewer:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "diffpbd.runtime.arms.viewer_page", str(self._robot.folder),
             str(self._port), str(os.getpid()), *self._meshes],
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        words = self._process.stdout.readline().split()
        if len(words) != 2:
            self.close()
            if self._process.returncode == MISSING_VISER:
                raise missing("--view", "viser")
            raise InputError("--view: the page did not start; its message is above.")
        self.url = words[0]
        self._socket.connect((ADDRESS, int(words[1])))
        return self

    def tick(self, tick: Tick) -> None:
        """Show a tick if the last one shown is old enough; never waits."""
        if tick.time < self._due and tick.time > self._due - 2 * VIEW_PERIOD:
            return
        self._due = tick.time + VIEW_PERIOD
        with contextlib.suppress(OSError):
            self._socket.send(tick.encode())

    def close(self) -> None:
        """End the page's process."""
        self._socket.close()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10.0)
            assert self._process.stdout is not None
            self._process.stdout.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
