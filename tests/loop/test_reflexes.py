"""Every reflex from both sides of its threshold, and the table of docs/safety.md."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from support.arms.bench import JOINTS, bench_limits, inertial

from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import Breach, Reflex, Reflexes, ReflexSettings
from diffpbd.runtime.model.limits import Approach

ZERO = np.zeros(2)
MIDDLE = np.array([0.0, 1.0])


def made(**options: object) -> Reflexes:
    settings = ReflexSettings(**{k: v for k, v in options.items() if k not in ("motion", "clearance")})
    extra = {k: v for k, v in options.items() if k in ("motion", "clearance")}
    return Reflexes(JOINTS, bench_limits(), settings, **extra)


def drive(
    reflexes: Reflexes, seconds: float, *, q=lambda t: MIDDLE, dq=lambda t: ZERO, law=lambda t: ZERO,
    effort=lambda t: np.array([t, 0.0]), reference=lambda t: None, dt: float = 0.01, start: float = 0.0,
):  # fmt: skip
    """The first breach and its time of states as functions of time."""
    for k in range(round(seconds / dt) + 1):
        t = start + k * dt
        breach = reflexes.watch(t, q(t), dq(t), effort(t), law(t), reference(t))
        if breach is not None:
            return breach.reflex, round(t - start, 6), breach.text
    return None, None, ""


def moving(rate: float, joint: int = 0, start: float = 0.5):
    """Position and speed of one joint that moves steadily."""
    unit = np.eye(2)[joint]
    return {
        "q": lambda t: MIDDLE + unit * (rate * t - start * np.sign(rate) * (joint == 0)),
        "dq": lambda t: unit * rate,
    }


def test_a_quiet_arm_breaches_nothing() -> None:
    assert drive(made(motion=Motion(inertial)), 2.0)[0] is None


@pytest.mark.parametrize("joint, limit", [(0, 1.5), (1, 2.0)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_speed(joint: int, limit: float, side: float) -> None:
    for share, reflex in ((1.09, None), (1.11, Reflex.SPEED)):
        found = drive(made(), 0.05, **moving(side * share * limit, joint))
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.01 and f"{JOINTS[joint]} moves at {share * limit:.2f}" in found[2]


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_speed_towards_an_end_where_its_limit_shrinks(side: float) -> None:
    ends = Approach(np.array([2.0, 3.0]), np.array([0.2, 0.3]), np.array([-1.75, -0.06]), np.array([1.75, 2.65]))
    near = np.array([side * 1.5, 1.0])  # 0.25 rad before the end: 0.8 rad/s
    for rate, reflex in ((0.87, None), (0.89, Reflex.SPEED), (-1.6, None), (-1.66, Reflex.SPEED)):
        reflexes = Reflexes(JOINTS, bench_limits(approach=ends), ReflexSettings())
        moved = {
            "q": lambda t, r=rate: near + np.array([1e-3 * r * side * t, 0.0]),
            "dq": lambda t, r=rate: np.array([side * r, 0.0]),
        }
        found = drive(reflexes, 0.01, **moved)
        assert found[0] is reflex, rate
        assert reflex is None or f"above {0.88 if rate > 0 else 1.65:.2f} rad/s" in found[2]


def test_one_noisy_speed_is_no_breach_and_two_are() -> None:
    noisy = lambda *at: lambda t: np.array([1.8 * (round(t / 0.01) in at), 0.0])  # noqa: E731
    assert drive(made(), 0.2, dq=lambda t: np.array([0.0, 2.3 * (round(t / 0.01) == 5)]))[0] is None
    assert drive(made(), 0.2, dq=noisy(5))[0] is None
    assert drive(made(), 0.2, dq=noisy(5, 7))[0] is None
    assert drive(made(), 0.2, dq=noisy(5, 6))[:2] == (Reflex.SPEED, 0.06)


def test_the_second_state_confirms_a_speed_by_its_way() -> None:
    reflexes = made()
    assert reflexes.watch(0.0, MIDDLE, ZERO, None, ZERO) is None
    breach = reflexes.watch(0.01, MIDDLE + np.array([0.017, 0.0]), np.array([1.7, 0.0]), None, ZERO)
    assert breach is not None and breach.reflex is Reflex.SPEED
    way = 0.9 * 1.5 * 0.01  # of 0.9 times the speed limit
    for moved, breached in ((0.99 * way, False), (way, False), (1.01 * way, True)):
        reflexes.start()
        reflexes.watch(0.0, MIDDLE, ZERO, None, ZERO)
        breach = reflexes.watch(0.01, MIDDLE + np.array([moved, 0.0]), np.array([1.7, 0.0]), None, ZERO)
        assert (breach is not None) == breached


@pytest.mark.parametrize(
    "q, dq, breached",
    [
        ([1.679, 1.0], [0.0, 0.0], False), ([1.681, 1.0], [0.0, 0.0], True),
        ([-1.679, 1.0], [0.0, 0.0], False), ([-1.681, 1.0], [0.0, 0.0], True),
        ([0.0, -0.029], [0.0, 0.0], False), ([0.0, -0.031], [0.0, 0.0], True),
        # at 1 rad/s: 0.05 on the way to the brake, and 1/12 of braking by 6 rad/s²
        ([1.7 - 0.134, 1.0], [1.0, 0.0], False), ([1.7 - 0.133, 1.0], [1.0, 0.0], True),
        ([-1.7 + 0.134, 1.0], [-1.0, 0.0], False), ([-1.7 + 0.133, 1.0], [-1.0, 0.0], True),
        ([1.65, 1.0], [-1.0, 0.0], False), ([0.0, 2.6 - 0.112], [0.0, 1.0], True), ([0.0, 2.6 - 0.113], [0.0, 1.0], False),
    ],
)  # fmt: skip
def test_position(q: list[float], dq: list[float], breached: bool) -> None:
    breach = made().watch(0.0, np.array(q), np.array(dq), None, ZERO)
    assert (breach is not None and breach.reflex is Reflex.POSITION) == breached


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_motion_that_the_speeds_do_not_show(side: float) -> None:
    crept = lambda rate: {"q": lambda t: MIDDLE + np.array([side * rate * t, 0.0])}  # noqa: E731
    assert drive(made(), 0.14, **crept(0.27))[0] is None  # 0.0297 rad in the longest window, 0.11 s
    found = drive(made(), 1.0, **crept(0.31))
    assert found[:2] == (Reflex.MOTION, 0.1) and "arm_s moved by" in found[2]
    assert drive(made(), 1.0, **crept(1.2))[:2] == (Reflex.MOTION, 0.03)
    assert drive(made(), 1.0, **crept(0.31), dt=0.06)[:2] == (Reflex.MOTION, 0.18)  # four states however seldom


def test_motion_is_judged_over_a_tenth_of_a_second() -> None:
    """States before the one that is older by just that do not count any more."""
    reflexes = made()
    for stamp, angle in ((-0.02, 0.0), (0.0, 0.02), (0.03, 0.02), (0.06, 0.02), (0.1, 0.04)):
        assert reflexes.watch(stamp, MIDDLE + np.array([angle, 0.0]), ZERO, None, ZERO) is None


def test_motion_allows_a_share_of_the_way() -> None:
    for share, reflex in ((0.24, None), (0.31, Reflex.MOTION)):
        # 0.055 rad in 0.11 s are shown; the shown way is short by 0.03 and a share of itself
        true = 0.5 + 0.3 + share * 0.5 - 0.001
        found = drive(
            made(), 0.12, q=lambda t, v=true: MIDDLE + np.array([v * t, 0]), dq=lambda t: np.array([0.5, 0.0])
        )
        assert found[0] is reflex


@pytest.mark.parametrize("unit", [0, 1])
def test_frozen_by_speed(unit: int) -> None:
    same = {"effort": lambda t: ZERO}
    for rate, reflex in ((0.019, None), (0.021, Reflex.FROZEN), (-0.021, Reflex.FROZEN)):
        found = drive(made(), 0.3, dq=lambda t, v=rate: v * np.eye(2)[unit], start=-1.0, **same)
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.06 and JOINTS[unit] in found[2]


@pytest.mark.parametrize("joint, effort", [(0, 50.0), (1, 15.0)])
def test_frozen_by_torque(joint: int, effort: float) -> None:
    same = {"effort": lambda t: ZERO}
    for share, reflex in ((0.019, None), (0.021, Reflex.FROZEN), (-0.021, Reflex.FROZEN)):
        law = lambda t, s=share: s * effort * np.eye(2)[joint] * (t > 0.015)  # noqa: E731
        assert drive(made(), 0.3, law=law, **same)[0] is reflex
        # without measured torques friction may hold the joint
        assert drive(made(contact=0.3), 0.3, law=law, effort=lambda t: None)[0] is None
    for much in (0.5, -0.5):  # a torque that does not change
        assert drive(made(), 0.3, law=lambda t, m=much: m * effort * np.eye(2)[joint], **same)[0] is None
    big = lambda t: 0.31 * effort * np.eye(2)[joint] * (t > 0.015)  # noqa: E731
    assert drive(made(contact=0.3), 0.3, law=big, effort=lambda t: None)[0] is Reflex.FROZEN


@pytest.mark.parametrize("name", ["q", "dq", "effort"])
def test_a_value_that_moves_is_not_frozen(name: str) -> None:
    state = {"q": lambda t: MIDDLE, "dq": lambda t: np.array([0.05, 0.0]), "effort": lambda t: ZERO}
    still = state[name]
    assert drive(made(), 0.3, **state)[0] is Reflex.FROZEN
    state[name] = lambda t: still(t) + np.array([0.0, 1e-9 * t])
    assert drive(made(), 0.3, **state)[0] is None
    state["effort"] = lambda t: None if round(t / 0.01) % 2 else ZERO
    assert drive(made(), 0.3, **state)[0] is None


def test_repeated_stamps_are_one_state() -> None:
    reflexes = made()
    for _ in range(50):
        assert reflexes.watch(0.0, MIDDLE, np.array([1.7, 0.0]), ZERO, ZERO) is None
    for _ in range(50):
        assert reflexes.watch(-1.0, MIDDLE, np.array([1.7, 0.0]), ZERO, ZERO) is None


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_tracking(side: float) -> None:
    for away, reflex in ((0.49, None), (0.51, Reflex.TRACKING)):
        found = drive(made(), 0.1, reference=lambda t, a=away: MIDDLE + side * np.array([0.0, a]))
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.01 and "arm_e is 0.51 rad from" in found[2]


@pytest.mark.parametrize("joint, allowed", [(0, 15.0), (1, 4.5)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_contact_of_an_arm_that_does_not_yield(joint: int, allowed: float, side: float) -> None:
    for share, reflex in ((0.98, None), (1.02, Reflex.CONTACT)):
        found = drive(made(motion=Motion(inertial)), 0.3, law=lambda t, s=share: side * s * allowed * np.eye(2)[joint])
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.03 and JOINTS[joint] in found[2] and f"{-side * share * allowed:.1f}" in found[2]
    assert drive(made(), 0.3, law=lambda t: np.array([40.0, 0.0]))[0] is None  # no model, no word


def test_contact_counts_acceleration_and_what_was_sent() -> None:
    pull = np.array([4.0, 0.0])
    ddq = np.linalg.solve(np.array([inertial(MIDDLE, ZERO, e) for e in np.eye(2)]).T, pull)
    arm = {"q": lambda t: MIDDLE + 0.5 * ddq * t**2, "dq": lambda t: ddq * t}
    explained = made(motion=Motion(inertial), contact=0.02)
    assert drive(explained, 0.08, law=lambda t: pull, **arm)[0] is None
    np.testing.assert_allclose(explained.external, 0.0, atol=0.3)
    assert drive(made(motion=Motion(inertial), contact=0.07), 0.08, **arm)[0] is Reflex.CONTACT
    explained.start()
    assert (explained.external == 0.0).all()


@pytest.mark.parametrize(
    "exact",
    [
        {"dq": lambda t: np.array([1.1 * 1.5, 0.0])},
        {"q": lambda t: np.array([0.03 * (t > 0.015), 1.0])},
        {"dq": lambda t: np.array([0.02, 0.0]), "effort": lambda t: ZERO},
        {"law": lambda t: np.array([0.02 * 50.0 * (t > 0.015), 0.0]), "effort": lambda t: ZERO},
        {"reference": lambda t: np.array([0.0, 1.5])},
        {"law": lambda t: np.array([80.0, 0.0]), "dq": lambda t: np.array([1.0, 0.0]), "q": lambda t: np.array([t, 1.0])},
    ],
    ids=["speed", "motion", "frozen by speed", "frozen by torque", "tracking", "power"],
)  # fmt: skip
def test_at_exactly_a_threshold_is_no_breach(exact: dict) -> None:
    assert drive(made(), 0.02 if "dq" in exact and len(exact) == 1 else 0.2, **exact)[0] is None


def test_contact_at_exactly_its_threshold_is_none() -> None:
    law = lambda t: np.array([15.0, 0.0])  # noqa: E731 one line, used once
    reflexes = made(motion=Motion(inertial))
    assert drive(reflexes, 0.25, law=law, dt=1.0 / 128.0)[0] is None
    assert reflexes.external[0] == -15.0


def test_the_joint_that_is_named_is_the_worst_for_its_own_limit() -> None:
    fast = {"q": lambda t: MIDDLE + np.array([1.7, 2.25]) * t, "dq": lambda t: np.array([1.7, 2.25])}
    assert "arm_s moves at 1.70" in drive(made(), 0.05, **fast)[2]
    assert "arm_e is moved by -5.0" in drive(made(motion=Motion(inertial)), 0.1, law=lambda t: np.array([16.0, 5.0]))[2]


def test_three_equal_states_are_not_frozen_yet() -> None:
    same = {"dq": lambda t: np.array([0.05, 0.0]), "effort": lambda t: ZERO}
    assert drive(made(), 0.3, dt=0.03, **same)[:2] == (Reflex.FROZEN, 0.09)


def test_power() -> None:
    fast = moving(1.4)
    for watts, reflex in ((79.0, None), (81.0, Reflex.POWER), (-81.0, None)):
        found = drive(made(), 0.1, law=lambda t, w=watts: np.array([w / 1.4, 0.0]), **fast)
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.01 and "81 W" in found[2]
    both = {"q": lambda t: np.array([t - 0.5, 1.0 + t]), "dq": lambda t: np.ones(2)}
    assert drive(made(power=50.0), 0.1, law=lambda t: np.array([45.0, 10.0]), **both)[0] is Reflex.POWER
    assert drive(made(power=50.0), 0.1, law=lambda t: np.array([45.0, -10.0]), **both)[0] is None


def test_collision_is_asked_for_every_state() -> None:
    asked: list[np.ndarray] = []

    def clearance(q: np.ndarray) -> str:
        asked.append(q)
        return "too near" if q[0] > 0.05 else ""

    found = drive(made(clearance=clearance), 0.3, **moving(0.2, start=0.0))
    # 0.2 rad/s are braked within 0.01 rad of reaction and 0.04 / 12 rad
    assert found == (Reflex.COLLISION, 0.19, "too near") and len(asked) == 40
    np.testing.assert_allclose(asked[-1] - asked[-2], [0.2 * 0.05 + 0.02 / 6.0, 0.0], atol=1e-12)
    assert drive(made(clearance=lambda q: "too near" if q[0] < 0.0 else ""), 0.1, **moving(0.2, start=0.0))[0] is None
    assert drive(made(clearance=lambda q: "too near" if q[0] < 0.0 else ""), 0.1, **moving(-0.2, start=0.0))[1] == 0.0


def test_doubt_is_only_about_contradiction() -> None:
    reflexes = made()
    for k in range(20):
        fast = np.array([1.8 * k * 0.01 - 0.5, 1.0])
        assert reflexes.doubt(0.01 * k, fast, np.array([1.8, 0.0]), np.array([k, 0.0]), ZERO) is None
    found = [reflexes.doubt(0.2 + 0.01 * k, fast, np.array([1.8, 0.0]), ZERO, ZERO) for k in range(8)]
    assert {breach.reflex for breach in found if breach} <= {Reflex.MOTION, Reflex.FROZEN} and any(found)
    assert reflexes.doubt(0.0, fast, ZERO, ZERO, ZERO).reflex is Reflex.MOTION  # no new state, no end of the doubt


def test_a_stop_doubts_frozen_values() -> None:
    reflexes = made()
    found = [reflexes.doubt(0.01 * k, MIDDLE, np.array([0.021, 0.0]), ZERO, ZERO) for k in range(7)]
    assert [breach.reflex if breach else None for breach in found] == [None] * 6 + [Reflex.FROZEN]


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_stop_doubts_sooner(side: float) -> None:
    """A hundredth of a radian and a share of the way, over 0.03 s instead of 0.1 s."""
    for angle, reflex in ((0.0099, None), (0.01, None), (0.0101, Reflex.MOTION)):
        reflexes = made()
        for k, moved in enumerate([-0.01, -0.01, 0.0, 0.0, 0.0, angle]):  # what moved before does not count
            q = MIDDLE + side * np.array([moved if moved > 0.0 else 0.0 * k, 0.0])
            found = reflexes.doubt(0.01 * k, q, ZERO, np.array([k, 0.0]), ZERO)
        assert (found.reflex if found else None) is reflex
    reflexes = made()
    for k in range(5):
        q = MIDDLE + side * np.array([0.005 * k, 0.0])  # 0.5 rad/s, shown as 0.25: 0.0075 rad in 0.03 s
        assert reflexes.doubt(0.01 * k, q, side * np.array([0.25, 0.0]), np.array([k, 0.0]), ZERO) is None
    assert made().watch(0.0, MIDDLE, ZERO, ZERO, ZERO) is None


def accelerating(joint: int, rate: float, ddq: float):
    """Position and speed of one joint that has `rate` at the fourth state, 0.03 s after the first, and gains `ddq`."""
    unit = np.eye(2)[joint]
    return {
        "q": lambda t: MIDDLE + unit * (rate * (t - 0.03) + 0.5 * ddq * (t - 0.03) ** 2),
        "dq": lambda t: unit * (rate + ddq * (t - 0.03)),
    }


UNIT = {"motion": Motion(lambda q, dq, ddq: np.array([0.5, 0.1]) * ddq)}


@pytest.mark.parametrize("joint, limit, ddq", [(0, 1.5, 12.0), (1, 2.0, 20.0)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_that_is_driven_is_stopped_before_it_is_fast(joint: int, limit: float, ddq: float, side: float) -> None:
    edge = 1.2 * limit - 0.05 * ddq  # what it gains until a brake acts
    for rate, reflex in ((edge - 1e-3, None), (edge + 1e-3, Reflex.CONTACT)):
        moves = accelerating(joint, side * rate, side * ddq)
        found = drive(made(**UNIT), 0.03, **moves)
        assert found[0] is reflex
        if reflex:
            assert found[1] == 0.03 and f"{JOINTS[joint]} is driven from {rate:.2f} rad/s" in found[2]
            assert f"towards {1.2 * limit:.2f} rad/s, above {1.2 * limit:.2f}" in found[2]
        assert drive(made(), 0.03, **moves)[0] is None  # no model, no word
        own = [0.5, 0.1][joint] * side * ddq * np.eye(2)[joint]
        assert drive(made(**UNIT), 0.03, law=lambda t, u=own: u, **moves)[0] is None  # the law's own


def test_a_joint_that_is_driven_at_exactly_a_threshold_is_no_breach() -> None:
    still = {"motion": Motion(lambda q, dq, ddq: ZERO)}  # so that what is sent is all that the model does not explain
    fast = 1.2 * 1.5
    for settings, rate, torque, reflex in (
        ({"speed": 1.3}, fast, 10.0, None), ({"speed": 1.3}, np.nextafter(fast, 2.0), 10.0, Reflex.SPEED),
        ({"speed": 1.3}, 1.9, 5.0, None), ({"speed": 1.3}, 1.9, np.nextafter(5.0, 6.0), Reflex.SPEED),
    ):  # fmt: skip
        moves = {"q": lambda t, v=rate: MIDDLE + np.array([v * t, 0.0]), "dq": lambda t, v=rate: np.array([v, 0.0])}
        law = lambda t, u=torque: np.array([-u, 0.0])  # noqa: E731
        assert drive(made(**still, **settings), 4 / 128, law=law, dt=1 / 128, **moves)[0] is reflex


def test_what_drives_a_joint_is_a_tenth_of_its_effort() -> None:
    moves = accelerating(0, 1.45, 12.0)
    for torque, reflex in ((4.99, None), (5.01, Reflex.CONTACT), (-5.01, None)):
        law = lambda t, u=torque: np.array([6.0 - u, 0.0])  # noqa: E731
        assert drive(made(**UNIT), 0.03, law=law, **moves)[0] is reflex


@pytest.mark.parametrize(
    "way, rate, rest",
    [
        (0.0, 0.0, True),
        (0.0, 0.051, False),
        (0.0, 0.05, True),
        (0.0, 0.049, True),
        (0.1, 0.0, False),
        (0.04, 0.04, True),
    ],
)
def test_rest_is_seen_by_speed_and_by_way(way: float, rate: float, rest: bool) -> None:
    reflexes = made()
    assert reflexes.at_rest(0.05) is False
    for k in range(3):
        reflexes.watch(-0.1 + 0.01 * k, MIDDLE, ZERO, np.array([k, 9.0]), ZERO)
    assert not reflexes.at_rest(0.05)
    reflexes.watch(-0.07, MIDDLE, ZERO, ZERO, ZERO)
    assert reflexes.at_rest(0.05)
    reflexes.start()
    for k in range(6):
        for side in (1,):
            reflexes.watch(
                0.01 * k,
                MIDDLE + side * np.array([0.0, way * 0.01 * k]),
                np.array([0.0, rate]),
                np.array([k, 0.0]),
                ZERO,
            )
    assert reflexes.at_rest(0.05) is rest


@pytest.mark.parametrize("way, rest", [(0.0024, True), (0.05 * 0.03 + 1e-3, True), (0.0026, False)])
def test_rest_allows_an_encoder_step_in_the_time_it_looks_back(way: float, rest: bool) -> None:
    """0.05 rad/s in 0.03 s, and a step; what was before that time does not count."""
    reflexes = made()
    for k, stamp in enumerate([-0.05, 0.0, 0.01, 0.02, 0.03]):
        q = MIDDLE + np.array([0.02 * (stamp < 0.0) + way * (stamp == 0.03), 0.0])
        reflexes.watch(stamp, q, ZERO, np.array([k, 0.0]), ZERO)
    assert reflexes.at_rest(0.05) is rest


def test_exit_codes_and_doubtful_ones() -> None:
    with pytest.raises(FrozenInstanceError):
        Breach(Reflex.SPEED, "fast").reflex = Reflex.POWER
    assert [int(reflex) for reflex in Reflex] == list(range(20, 30))
    assert {reflex for reflex in Reflex if reflex.distrusts_state} == {Reflex.MOTION, Reflex.FROZEN}


def test_thresholds_stay_what_they_are() -> None:
    with pytest.raises(FrozenInstanceError):
        ReflexSettings().speed = 1.1


ONE = Motion(lambda q, dq, ddq: np.array([2.0, 0.1]) * ddq)
"""Two joints without coupling, of 2 and 0.1 kg·m²."""


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("dt", [0.01, 0.002])
def test_a_fast_joint_is_a_contact_if_something_else_drives_it(side: float, dt: float) -> None:
    """The law's own speed is SPEED, and so is one that positions do not show."""
    ddq, first = side * 6.0, side * 1.2
    moves = {
        "q": lambda t: MIDDLE + np.array([first * t + 0.5 * ddq * t**2 - 0.3 * side, 0.0]),
        "dq": lambda t: np.array([first + ddq * t, 0.0]),
    }
    pulls = lambda torque: {"law": lambda t: np.array([torque, 0.0])}  # noqa: E731
    found = drive(made(motion=ONE), 0.2, **moves, dt=dt)
    assert found[0] is Reflex.CONTACT and f"driven from outside ({12.0 * side:.1f} N·m on it)" in found[2]
    for share, reflex in ((1.0, Reflex.SPEED), (0.52, Reflex.SPEED), (0.48, Reflex.CONTACT)):  # of 12 N·m by the law
        found = drive(made(motion=ONE, contact=1.0), 0.2, **moves, **pulls(share * 2.0 * ddq), dt=dt)
        assert found[0] is reflex, share
    blind = {"dq": lambda t: np.array([0.0, side * 2.3 * (t > 0.045)])}
    assert drive(made(motion=ONE, contact=1.0), 0.2, **blind, dt=dt)[0] is Reflex.SPEED
    assert drive(made(), 0.2, **moves, dt=dt)[0] is Reflex.SPEED  # no model, no word of what drives it


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(
    "law, reflex", [(0.0, Reflex.CONTACT), (0.4, Reflex.CONTACT), (0.6, Reflex.SPEED), (-9.0, Reflex.CONTACT)]
)
def test_a_hand_that_leads_too_fast_is_a_contact(side: float, law: float, reflex: Reflex) -> None:
    """With 1 N·m, less than a model's errors, from 1.6 rad/s on; half of it by the law is its own."""
    moves = {
        "q": lambda t: MIDDLE + side * np.array([1.6 * t + 0.25 * t**2 - 0.3, 0.0]),
        "dq": lambda t: side * np.array([1.6 + 0.5 * t, 0.0]),
    }
    found = drive(made(motion=ONE, contact=1.0), 0.3, **moves, law=lambda t: np.array([side * law, 0.0]))
    assert found[0] is reflex and found[1] == pytest.approx(0.12, abs=0.011)


@pytest.mark.parametrize("dt", [0.01, 0.002, 0.001])
@pytest.mark.parametrize("spike", [0.3, 1.5])
def test_one_wrong_speed_is_no_contact_and_two_are(dt: float, spike: float) -> None:
    """0.6 and 3 N·m·s of a joint whose threshold is 15 N·m over 0.018 s; a change that positions show needs one state."""
    at = round(0.1 / dt)
    wrong = lambda *states: lambda t: np.array([spike * (round(t / dt) in states), 0.0])  # noqa: E731
    assert drive(made(motion=ONE), 0.3, dq=wrong(at), dt=dt)[0] is None
    assert drive(made(motion=ONE), 0.3, dq=wrong(at, at + 3), dt=dt)[0] is None
    assert drive(made(motion=ONE), 0.3, dq=wrong(at, at + 1), dt=dt)[:2] == (Reflex.CONTACT, round((at + 1) * dt, 6))
    stops = {"q": lambda t: MIDDLE + np.array([spike * (min(t, 0.1) + 0.5 * dt * (t >= 0.1 + dt)), 0.0])}
    stops["dq"] = lambda t: np.array([spike * (t <= 0.1 + 1e-9), 0.0])
    found = drive(made(motion=ONE), 0.3, **stops, dt=dt)
    assert found[:2] == (Reflex.CONTACT, round((at + 1 + (spike * dt < 4e-3)) * dt, 6))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_filtered_speed_may_lag_but_not_lead(side: float) -> None:
    """Three changes of 0.5 rad/s: 0.01 rad and a share of the way, and 0.02 s times the change where positions are ahead."""
    for apart, doubted in ((0.0466, False), (0.0469, True), (-0.0166, False), (-0.0169, True)):
        reflexes = made()
        for k, share in enumerate((0.0, 1.0, 2.0, 3.0)):
            q = MIDDLE + side * np.array([0.0025 * share**2 + apart * (k == 3), 0.0])
            found = reflexes.doubt(0.01 * k, q, side * np.array([0.5 * share, 0.0]), np.array([k, 0.0]), ZERO)
        assert (found is not None) == doubted, apart
