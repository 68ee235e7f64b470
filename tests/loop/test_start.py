"""Where a run may begin, what it compares, and how an arm outside its limits is brought in."""

from __future__ import annotations

import numpy as np
import pytest
from support.arms.bench import Bench, BenchArm
from support.arms.bench_runs import check, run, supervisor

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.arm import DISABLED, Fault
from diffpbd.runtime.loop.recorder import BRAKE, START, YIELD
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason
from diffpbd.runtime.records.messages import Tick


@pytest.mark.parametrize(
    "rate, told",
    [(0.049, ""), (0.05, ""), (0.051, "arm_e moves at 0.05 rad/s"), (-0.051, "arm_e moves at -0.05 rad/s")],
)
def test_at_rest_or_refused(rate: float, told: str) -> None:
    found = supervisor("impedance").refusal(np.array([0.0, 1.0]), np.array([0.0, rate]))
    assert told in found and bool(told) == bool(found)


@pytest.mark.parametrize(
    "q, told",
    [([1.679, 1.0], ""), ([1.681, 1.0], "arm_s stands at 1.681"), ([-1.679, 1.0], ""), ([-1.681, 1.0], "arm_s stands"),
     ([0.0, -0.029], ""), ([0.0, -0.031], "expected within [-0.030, 2.580]"), ([1.79, 1.0], "arm_s stands"),
     ([1.81, 1.0], "absurd position"),
     ([np.nan, 1.0], "not finite")],
)  # fmt: skip
def test_within_the_soft_limits_or_refused(q: list[float], told: str) -> None:
    under = supervisor("impedance")
    found = under.refusal(np.array(q), np.zeros(2))
    assert told in found and bool(told) == bool(found)
    outside = under.refusal(np.array(q), np.zeros(2), outside=True)
    assert bool(outside) == ("absurd" in told or "finite" in told)
    if told:
        with pytest.raises(InputError, match="limits|absurd|finite"):
            under.start(np.array(q))


def test_clearance_refuses_a_start() -> None:
    under = supervisor("impedance", clearance=lambda q: "the hand is in the table" if q[0] < 0 else "")
    assert under.refusal(np.array([0.1, 1.0]), np.zeros(2)) == ""
    assert "cannot be a start: the hand is in the table." in under.refusal(np.array([-0.1, 1.0]), np.zeros(2))


def test_a_moving_arm_is_refused_and_nothing_is_sent() -> None:
    arm = BenchArm()
    arm.enabled = True
    arm.mode, arm.target, arm.commanded, arm.timeout = Mode.TORQUE, (5.0, 0.0), 200.0, 1e9
    report, arm = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and "starts at rest" in report.text and arm.commands == []
    assert report.phase is Phase.CHECK and report.ending == "" and report.exit_code == 1


@pytest.mark.parametrize("outside", [0.08, 0.0])
@pytest.mark.parametrize("law", ["hold", "gravity"])
def test_an_arm_outside_its_limits_is_brought_in_slowly_on_request(outside: float, law: str) -> None:
    def there() -> BenchArm:
        arm = BenchArm((1.7, 0.9))
        arm.limits = type(arm.limits)(**{**vars(arm.limits), "upper": np.array([1.7 - outside, 2.6])})
        return arm

    limits = {"upper": np.array([1.7 - outside, 2.6])}
    report, arm = run(law, arm=there(), limits=limits, duration=0.2)
    assert report.reason is Reason.REFUSED and "--bring-in" in report.text and arm.commands == []
    report, arm = run(law, arm=there(), limits=limits, duration=0.2, options={"bring_in": True})
    assert report.reason is Reason.FINISHED, report
    assert max(arm.fastest) < 0.1 and 1.7 - outside - 0.035 < arm.q[0] < 1.7 - outside - 0.025
    positions = np.array([values for _, mode, values, _, _ in arm.commands if mode is Mode.POSITION])
    assert np.abs(np.diff(positions, axis=0)).max() < 0.06 * 0.0101 + 2e-3
    times = np.array([time for time, *_ in arm.commands])
    led = np.diff(positions[:40, 0]) / np.diff(times[:40])
    np.testing.assert_allclose(led, -0.05, atol=1e-6)  # rad/s, no slower either
    assert positions[:, 0].min() == pytest.approx(1.7 - outside - 0.03, abs=1e-3)
    np.testing.assert_allclose(positions[0], [1.7, 0.9], atol=1e-3)


def test_the_first_command_is_the_measured_state_for_as_long_as_a_publisher_needs() -> None:
    report, arm = run("impedance", duration=0.1)
    check(arm)
    assert report.reason is Reason.FINISHED and report.good and report.exit_code == 0
    first = [c for c in arm.commands if c[1] is Mode.POSITION and c[0] < arm.begun]
    assert 35 <= len(first) <= 42 and np.abs(first[0][2] - first[0][3]).max() < 1e-3
    assert arm.timeouts == [0.2, 0.2] and arm.closed


@pytest.mark.parametrize("payload, refused", [(0.63, False), (0.68, True), (-0.63, False), (-0.68, True)])
def test_the_holding_torque_is_compared_with_the_model(payload: float, refused: bool) -> None:
    """4 N·m of the 50 are a payload of 0.65 kg here."""
    arm = BenchArm((0.3, 0.9), Bench(payload=payload))
    report, arm = run("impedance", arm=arm, owner=GravityOwner.MODEL, duration=0.1)
    assert (report.reason is Reason.REFUSED) == refused, report
    if refused:
        assert report.phase is Phase.HOLD and "arm_s" in report.text and "commands to hold" in report.ending
        arm = BenchArm((0.3, 0.9), Bench(payload=payload))
        options = {"allow_mismatch": True}
        report, _ = run("impedance", arm=arm, owner=GravityOwner.MODEL, options=options, duration=0.05)
        assert report.phase is Phase.RUN


@pytest.mark.parametrize("share, refused", [(0.4, False), (0.6, True)])
def test_the_second_half_of_the_hold_is_compared(share: float, refused: bool) -> None:
    """While the arm settles, in the first half, a wrong torque refuses nothing; a tenth of a second later it does."""
    arm = BenchArm()

    def settling(data: dict) -> dict:
        wrong = not arm.commands or arm.time - arm.commands[0][0] < share
        return {**data, "effort": data["effort"] + (40.0 if wrong else 0.0)}

    arm.bench.fault = settling
    report, _ = run("impedance", arm=arm, owner=GravityOwner.MODEL, duration=0.1, options={"hold": 1.0})
    assert (report.reason is Reason.REFUSED) == refused, report


@pytest.mark.parametrize("outside", [0.01, -0.01])
def test_an_arm_below_its_lower_limit_is_brought_in(outside: float) -> None:
    """Just outside the soft limit, 0.02 rad within the joint's own, and just inside it: only one of them is led."""
    arm = BenchArm((-1.68 - outside, 0.9))
    report, arm = run("hold", arm=arm, duration=0.2, options={"bring_in": True})
    assert report.reason is Reason.FINISHED, report
    positions = np.array([values for _, mode, values, _, _ in arm.commands if mode is Mode.POSITION])
    assert positions[:, 0].max() == pytest.approx(-1.67, abs=1e-3)
    assert np.ptp(positions[:, 0]) == pytest.approx(0.02 if outside > 0.0 else 0.0, abs=1e-3)


def test_the_robots_own_gravity_is_not_compared() -> None:
    arm = BenchArm((0.3, 0.9), Bench(payload=1.0))
    assert run("hold", arm=arm, duration=0.1)[0].reason is Reason.FINISHED


def test_states_without_torques_cannot_be_compared() -> None:
    arm = BenchArm()
    arm.bench.fault = lambda data: {**data, "effort": np.empty(0)}
    report, _ = run("impedance", arm=arm, owner=GravityOwner.MODEL)
    assert report.reason is Reason.REFUSED and "carry no torques" in report.text
    arm = BenchArm()
    arm.bench.fault = lambda data: {**data, "effort": np.empty(0)}
    assert run("impedance", arm=arm, duration=0.1)[0].reason is Reason.FINISHED


def test_enabling_on_request_waits_until_the_arm_stands() -> None:
    def sinking() -> BenchArm:
        arm = BenchArm()
        arm.enabled = False
        return arm

    report, arm = run("impedance", arm=sinking())
    assert report.reason is Reason.REFUSED and report.text == f"{DISABLED}." and arm.commands == []
    report, arm = run("impedance", arm=sinking(), duration=0.1, options={"enable": True})
    assert report.reason is Reason.FINISHED
    stopped = sinking()
    stopped.disable("the e-stop is pressed")
    report, arm = run("impedance", arm=stopped, options={"enable": True})
    assert report.reason is Reason.REFUSED and "e-stop" in report.text and arm.commands == []


def test_a_start_waits_for_five_seconds() -> None:
    arm = BenchArm()
    arm.bench.fault = lambda data: None
    report, arm = run("impedance", arm=arm)
    assert report.reason is Reason.REFUSED and 105.0 <= arm.time - 0.4 < 105.1  # the bench goes on for 0.4 s


class Suppressed(BenchArm):
    """Counts the messages of the suppress stream."""

    def __init__(self) -> None:
        super().__init__()
        self.suppressions = 0

    def suppress(self) -> None:
        super().suppress()
        self.suppressions += 1


def test_gravity_is_suppressed_fifty_times_a_second() -> None:
    report, arm = run("gravity", arm=Suppressed(), owner=GravityOwner.MODEL, duration=2.0)
    assert report.reason is Reason.FINISHED and 115 <= arm.suppressions <= 122  # of 0.4 s of hold and 2 s of run


def test_no_states_no_run() -> None:
    arm = BenchArm()
    arm.bench.fault = lambda data: None
    report, arm = run("impedance", arm=arm, options={"wait": 0.2})
    assert report.reason is Reason.REFUSED and "no joint state" in report.text and arm.commands == []


class Waiting(BenchArm):
    """Something lacks, and the link has a fault, until half a second has gone."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.lost = fault
        self.looks = 0

    def missing(self, *, suppressing: bool) -> str:
        self.looks += 1
        return "the robot does not listen" if self.fault() else ""

    def fault(self) -> Fault | None:
        return self.lost if self.time < 100.5 else None


def test_a_start_waits_for_the_robot_and_not_for_a_lost_master() -> None:
    report, arm = run("impedance", arm=Waiting(Fault(Reason.LOST_ROBOT, "not there")), duration=0.1)
    assert report.reason is Reason.FINISHED and arm.commands[0][0] >= 100.5
    assert 44 <= arm.looks <= 47  # one in 0.01 s, from 0.05 s on
    report, arm = run("impedance", arm=Waiting(Fault(Reason.LOST_MASTER, "gone")), duration=0.1)
    assert report.reason is Reason.LOST_MASTER and report.text == "gone" and report.phase is Phase.CHECK
    assert arm.commands == [] and arm.time < 100.5 + 0.4  # the bench goes on for 0.4 s


def test_an_observer_sees_the_start_every_tick_the_reason_and_the_braking() -> None:
    seen: list[Tick] = []
    push = lambda arm: setattr(arm.bench, "push", (25.0, 0.0))  # noqa: E731
    report, arm = run("moving", fault=push, observer=seen.append)
    assert report.reflex is Reflex.CONTACT
    notes = [tick.note for tick in seen]
    breach = notes.index(f"contact: {report.text}")
    assert notes[0] == START and set(notes[1:breach]) == {""}
    stop = notes[breach + 1 :]
    assert stop == [YIELD] * stop.count(YIELD) + [BRAKE] * stop.count(BRAKE) and 0 < stop.count(YIELD) < len(stop)
    assert breach == report.ticks and len(notes) - breach - 1 > 5
    sent = [values for _, mode, values, _, _ in arm.commands if mode is Mode.TORQUE]
    np.testing.assert_array_equal([tick.command for tick in seen if tick.mode], sent)
    assert [tick.mode for tick in seen if tick.note == START or tick.note == notes[breach]] == [0, 0]
