"""After CONTACT the arm gives way: seven joints by pinocchio, pushed steadily, by a clock that only the loop moves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.arms.bench import JOINTS, STEP, Bench, bench_limits

from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.braking import Brake
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.recorder import YIELD
from diffpbd.runtime.loop.reflexes import Reflex, Reflexes, ReflexSettings
from diffpbd.runtime.loop.replay import _compare
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.records.messages import Tick

pytest.importorskip("pinocchio")

from support.arms.bench_baxter import BenchBaxter
from support.arms.bench_runs import execute
from support.reality import BenchReal, Differences
from support.reality.baxter_runs import PLANTS
from support.reality.calm_stops import DAMPING, STIFFNESS, by_pinocchio

URDF = Path(__file__).parents[3] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
POSES = {"bent": [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0], "stretched": [0.1, -0.55, 0.1, 0.05, 0.0, 0.05, 0.0]}
LAWS: dict[str, dict[str, Any]] = {
    "gravity": {"name": "gravity", "damping": (0.2 * DAMPING).tolist()},
    "impedance": {
        "name": "impedance", "stiffness": (0.4 * STIFFNESS).tolist(), "damping": (0.4 * DAMPING).tolist(), "goal": [None] * 7,
        "goal_speed": 0.5, "net_torque": None,
    },
}  # fmt: skip
PUSH, WAY, FURTHEST = 30.0, 0.2, 0.65
MOST, FURTHER = 35.0, 0.9
"""N·m that it may answer, 0.7 of the effort, and rad that another joint may go, where the arm is not its model."""


class Pushed:
    """A run that is pushed at a joint from 0.4 s on for `seconds`: states and torques from then on."""

    def __init__(
        self, pose: str, law: str, joint: int, push: float, seconds: float, rate: float = 250.0,
        differences: Differences | None = None, **reflexes: Any,
    ) -> None:  # fmt: skip
        limits, laws = by_pinocchio(URDF, known=False)
        settings = Settings(1.0 / rate, ramp=0.1, reflexes=ReflexSettings(**reflexes))
        self.under = laws(LAWS[law], limits, settings)
        self.arm = arm = (
            BenchBaxter(str(URDF), limits, POSES[pose], Bench(), rate=rate)
            if differences is None
            else BenchReal("baxter", limits, POSES[pose], differences, rate=rate)
        )
        self.ticks: list[Tick] = []
        one = Run(arm, self.under, RunOptions(duration=4.0, allow_mismatch=True), observer=self.ticks.append)
        arm.in_run = lambda: one.phase.value == "run"
        self.gave: list[np.ndarray] = []
        given: list[np.ndarray] = []
        self.hardest = 0.0
        brake = self.under.brake

        def watched(*state: Any, **options: Any) -> Any:
            decision = brake(*state, **options)
            self.hardest = max(self.hardest, float(np.abs(decision.law).max()))
            if decision.yielding:
                self.gave.append(decision.law)
                given.append(np.array(arm.q))
            return decision

        self.under.brake = watched
        self.q: list[np.ndarray] = []
        self.dq: list[np.ndarray] = []

        def watch() -> None:
            self.q.append(np.array(arm.q))
            self.dq.append(np.array(arm.dq))
            arm.events.append((arm.time - arm.begun + STEP, watch))

        def press(value: float) -> None:
            arm.robot.push[joint] = value

        arm.after(0.4, lambda: (press(push), watch()))
        arm.after(0.4 + seconds, lambda: press(0.0))
        self.report = execute(one)
        self.modes = [(t, mode) for t, mode, *_ in arm.commands if t > arm.begun + 0.4]
        self.way = np.abs(np.array(self.q) - self.q[0])
        last = max(t for t, mode in self.modes if mode is Mode.TORQUE) if self.modes else arm.begun
        self.stopped = int((last - arm.begun - 0.4) / STEP)
        """Steps until the last torque; a weak servo may give way afterwards."""
        self.way_given = np.abs(np.array(given) - given[0]) if given else np.zeros(1)


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("pose", list(POSES))
@pytest.mark.parametrize("joint, side", [(0, 1.0), (1, -1.0)])
@pytest.mark.thorough("seed 1")
@PLANTS
def test_a_steady_push_is_met_by_no_more_than_itself(
    law: str, pose: str, joint: int, side: float, differences: Differences | None
) -> None:
    seen = Pushed(pose, law, joint, side * PUSH, 3.0, differences=differences)
    assert seen.report.reflex is Reflex.CONTACT and "torques that gave way" in seen.report.ending, seen.report
    assert len(seen.gave) > 20 and np.abs(seen.gave).max() <= (PUSH if differences is None else MOST)
    assert WAY <= seen.way_given.max() < WAY + 0.04  # of the joint that goes furthest
    furthest = FURTHEST if differences is None else FURTHER
    assert seen.way[: seen.stopped].max() < furthest, seen.way[: seen.stopped].max(axis=0).round(2)
    assert side * (seen.q[-1] - seen.q[0])[joint] > 0.1


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("rate", [250.0, 1000.0])
@pytest.mark.thorough("seed 1")
@PLANTS
def test_when_the_push_ends_the_arm_comes_to_rest_and_is_held(
    law: str, rate: float, differences: Differences | None
) -> None:
    seen = Pushed("bent", law, 1, PUSH, 0.06, rate=rate, differences=differences)
    assert "torques that gave way" in seen.report.ending and "hold the measured pose" in seen.report.ending, seen.report
    assert np.abs(seen.gave).max() <= (PUSH if differences is None else MOST) and seen.way.max() < 0.35
    rested = next(k for k in range(len(seen.dq)) if (np.abs(seen.dq[k:]) < 0.05).all())
    turned = next(t for t, mode in seen.modes if mode is Mode.POSITION) - seen.arm.begun - 0.4
    assert 0.4 < turned - rested * STEP < 0.7, (turned, rested * STEP)


def test_an_arm_that_is_told_to_hold_holds() -> None:
    seen = Pushed("stretched", "gravity", 0, PUSH, 3.0, yielding=False)
    assert "gave way" not in seen.report.ending and not seen.gave and seen.way[: seen.stopped].max() < 0.25
    assert seen.hardest > PUSH


def test_a_log_of_it_replays_bit_for_bit() -> None:
    seen = Pushed("bent", "impedance", 0, PUSH, 0.3)
    limits, laws = by_pinocchio(URDF, known=False)
    again = laws(LAWS["impedance"], limits, Settings(1.0 / 250.0, ramp=0.1))
    robot: Any = SimpleNamespace(joints=seen.arm.joints)
    found = _compare(again, iter(seen.ticks), robot, "a log", 0.0)
    assert found.difference == "" and found.ticks > 50 and sum(tick.note == YIELD for tick in seen.ticks) > 10


def test_near_its_end_a_joint_does_not_give_way() -> None:
    POSES["low"] = [0.1, 0.98, 0.1, 0.05, 0.0, 0.05, 0.0]
    seen = Pushed("low", "gravity", 1, PUSH, 3.0)
    assert seen.report.reflex in (Reflex.CONTACT, Reflex.POSITION) and len(seen.gave) < 20, seen.report


@pytest.mark.parametrize(
    "q, dq, free",
    [
        ([0.3, 0.9], [0.0, 0.0], True), ([0.499, 0.9], [0.0, 0.0], True), ([0.501, 0.9], [0.0, 0.0], False),
        ([0.3, 1.101], [0.0, 0.0], False), ([1.679, 0.9], [0.0, 0.0], True), ([1.681, 0.9], [0.0, 0.0], False),
        ([1.5, 0.9], [1.0, 0.0], True), ([1.6, 0.9], [1.0, 0.0], False), ([1.6, 0.9], [-1.0, 0.0], True),
    ],
)  # fmt: skip
def test_where_an_arm_may_give_way(q: list[float], dq: list[float], free: bool) -> None:
    """Within 0.2 rad of where it was touched, where it would rest 0.02 rad before a limit: 0.05 s and v²/2a from here."""
    reflexes = Reflexes(JOINTS, bench_limits(), ReflexSettings())
    reflexes.watch(0.0, np.array(q), np.array(dq), None, np.zeros(2))
    since = np.array([0.3, 0.9]) if q[0] < 1.0 else np.array(q)
    assert reflexes.free(0.2, since) is free
    blocked = Reflexes(
        JOINTS, bench_limits(), ReflexSettings(), clearance=lambda pose: "too near" if pose[0] > 0.4 else ""
    )
    blocked.watch(0.0, np.array(q), np.array(dq), None, np.zeros(2))
    assert blocked.free(0.2, since) is (free and q[0] <= 0.4)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("share, balanced", [(0.5, 0.0), (0.8, 0.0), (0.9, 0.5), (1.0, 1.0), (1.3, 1.0)])
def test_towards_its_speed_limit_a_yielding_joint_is_balanced(side: float, share: float, balanced: float) -> None:
    """From 0.8 of the limit on a torque that drives it; one that slows it is not, damping has a time constant of 0.05 s."""
    inertia = np.array([0.1, 0.05])
    brake = Brake(bench_limits(), Motion(lambda q, dq, ddq: inertia * ddq, None, lambda q: np.diag(inertia)))
    limit = np.array([1.5, 2.0])
    dq, external = side * share * np.array([limit[0], -0.1 * limit[1]]), side * np.array([6.0, 1.0])
    law, _ = brake.yielding(np.zeros(2), dq, external)
    np.testing.assert_allclose(law, -inertia * dq / 0.05 - side * np.array([6.0 * balanced, 0.0]))
