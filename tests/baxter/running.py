"""Runs on the real graph for the tests: a supervisor on the generated arm, with something done meanwhile."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.baxter.arm import BaxterArm
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.program import ProgramController
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Phase, Report, StopRequest
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.ros1 import Node

from .conftest import RobotProcess

POSITION = 1  # mode of a joint command
HOLD = {"name": "hold"}
GRAVITY = {"name": "gravity", "damping": [1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1]}
SPRING = (24.0, -1.514)  # N·m/rad, rad: the simulated robot's S1


def impedance(**goals: float) -> dict[str, Any]:
    joints = ("s0", "s1", "e0", "e1", "w0", "w1", "w2")
    return {
        "name": "impedance", "stiffness": [30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0],
        "damping": [4.0, 4.0, 2.0, 2.0, 0.3, 0.3, 0.3], "goal": [goals.get(joint) for joint in joints],
        "goal_speed": 0.5,
    }  # fmt: skip


def configuration(
    robot: Robot, controller: dict[str, Any], owner: GravityOwner, rate: float, **settings: float
) -> Configuration:
    spring = {"spring.stiffness.left_s1": SPRING[0], "spring.rest.left_s1": SPRING[1]}
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, controller, owner, robot.alpha.vector(spring),
        limits_of(robot), Settings(1.0 / rate, ramp=settings.get("ramp", 0.2)),
    )  # fmt: skip


def execute(
    robot: Robot,
    master: str,
    *,
    controller: dict[str, Any] | None = None,
    owner: GravityOwner = GravityOwner.ROBOT,
    rate: float = 250.0,
    duration: float = 0.0,
    phase: Phase = Phase.RUN,
    after: float = 0.2,
    action: Callable[[], object] | None = None,
    log: Any = None,
    **options: Any,
) -> Report:
    """One run of `duration` [s], or as long as it takes; `action` is called `after` [s] in `phase` by another thread."""
    duration = duration or (0.8 if action else 0.5)
    setup = configuration(robot, controller or impedance(), owner, rate)
    recorder = None if log is None else Recorder(log, setup.to_json(), robot.joints)
    with Node("diffpbd", master=master) as node:
        arm = BaxterArm(
            "left", robot.joints, setup.limits, node, listener=None if recorder is None else recorder.message
        )
        run = Run(
            arm, setup.supervisor(robot), RunOptions(duration=duration, **{"hold": 0.3, **options}), recorder=recorder,
            stop=StopRequest(),
        )  # fmt: skip
        ended = threading.Event()
        failed: list[BaseException] = []

        def act() -> None:
            while run.phase is not phase:
                if ended.wait(0.001):
                    return
            time.sleep(after)
            try:
                action()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=act if action else lambda: None)
        thread.start()
        try:
            report = run.execute()
        finally:
            ended.set()
            thread.join()
            if isinstance(run.supervisor.controller, ProgramController):
                run.supervisor.controller.close()
            if recorder is not None:
                recorder.close()
    assert not failed, failed
    return report


def held_after(robot: RobotProcess) -> dict:
    """The robot as soon as it holds its position: once its command timeout has passed at the latest."""
    end = time.monotonic() + 0.3
    while True:
        late, answer = time.monotonic() > end, robot.ask()
        if answer["mode"] == POSITION or not answer["enabled"]:
            return answer
        assert not late, answer


def check_audit(answer: dict[str, Any], report: Report) -> None:
    """Whatever happened: nothing non-finite, over a limit, stale or twice gravity; the arm keeps its limits and holds."""
    audit = answer["audit"]
    for fault in ("not_finite", "over_limit", "wrong_names", "while_stopped", "gravity_twice"):
        assert audit[fault] == 0, (fault, audit)
    assert all(error < 2e-3 for error in audit["first_errors"]), audit
    assert audit["fastest"] <= 1.2 and audit["beyond"] < 0.0, audit
    assert report.age.maximum <= 0.1 + 1e-3
    assert math.isfinite(np.sum(answer["q"]))
    if report.sent:
        assert answer["timeouts"][-1] == 0.2
