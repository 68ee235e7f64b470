"""`diffpbd run baxter`."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np

from diffpbd.runtime.baxter.arm import BaxterArm
from diffpbd.runtime.baxter.configuration import Configuration, has_spring, limits_of
from diffpbd.runtime.baxter.description import compare_description, tighter_limits
from diffpbd.runtime.baxter.errors import GraphError, RefusedError
from diffpbd.runtime.baxter.loop import SUPPRESS_PERIOD, Run, RunOptions
from diffpbd.runtime.baxter.program import ProgramController
from diffpbd.runtime.baxter.recorder import Recorder
from diffpbd.runtime.baxter.replay import replay
from diffpbd.runtime.baxter.ros1 import Node
from diffpbd.runtime.baxter.stopping import Reason, Report, StopRequest
from diffpbd.runtime.commands.locate import open_robot, parse_state
from diffpbd.runtime.commands.run_laws import cartesian_settings, joint_goal, mpc_settings, net_torque_settings
from diffpbd.runtime.control import GravitySettings, Limits, Mode, Settings, check_gravity
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.robot import Robot

__all__ = ["command"]

EXIT_STOPPED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT
LIVE_PERIOD = 1.0  # s between two status lines on a terminal
STIFFNESS = {"s0": 30.0, "s1": 30.0, "e0": 20.0, "e1": 20.0, "w0": 5.0, "w1": 5.0, "w2": 5.0}
"""N·m/rad by joint; the paper's 30 at the shoulder, less where the effort limits are lower."""
DAMPING = {"s0": 3.0, "s1": 3.0, "e0": 1.5, "e1": 1.5, "w0": 0.2, "w1": 0.2, "w2": 0.2}
"""N·m·s/rad by joint."""
REPLY_SHARE = 0.5
"""Share of a period that a controller program may take for its reply."""
LEAD_DAMPING = 0.2
"""Share of DAMPING that the gravity controller keeps, so that a led arm does not coast."""


@click.command("run")
@click.argument("robot", default="baxter")
@click.option("--side", type=click.Choice(["left", "right"]), default="left")
@click.option("--controller", default="hold",
              type=click.Choice(["hold", "gravity", "impedance", "cartesian", "mpc", "program"]))
@click.option("--program", metavar="COMMAND", help="With --controller program: your program, such as ./spring.")
@click.option("--transport", type=click.Choice(["ros1", "simulated", "replay"]), default="ros1")
@click.option("--master", metavar="URI", help="The robot's ROS master (default: ROS_MASTER_URI).")
@click.option("--from", "source", metavar="LOG", help="With --transport replay: the log to replay.")
@click.option("--rate", type=click.FloatRange(100, 1000), default=250.0, help="Control ticks a second.")
@click.option("--duration", type=click.FloatRange(min=0), metavar="S", help="Default: until Ctrl-C.")
@click.option("--log", metavar="OUT", help="OUT.bag (everything) or OUT.csv (ticks).")
@click.option("--gravity", type=click.Choice(["robot", "model"]), default="robot", help="Gravity's one owner.")
@click.option("--without-spring", is_flag=True, help="With --gravity model: the arm needs no S1 spring term.")
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--goal", metavar="JSON", help="Impedance, mpc: goal [rad] by joint; others stay where they start.")
@click.option("--goal-speed", type=float, default=0.2, help="Impedance, mpc: speed towards the goal [rad/s]; cartesian: [m/s].")
@click.option("--reference", metavar="LOG", help="MPC: q_ and dq_ columns to follow instead of a goal.")
@click.option("--horizon", type=click.IntRange(1, 50), default=20, help="MPC: steps of one tick planned ahead.")
@click.option("--weights", metavar="JSON", help='MPC: cost, such as {"p": 1, "pd": 0.02, "u": 0, "du": 2e-7, "end": 1}.')
@click.option("--delay", type=click.IntRange(0, 10), default=0, help="MPC: ticks until a command acts.")
@click.option("--disturbance/--no-disturbance", default=False, help="MPC: balance joint torques that an observer finds.")
@click.option("--stiffness", metavar="JSON", help="Impedance: [N·m/rad], a list or by joint.")
@click.option("--damping", metavar="JSON", help="Impedance and gravity: [N·m·s/rad], a list or by joint.")
@click.option("--net-torque-map", metavar="FILE", help="Impedance: a map of `diffpbd net-torque-map` (.json) to add.")
@click.option("--scaling", type=click.FloatRange(0, 1), default=0.1, help="Impedance: share of the map's torque.")
@click.option("--tip-offset", metavar="JSON", help="Cartesian: way of the tip from its start [m], world axes.")
@click.option("--tip-stiffness", metavar="JSON", help="Cartesian: three [N/m], three [N·m/rad], world axes.")
@click.option(
    "--torque-share", type=click.FloatRange(0, 1, min_open=True), default=0.1,
    help="Share of the effort limits that the law may use beyond gravity.",
)  # fmt: skip
@click.option("--ramp", type=click.FloatRange(min=0), default=1.0, help="Seconds in which the law comes in.")
@click.option("--enable", is_flag=True, help="Enable the robot if it is disabled.")
@click.option("--allow-mismatch", is_flag=True, help="Run although description or holding torque differ.")
@click.option("--allow-others", is_flag=True, help="Run although another node publishes this arm's commands.")
@click.option("--view", is_flag=True, help="Serve a page with the arm on 127.0.0.1.")
@click.option("--view-port", type=int, default=8080, help="Port of the page.")
def command(robot: str, side: Literal["left", "right"], **options: Any) -> None:
    """Run a controller on a Baxter arm, safely; ROBOT is the generated robot of that arm.

    Torque is limited to a tenth unless --torque-share says otherwise. Every end, Ctrl-C included, is a clean
    stop: position mode at the measured pose. With --transport replay a log of a run is fed through the same
    controller, and the commands are compared bit for bit.
    """
    generated = open_robot(robot)
    if options["transport"] == "replay":
        if not options["source"]:
            raise click.UsageError("--transport replay needs --from LOG.")
        result = replay(options["source"], generated)
        click.echo(str(result))
        if result.difference or not result.ticks:
            sys.exit(EXIT_STOPPED)
        return
    if options["source"]:
        raise click.UsageError("--from is for --transport replay.")
    configuration = _configuration(generated, options)
    with contextlib.ExitStack() as stack:
        master = options["master"]
        if options["transport"] == "simulated":
            master = stack.enter_context(_simulated(robot))
        node = stack.enter_context(Node("diffpbd_run", master=master))
        limits = _compared(node, generated, configuration.limits, options["allow_mismatch"])
        configuration = Configuration(**{**vars(configuration), "limits": limits})
        report = _run(configuration, generated, side, node, options)
    click.echo(str(report))
    if report.reason is Reason.INTERRUPTED:
        sys.exit(EXIT_INTERRUPTED)
    if not report.good:
        sys.exit(EXIT_STOPPED)


def _run(
    configuration: Configuration,
    robot: Robot,
    side: Literal["left", "right"],
    node: Node,
    options: dict[str, Any],
) -> Report:
    stop = StopRequest()
    with contextlib.ExitStack() as stack:
        recorder = None
        if options["log"]:
            recorder = Recorder(options["log"], configuration.to_json(), robot.joints)
            stack.callback(recorder.close)
        arm = BaxterArm(
            side, robot.joints, configuration.limits, node,
            listener=None if recorder is None else recorder.message,
        )  # fmt: skip
        observer = None
        if options["view"]:
            from diffpbd.runtime.baxter.viewer import Viewer

            viewer = stack.enter_context(Viewer(robot, port=options["view_port"]))
            click.echo(f"view: {viewer.url}")
            observer = viewer.tick
        simulated = options["transport"] == "simulated"
        supervisor = configuration.supervisor(robot)
        if isinstance(supervisor.controller, ProgramController):
            stack.callback(supervisor.controller.close)
        run = Run(
            arm, supervisor,
            RunOptions(
                duration=options["duration"], enable=options["enable"] or simulated,
                allow_others=options["allow_others"], allow_mismatch=options["allow_mismatch"],
            ),
            recorder=recorder, stop=stop, observer=observer,
        )  # fmt: skip
        stack.enter_context(_live(run))
        report = run.execute()
    if recorder is not None and recorder.failure and report.good:
        report.reason, report.text = Reason.LOG_FAILED, recorder.failure
    return report


def _configuration(robot: Robot, options: dict[str, Any]) -> Configuration:
    alpha = robot.alpha.vector(options["params"])
    model = options["gravity"] == "model"
    mode = Mode.POSITION if options["controller"] == "hold" else Mode.TORQUE
    owner = check_gravity(GravitySettings(
        mode=mode, add_model_gravity=model, suppress_robot=model,
        suppress_rate=1.0 / SUPPRESS_PERIOD if model else 0.0, spring_in_model=has_spring(robot, alpha),
        without_spring_confirmed=options["without_spring"],
    ))  # fmt: skip
    damping = _gains(robot, options["damping"], "--damping", DAMPING)
    controller: dict[str, Any] = {"name": options["controller"]}
    if options["controller"] == "gravity":
        share = LEAD_DAMPING if options["damping"] is None else 1.0
        controller["damping"] = (share * damping).tolist()
    elif options["controller"] == "impedance":
        stiffness = _gains(robot, options["stiffness"], "--stiffness", STIFFNESS)
        controller |= {
            "stiffness": stiffness.tolist(), "damping": damping.tolist(),
            "goal": joint_goal(robot, options["goal"]), "goal_speed": options["goal_speed"],
        }  # fmt: skip
        controller |= net_torque_settings(options)
    elif options["controller"] == "cartesian":
        posture = _gains(robot, options["stiffness"], "--stiffness", STIFFNESS)
        controller |= cartesian_settings(options, posture.tolist(), damping.tolist())
    elif options["controller"] == "mpc":
        controller |= mpc_settings(robot, options)
    elif options["controller"] == "program":
        if not options["program"]:
            raise click.UsageError("--controller program needs --program COMMAND.")
        controller |= {"command": shlex.split(options["program"]), "timeout": REPLY_SHARE / options["rate"]}
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, controller, owner, alpha,
        limits_of(robot, torque_share=options["torque_share"]),
        Settings(1.0 / options["rate"], ramp=options["ramp"]),
    )  # fmt: skip


def _gains(robot: Robot, text: str | None, option: str, default: dict[str, float]) -> Any:
    if text is not None:
        return np.array(parse_state(text, option, robot.joints))
    return np.array([default.get(joint.split("_")[-1], min(default.values())) for joint in robot.joints])


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
def _simulated(robot: str) -> Iterator[str]:
    """A simulated Baxter in a process of its own; its master's address."""
    name = Path(robot).name
    process = subprocess.Popen(
        [sys.executable, "-m", "diffpbd.runtime.cli", "sim-baxter", name], stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith("ROS_MASTER_URI="):
            raise InputError("The simulated robot did not start; its message is above.")
        yield line.strip().partition("=")[2]
    finally:
        process.terminate()
        process.wait(10.0)
        process.stdout.close()


@contextlib.contextmanager
def _live(run: Run) -> Iterator[None]:
    """A status line a second on a terminal."""
    end = threading.Event()

    def show() -> None:
        while not end.wait(LIVE_PERIOD):
            report = run.report
            click.echo(
                f"{run.phase.value:6s} {report.ticks} ticks, latency {report.latency}, "
                f"skipped {report.overruns}", err=True,
            )  # fmt: skip

    thread = threading.Thread(target=show, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        end.set()
