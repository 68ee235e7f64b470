"""Whatever is said wrongly of an arm over ROS 2: no joint comes above its speed limit, during the run or after it, and an arm
that something can hold is held in the end. In lock-step, on arms whose robot obeys the last torque until another one comes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.arms.bench import SPEED, Bench, gravity, inertial
from support.arms.bench_ros2 import BenchRos2
from support.arms.bench_runs import run

from diffpbd.runtime.arms.ros2.controllers import Answer
from diffpbd.runtime.arms.ros2.said import Said
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.stopping import Reason

MODEL, ROBOT = GravityOwner.MODEL, GravityOwner.ROBOT
SERVED = 3.0
"""s for which a released arm is served."""
AFTER = 3.0
"""s that the arm is watched after the program has gone."""
UNASKED = Answer(unasked="its services cannot be called")

Change = Callable[[dict], dict]


def scaled(**factors: object) -> Change:
    return lambda data: {**data, **{key: np.asarray(factor) * data[key] for key, factor in factors.items()}}


def compensated(data: dict) -> dict:
    """Efforts without the robot's own compensation."""
    return {**data, "effort": data["effort"] - gravity(data["q"])}


def no_efforts(data: dict) -> dict:
    return {**data, "effort": np.empty(0)}


@dataclass(frozen=True)
class Mistake:
    """`real` owner of gravity, how the arm is wired (factors on what it is told), what its states say, what is said of it, and
    what its controller answers (None: the truth)."""

    name: str
    said: GravityOwner
    real: GravityOwner
    words: str
    wired: tuple[float, float] = (1.0, 1.0)
    states: Change = lambda data: data
    order: tuple[str, ...] | None = None
    answer: Answer | None = None
    held: bool = True
    """Whether what the arm is told can hold it at all."""
    more: dict = field(default_factory=dict)


DEGREES = scaled(q=180.0 / math.pi, dq=180.0 / math.pi)
OTHER_ORDER = ("arm_s", "arm_e")
OTHER, UNITS = "have the other sign", "other units"
MISTAKES = (
    Mistake("gravity twice", MODEL, ROBOT, "adds its compensation to what it is told"),
    Mistake("gravity twice, efforts without it", MODEL, ROBOT, "--gravity robot), or brakes", states=compensated),
    Mistake("gravity by nobody", ROBOT, MODEL, "adds nothing to what it is told"),
    Mistake("gravity by nobody, no efforts", ROBOT, MODEL, "gravity has another owner", states=no_efforts),
    Mistake("gravity twice, accepted", MODEL, ROBOT, "gravity has another owner", states=compensated,
            more={"allow_mismatch": True}),
    Mistake("gravity twice, no efforts, accepted", MODEL, ROBOT, "gravity has another owner", states=no_efforts,
            more={"allow_mismatch": True}),
    Mistake("another order said", MODEL, MODEL, "--command-joints says another one", order=OTHER_ORDER),
    Mistake("another order said of one that holds itself", ROBOT, ROBOT, "--command-joints says", order=OTHER_ORDER),
    Mistake("an order that nobody tells", MODEL, MODEL, "say it by --command-joints", answer=UNASKED),
    Mistake("an order that nobody tells, of one that holds itself", ROBOT, ROBOT, "say it by --command-joints", answer=UNASKED),
    Mistake("a wrong order that nobody denies", MODEL, MODEL, "--allow-mismatch", answer=UNASKED, order=OTHER_ORDER),
    Mistake("a wrong order that one denies that holds itself", ROBOT, ROBOT, "another order of joints", answer=UNASKED,
            order=OTHER_ORDER),
    Mistake("and its efforts are compensated", ROBOT, ROBOT, "another order of joints", answer=UNASKED, states=compensated,
            order=OTHER_ORDER),
    Mistake("positions for torques", MODEL, MODEL, "interface_name position",
            answer=Answer(("arm_e", "arm_s"), "position", True)),
    Mistake("a controller that is not active", MODEL, MODEL, "loaded but not active",
            answer=Answer(("arm_e", "arm_s"), "effort", False)),
    Mistake("another arm's controller", MODEL, MODEL, "expected those of the robot", answer=Answer(("a", "b"), "effort", True)),
    Mistake("torques of the other sign", MODEL, MODEL, OTHER, wired=(-1.0, -1.0)),
    Mistake("torques of the other sign, of one that holds itself", ROBOT, ROBOT, OTHER, wired=(-1.0, -1.0)),
    Mistake("the elbow's torque of the other sign", MODEL, MODEL, OTHER, wired=(1.0, -1.0)),
    Mistake("the elbow's torque of the other sign, of one that holds itself", ROBOT, ROBOT, OTHER, wired=(1.0, -1.0)),
    Mistake("efforts of the other sign", MODEL, MODEL, "efforts have the other sign", states=scaled(effort=-1.0)),
    Mistake("torques in mN·m", MODEL, MODEL, UNITS, wired=(1e-3, 1e-3), held=False),
    Mistake("torques in kN·m", MODEL, MODEL, UNITS, wired=(1e3, 1e3)),
    Mistake("torques in kN·m, of one that holds itself", ROBOT, ROBOT, UNITS, wired=(1e3, 1e3)),
    Mistake("efforts in mN·m", MODEL, MODEL, "not in N·m", states=scaled(effort=1e3)),
    Mistake("efforts in mN·m, of one that holds itself", ROBOT, ROBOT, "not in N·m", states=scaled(effort=1e3)),
    Mistake("angles in degrees", MODEL, MODEL, "", states=DEGREES),
    Mistake("angles in degrees, of one that holds itself", ROBOT, ROBOT, "", states=DEGREES),
)  # fmt: skip


def made(mistake: Mistake, own: str | None, friction: float) -> BenchRos2:
    bench = Bench(
        coulomb=(0.8 * friction, 0.3 * friction), viscous=(0.7 * friction, 0.2 * friction), fault=mistake.states
    )
    q = (0.03, 0.04) if mistake.states is DEGREES else (0.3, 0.9)
    arm = BenchRos2(q, bench, rate=250.0, owner=mistake.said)
    arm.suppressed = math.inf if mistake.real is MODEL else -math.inf
    said = Said(
        models=mistake.said is MODEL, order=mistake.order, release=SERVED,
        allow_mismatch=mistake.more.get("allow_mismatch", False),
    )  # fmt: skip
    answer = mistake.answer or Answer(("arm_e", "arm_s"), "effort", True)
    arm.attach(gravity, inertial, said, Answer(**{**vars(answer), "own": own}))
    obey = arm.told
    factors = dict(zip(("arm_e", "arm_s"), mistake.wired[::-1], strict=True))
    arm.told = lambda data: obey(data, tuple(factors[joint] for joint in arm.order))
    return arm


@pytest.mark.thorough("-none")
@pytest.mark.parametrize("friction", [1.0, 0.0], ids=["friction", "none"])
@pytest.mark.parametrize("own", ["trajectory", None], ids=["handed over", "served"])
@pytest.mark.parametrize("mistake", [pytest.param(one, id=one.name) for one in MISTAKES])
def test_no_joint_above_its_limit(mistake: Mistake, own: str | None, friction: float) -> None:
    arm = made(mistake, own, friction)
    options = {"allow_mismatch": mistake.more.get("allow_mismatch", False)}
    report, _ = run("moving", arm=arm, owner=mistake.said, options=options, duration=1.0)
    if friction or own:  # an arm that nothing damps does not stay where nobody holds it
        arm.advance(AFTER)
    print(report.reason, report.phase, report.text, report.ending, arm.said, np.array(arm.fastest) / SPEED)
    assert report.reason is not Reason.FINISHED and mistake.words in report.text, report
    if mistake.held or own is not None:
        assert (np.array(arm.fastest) <= np.array(SPEED)).all(), np.array(arm.fastest) / SPEED
        assert not friction or np.abs(arm.dq).max() < 1e-3


@pytest.mark.parametrize("owner", [MODEL, ROBOT])
@pytest.mark.parametrize(
    "states", [lambda data: data, compensated, no_efforts], ids=["full", "compensated", "no efforts"]
)
def test_what_is_said_rightly_is_no_mistake(owner: GravityOwner, states: Change) -> None:
    if owner is MODEL and states is not no_efforts and states is compensated:
        pytest.skip("nothing is compensated")
    right = Mistake("", owner, owner, "", states=states)
    accepted = {"allow_mismatch": True} if states is no_efforts else {}
    arm = made(Mistake("", owner, owner, "", states=states, more=accepted), "trajectory", 1.0)
    report, _ = run("moving", arm=arm, owner=right.said, options=accepted, duration=1.0)
    arm.advance(AFTER)
    assert report.reason is Reason.FINISHED, report
    assert arm.said == [
        "the controller's joints are arm_e, arm_s: torques are sent in this order",
        "trajectory has the arm",
    ]
    assert np.abs(arm.dq).max() < 1e-3
