"""`diffpbd sim-fr3`."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from diffpbd.runtime.arms.franka.connection import HOST_LINE
from diffpbd.runtime.arms.franka.simulator import HOSTS, READY_POSE, Payload, Simulation, serving
from diffpbd.runtime.base.live import Simulating, live_line
from diffpbd.runtime.base.priority import punctual
from diffpbd.runtime.commands.locate import parse_friction, parse_state
from diffpbd.runtime.commands.numbers import DURATION, Real
from diffpbd.runtime.commands.options import live_option
from diffpbd.runtime.loop.stopping import StopRequest

__all__ = ["JOINTS", "command"]

JOINTS = tuple(f"fr3_joint{k}" for k in range(1, 8))


@click.command("sim-fr3")
@click.option(
    "--host", metavar="ADDRESS", help="Of this machine, to answer at (default: the first free one of 127.0.0.1, …)."
)
@click.option("--pose", metavar="JSON", help="Start pose [rad]: a list or an object of joint names.")
@click.option(
    "--payload", type=Real(0, 20, min_open=True), metavar="KG", help="Mass in the hand, unknown to the robot."
)
@click.option("--coulomb", metavar="JSON", help="Friction [N·m], a list or by joint, in place of the simulator's.")
@click.option(
    "--viscous", metavar="JSON", help="Friction [N·m·s/rad], a list or by joint, in place of the simulator's."
)
@click.option("--duration", type=DURATION, metavar="S", help="End by itself (default: at Ctrl-C).")
@live_option
def command(
    host: str | None,
    pose: str | None,
    payload: float | None,
    coulomb: str | None,
    viscous: str | None,
    duration: float | None,
    live: bool,
) -> None:
    """Simulate a Franka Research 3 that speaks libfranka's protocol at an address of this machine.

    The first line printed is the address, ready for `export` and `diffpbd run fr3`. Physics are MuJoCo's, by the wheel
    franky-sim; the robot has no reflexes, and its torque sensors read what is commanded.
    """
    begin = time.monotonic()
    with (
        StopRequest().signals() as stop,
        serving(
            HOSTS if host is None else (host,),
            pose=READY_POSE if pose is None else parse_state(pose, "--pose", JOINTS),
            payload=None if payload is None else Payload(payload),
            coulomb=_values(coulomb, "--coulomb"), viscous=_values(viscous, "--viscous"),
        ) as simulation,
    ):  # fmt: skip
        click.echo(f"{HOST_LINE}{simulation.host}")
        status = Simulating(simulation, duration, lambda: _state(simulation))
        with punctual(), live_line(status, wanted=live):
            simulation.run(
                lambda: bool(stop.text) or (duration is not None and time.monotonic() >= begin + duration)
            )  # fmt: skip


def _values(text: str | None, option: str) -> Sequence[float] | None:
    return None if text is None else parse_friction(text, option, JOINTS)


def _state(simulation: Simulation) -> tuple[str, str]:
    """Whether somebody commands it."""
    if simulation.commanded:
        return "commanded", "good"
    return ("connected", "good") if simulation.connected else ("free", "warn")
