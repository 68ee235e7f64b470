"""Joint state messages to the state of one arm, by name, with its age and every reason for a refusal."""

from __future__ import annotations

import time as clock
from collections import Counter

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import finite
from diffpbd.runtime.interface.limb_state import LEAP, LimbState, stepped_ahead, stepped_back
from diffpbd.runtime.records.messages import JointState

__all__ = ["JointStateReader"]

RESTART_STEP = 1.0
"""s; a stamp that is this much older than the last one is a restarted robot, less a late message; neither may be in a run."""
SOURCE_TIMEOUT = 1.0
"""s of silence after which another publisher may take over the arm's joints."""
UNNAMED = 0.05
"""s without the arm from its own source after which messages of other joints are no addition: the names are wrong."""
DELAY_LEAK = 1e-3
"""s/s by which the shortest delay seen is forgotten, so that clocks may drift apart."""


Places = npt.NDArray[np.int_]
"""Where the arm's joints are among a message's."""


class JointStateReader:
    """Maps names in every message; what cannot be used is counted by its reason."""

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.joints = joints
        self.rejected: Counter[str] = Counter()
        """Messages that concern the arm and could not be used, by reason."""
        self.ignored: Counter[str] = Counter()
        """Messages of others on the same topic."""
        self.second_source: tuple[str, str] | None = None
        """The arm's publisher, and one that also names its joints while it does: two robots on one graph."""
        self.stepped = ""
        """How the robot's clock stepped at the last message that concerns the arm, in words, or empty."""
        self._maps: dict[tuple[str, ...], Places | str] = {}
        self._last: LimbState | None = None
        self._offset = float("inf")

    def _map(self, names: tuple[str, ...]) -> Places | str:
        """Where our joints are among these names, or why not; remembered by the names."""
        found = self._maps.get(names)
        if found is None:
            where = {name: k for k, name in enumerate(names)}
            missing = [joint for joint in self.joints if joint not in where]
            if len(missing) == len(self.joints):
                found = ""
            elif missing:
                found = f"{', '.join(missing)} missing"
            elif len(where) != len(names):
                found = "a joint named twice"
            else:
                found = np.array([where[joint] for joint in self.joints])
            if len(self._maps) > 1000:  # orders may change with every message
                self._maps.clear()
            self._maps[names] = found
        return found

    def offer(self, message: JointState, received: float | None = None, source: str = "") -> LimbState | None:
        """The arm's state from a message, or None; `received` is monotonic time [s], default now."""
        received = clock.monotonic() if received is None else received
        order = self._map(message.name)
        if isinstance(order, str) and not order:
            last = self._last
            if last is not None and source == last.source and received - last.received > UNNAMED:
                self.rejected["no joint of the arm named"] += 1
            else:
                self.ignored["another publisher's joints"] += 1
            return None
        if isinstance(order, str):
            self.rejected[order] += 1
            return None
        self.stepped = ""
        if reason := self._wrong(message, received, source):
            self.rejected[reason] += 1
            return None
        effort = message.effort.take(order) if len(message.effort) else None
        if effort is not None and not finite(effort):
            effort = None
        dq = message.velocity.take(order) if len(message.velocity) else np.full(len(order), np.nan)
        stamp = message.header.time
        state = LimbState(
            message.position.take(order), dq, effort, stamp, received, self._delay(stamp, received), source
        )
        self._last = state
        return state

    def _wrong(self, message: JointState, received: float, source: str) -> str | None:
        count = len(message.name)
        if len(message.position) != count or any(
            len(values) not in (0, count) for values in (message.velocity, message.effort)
        ):
            return "array length"
        if message.header.stamp == (0, 0):
            return "zero stamp"
        last = self._last
        if last is None:
            return None
        if source != last.source:
            if received - last.received < SOURCE_TIMEOUT:
                self.second_source = last.source, source
                return "second source of the arm's joints"
            self._offset = float("inf")
            return None
        back = last.stamp - message.header.time
        if back > 0.0:
            self.stepped = stepped_back(back)
        leap = self._offset - (received - message.header.time)
        if leap > LEAP:
            self.stepped = stepped_ahead(leap)
        if back >= RESTART_STEP:
            self._offset = float("inf")
            return None
        return "stamp not newer than the last one" if back >= 0 else None

    def _delay(self, stamp: float, received: float) -> float:
        offset = received - stamp
        if self._last is not None:
            self._offset += DELAY_LEAK * (received - self._last.received)
        self._offset = min(offset, self._offset)
        return offset - self._offset
