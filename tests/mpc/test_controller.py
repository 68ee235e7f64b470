"""The predictive controller behind the supervisor: reaches its goal, yields to bad ticks, replays bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.supervisor import Settings, Supervisor
from diffpbd.runtime.mpc.controller import MpcController
from diffpbd.runtime.mpc.plan import PlanSource

PERIOD = 0.01
START = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
SETTINGS: dict[str, Any] = {
    "horizon": 15, "goal": [0.25, None, None, 1.0, None, None, 0.1], "goal_speed": 0.4, "reference": None, "delay": 0,
    "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6},
}  # fmt: skip


def configuration(owner: GravityOwner, **changed: Any) -> Configuration:
    robot = loaded("baxter_bare")
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, {"name": "mpc", **SETTINGS, **changed}, owner,
        robot.alpha.defaults, limits_of(robot, torque_share=0.5), Settings(PERIOD, ramp=0.1),
    )  # fmt: skip


def run(under: Supervisor, ticks: int, bad: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """The arm by its own step, with what the supervisor sends (and the robot's gravity, if it owns that)."""
    robot = loaded("baxter_bare")
    q, dq = START.copy(), np.zeros(7)
    under.start(q)
    states, commands, decisions = [], [], []
    for k in range(ticks):
        seen = q * np.nan if k in bad else q
        decision = under.tick(k * PERIOD, k * PERIOD, seen, dq)
        decisions.append(decision)
        commands.append(decision.command)
        states.append(np.array([q, dq]))
        own = 0.0 if under.owner is GravityOwner.MODEL else robot.gravity(q)
        q, dq = robot.joint_step(q, dq, decision.command + own, PERIOD)
    return np.array(states), np.array(commands), decisions


def test_numpy_is_enough() -> None:
    """A control PC has no casadi."""
    code = "import sys, diffpbd.runtime.mpc.controller; print({'casadi', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("owner", list(GravityOwner))
def test_the_goal_is_reached_through_the_supervisor(owner: GravityOwner) -> None:
    under = configuration(owner).supervisor(loaded("baxter_bare"))
    states, commands, decisions = run(under, 140)
    goal = np.array([START[k] if g is None else g for k, g in enumerate(SETTINGS["goal"])])
    np.testing.assert_allclose(states[-1, 0], goal, atol=5e-3)
    assert under.counts[TickStatus.OK] > 110 and not any(d.stop for d in decisions)
    controller = under.controller
    assert isinstance(controller, MpcController)
    assert controller.mpc.counts == {PlanSource.SOLVED: 140}
    assert np.isfinite(commands).all()


def test_bad_ticks_are_survived_and_the_run_replays() -> None:
    setup = configuration(GravityOwner.MODEL, delay=1)
    again = Configuration.from_json(json.loads(json.dumps(setup.to_json())))
    first = run(setup.supervisor(loaded("baxter_bare")), 60, bad=(20, 21, 40))
    second = run(again.supervisor(loaded("baxter_bare")), 60, bad=(20, 21, 40))
    np.testing.assert_array_equal(first[1], second[1])
    assert [k for k, d in enumerate(first[2]) if d.status is TickStatus.NOT_FINITE_STATE] == [20, 21, 40]
    assert np.isfinite(first[1]).all()


def test_an_observer_knows_the_ramp_from_a_load() -> None:
    """The law comes in by degrees, and a tick is bad: none of that is taken for a disturbance; a load is."""
    robot, load = loaded("baxter_bare"), np.array([0.0, -4.0, 0, 0, 0, 0, 0])
    for unknown in (0.0 * load, load):
        under = configuration(GravityOwner.MODEL, disturbance=0.02).supervisor(robot)
        controller = under.controller
        assert isinstance(controller, MpcController) and controller.mpc.observer is not None
        q, dq, largest = START.copy(), np.zeros(7), 0.0
        under.start(q)
        for k in range(60):
            decision = under.tick(k * PERIOD, k * PERIOD, q * np.nan if k == 30 else q, dq)
            q, dq = robot.joint_step(q, dq, decision.command + unknown, PERIOD)
            largest = max(largest, float(np.abs(controller.mpc.observer.residual).max()))
        if unknown.any():
            np.testing.assert_allclose(controller.mpc.observer.estimate, unknown, atol=0.05)
        else:
            assert largest < 1e-3


def test_a_recorded_reference() -> None:
    time = np.linspace(0.0, 1.0, 51)
    q = START + 0.1 * (1 - np.cos(2 * np.pi * time))[:, None] * np.array([1, 0, 0, 1, 0, 1, 0])
    dq = np.gradient(q, time, axis=0)
    log = {"time": time.tolist(), "q": q.tolist(), "dq": dq.tolist()}
    under = configuration(GravityOwner.MODEL, goal=None, reference=log).supervisor(loaded("baxter_bare"))
    states, _, _ = run(under, 100)
    assert (
        np.abs(states[30:, 0] - np.array([np.interp(PERIOD * np.arange(30, 100), time, c) for c in q.T]).T).max() < 0.02
    )


def test_an_arm_that_cannot_be_held_is_a_refused_tick() -> None:
    setup = configuration(GravityOwner.ROBOT)
    alpha = loaded("baxter_bare").alpha.vector({"payload.mass": 30.0})
    heavy = Configuration(**{**vars(setup), "alpha": alpha})
    under = heavy.supervisor(loaded("baxter_bare"))
    under.start(START)
    assert under.tick(0.0, 0.0, START, np.zeros(7)).status is TickStatus.CONTROLLER_FAILED
