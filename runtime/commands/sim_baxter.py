"""`diffpbd sim-baxter`."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import click
import numpy as np

from diffpbd.runtime.arms.baxter.simulated.node import SimulatedNode, description
from diffpbd.runtime.arms.baxter.simulated.plant import Plant
from diffpbd.runtime.arms.baxter.simulated.robot import SimulatedBaxter
from diffpbd.runtime.arms.baxter.simulated.status import simulated_status
from diffpbd.runtime.base.live import live_line
from diffpbd.runtime.commands.locate import parse_state
from diffpbd.runtime.commands.numbers import DURATION, PORT, Whole
from diffpbd.runtime.commands.options import live_option
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.stopping import StopRequest
from diffpbd.runtime.ros1.master import call
from diffpbd.runtime.ros1.master_server import LocalMaster

__all__ = ["command"]

POLL = 0.1  # s between two looks at a request to stop
PARAMETER_TIMEOUT = 2.0  # s
NEUTRAL = {"s1": -0.55, "e1": 0.75, "w1": 1.26}
"""rad by joint, others 0: the pose that Baxter's own software calls neutral."""


@click.command("sim-baxter")
@click.argument("robot", default="baxter")
@click.option("--master", metavar="URI", help="An existing ROS master; by default one is started here.")
@click.option("--port", type=PORT, default=0, help="Of the master started here (default: a free one).")
@click.option("--rate", type=Whole(1, 1000), default=100, help="Joint states a second.")
@click.option("--pose", metavar="JSON", help="Start pose [rad]: a list or an object of joint names.")
@click.option("--enabled", is_flag=True, help="Start with the motors enabled.")
@click.option(
    "--disable-on-timeout", is_flag=True, help="Behave like older robot software: switch off instead of holding."
)
@click.option("--duration", type=DURATION, metavar="S", help="End by itself (default: at Ctrl-C).")
@live_option
def command(
    robot: str,
    master: str | None,
    port: int,
    rate: int,
    pose: str | None,
    enabled: bool,
    disable_on_timeout: bool,
    duration: float | None,
    live: bool,
) -> None:
    """Simulate a Baxter arm on a ROS 1 graph: the same topics, timeouts and gravity compensation.

    ROBOT is a shipped description (baxter, baxter_bare, baxter_right) or a URDF file. The first line printed
    is the master's address, ready for `export`.
    """
    if master is not None and port:
        raise click.UsageError("--port is of a master that is started here; leave it out with --master.")
    urdf = find_description(robot)
    plant = Plant(urdf)
    start = [NEUTRAL.get(joint.split("_")[-1], 0.0) for joint in plant.joints]
    plant.q = np.array(start if pose is None else parse_state(pose, "--pose", plant.joints))
    with _graph(master, port) as uri, StopRequest().signals() as stop:
        call(uri, "setParam", "/simulated_baxter", "/robot_description", description(urdf),
             timeout=PARAMETER_TIMEOUT)  # fmt: skip
        baxter = SimulatedBaxter(plant, time.monotonic(), disable_on_timeout=disable_on_timeout)
        baxter.super_enable(enabled)
        node = SimulatedNode(baxter, master=uri, rate=rate)
        thread = threading.Thread(target=node.run, name="simulation", daemon=True)
        thread.start()
        click.echo(f"ROS_MASTER_URI={uri}")
        end = None if duration is None else time.monotonic() + duration
        try:
            with live_line(simulated_status(node, duration), wanted=live):
                while thread.is_alive() and not stop.text and (end is None or time.monotonic() < end):
                    time.sleep(POLL)
        finally:
            node.close()
            thread.join(1.0)


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
