"""`diffpbd sim-fr3`."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import click

from diffpbd.runtime.arms.franka.connection import HOST_LINE
from diffpbd.runtime.arms.franka.simulator import HOSTS, READY_POSE, Payload, Simulation, serving
from diffpbd.runtime.base.live import Simulating, live_line
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.priority import punctual
from diffpbd.runtime.base.states import parse_state
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.shared import live_option
from diffpbd.runtime.commands.options.simulators import WithFriction
from diffpbd.runtime.loop.stopping import StopRequest

__all__ = ["JOINTS", "command"]

JOINTS = tuple(f"fr3_joint{k}" for k in range(1, 8))


@dataclass(frozen=True, kw_only=True)
class _Words(WithFriction):
    host: str | None = option(
        "Address to listen at (default: the first free one of 127.0.0.1, …).", None, metavar="ADDRESS"
    )
    payload: float | None = option(
        "Mass in the hand, unknown to the robot.", None, span=(0.0, 20.0), open=True, unit="kg", metavar="KG"
    )


@click.command("sim-fr3")
@job("words", _Words)
@live_option
def command(words: _Words, live: bool) -> None:
    """Simulate a Franka Research 3 that speaks libfranka's protocol at an address of this machine.

    The first line printed is the address, ready for `export` and `diffpbd run fr3`. Physics are MuJoCo's, by the wheel
    franky-sim; the robot has no reflexes, and its torque sensors read what is commanded.
    """
    end = time.monotonic() + (words.duration or math.inf)
    with (
        StopRequest().signals() as stop,
        serving(
            HOSTS if words.host is None else (words.host,),
            pose=READY_POSE if words.pose is None else parse_state(words.pose, "--pose", JOINTS),
            payload=None if words.payload is None else Payload(words.payload), **words.frictions(JOINTS),
        ) as simulation,
    ):  # fmt: skip
        click.echo(f"{HOST_LINE}{simulation.host}")
        status = Simulating(simulation, words.duration, lambda: _state(simulation))
        with punctual(), live_line(status, wanted=live):
            simulation.run(lambda: bool(stop.text) or time.monotonic() >= end)


def _state(simulation: Simulation) -> tuple[str, str]:
    """Whether somebody commands it."""
    if simulation.commanded:
        return "commanded", "good"
    return ("connected", "good") if simulation.connected else ("free", "warn")
