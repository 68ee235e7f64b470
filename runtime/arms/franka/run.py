"""`diffpbd run` on a Franka arm: the connection, what the flange carries, and the robot's model against the generated one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from diffpbd.runtime.arms.attached import Attached, Kind, by_joint, simulator
from diffpbd.runtime.arms.franka.approach import APPROACH
from diffpbd.runtime.arms.franka.arm import FrankaArm
from diffpbd.runtime.arms.franka.connection import HOST_LINE, connect
from diffpbd.runtime.arms.franka.driver import TIMEOUT
from diffpbd.runtime.arms.franka.load import Body, difference, mounted, payload_of, set_load, with_payload
from diffpbd.runtime.arms.franka.model import compare_model, flange_to_tip
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.ownership import sole_program
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.model.robot import Robot

__all__ = ["KIND", "is_fr3"]

STIFFNESS = {
    "joint1": 200.0,
    "joint2": 200.0,
    "joint3": 200.0,
    "joint4": 200.0,
    "joint5": 60.0,
    "joint6": 60.0,
    "joint7": 20.0,
}
"""N·m/rad; more than Baxter's: this arm has more friction to overcome, and torque sensors."""
DAMPING = {"joint1": 20.0, "joint2": 20.0, "joint3": 20.0, "joint4": 20.0, "joint5": 4.0, "joint6": 4.0, "joint7": 1.5}
"""N·m·s/rad."""

SIMULATED_TIMEOUT = 0.2
"""s of the driver's patience with a simulated robot, which hurts nobody when this machine is busy."""


@dataclass(frozen=True, kw_only=True)
class _Own:
    host: str | None = option("A Franka arm's address (default: FR3_HOST).", None, metavar="ADDRESS")
    set_load: bool = option("Franka: tell the robot the payload of --params.", False)


def is_fr3(joints: tuple[str, ...]) -> bool:
    """Whether these are the joints of a Franka Research 3: fr3_joint1 to fr3_joint7, or with a name in front."""
    return len(joints) == 7 and all(f"_{name}".endswith(f"_fr3_joint{k}") for k, name in enumerate(joints, 1))


def _expect(options: dict[str, Any]) -> None:
    """An error for what this arm does not have."""
    options["host"] = options["host"] or (None if options["sim"] else os.environ.get("FR3_HOST"))
    if not (options["host"] or options["sim"]):
        raise click.UsageError("this is a Franka arm: give its address with --host, or --sim for a simulated one.")
    if options["host"] and options["sim"]:
        raise click.UsageError("--host and --sim are two robots; expected one.")
    if options["bring_in"]:
        raise click.UsageError(
            "--bring-in: this robot is led back by hand, in guiding mode; expected a run without it."
        )
    if options["gravity"] == "model":
        raise RefusedError(
            "This robot always compensates gravity itself, payload included as far as Desk or --set-load know it: expected "
            "--gravity robot."
        )


@contextlib.contextmanager
def _attach(robot: Robot, configuration: Configuration, options: Mapping[str, Any]) -> Iterator[Attached]:
    """A connection to the robot, or to a simulated one, which is the only program for the arm."""
    with contextlib.ExitStack() as stack:
        host = options["host"]
        if options["sim"]:
            host = stack.enter_context(simulator(("sim-fr3", "--no-live"), HOST_LINE))
        stack.enter_context(sole_program(f"franka {host}"))
        driver = connect(host)
        configuration = replace(configuration, limits=replace(configuration.limits, approach=APPROACH))
        alpha = _loaded(driver, robot, configuration.alpha, options)

        def arm(recorder: Recorder | None) -> FrankaArm:
            return FrankaArm(
                driver, host, robot.joints, configuration.limits, timeout=SIMULATED_TIMEOUT if options["sim"] else TIMEOUT,
                listener=None if recorder is None else recorder.message,
            )  # fmt: skip

        yield Attached(replace(configuration, alpha=alpha), arm)


def _loaded(driver: Any, robot: Robot, alpha: FloatArray, options: Mapping[str, Any]) -> FloatArray:
    """Alpha with what the robot says that its flange carries, or its own payload if both say the same."""
    try:
        state = driver.state
    except Exception as error:
        raise RefusedError(f"The robot's state cannot be read: {' '.join(str(error).split())}.") from None
    rotation, place = flange_to_tip(driver, robot, alpha, np.array(state.q, dtype=np.float64))
    own = payload_of(robot, alpha)
    if options["set_load"]:
        state = set_load(driver, state, own.seen(rotation, place))
    carried = mounted(state)
    found: Body = carried.seen(rotation.T, -rotation.T @ place)
    wrong = []
    if own.mass > 0.0 or options["set_load"]:
        apart = difference(own, found)
        wrong = [f"the payload of --params is not what the robot knows of: {apart}"] if apart else []
    else:
        click.echo(
            f"note: the robot says that its flange carries {carried.mass:.3f} kg; the model takes that", err=True
        )
        alpha = with_payload(robot, alpha, found)
    wrong += compare_model(driver, robot, alpha, carried)
    for text in wrong:
        click.echo(f"mismatch: {text}", err=True)
    if wrong and not options["allow_mismatch"]:
        raise RefusedError(
            f"The robot's model differs from {robot.name} in {len(wrong)} points, listed above. Set the end effector in Desk, "
            "give the payload with --params and --set-load, or accept them with --allow-mismatch."
        )
    return alpha


KIND = Kind(
    "a Franka Research 3", _Own, lambda robot, words: is_fr3(robot.joints), _attach,
    lambda robot, alpha, rate: (by_joint(robot.joints, STIFFNESS), by_joint(robot.joints, DAMPING)),
    expect=_expect, rate=1000.0,
)  # fmt: skip
