"""`diffpbd run ROBOT --ros2`: the topics of an effort interface, and what has to be said about the arm behind it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from diffpbd.runtime.arms.attached import Attached, Kind, simulator
from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.arm import Arm
from diffpbd.runtime.loop.configuration import Configuration, gravity_model
from diffpbd.runtime.loop.ownership import sole_program
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import inertial_model

__all__ = ["DOMAIN_LINE", "KIND", "Topics"]

DOMAIN_LINE = "ROS_DOMAIN_ID="
"""How the first line of `diffpbd sim` begins."""
STIFFEST = 0.6
"""1/rad; share of a joint's effort limit that a radian may take: Baxter's shoulder has that."""
QUICKEST = 10.0
"""1/s; the frequency of a joint with the model's inertia, critically damped: joint states may come at 100 Hz."""
SAMPLED = 0.86
"""Most that the period times an eigenvalue of M⁻¹D may be: what an FR3's gains have at 250 Hz, at 2 a law without any delay is
unstable."""
HOLD = 1.0
"""s in which a pose is held before a law: every joint of seven is nudged, and the arm rests again."""
ANY = "any"
DOMAINS = range(60, 102)
"""Domains for a simulated arm of our own, off those that robots are usually in."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


@dataclass(frozen=True, kw_only=True)
class Topics:
    """An effort interface: by default a joint_state_broadcaster, and a controller that is called effort_controller."""

    states: str = option("ROS 2: sensor_msgs/JointState of the arm.", "/joint_states", metavar="TOPIC")
    commands: str = option(
        "ROS 2: std_msgs/Float64MultiArray, torques.", "/effort_controller/commands", metavar="TOPIC"
    )
    command_joints: tuple[str, ...] | None = option(
        "ROS 2: the controller's parameter joints, by commas (default: the controller is asked).", None, metavar="NAMES",
        parse=_names,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Own(Topics):
    ros2: bool = option("Any arm with an effort interface, over ROS 2 (docs/ros2.md).", False)
    own_controller: str | None = option(
        "ROS 2: the controller that has the arm after a run (default: a loaded JointTrajectoryController).",
        None,
        metavar="NAME",
    )
    release: float | None = option(
        "ROS 2: seconds for which the arm is held after a run (default: until its own controller has it, or Ctrl-C).", None,
        span=(0.0, 1e7), unit="s", metavar="S",
    )  # fmt: skip


def _expect(words: dict[str, Any]) -> None:
    """An error for what is not said, or what such an arm does not have."""
    if words["enable"]:
        raise click.UsageError("--enable: not for an arm over ROS 2, whose enabling is its own.")
    if words["robot_node"] not in (None, ANY):
        raise click.UsageError(f"--robot-node: over ROS 2 expected {ANY!r}, found {words['robot_node']!r}.")
    if words["gravity"] is None:
        raise click.UsageError(
            "--ros2: who holds the arm against gravity? --gravity robot where the robot adds it to what it is told (as UR's "
            "and Franka's torque modes do), --gravity model where a commanded zero lets the arm fall (as in Gazebo)."
        )


@contextlib.contextmanager
def _attach(robot: Robot, configuration: Configuration, words: Mapping[str, Any]) -> Iterator[Attached]:
    """The arm's topics, or those of a simulated one."""
    _expect_arm(robot)
    from diffpbd.runtime.arms.ros2.arm import Ros2Arm
    from diffpbd.runtime.arms.ros2.link import Ros2Link
    from diffpbd.runtime.arms.ros2.node import Node, domain_of
    from diffpbd.runtime.arms.ros2.said import Said, in_order

    states, commands = words["states"], words["commands"]
    order = words["command_joints"]
    in_order(robot.joints, order)
    said = Said(
        models=words["gravity"] == "model", order=order, any_listener=words["robot_node"] == ANY,
        allow_mismatch=words["allow_mismatch"], release=words["release"],
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        domain = domain_of()
        if words["sim"]:
            domain = stack.enter_context(_simulated(robot.name, words))
        stack.enter_context(sole_program(f"ros2 domain {domain} {commands}"))
        gravity, inertial = gravity_model(robot, configuration.alpha), inertial_model(robot, configuration.alpha)

        def arm(recorder: Recorder | None) -> Arm:
            link = Ros2Link(Node(domain, local=words["sim"]), states, commands, words["own_controller"])
            made = Ros2Arm(
                link, robot.joints, configuration.limits, gravity, inertial, said,
                say=lambda text: click.echo(f"note: {text}", err=True),
            )  # fmt: skip
            made.listener = None if recorder is None else recorder.message
            return made

        yield Attached(configuration, arm)


def _expect_arm(robot: Robot) -> None:
    """An error where the robot is none whose every joint turns and has a motor."""
    facts = robot.manifest.robot
    if facts.base_joint or facts.loops or facts.passive:
        raise InputError(
            f"{robot.name} has a base that moves, or closed loops; expected an arm with a motor in every joint."
        )
    slides = [joint.name for joint in facts.joints if not joint.turns]
    if slides:
        raise InputError(f"{', '.join(slides)} slide; expected joints that turn: the reflexes' thresholds are angles.")


@contextlib.contextmanager
def _simulated(name: str, words: Mapping[str, Any]) -> Iterator[int]:
    """A simulated arm of a shipped description in a process of its own; the domain that it is in."""
    try:
        find_description(name)
    except InputError as error:
        raise InputError(
            f"--sim: {error} Simulate it on its own, with `diffpbd sim FILE.urdf`, and run without --sim."
        ) from None
    call = (
        "sim", "--no-live", name, "--local", "--domain", str(random.choice(DOMAINS)), "--gravity", words["gravity"],
        "--states", words["states"], "--commands", words["commands"],
        *(("--command-joints", ",".join(words["command_joints"])) if words["command_joints"] else ()),
    )  # fmt: skip
    with simulator(call, DOMAIN_LINE) as domain:
        yield int(domain)


def _gains(robot: Robot, alpha: FloatArray, rate: float) -> tuple[FloatArray, FloatArray]:
    """By the model's inertia in the middle of the limits.

    Where inertia couples joints too closely for this rate, those that take part in the fastest mode of M⁻¹D are slower, each
    critically damped: the softest wrist does not soften the shoulder.
    """
    own, zero = robot.limits, np.zeros(robot.n)
    inertial = inertial_model(robot, alpha)
    middle = within(zero, own.lower, own.upper)
    mass = np.array([inertial(middle, zero, axis) for axis in np.eye(robot.n)])
    mobility, inertia = np.linalg.inv(mass), np.diag(mass)
    stiffness = np.minimum(STIFFEST * own.effort, inertia * QUICKEST**2)
    while True:
        damping = 2.0 * np.sqrt(stiffness * inertia)
        root = np.sqrt(damping)
        rates, modes = np.linalg.eigh(mobility * np.outer(root, root))
        if rates[-1] <= SAMPLED * rate * (1.0 + 1e-9):
            return stiffness, damping
        part = modes[:, -1] ** 2
        stiffness = stiffness * (SAMPLED * rate / rates[-1]) ** (part / part.max())


KIND = Kind(
    "an arm over ROS 2", _Own, lambda robot, words: bool(words["ros2"]), _attach,
    _gains, expect=_expect, hold=HOLD, suppresses=False,
)  # fmt: skip
