"""`diffpbd sim`: any arm with an effort interface, simulated behind the topics of ROS 2."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click
import numpy as np

from diffpbd.runtime.api.robots import exported
from diffpbd.runtime.arms.ros2.run import DOMAIN_LINE, Topics
from diffpbd.runtime.base.arrays import FloatArray, or_else, within
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.live import Rate, Simulating
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.states import parse_state
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.shared import live_option
from diffpbd.runtime.commands.options.simulators import WithFriction, attend
from diffpbd.runtime.loop.stopping import StopRequest

if TYPE_CHECKING:
    from diffpbd.runtime.arms.ros2.simulated.arm import SimulatedArm
    from diffpbd.runtime.arms.ros2.simulated.node import SimulatedNode

__all__ = ["command"]

LAST_DOMAIN = 232
MARGIN = 0.1  # rad inside the limits, of the start pose by default
POSES, EASE = 200, 0.3
"""Poses that are looked at for a start, and the share of the effort limits that gravity may take there."""


@dataclass(frozen=True, kw_only=True)
class _Words(WithFriction, Topics):
    gravity: str = option(
        "Who compensates gravity: the arm itself, in addition to commands, or its commands.", choices=("robot", "model")
    )
    domain: int | None = option("DDS domain (default: ROS_DOMAIN_ID, or 0).", None, span=(0, LAST_DOMAIN))
    local: bool = option("On this machine alone, without multicast.", False)
    rate: int = option("Rate of joint states [Hz].", 500, span=(1, 1000))
    params: str | None = option("Values of alpha by name, such as params.json of identify.", None, metavar="FILE")
    timeout: float | None = option(
        "Hold the arm if no command came for this long (default: the last command stays in effect).", None, span=(0.0, 10.0),
        open=True, unit="s", metavar="S",
    )  # fmt: skip


@click.command("sim", context_settings={"show_default": True})
@click.argument("robot")
@job("words", _Words)
@live_option
def command(robot: str, words: _Words, live: bool) -> None:
    """Simulate an arm with an effort interface over ROS 2, as ros2_control's forward controllers have it.

    ROBOT is a shipped description, a recipe, a URDF or an MJCF file; physics are MuJoCo's. The first line printed is the
    domain, ready for `export` and `diffpbd run ROBOT --ros2`; the last one an account of what the arm was told.
    """
    from diffpbd.runtime.arms.ros2.node import Node, domain_of
    from diffpbd.runtime.arms.ros2.said import in_order
    from diffpbd.runtime.arms.ros2.simulated.node import SimulatedNode

    arm = _arm(robot, words)
    order = in_order(arm.joints, words.command_joints)
    arm.place(_start(arm) if words.pose is None else parse_state(words.pose, "--pose", arm.joints, _start(arm)))
    number = domain_of() if words.domain is None else words.domain
    with StopRequest().signals() as stop:
        node = SimulatedNode(
            arm, Node(number, local=words.local), words.states, words.commands, rate=words.rate, order=order
        )
        try:
            attend(node, _status(node, words.duration), f"{DOMAIN_LINE}{number}", words, live, stop)
        finally:
            with contextlib.suppress(OSError):  # whoever started this may have gone
                click.echo(json.dumps(asdict(arm.account)))


def _arm(robot: str, words: _Words) -> SimulatedArm:
    from diffpbd.runtime.arms.ros2.simulated.arm import SimulatedArm

    written, described = exported(robot, words.params)
    names = tuple(joint.name for joint in described.joints)
    arm = SimulatedArm(
        written.text, time.monotonic(), compensated=words.gravity == "robot", timeout=words.timeout, **words.frictions(names)
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
