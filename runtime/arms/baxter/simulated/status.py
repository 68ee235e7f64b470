"""State of the simulated robot, in one line."""

from __future__ import annotations

import time as clock

from diffpbd.runtime.arms.baxter.simulated.node import SimulatedNode
from diffpbd.runtime.base.live import Parts, Rate, Simulating
from diffpbd.runtime.interface.controller import Mode

__all__ = ["simulated_status"]


def simulated_status(node: SimulatedNode, limit: float | None) -> Simulating:
    """State of the robot, rates on its topics, mode, who compensates gravity; `limit` [s] of the simulation's length."""
    robot, commands = node.robot, Rate()

    def state() -> tuple[str, str]:
        if robot.stopped:
            return "e-stop", "bad"
        if robot.error:
            return "error", "bad"
        return ("enabled", "good") if robot.enabled else ("disabled", "warn")

    def more() -> Parts:
        rate = commands.of(robot.audit.commands) or 0.0
        parts = [(f"  joint states {node.rate} Hz  commands {rate:.0f} Hz", "")]
        if robot.enabled:
            parts.append((f"  {Mode(robot.mode).name.lower()} mode", ""))
        return [*parts, ("" if robot.compensating(clock.monotonic()) else "  gravity left to the client", "warn")]

    return Simulating(node, limit, state, more)
