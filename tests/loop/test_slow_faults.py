"""Faults that a tenth of a second does not show: each threshold from both sides, and runs on the bench arm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.arms.bench import JOINTS, BenchArm, bench_limits, inertial
from support.arms.bench_runs import check, run, stopped_after
from support.shared.slow_faults import biased, crept, scaled, slowly

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import Reflex, Reflexes, ReflexSettings
from diffpbd.runtime.loop.slow_faults import SlowFaults
from diffpbd.runtime.loop.stopping import Reason

ZERO = np.zeros(2)
DT = 1.0 / 64.0  # s; looks are then 1/16 s apart, and five seconds are 80 of them
LOOK = 1.0 / 16.0
CONTACT = np.array([15.0, 4.5])

Signal = Callable[[float], np.ndarray]


def feed(
    seconds: float, *, q: Signal = lambda t: ZERO, dq: Signal = lambda t: ZERO, external: Signal = lambda t: ZERO,
    slow: SlowFaults | None = None, dt: float = DT,
) -> tuple[float | None, SlowFaults]:  # fmt: skip
    """When something was seen first [s], and the watcher after it."""
    slow = slow or SlowFaults(JOINTS, CONTACT)
    way = path = ZERO
    for k in range(round(seconds / dt) + 1):
        t = k * dt
        if k:
            way = way + 0.5 * dt * (dq(t - dt) + dq(t))
            path = path + 0.5 * dt * (np.abs(dq(t - dt)) + np.abs(dq(t)))
        slow.add(t, q(t), dq(t), way, path, external(t))
        if slow.drifted or slow.loaded:
            return t, slow
    return None, slow


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_creep_adds_up_over_five_seconds(joint: int, side: float) -> None:
    unit = side * np.eye(2)[joint]
    assert feed(20.0, q=lambda t: 0.99 * 0.04 / 5.0 * t * unit)[0] is None
    seen, slow = feed(20.0, q=lambda t: 1.01 * 0.04 / 5.0 * t * unit)
    assert seen == pytest.approx(5.0, abs=LOOK) and slow.loaded == ""
    assert f"{JOINTS[joint]} moved by {side * 0.04:.3f} rad in 5.00 s, its speeds say 0.000 rad" in slow.drifted
    assert feed(1.0, q=lambda t: 0.1 * t * unit)[0] == 0.4375  # the first look after 0.4 s
    assert feed(1.0, q=lambda t: 0.2 * t * unit, dt=1.0 / 128.0)[0] == 4 * 7 / 128  # a look each 0.05 s


@pytest.mark.parametrize("apart, seen", [(0.04, False), (np.nextafter(0.04, 1.0), True)])
def test_a_drift_at_exactly_its_threshold_is_none(apart: float, seen: bool) -> None:
    assert (feed(1.0, q=lambda t: np.array([0.0, apart * (t > 0.5)]))[0] is not None) == seen


@pytest.mark.parametrize("later, looked", [(0.0499, False), (0.05, True)])
def test_looks_are_a_twentieth_of_a_second_apart(later: float, looked: bool) -> None:
    slow = SlowFaults(JOINTS, CONTACT)
    slow.add(0.0, ZERO, ZERO, ZERO, ZERO, ZERO)
    slow.add(later, np.array([0.1, 0.0]), ZERO, ZERO, ZERO, ZERO)
    assert bool(slow.drifted) == looked


def test_a_speed_that_is_wrong() -> None:
    """0.04 rad, 0.05 of the way that the speeds show, and the lag of the speed then and now."""
    for bias, at in ((0.2, None), (-0.2, None), (0.008, None), (0.0089, 5.0)):
        seen, _ = feed(20.0, dq=lambda t, b=bias: np.array([0.0, b]))
        rate = abs(bias)
        times = LOOK * np.arange(1, 81)
        first = next((t for t in times if rate * t > 0.04 + 0.05 * rate * t + 0.04 * rate), None)
        assert seen == first and (at is None or seen == pytest.approx(at, abs=0.2))


def test_a_filtered_speed_of_a_fast_arm_is_no_fault() -> None:
    """Late by 0.02 s, there and back with up to 2 rad/s; at twice that lag it is."""

    def shown(lag: float) -> float | None:
        return feed(
            20.0,
            q=lambda t: np.array([np.sin(2.0 * t), 0.0]),
            dq=lambda t: np.array([2.0 * np.cos(2.0 * (t - lag)), 0.0]),
        )[0]

    assert shown(0.0) is None and shown(0.02) is None and shown(-0.02) is None and shown(0.08) is not None


def test_a_share_of_the_way_is_allowed() -> None:
    """Speeds that are too great by a little, of a joint that shakes; at rest at every look."""
    shake = lambda t: np.array([0.5 * np.sin(2.0 * np.pi * 16.0 * t), 0.0])  # noqa: E731
    for bias, seen in ((0.0202, False), (0.0220, True)):  # 0.008, and 0.05 of 0.26 rad/s
        found, _ = feed(10.0, dq=lambda t, b=bias: shake(t) + np.array([b, 0.0]))
        assert (found is not None) == seen


def test_a_joint_that_shakes_in_step_with_the_states_is_no_fault() -> None:
    """0.6 rad/s at every other state, for a moment: its speeds say 0.3 rad/s, it goes 0.05. Of one that is smooth as much is
    a fault, and so is more than the speeds at both ends leave open."""
    kicked = lambda t: np.array([0.6 * (round(t / DT) % 2), 0.0])  # noqa: E731
    went = lambda rate: lambda t: np.array([rate * t, 0.0])  # noqa: E731
    assert feed(20.0, q=went(0.05), dq=kicked)[0] is None
    assert feed(20.0, q=went(0.55), dq=kicked)[0] is None
    assert feed(20.0, q=went(-0.1), dq=kicked)[0] is not None
    assert feed(20.0, q=went(0.05), dq=lambda t: np.array([0.3, 0.0]))[0] is not None
    long = lambda t: np.array([0.6 * (round(t / DT) % 4 < 2), 0.0])  # noqa: E731
    assert feed(20.0, q=went(0.05), dq=long)[0] is not None, "a shake that the states resolve"


def test_only_the_way_within_the_window_is_allowed_for() -> None:
    shake = lambda t: np.array([0.5 * np.sin(2.0 * np.pi * 16.0 * t), 0.0])  # noqa: E731
    seen, _ = feed(30.0, dq=lambda t: shake(t) + np.array([0.05 * (t > 20.0), 0.0]))
    assert seen == pytest.approx(20.0 + (0.04 + 0.05 * 0.25 * 5.0) / 0.05, abs=3 * LOOK)


def test_the_stamps_may_begin_anywhere() -> None:
    slow = SlowFaults(JOINTS, CONTACT)
    for k in range(193):
        slow.add(1000.0 + k * DT, ZERO, ZERO, ZERO, ZERO, np.array([7.6, 0.0]))
        assert bool(slow.loaded) == (k == 192)


@pytest.mark.parametrize("joint, allowed", [(0, 7.5), (1, 2.25)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_load_that_lasts(joint: int, allowed: float, side: float) -> None:
    unit = side * np.eye(2)[joint]
    assert feed(10.0, external=lambda t: 0.99 * allowed * unit)[0] is None
    seen, slow = feed(10.0, external=lambda t: 1.01 * allowed * unit)
    assert seen == 3.0 and slow.drifted == ""
    assert f"{JOINTS[joint]} was loaded for 3.0 s by {side * 1.01 * allowed:.1f} N·m" in slow.loaded
    assert f"above {allowed:.2f} N·m" in slow.loaded
    assert feed(10.0, external=lambda t: 1.4 * allowed * unit * (t % 2.0 < 1.0))[0] is None  # a hand comes and goes
    assert feed(10.0, external=lambda t: 3.0 * allowed * unit * np.sign(np.sin(2.0 * t)))[0] is None


def test_a_load_at_exactly_its_threshold_is_none() -> None:
    assert feed(5.0, external=lambda t: np.array([7.5, 0.0]))[0] is None
    both = feed(5.0, external=lambda t: np.array([8.0, 2.5]))[1]
    assert both.loaded.startswith("arm_e")  # the worse for its own limit


def test_a_load_before_the_window_does_not_count() -> None:
    """7.4 N·m over the first 3 s."""
    assert feed(8.0, external=lambda t: np.array([13.3 if t < 1.0 else 4.5, 0.0]))[0] is None


def test_a_start_forgets() -> None:
    slow = feed(4.9, q=lambda t: np.array([0.0079 * t, 0.0]), external=lambda t: np.array([7.4, 0.0]))[1]
    slow.start()
    assert (slow.drifted, slow.loaded) == ("", "")
    assert feed(4.9, q=lambda t: np.array([0.5 - 0.0079 * t, 0.0]), slow=slow)[0] is None
    slow = feed(1.0, q=lambda t: np.array([0.1 * t, 0.0]))[1]
    slow.start()
    assert slow.drifted == ""


def test_what_the_reflexes_make_of_it() -> None:
    for model, q, law, reflex in (
        (inertial, 0.1, 0.0, Reflex.MOTION), (None, -0.1, 0.0, Reflex.MOTION), (inertial, 0.0, 7.6, Reflex.CONTACT),
        (inertial, 0.0, 7.4, None), (None, 0.0, 7.6, None),
    ):  # fmt: skip
        reflexes = Reflexes(JOINTS, bench_limits(), ReflexSettings(), motion=model and Motion(model))
        told = [
            reflexes.watch(k * DT, np.array([q * k * DT, 1.0]), ZERO, np.array([k, 0.0]), np.array([law, 0.0]))
            for k in range(256)
        ]
        first = next((breach for breach in told if breach), None)
        assert (first.reflex if first else None) is reflex
        assert first is None or first.text.startswith("arm_s moved by" if q else "arm_s was loaded for 3.0 s by -7.6")
    reflexes.start()
    told = [reflexes.doubt(k * DT, np.array([0.1 * k * DT, 1.0]), ZERO, np.array([k, 0.0]), ZERO) for k in range(64)]
    assert next(k for k, breach in enumerate(told) if breach) == 28  # 0.44 s


@pytest.mark.parametrize("law", ["hold", "gravity", "impedance", "moving"])
@pytest.mark.parametrize("rate", [0.1, -0.1])
@pytest.mark.parametrize("joint", [0, 1])
def test_an_encoder_that_creeps(law: str, rate: float, joint: int) -> None:
    owner = GravityOwner.ROBOT if law == "hold" else GravityOwner.MODEL
    report, arm = run(law, fault=slowly(crept(joint, rate)), owner=owner, duration=8.0)
    check(arm, detection=2.0)
    assert report.reflex is Reflex.MOTION and report.exit_code == 23, report
    assert stopped_after(arm) < (1.2 if law == "moving" else 0.5)
    assert f"{JOINTS[joint]} moved" in report.text and "nothing more was sent" in report.ending
    if law != "moving":
        assert np.abs(np.array(arm.trace) - arm.marked[1]).max() < 0.05


@pytest.mark.parametrize("law", ["gravity", "impedance", "moving"])
@pytest.mark.parametrize("bias", [0.2, -0.2, 0.1])
@pytest.mark.parametrize("joint", [0, 1])
def test_a_wrong_speed_is_no_contact(law: str, bias: float, joint: int) -> None:
    """Its first step looks like a push; the stop, which doubts more, says what it is."""
    report, arm = run(law, fault=slowly(biased(joint, bias)), owner=GravityOwner.MODEL, duration=4.0)
    check(arm, detection=2.0)
    assert report.reason is Reason.REFLEX and report.reflex is Reflex.MOTION and report.exit_code == 23, report
    assert stopped_after(arm) < (1.2 if law == "moving" else 0.6) and f"{JOINTS[joint]} moved" in report.text


def test_what_a_run_took_a_wrong_speed_for_is_said_too() -> None:
    report, _ = run("impedance", fault=slowly(biased(0, 0.6)), owner=GravityOwner.MODEL)
    assert report.reflex is Reflex.MOTION and "(at first seen as CONTACT: arm_s is moved by" in report.text
    report, _ = run("impedance", fault=lambda arm: setattr(arm.bench, "push", (25.0, 0.0)))
    assert report.reflex is Reflex.CONTACT and "at first" not in report.text


def test_a_wrong_speed_is_no_speed() -> None:
    settings = ReflexSettings(contact=1.0)
    for law, bias, text in (
        ("moving", 1.9, "(at first seen as SPEED: arm_e"),
        ("impedance", 2.25, "position jump for"),
    ):
        report, _ = run(law, fault=slowly(biased(1, bias)), owner=GravityOwner.MODEL, reflexes=settings)
        assert text in report.text and report.exit_code in (20, 23), report


def test_a_sensor_that_freezes_in_the_stop_was_not_the_reason_of_it() -> None:
    first: dict = {}

    def begin(arm: BenchArm) -> None:
        since = arm.time
        arm.bench.push = (6.5, 1.2)

        def frozen(data: dict) -> dict:
            if arm.time - since < 0.035:
                return data
            first.update(first or data)
            return {**first, "stamp": data["stamp"]}

        arm.bench.fault = frozen

    report, _ = run("impedance", fault=begin, reflexes=ReflexSettings(contact=0.1))
    assert "show the same values" in report.ending and report.reflex is Reflex.CONTACT and "at first" not in report.text


@pytest.mark.parametrize("joint", [0, 1])
def test_a_scale_that_drifts(joint: int) -> None:
    report, arm = run("impedance", fault=slowly(scaled(joint, 1.1, 5.0)), owner=GravityOwner.MODEL, duration=8.0)
    check(arm)
    if joint == 0:  # 0.3 rad: 0.03 rad in all
        assert report.reason is Reason.FINISHED
    else:
        assert report.reflex is Reflex.MOTION and stopped_after(arm) < 4.0


def test_a_load_that_the_model_does_not_know_ends_the_run() -> None:
    for push, reason in ((6.0, Reason.FINISHED), (10.5, Reason.REFLEX)):
        report, arm = run("impedance", fault=lambda arm, p=push: setattr(arm.bench, "push", (p, 0.0)), duration=5.0)
        assert report.reason is reason, report
        assert reason is Reason.FINISHED or (report.exit_code == 26 and 2.0 <= stopped_after(arm) < 3.1)
