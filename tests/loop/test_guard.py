"""The guard alone: what it believes and how it limits, from both sides of every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from support.arms.bench import bench_limits, mass

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.loop.braking import nearest
from diffpbd.runtime.loop.guard import Guard, TickStatus
from diffpbd.runtime.model.limits import Approach

ZERO = np.zeros(2)
EPS = 1e-6


def guard(period: float = 0.004) -> Guard:
    made = Guard(bench_limits(), period)
    made.start(ZERO)
    return made


@pytest.mark.parametrize(
    "q, dq, status",
    [
        ([0.0, 0.0], [0.0, 0.0], TickStatus.OK),
        ([np.nan, 0.0], [0.0, 0.0], TickStatus.NOT_FINITE_STATE), ([0.0, 0.0], [0.0, np.inf], TickStatus.NOT_FINITE_STATE),
        ([1.8 - EPS, 0.0], [0.0, 0.0], TickStatus.OK), ([1.8 + EPS, 0.0], [0.0, 0.0], TickStatus.ABSURD_POSITION),
        ([-1.8 + EPS, 0.0], [0.0, 0.0], TickStatus.OK), ([-1.8 - EPS, 0.0], [0.0, 0.0], TickStatus.ABSURD_POSITION),
        ([0.0, 2.7 + EPS], [0.0, 0.0], TickStatus.ABSURD_POSITION),
        ([0.0, -0.15 - EPS], [0.0, 0.0], TickStatus.ABSURD_POSITION),
        ([0.0, 0.0], [3.0, 4.0], TickStatus.OK), ([0.0, 0.0], [-3.0, -4.0], TickStatus.OK),
        ([0.0, 0.0], [3.0 + EPS, 0.0], TickStatus.ABSURD_SPEED), ([0.0, 0.0], [0.0, -4.0 - EPS], TickStatus.ABSURD_SPEED),
    ],
)  # fmt: skip
def test_states(q: list[float], dq: list[float], status: TickStatus) -> None:
    assert guard().judge(1.0, np.array(q), np.array(dq)) is status


def test_states_at_exactly_a_threshold_are_believed() -> None:
    made = Guard(bench_limits(upper=np.array([0.0, 2.6])), 0.004)
    assert made.judge(1.0, np.array([0.1, 1.0]), np.array([3.0, 0.0])) is TickStatus.OK
    made.accept(1.0, np.array([0.0, 0.0]), ZERO)
    assert made.judge(1.0, np.array([0.02, 0.0]), ZERO) is TickStatus.OK


@pytest.mark.parametrize("elapsed", [0.0, 0.01, 0.06])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("rate", [0.0, 1.2])
def test_jumps_are_what_the_speeds_do_not_explain(elapsed: float, side: float, rate: float) -> None:
    made = guard()
    made.accept(1.0, np.array([0.5, 0.5]), np.array([0.0, 0.0]))
    way = 0.5 * elapsed * rate  # speeds from 0 to `rate`
    for joint, speed in ((0, 1.5), (1, 2.0)):
        allowed = 0.02 + 0.5 * elapsed**2 / 0.1 * speed
        for beyond, status in ((-EPS, TickStatus.OK), (EPS, TickStatus.POSITION_JUMP)):
            q, dq = np.array([0.5, 0.5]), np.zeros(2)
            q[joint] += way + side * (allowed + beyond)
            dq[joint] = rate
            assert made.judge(1.0 + elapsed, q, dq) is status


def test_time_is_that_of_the_measurement() -> None:
    made = guard()
    made.accept(1.0, ZERO, np.array([1.2, 0.0]))
    moved = np.array([0.072, 0.0])
    assert made.judge(1.06, moved, np.array([1.2, 0.0])) is TickStatus.OK
    assert made.judge(1.01, moved, np.array([1.2, 0.0])) is TickStatus.POSITION_JUMP
    made.start(ZERO)
    assert made.judge(1.01, moved, ZERO) is TickStatus.OK


def test_what_is_accepted_is_a_copy() -> None:
    made = guard()
    q, dq = np.zeros(2), np.zeros(2)
    made.accept(1.0, q, dq)
    q += 1.0
    dq += 1.0
    assert made.judge(1.0, np.zeros(2), np.zeros(2)) is TickStatus.OK
    assert made.judge(1.0, q, np.zeros(2)) is TickStatus.POSITION_JUMP


BIG = np.array([1e3, 3e2])


@pytest.mark.parametrize(
    "angle, up, down",
    [(0.0, 1.0, 1.0), (1.6, 1.0, 1.0), (1.65, 0.5, 1.0), (1.69, 0.1, 1.0), (1.7, 0.0, 1.0), (1.75, 0.0, 1.0),
     (-1.6, 1.0, 1.0), (-1.65, 1.0, 0.5), (-1.7, 1.0, 0.0), (-1.75, 1.0, 0.0)],
)  # fmt: skip
def test_torque_towards_a_position_limit_fades(angle: float, up: float, down: float) -> None:
    q = np.array([angle, 1.0])
    np.testing.assert_allclose(guard().limit(BIG, q, ZERO), [50.0 * up, 15.0], atol=1e-9)
    np.testing.assert_allclose(guard().limit(-BIG, q, ZERO), [-50.0 * down, -15.0], atol=1e-9)


@pytest.mark.parametrize(
    "speed, up, down",
    [(0.0, 1.0, 1.0), (1.2, 1.0, 1.0), (1.35, 0.5, 1.0), (1.5, 0.0, 1.0), (1.8, 0.0, 1.0),
     (-1.2, 1.0, 1.0), (-1.35, 1.0, 0.5), (-1.5, 1.0, 0.0), (-1.8, 1.0, 0.0)],
)  # fmt: skip
def test_torque_in_the_direction_of_a_fast_motion_fades(speed: float, up: float, down: float) -> None:
    dq = np.array([speed, 0.0])
    q = np.array([0.0, 1.0])
    np.testing.assert_allclose(guard().limit(BIG, q, dq), [50.0 * up, 15.0], atol=1e-9)
    np.testing.assert_allclose(guard().limit(-BIG, q, dq), [-50.0 * down, -15.0], atol=1e-9)


def test_the_laws_share_bounds_the_law_alone() -> None:
    made = Guard(bench_limits(law_effort=np.array([5.0, 1.5])), 1.0)
    made.start(ZERO)
    law = made.limit(BIG, np.array([0.0, 1.0]), ZERO)
    np.testing.assert_allclose(law, [5.0, 1.5])
    np.testing.assert_allclose(made.send(law, np.array([40.0, 10.0])), [45.0, 11.5])
    np.testing.assert_allclose(made.send(law, np.array([48.0, 14.0])), [50.0, 14.6])
    np.testing.assert_allclose(made.send(-law, np.array([-48.0, -14.0])), [-50.0, -14.6])


def test_a_share_scales_the_whole_law_and_a_zone_takes_from_one_joint() -> None:
    """A wrist at its end must not take the shoulder's damping; a wrist that asks for too much takes from all."""
    made = Guard(bench_limits(law_effort=np.array([5.0, 1.5])), 1.0)
    np.testing.assert_allclose(made.limit(np.array([-2.0, 3.0]), np.array([0.0, 1.0]), ZERO), [-1.0, 1.5])
    np.testing.assert_allclose(made.limit(np.array([-20.0, 3.0]), np.array([0.0, 1.0]), ZERO), [-5.0, 0.75])
    np.testing.assert_allclose(made.limit(np.array([-2.0, 3.0]), np.array([0.0, 2.6]), ZERO), [-1.0, 0.0])
    np.testing.assert_allclose(made.limit(np.array([-2.0, 1.0]), np.array([0.0, 2.55]), ZERO), [-2.0, 0.75])


def test_torque_changes_by_a_step_from_what_was_sent() -> None:
    made = guard()
    np.testing.assert_allclose(made.step, [2.0, 0.6])
    held = np.array([20.0, 5.0])
    made.start(held)
    np.testing.assert_allclose(made.send(np.array([3.0, -1.0]), held), [21.8, 4.4])
    np.testing.assert_allclose(made.send(np.array([-18.2, 1.0]), held), [19.8, 4.56])
    np.testing.assert_allclose(made.send(ZERO, held), held)


def test_the_mixture_of_a_law_survives_effort_and_rate() -> None:
    """One factor for all joints, whichever is at its limit. Gravity is not scaled; beyond the effort it is cut."""
    slow, quick = guard(), guard(1.0)
    for law in ([100.0, -3.0], [3.0, -100.0], [-70.0, 21.0], [10.0, -3.0]):
        wanted = np.array(law)
        for made in (slow, quick):
            made.start(ZERO)
            sent = made.send(wanted, ZERO)
            np.testing.assert_allclose(sent[0] * wanted[1], sent[1] * wanted[0], rtol=1e-12)
            assert (np.abs(sent) <= np.minimum(made.step, made.limits.effort) * (1 + 1e-12)).all()
    np.testing.assert_allclose(quick.send(np.array([10.0, -3.0]), ZERO), [10.0, -3.0])
    np.testing.assert_allclose(quick.send(np.array([1.0, 1.0]), np.array([60.0, -20.0])), [50.0, -15.0])


def test_with_the_mass_matrix_the_nearest_accelerations_are_sent() -> None:
    made, q = guard(), np.array([0.3, 0.9])
    wanted = np.array([-4.0, -0.5])
    sent = made.send(wanted, ZERO, mass(q))
    np.testing.assert_allclose(sent, nearest(wanted, -made.step, made.step, mass(q)))
    assert (np.abs(sent) <= made.step).all() and np.abs(sent - np.clip(wanted, -made.step, made.step)).max() > 0.1
    made.start(np.array([49.0, 0.0]))
    assert made.send(np.array([60.0, 0.0]), ZERO, mass(q))[0] == 50.0  # a step would be 2 N·m


def test_status_words() -> None:
    assert TickStatus.POSITION_JUMP.words == "position jump"
    assert [status.good for status in TickStatus] == [True, True] + 8 * [False]
    assert [int(status) for status in TickStatus] == list(range(10))  # logs hold the numbers


NEARING = Approach(np.array([2.0, 3.0]), np.array([0.2, 0.3]), np.array([-1.75, -0.06]), np.array([1.75, 2.65]))
"""Of the bench arm: at a way of 0.25 rad joint one may have 0.8 rad/s, at 0.09 rad 0.4 rad/s."""


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(
    "way, speed, share",
    [(0.25, 0.64, 1.0), (0.25, 0.65, 0.875), (0.25, 0.72, 0.0), (0.25, 0.76, -0.5), (0.25, 0.8, -1.0), (0.25, 1.4, -1.0),
     (0.25, 0.0, 1.0), (0.25, -1.2, 1.0), (0.16, 0.48, 1.0), (0.16, 0.54, 0.0),
     (1.75, 1.35, 0.5), (1.75, 1.5, 0.0), (1.75, 1.8, 0.0)],
)  # fmt: skip
def test_a_speed_limit_that_shrinks_towards_an_end_brakes(side: float, way: float, speed: float, share: float) -> None:
    made = Guard(bench_limits(approach=NEARING), 0.004)
    q, dq = np.array([side * (1.75 - way), 1.0]), np.array([side * speed, 0.0])
    for law in (BIG, ZERO):
        expected = min(share, law[0]) * 50.0 * side
        np.testing.assert_allclose(made.limit(side * law, q, dq)[0], expected, atol=1e-9)
    if speed >= 0.0:  # nothing is taken from the torque that brakes
        np.testing.assert_allclose(made.limit(-side * BIG, q, dq)[0], -50.0 * side)


def test_noise_of_a_joint_at_its_end_is_no_motion() -> None:
    made = Guard(bench_limits(approach=NEARING), 0.004)
    q = np.array([1.75, 1.0])
    assert made.limit(ZERO, q, np.array([0.045, 0.0]))[0] == pytest.approx(0.0)
    assert made.limit(ZERO, q, np.array([0.0475, 0.0]))[0] == pytest.approx(-25.0)


def test_the_braking_keeps_a_joint_below_the_shrinking_limit() -> None:
    """A law that keeps a joint of 3 kg·m² at a steady speed all the way: below the limit, which it would pass by itself."""
    beyond = {}
    for approach in (NEARING, None):
        made = Guard(bench_limits(approach=approach), 0.001)
        made.start(ZERO)
        angle, speed, worst = 0.0, 0.0, 0.0
        for _ in range(2000):
            state = np.array([angle, 1.0]), np.array([speed, 0.0])
            torque = made.send(made.limit(np.array([100.0 * (1.2 - speed), 0.0]), *state), ZERO)[0]
            speed += 0.001 * torque / 3.0
            angle += 0.001 * speed
            worst = max(worst, speed / min(1.5, NEARING.towards(NEARING.upper - angle)[0]))
        beyond[approach is None] = worst
    assert beyond[False] < 1.0 < 2.0 < beyond[True], beyond


def test_an_approach_without_sense_is_refused() -> None:
    for name, wrong in (("deceleration", 0.0), ("offset", np.nan), ("upper", -2.0), ("lower", np.inf)):
        with pytest.raises(InputError, match="an approach needs"):
            Approach(**{**vars(NEARING), name: np.array([wrong, 1.0])})


def test_a_stamp_before_the_last_one_is_of_another_clock() -> None:
    made = guard()
    assert made.judge(-5.0, ZERO, ZERO) is TickStatus.OK  # nothing was seen yet
    made.accept(1.0, ZERO, ZERO)
    for stamp, status in ((1.0 - 1e-9, TickStatus.STAMP_WENT_BACK), (1.0, TickStatus.OK), (1.0 + 1e-9, TickStatus.OK)):
        assert made.judge(stamp, ZERO, ZERO) is status
