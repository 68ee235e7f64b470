"""`diffpbd sim-baxter`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np

from diffpbd.runtime.arms.baxter.simulated.node import SimulatedNode, description
from diffpbd.runtime.arms.baxter.simulated.plant import Plant
from diffpbd.runtime.arms.baxter.simulated.robot import SimulatedBaxter
from diffpbd.runtime.arms.baxter.simulated.status import simulated_status
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import parse_state
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.numbers import PORT
from diffpbd.runtime.commands.options.shared import live_option
from diffpbd.runtime.commands.options.simulators import Simulated, attend
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.stopping import StopRequest
from diffpbd.runtime.ros1.master import call
from diffpbd.runtime.ros1.master_server import LocalMaster

__all__ = ["command"]

PARAMETER_TIMEOUT = 2.0  # s
NEUTRAL = {"s1": -0.55, "e1": 0.75, "w1": 1.26}
"""rad by joint, others 0: the pose that Baxter's own software calls neutral."""


@dataclass(frozen=True, kw_only=True)
class _Words(Simulated):
    master: str | None = option("An existing ROS master; by default one is started here.", None, metavar="URI")
    port: int = option("Port of the master started here (default: a free one).", 0, kind=PORT)
    rate: int = option("Rate of joint states [Hz].", 100, span=(1, 1000))
    enabled: bool = option("Start with the motors enabled.", False)
    disable_on_timeout: bool = option("Behave like older robot software: switch off instead of holding.", False)


@click.command("sim-baxter")
@click.argument("robot", default="baxter")
@job("words", _Words)
@live_option
def command(robot: str, words: _Words, live: bool) -> None:
    """Simulate a Baxter arm on a ROS 1 graph: the same topics, timeouts and gravity compensation.

    ROBOT is a shipped description (baxter, baxter_bare, baxter_right) or a URDF file. The first line printed
    is the master's address, ready for `export`.
    """
    if words.master is not None and words.port:
        raise click.UsageError("--port is of a master that is started here; leave it out with --master.")
    urdf = find_description(robot)
    plant = Plant(urdf)
    start = [NEUTRAL.get(joint.split("_")[-1], 0.0) for joint in plant.joints]
    plant.q = np.array(start if words.pose is None else parse_state(words.pose, "--pose", plant.joints))
    with _graph(words.master, words.port) as uri, StopRequest().signals() as stop:
        call(uri, "setParam", "/simulated_baxter", "/robot_description", description(urdf),
             timeout=PARAMETER_TIMEOUT)  # fmt: skip
        baxter = SimulatedBaxter(plant, time.monotonic(), disable_on_timeout=words.disable_on_timeout)
        baxter.super_enable(words.enabled)
        node = SimulatedNode(baxter, master=uri, rate=words.rate)
        attend(node, simulated_status(node, words.duration), f"ROS_MASTER_URI={uri}", words, live, stop)


@contextlib.contextmanager
def _graph(master: str | None, port: int) -> Iterator[str]:
    if master is not None:
        yield master
        return
    local = LocalMaster(port=port)
    try:
        yield local.uri
    finally:
        local.close()
