"""The arm over the topics of an effort interface, in lock-step with the bench robot: what it is told, and when it is let go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.arms.bench import EFFORT, JOINTS, Bench, bench_limits, gravity, inertial
from support.arms.bench_ros2 import BenchRos2
from support.arms.bench_runs import check, run

from diffpbd.runtime.arms.ros2.arm import Ros2Arm
from diffpbd.runtime.arms.ros2.parting import Past, slowed
from diffpbd.runtime.arms.ros2.said import Said, in_order
from diffpbd.runtime.base.errors import InputError, RefusedError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.stopping import Phase, Reason
from diffpbd.runtime.records.messages import Header, JointState

MODEL, ROBOT = GravityOwner.MODEL, GravityOwner.ROBOT


def over(law: str, owner: GravityOwner, *, bench: Bench | None = None, **words: object):
    """A run over the topics; a law in position mode leaves gravity to the arm's own servo."""
    arm = BenchRos2(bench=bench, owner=owner, rate=words.pop("states", 100.0))
    return run(law, arm=arm, owner=ROBOT if law == "hold" else owner, **words)


def rates(arm: BenchRos2, period: float) -> np.ndarray:
    """How fast what the robot was told changed, as a share of the torque rate."""
    times, told = (np.array(values) for values in zip(*arm.obeyed(), strict=True))
    elapsed = np.maximum(np.diff(times), period)
    return np.abs(np.diff(told, axis=0)) / elapsed[:, None] / (10.0 * np.array(EFFORT))


@pytest.mark.parametrize("owner", [MODEL, ROBOT])
@pytest.mark.parametrize("law", ["hold", "gravity", "impedance", "moving"])
def test_a_law_reaches_its_goal_and_the_arm_stays_there(law: str, owner: GravityOwner) -> None:
    report, arm = over(law, owner, rate=250.0, duration=2.5)
    check(arm)
    assert report.reason is Reason.FINISHED and report.ending.endswith(
        "commands to hold the measured pose (after phase run)"
    )
    goal = (-0.9, 1.9) if law == "moving" else (0.3, 0.9)
    assert np.abs(np.array(arm.q) - goal).max() < 0.1 and np.abs(arm.dq).max() < 1e-3
    assert rates(arm, 1 / 250.0).max() <= 1.0 + 1e-9
    left = arm.wired[-1][1]
    assert np.allclose(left, gravity(np.array(arm.q)) if owner is MODEL else 0.0, atol=0.05)


@pytest.mark.parametrize("states", [100.0, 250.0])
def test_the_first_torques_hold_the_arm(states: float) -> None:
    """A five-hundredth of what holds it, to see that it is obeyed as told; then all of it: a ramp would let the arm fall."""
    held = gravity(np.array([0.3, 0.9]))
    lowest: list[float] = []
    arm = BenchRos2(owner=MODEL, rate=states)
    advance = arm.advance
    arm.advance = lambda seconds: (advance(seconds), lowest.append(arm.q[0]))
    report, _ = run("gravity", arm=arm, owner=MODEL, duration=0.3)
    assert report.reason is Reason.FINISHED
    begin = arm.wired[0][0]
    assert np.allclose(arm.wired[0][1], 2e-3 * held, atol=1e-4)
    first, told = arm.obeyed()[0]
    assert np.allclose(told, held, atol=0.1) and first - begin <= (0.021 if states == 100.0 else 0.011)
    assert min(lowest) > 0.3 - (0.015 if states == 100.0 else 6e-3)


def test_the_order_is_the_controllers() -> None:
    assert in_order(("a", "b", "c"), ("c", "a", "b")) == (2, 0, 1) and in_order(("a", "b"), None) == (0, 1)
    for wrong in (("a",), ("a", "b", "b"), ("a", "d", "c"), ()):
        with pytest.raises(InputError, match="controller's joints are .*expected those of the robot"):
            in_order(("a", "b", "c"), wrong)


@pytest.mark.parametrize(("said", "real", "way"), [(ROBOT, MODEL, -1), (MODEL, ROBOT, 1)])
def test_a_wrong_owner_of_gravity_is_seen_before_the_law_begins(
    said: GravityOwner, real: GravityOwner, way: int
) -> None:
    arm = BenchRos2(owner=said)
    arm.suppressed = math.inf if real is MODEL else -math.inf
    arm.bench.noise = 0.0
    report, _ = run("impedance", arm=arm, owner=said, options={"allow_mismatch": True})
    assert report.phase is Phase.HOLD and report.reason is Reason.ROBOT
    assert "gravity has another owner than --gravity says" in report.text
    assert not [mode for _, mode, *_ in arm.commands if mode is Mode.TORQUE]


def test_a_load_that_the_model_does_not_know_is_seen_by_what_holds_it() -> None:
    heavy, light = Bench(payload=1.0), Bench(payload=0.1)
    report, arm = over("impedance", MODEL, bench=heavy)
    assert report.reason is Reason.REFUSED and report.phase is Phase.CHECK and arm.wired == []
    assert "at rest, before the first torque, arm_s reported 23.6 N·m, model 17.5 N·m" in report.text
    report, _ = over("impedance", MODEL, bench=light)
    assert report.reason is Reason.FINISHED


def test_states_without_speeds_are_said() -> None:
    arm = BenchRos2(bench=Bench(fault=lambda data: {**data, "dq": np.empty(0)}))
    report, _ = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and "carry no velocities" in report.text and arm.commands == []


def test_no_robot_is_there() -> None:
    arm = BenchRos2(bench=Bench(fault=lambda data: None))
    arm.connected = False
    report, _ = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and "/joint_states names every joint of the arm: nobody pub" in report.text


def test_nobody_listens_and_then_nobody_any_more() -> None:
    arm = BenchRos2()
    arm.connected = False
    report, _ = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and "does not listen to /effort_controller/commands" in report.text
    assert arm.commands == []
    report, arm = run("impedance", arm=BenchRos2(), fault=lambda arm: setattr(arm, "connected", False))
    assert report.reason is Reason.LOST_ROBOT and "left with what holds it" in report.ending


def test_a_recorder_that_listens_is_not_the_robot() -> None:
    arm = BenchRos2()
    arm.connected, arm.link.others = False, {"/rosbag2_recorder"}
    report, _ = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and arm.commands == []
    assert "the robot, the process of /robot, does not listen to /effort_controller/commands" in report.text
    lost = BenchRos2()
    lost.link.others = {"/rosbag2_recorder"}
    report, _ = run("impedance", arm=lost, fault=lambda arm: setattr(arm, "connected", False))
    assert report.reason is Reason.LOST_ROBOT
    anyone = BenchRos2()
    anyone.attach(gravity, inertial, Said(models=False, any_listener=True))
    anyone.link.others = {"/a_bridge"}
    report, _ = run("impedance", arm=anyone, fault=lambda arm: setattr(arm, "connected", False))
    assert report.reason is Reason.FINISHED


def test_two_sources_of_joint_states_are_named_by_process() -> None:
    another = lambda data: {**data, "source": "/another"}  # noqa: E731 one line, used once
    report, _ = run("gravity", arm=BenchRos2(), fault=lambda arm: setattr(arm.bench, "fault", another))
    assert report.reason is Reason.ROBOT
    assert "two sources of the arm's joint states: the process of /robot and the process of /another" in report.text


class Silent:
    """A link that only remembers what is sent."""

    states, commands, dropped = "/s", "/c", 0

    def __init__(self) -> None:
        self.sent: list[np.ndarray] = []

    def send(self, joints: tuple[str, ...], values: np.ndarray) -> None:
        self.sent.append(values)

    def answer(self) -> None:
        """Nothing can be asked."""

    def close(self) -> None:
        pass


class Stopped:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_nothing_is_sent_by_an_arm_that_was_not_commanded() -> None:
    link = Silent()
    arm = Ros2Arm(link, JOINTS, bench_limits(), gravity, inertial, Said(), clock=Stopped())
    arm.set_timeout(0.2)
    arm.set_timeout(0.02)
    arm.suppress()
    arm.request_enable()
    arm.close()
    assert link.sent == []
    with pytest.raises(RefusedError, match="cannot be believed"):
        arm.transmit(Mode.POSITION, np.zeros(2))
    assert link.sent == []


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_an_arm_that_is_let_go_fades_to_what_holds_it(rate: float) -> None:
    link, clock = Silent(), Stopped()
    arm = Ros2Arm(link, JOINTS, bench_limits(), gravity, inertial, Said(), clock=clock)
    link.open = lambda listener: None
    arm.open(rate)
    q = np.array([0.3, 0.9])
    arm._on_state(JointState(Header(0, (1, 0), ""), JOINTS, q, np.zeros(2), np.zeros(2)), 0.0, "robot")
    for _ in range(200):
        arm.transmit(Mode.TORQUE, np.array([-40.0, 10.0]))
    assert np.allclose(link.sent[-1], [-40.0, 10.0])
    arm._on_state(
        JointState(Header(0, (1, 10), ""), JOINTS, np.full(2, np.nan), np.zeros(2), np.zeros(2)), 0.01, "robot"
    )
    arm.transmit(Mode.TORQUE, np.array([-40.0, 10.0]))
    clock.time += 0.3  # so that what cannot be believed is what would be sure
    begin, count = clock.time, len(link.sent)
    arm.set_timeout(0.02)
    steps = np.abs(np.diff(link.sent[count - 1 :], axis=0)) / np.array(EFFORT)
    assert steps.max() <= 0.1 + 1e-9 and clock.time - begin <= 0.25
    assert np.allclose(link.sent[-1], gravity(q))  # not at the pose that could not be believed


@pytest.mark.parametrize("known", [True, False])
def test_an_arm_is_braked_on_letting_go_only_where_torques_are_known_to_act_as_told(known: bool) -> None:
    """Once its efforts showed another order of joints, a braking torque might drive any of them."""
    link, clock = Silent(), Stopped()
    arm = Ros2Arm(link, JOINTS, bench_limits(), gravity, inertial, Said(), clock=clock)
    link.open = lambda listener: None
    arm.open(100.0)
    q, dq, rest = np.array([0.3, 0.9]), np.array([0.4, -0.3]), gravity(np.array([0.3, 0.9]))

    def state(k: int, angles: np.ndarray, speeds: np.ndarray, effort: np.ndarray) -> None:
        stamp = (1, 10_000_000 * k)
        arm._on_state(JointState(Header(0, stamp, ""), JOINTS, angles, speeds, effort), clock.time, "robot")

    for k in range(8):
        state(k, q, np.zeros(2), rest)
    for k in range(8, 20):
        clock.time += 0.01
        told = link.sent[-1] if link.sent else rest
        state(k, q, np.zeros(2), told if known else told[::-1])
        arm.transmit(Mode.POSITION, q)
    assert ("another order of joints" in arm.trouble()) is not known
    for k in range(20, 40):
        clock.time += 0.01
        state(k, q + 0.01 * (k - 19) * dq, dq, rest)
        arm.transmit(Mode.TORQUE, gravity(q))
    count = len(link.sent)
    arm.set_timeout(0.02)
    braking = [sent - gravity(q) for sent in link.sent[count : count + 3]]
    pushed = max(float(-dq @ part) for part in braking)
    assert pushed > 1.0 if known else pushed < 0.2, braking  # W


def test_the_end_leaves_what_holds_the_arm() -> None:
    link = Silent()
    arm = Ros2Arm(link, JOINTS, bench_limits(), gravity, inertial, Said(), clock=Stopped())
    link.open = lambda listener: None
    arm.open(100.0)
    q = np.array([0.3, 0.9])
    arm._on_state(JointState(Header(0, (1, 0), ""), JOINTS, q, np.zeros(2), np.zeros(2)), 0.0, "robot")
    for _ in range(20):
        arm.transmit(Mode.TORQUE, np.array([20.0, 0.0]))
    arm.close()
    assert np.allclose(link.sent[-1], gravity(q))


ELBOW = np.array([0.3, 0.9])
RUB = np.array([0.8, 0.3])
"""N·m of friction."""


def past(
    speeds: tuple[float, float], read: tuple[float, float], faster: tuple[float, float] = (0.0, 0.0), kept: float = 0.5
) -> Past:
    """Half a second of an arm that begins at `speeds` [rad/s], reads `read` then, and gets `faster` [rad/s²]; it tells nothing
    after `kept` [s], and its torques go on."""
    made, more = Past(), np.array(faster)
    for k in range(101):
        time = 0.005 * k
        q, dq = ELBOW + time * np.array(speeds) + 0.5 * time**2 * more, np.array(speeds) + time * more
        if time <= kept:
            made.add(time, q, np.array(read) + time * more)
        made.tell(time, gravity(q) + inertial(q, dq, more) + RUB * np.sign(dq))
    return made


def test_speeds_are_braked_that_positions_tell_too() -> None:
    q, dq = past((0.5, -0.4), (0.6, -0.3)).motion(0.5, inertial, gravity)
    assert np.allclose(q - ELBOW, [0.25, 0.5 * -0.3 - 0.35 * 0.1], atol=0.01)
    assert np.allclose(dq, [0.4, -0.24], atol=0.08)
    _, dq = past((0.5, 0.4), (-0.5, 0.0)).motion(0.5, inertial, gravity)
    assert (dq == 0.0).all()
    young = Past()
    young.add(0.0, np.ones(2), np.ones(2))
    q, dq = young.motion(0.01, inertial, gravity)
    assert (q == 1.0).all() and (dq == 0.0).all()


@pytest.mark.parametrize("kept", [0.5, 0.4])
@pytest.mark.parametrize("faster", [(1.5, -2.0), (-1.0, 1.2)])
def test_an_arm_under_way_is_believed_to_go_on_as_its_torques_drive_it(
    faster: tuple[float, float], kept: float
) -> None:
    """Faster or slower, against friction that the model does not know."""
    begin = (0.8, -0.9)
    q, dq = past(begin, begin, faster, kept).motion(0.5, inertial, gravity)
    now = np.array(begin) + 0.5 * np.array(faster)
    assert np.allclose(dq, 0.8 * now, atol=0.1)  # the speeds of then are up to 0.3 off
    assert np.allclose(q, ELBOW + 0.25 * (np.array(begin) + now), atol=0.01)


def test_a_motion_is_slowed_and_never_sped_up() -> None:
    q, dq = np.array([0.3, 0.9]), np.array([0.5, -0.4])
    for share in (-20.0, -2.0, 0.0, 20.0):
        left = slowed(inertial, q, dq, inertial(q, dq, share * dq), 0.01)
        assert np.allclose(left, min(1.0, 1.0 + 0.01 * share) * dq)
    assert (slowed(inertial, q, dq, inertial(q, dq, -1000.0 * dq), 0.01) == 0.0).all()
    assert (slowed(inertial, q, np.zeros(2), np.array([5.0, 5.0]), 0.01) == 0.0).all()
