"""A thread that watches the graph: whether the master is alive, who else publishes a topic, and who reaches the robot."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.ros1.master import Master
from diffpbd.runtime.ros1.registrations import Life, connected, registered

__all__ = ["MasterWatch"]

WATCH_PERIOD = 0.5  # s between two requests to the master
WATCH_FAILURES = 2  # in a row, before the master counts as lost: one may be a slow answer


class MasterWatch:
    """Regularly asks master and robot: `lost` says if the master is gone or restarted, `others` who else commands
    the arm, registered or not."""

    def __init__(self, master: Master, topic: str, own_name: str, robot: Callable[[], str] = lambda: "") -> None:
        """`robot`: the name of the node that obeys the topic, empty as long as it is unknown."""
        self.lost = ""
        self.others: tuple[str, ...] = ()
        self._master = master
        self._topic = topic
        self._own_name = own_name
        self._robot = robot
        self.look()
        self._process = master.process()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ros-master", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Ask who publishes the arm's commands; registrations of ended processes are ignored. A node that was withdrawn from
        the master may still be connected to the robot."""
        found = registered(self._master, self._topic, self._own_name)
        lives = {one.uri: one.name for one in found if one.life is not Life.GONE}
        with contextlib.suppress(GraphError):  # a robot that does not tell its connections
            for one in connected(self._master, self._topic, self._robot()):
                lives.setdefault(one.uri, str(one))
        self.others = tuple(lives.values())

    def _watch(self) -> None:
        failures = 0
        while not self._end.wait(WATCH_PERIOD):
            try:
                if self._master.process() != self._process:
                    self.lost = "the ROS master was restarted and has forgotten this program"
                    return
                self.look()
                failures = 0
            except Exception as error:  # whatever a broken master answers, this thread goes on watching
                failures += 1
                if failures >= WATCH_FAILURES:
                    known = isinstance(error, GraphError)
                    self.lost = str(error) if known else f"the ROS master's answer cannot be used: {error!r}"
                    return

    def close(self) -> None:
        """End the watching thread; it may still wait for one answer."""
        self._end.set()
