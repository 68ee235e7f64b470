"""`diffpbd reproduce FIGURE`."""

from __future__ import annotations

import click

from diffpbd.runtime.commands.reproduce_all import command as everything
from diffpbd.runtime.commands.reproduce_control import circle, impedance, net_torque_map, push, replay
from diffpbd.runtime.commands.reproduce_design import double_pendulum, gravity_compensation, spring
from diffpbd.runtime.commands.reproduce_sweeps import convergence, sweeps, variables
from diffpbd.runtime.commands.reproduce_torques import command as torque_table

__all__ = ["command"]


@click.group("reproduce")
def command() -> None:
    """Reproduce the paper's figures and tables."""


for experiment in (
    everything, double_pendulum, gravity_compensation, spring, sweeps, variables, convergence, impedance, net_torque_map, push,
    circle, replay, torque_table,
):  # fmt: skip
    command.add_command(experiment)
