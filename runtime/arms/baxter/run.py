"""`diffpbd run` on a Baxter arm: the ROS graph, what the robot says of itself, and the simulated robot."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from diffpbd.runtime.arms.attached import Attached, Kind, by_joint, simulator
from diffpbd.runtime.arms.baxter.arm import BaxterArm, command_topic
from diffpbd.runtime.arms.baxter.description import compare_description, tighter_limits
from diffpbd.runtime.base.errors import GraphError, InputError, RefusedError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.ownership import sole_program
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.ros1 import Node
from diffpbd.runtime.ros1.registrations import Life, registered, withdraw

__all__ = ["KIND"]

STIFFNESS = {"s0": 30.0, "s1": 30.0, "e0": 20.0, "e1": 20.0, "w0": 5.0, "w1": 5.0, "w2": 5.0}
"""N·m/rad; the paper's 30 at the shoulder, less where the effort limits are lower."""
DAMPING = {"s0": 3.0, "s1": 3.0, "e0": 1.5, "e1": 1.5, "w0": 0.2, "w1": 0.2, "w2": 0.2}
"""N·m·s/rad."""
SILENT = (
    " What does not answer may be halted, and commands the arm when it goes on: end it on its machine (kill -9 and its "
    "number), then --clean-dead withdraws it."
)
SHIPPED = {"left": "baxter", "right": "baxter_right"}
"""Descriptions of the arms, by the first word of their joints."""


@dataclass(frozen=True, kw_only=True)
class _Own:
    side: str = option("Baxter: which arm.", "left", choices=tuple(SHIPPED))
    master: str | None = option("The robot's ROS master (default: ROS_MASTER_URI).", None, metavar="URI")
    without_spring: bool = option("With --gravity model: the arm needs no S1 spring term.", False)
    clean_dead: bool = option("Baxter: withdraw publishers of its commands whose process has ended.", False)


def _meant(robot: Robot, words: Mapping[str, Any]) -> bool:
    return all(joint.split("_")[-1] in STIFFNESS for joint in robot.joints)


@contextlib.contextmanager
def _attach(robot: Robot, configuration: Configuration, options: Mapping[str, Any]) -> Iterator[Attached]:
    """A node on the robot's graph, or on that of a simulated one, which is the only program for the arm."""
    with contextlib.ExitStack() as stack:
        master, side = options["master"], options["side"]
        if options["sim"]:
            master = stack.enter_context(_simulated(robot))
        node = stack.enter_context(
            Node(f"diffpbd_run_{side}_{os.getpid()}_{time.time_ns() // 1_000_000}", master=master)
        )
        stack.enter_context(sole_program(f"{node.master.uri} {command_topic(side)}"))
        _alone(node, command_topic(side), options)
        limits = _compared(node, robot, configuration.limits, options["allow_mismatch"])

        def arm(recorder: Recorder | None) -> BaxterArm:
            return BaxterArm(
                side, robot.joints, limits, node, listener=None if recorder is None else recorder.message,
                robot_node=options["robot_node"],
            )  # fmt: skip

        yield Attached(Configuration(**{**vars(configuration), "limits": limits}), arm)


def _alone(node: Node, topic: str, options: Mapping[str, Any]) -> None:
    """Refuses while another program may command the arm; registrations of processes that have ended are only named."""
    if options["clean_dead"]:
        for one in withdraw(node.master, topic):
            click.echo(f"note: withdrawn from {topic}: {one}.", err=True)
    found = registered(node.master, topic)
    for one in found:
        if one.life is Life.GONE:
            click.echo(f"note: {one} and is still registered for {topic}; --clean-dead withdraws it.", err=True)
    others = [one for one in found if one.life is not Life.GONE]
    if others and not options["allow_others"]:
        silent = any(one.life is Life.SILENT for one in others)
        names = ", ".join(str(one) if one.life is Life.SILENT else one.name for one in others)
        raise RefusedError(
            f"This arm is also commanded by {names}. One program to an arm: end it, or accept it with --allow-others."
            + (SILENT if silent else "")
        )


def _compared(node: Node, robot: Robot, limits: Limits, allow: bool) -> Limits:
    """The limits to run with, after the robot's own description was compared with the generated model."""
    try:
        text = str(node.master.parameter("/robot_description"))
    except GraphError as error:
        if allow:
            click.echo(f"note: {error} The generated model is used unchecked.", err=True)
            return limits
        raise RefusedError(f"{error} The model cannot be checked; --allow-mismatch runs without.") from None
    differences = compare_description(text, robot)
    for difference in differences:
        click.echo(f"{'mismatch' if difference.refuse else 'note'}: {difference}", err=True)
    count = sum(difference.refuse for difference in differences)
    if count and not allow:
        raise RefusedError(
            f"The robot's description differs from {robot.name} in {count} points, listed above. Generate the "
            "robot from `rosparam get /robot_description`, or accept them with --allow-mismatch."
        )
    return tighter_limits(limits, text, robot.joints)


@contextlib.contextmanager
def _simulated(robot: Robot) -> Iterator[str]:
    """A simulated Baxter with a shipped description in a process of its own; its master's address. A robot of another name is
    simulated by the description of its arm."""
    name = robot.name
    try:
        find_description(name)
    except InputError as error:
        sides = {joint.split("_")[0] for joint in robot.joints}
        if len(sides) > 1 or not sides <= set(SHIPPED):
            raise InputError(
                f"--transport simulated: {error} Simulate it on its own, with `diffpbd sim-baxter FILE.urdf`, and give the "
                "address that it prints as --master."
            ) from None
        name = SHIPPED[sides.pop()]
        click.echo(f"note: {robot.name} is no shipped description; the simulated robot is {name}", err=True)
    with simulator(("sim-baxter", "--no-live", name), "ROS_MASTER_URI=") as uri:
        yield uri


KIND = Kind(
    "a Baxter", _Own, _meant, _attach,
    lambda robot, alpha, rate: (by_joint(robot.joints, STIFFNESS), by_joint(robot.joints, DAMPING)),
)  # fmt: skip
