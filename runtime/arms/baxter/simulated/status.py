"""What the simulated robot is doing, in one line. Called by another thread than its loop."""

from __future__ import annotations

import time as clock

from diffpbd.runtime.arms.baxter.simulated.node import SimulatedNode
from diffpbd.runtime.base.live import Parts, Rate, duration, latency
from diffpbd.runtime.interface.controller import Mode

__all__ = ["SimulatedStatus"]


class SimulatedStatus:
    """Describes the robot at each call; `limit` [s] of the simulation's length, None: until Ctrl-C."""

    def __init__(self, node: SimulatedNode, limit: float | None) -> None:
        self._node = node
        self._limit = limit
        self._begin = clock.monotonic()
        self._loop, self._commands = Rate(), Rate()

    def __call__(self) -> Parts:
        """State, rate and lateness of the loop, skipped periods, commands, who compensates gravity, and the time."""
        node, robot = self._node, self._node.robot
        now = clock.monotonic()
        loop, commands = self._loop.of(node.lateness.count), self._commands.of(robot.audit.commands)
        parts = [self._state(), (f"  {loop or 0.0:.0f} Hz  late {latency(node.lateness)}", "")]
        parts.append((f"  skipped {node.skipped}", ""))
        parts.append((f"  joint states {node.rate} Hz  commands {commands or 0.0:.0f} Hz", ""))
        if robot.enabled:
            parts.append((f"  {Mode(robot.mode).name.lower()} mode", ""))
        parts.append(("" if robot.compensating(now) else "  gravity left to the client", "warn"))
        gone = now - self._begin
        left = None if self._limit is None else max(self._limit - gone, 0.0)
        return [*parts, (f"  for {duration(gone)}" if left is None else f"  {duration(left)} left", "")]

    def _state(self) -> tuple[str, str]:
        robot = self._node.robot
        if robot.stopped:
            return "e-stop", "bad"
        if robot.error:
            return "error", "bad"
        return ("enabled", "good") if robot.enabled else ("disabled", "warn")
