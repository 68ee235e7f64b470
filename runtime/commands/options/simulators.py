"""Options of every simulated arm, and its run until it is stopped."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import Any

import click

from diffpbd.runtime.base.live import Simulating, live_line
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import parse_friction
from diffpbd.runtime.commands.options.numbers import DURATION
from diffpbd.runtime.loop.stopping import StopRequest

__all__ = ["WithFriction", "Simulated", "attend"]

POLL = 0.1  # s between two looks at a request to stop


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """Options of any simulated arm."""

    pose: str | None = option("Start pose [rad]: a list or an object of joint names; others 0.", None, metavar="JSON")
    duration: float | None = option("Duration (default: until Ctrl-C).", None, metavar="S", kind=DURATION)


@dataclass(frozen=True, kw_only=True)
class WithFriction(Simulated):
    """Options of a simulated arm whose friction can be chosen."""

    coulomb: str | None = option(
        "Friction [N·m], a list or by joint, in place of the simulator's.", None, metavar="JSON"
    )
    viscous: str | None = option(
        "Friction [N·m·s/rad], a list or by joint, in place of the simulator's.", None, metavar="JSON"
    )

    def frictions(self, joints: tuple[str, ...]) -> dict[str, list[float] | None]:
        """Both by name (n,); None: the simulator's own."""
        given = {"coulomb": self.coulomb, "viscous": self.viscous}
        return {
            name: None if text is None else parse_friction(text, f"--{name}", joints) for name, text in given.items()
        }


def attend(node: Any, status: Simulating, first: str, words: Simulated, live: bool, stop: StopRequest) -> None:
    """Run a simulated node, whose `first` line says where it is, until it is stopped or its time is over; then it leaves."""
    thread = threading.Thread(target=node.run, name="simulation", daemon=True)
    thread.start()
    click.echo(first)
    end = time.monotonic() + (words.duration or math.inf)
    try:
        with live_line(status, wanted=live):
            while thread.is_alive() and not stop.text and time.monotonic() < end:
                time.sleep(POLL)
    finally:
        node.stop.set()
        thread.join(1.0)
        node.close()
