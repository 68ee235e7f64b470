"""`diffpbd sim`: any arm with an effort interface, simulated behind the topics of ROS 2."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
import numpy as np

from diffpbd.runtime.api.robots import exported
from diffpbd.runtime.arms.ros2.run import COMMANDS, DOMAIN_LINE, STATES
from diffpbd.runtime.base.arrays import FloatArray, or_else, within
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.live import Rate, Simulating, live_line
from diffpbd.runtime.commands.locate import parse_friction, parse_state
from diffpbd.runtime.commands.numbers import DURATION, Real, Whole
from diffpbd.runtime.commands.options import live_option
from diffpbd.runtime.loop.stopping import StopRequest

if TYPE_CHECKING:
    from diffpbd.runtime.arms.ros2.simulated.arm import SimulatedArm
    from diffpbd.runtime.arms.ros2.simulated.node import SimulatedNode

__all__ = ["command"]

POLL = 0.1  # s between two looks at a request to stop
LAST_DOMAIN = 232
MARGIN = 0.1  # rad inside the limits, of the start pose by default
POSES, EASE = 200, 0.3
"""Poses that are looked at for a start, and the share of the effort limits that gravity may take there."""


@click.command("sim", context_settings={"show_default": True})
@click.argument("robot")
@click.option("--gravity", type=click.Choice(["robot", "model"]), required=True,
              help="Who holds the arm: itself, beside what it is told, or whoever commands it.")  # fmt: skip
@click.option("--states", default=STATES, metavar="TOPIC", help="Of the sensor_msgs/JointState that it publishes.")
@click.option("--commands", default=COMMANDS, metavar="TOPIC", help="Of the std_msgs/Float64MultiArray that it obeys.")
@click.option(
    "--command-joints", metavar="NAMES", help="Order of the commands, by commas (default: the description's)."
)
@click.option("--domain", type=Whole(0, LAST_DOMAIN), help="Of DDS (default: ROS_DOMAIN_ID, or 0).")
@click.option("--local", is_flag=True, help="On this machine alone, without multicast.")
@click.option("--rate", type=Whole(1, 1000), default=500, help="Joint states a second.")
@click.option(
    "--pose", metavar="JSON", help="Start pose [rad]: a list or an object of joint names; others 0, inside limits."
)
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--coulomb", metavar="JSON", help="Friction [N·m], a list or by joint.")
@click.option("--viscous", metavar="JSON", help="Friction [N·m·s/rad], a list or by joint.")
@click.option("--timeout", type=Real(0, 10, min_open=True), metavar="S",
              help="Hold the arm if no command came for this long (default: the last command stays in effect).")  # fmt: skip
@click.option("--duration", type=DURATION, metavar="S", help="End by itself (default: at Ctrl-C).")
@live_option
def command(
    robot: str, gravity: str, states: str, commands: str, command_joints: str | None, domain: int | None, local: bool,
    rate: int, pose: str | None, params: str | None, coulomb: str | None, viscous: str | None, timeout: float | None,
    duration: float | None, live: bool,
) -> None:  # fmt: skip
    """Simulate an arm with an effort interface over ROS 2, as ros2_control's forward controllers have it.

    ROBOT is a shipped description, a recipe, a URDF or an MJCF file; physics are MuJoCo's. The first line printed is the
    domain, ready for `export` and `diffpbd run ROBOT --ros2`; the last one an account of what the arm was told.
    """
    from diffpbd.runtime.arms.ros2.arm import in_order
    from diffpbd.runtime.arms.ros2.node import Node, domain_of
    from diffpbd.runtime.arms.ros2.simulated.node import SimulatedNode

    arm = _arm(robot, params, gravity, {"coulomb": coulomb, "viscous": viscous}, timeout)
    chosen = None if command_joints is None else tuple(name.strip() for name in command_joints.split(","))
    order = in_order(arm.joints, chosen)
    arm.place(_start(arm) if pose is None else parse_state(pose, "--pose", arm.joints, _start(arm)))
    number = domain_of() if domain is None else domain
    begin = time.monotonic()
    with StopRequest().signals() as stop:
        node = SimulatedNode(arm, Node(number, local=local), states, commands, rate=rate, order=order)
        thread = threading.Thread(target=node.run, name="simulation", daemon=True)
        thread.start()
        click.echo(f"{DOMAIN_LINE}{number}")
        try:
            with live_line(_status(node, duration), wanted=live):
                while thread.is_alive() and not stop.text:
                    if duration is not None and time.monotonic() >= begin + duration:
                        break
                    time.sleep(POLL)
        finally:
            node.stop.set()
            thread.join(1.0)
            node.close()
            with contextlib.suppress(OSError):  # whoever started this may have gone
                click.echo(json.dumps(asdict(arm.account)))


def _arm(
    robot: str, params: str | None, gravity: str, frictions: Mapping[str, str | None], timeout: float | None
) -> SimulatedArm:
    from diffpbd.runtime.arms.ros2.simulated.arm import SimulatedArm

    written, described = exported(robot, params)
    names = tuple(joint.name for joint in described.joints)
    found = {
        name: None if text is None else parse_friction(text, f"--{name}", names) for name, text in frictions.items()
    }
    arm = SimulatedArm(
        written.text, time.monotonic(), compensated=gravity == "robot", timeout=timeout,
        coulomb=found["coulomb"], viscous=found["viscous"],
    )  # fmt: skip
    if arm.joints != names:
        raise InputError(f"{robot}: MuJoCo has the joints {', '.join(arm.joints)}, expected {', '.join(names)}.")
    arm.speed = or_else((joint.velocity for joint in described.joints), np.inf)
    return arm


def _start(arm: SimulatedArm) -> FloatArray:
    """A pose [rad] well inside the limits that the motors hold with ease: zero, or the nearest to it of some."""
    random = np.random.default_rng(0)
    low, high = (np.maximum(arm.lower, -np.pi) + MARGIN, np.minimum(arm.upper, np.pi) - MARGIN)
    some = [within(np.zeros(len(arm.joints)), low, high), *random.uniform(low, high, (POSES, len(arm.joints)))]
    some = sorted(some, key=lambda q: float(np.abs(q).max()))
    load = [float((np.abs(arm.compensation(q)) / arm.effort).max()) for q in some]
    light = next((k for k, share in enumerate(load) if share < EASE), int(np.argmin(load)))
    return np.asarray(some[light], dtype=np.float64)


def _status(node: SimulatedNode, limit: float | None) -> Simulating:
    """Whether it is commanded, and the rates on its topics."""
    commands = Rate()
    return Simulating(
        node, limit, lambda: ("held", "warn") if node.arm.held else ("commanded", "good"),
        lambda: [(f"  joint states {node.rate} Hz  commands {commands.of(node.arm.account.commands) or 0.0:.0f} Hz", "")],
    )  # fmt: skip
