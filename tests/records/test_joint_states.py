"""Joint states by name: the case P42 and its kind."""

from __future__ import annotations

import json
import time
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import Header, JointState

JOINTS = ("j1", "j2")


def message(stamp: float, names: object, *arrays: object) -> JointState:
    nanoseconds = round(stamp * 1e9)
    header = Header(0, (nanoseconds // 10**9, nanoseconds % 10**9), "")
    return JointState(header, tuple(names), *(np.array(array, dtype=float) for array in arrays))


def test_a_state_is_joined_from_partial_messages(shared: Path) -> None:
    lines = (shared / "cases" / "P42-partial-messages" / "messages.jsonl").read_text().splitlines()
    reader = JointStateReader(JOINTS)
    states = []
    for line in lines:
        data = json.loads(line)
        arrays = (data[key] for key in ("position", "velocity", "effort"))
        states.append(reader.offer(message(data["stamp"], data["name"], *arrays), data["stamp"], "/robot"))
    used = [state is not None for state in states]
    assert used == [True, True, False, True, True, False, False, False, True]
    complete = [state for state in states if state is not None and state.effort is not None and state.finite]
    assert len(complete) == 3
    assert states[1].effort is None and np.isnan(states[1].dq).all()
    np.testing.assert_array_equal(states[3].q, [0.13, 0.23])
    np.testing.assert_array_equal(states[3].effort, [1.1, 2.1])
    assert states[4].effort is None and states[4].finite
    assert reader.rejected == {"array length": 1, "j2 missing": 1, "zero stamp": 1}
    assert reader.ignored == {"another publisher's joints": 1}


def test_any_order_gives_the_same_state() -> None:
    reader = JointStateReader(JOINTS)
    random = np.random.default_rng(1)
    names = ["a", "j1", "b", "j2", "c"]
    for k in range(3000):
        order = list(random.permutation(5)) if k % 2 else sorted(range(5))
        values = np.array([9.0, 1.0, 9.0, 2.0, 9.0])[order]
        state = reader.offer(message(1 + 0.01 * k, np.array(names)[order].tolist(), values, -values, values))
        assert state is not None
        np.testing.assert_array_equal(state.q, [1.0, 2.0])
        np.testing.assert_array_equal(state.dq, [-1.0, -2.0])


def test_a_late_message_is_old_and_an_older_one_refused() -> None:
    reader = JointStateReader(JOINTS)
    values = ([0.0, 0.0],) * 3
    for k in range(10):
        state = reader.offer(message(100 + 0.01 * k, JOINTS, *values), 5 + 0.01 * k)
        assert state.age(5 + 0.01 * k) < 1e-3
    late = reader.offer(message(100.10, JOINTS, *values), 5.6)
    assert late.age(5.6) == pytest.approx(0.5, abs=0.01)
    assert reader.offer(message(100.05, JOINTS, *values), 5.61) is None
    assert reader.offer(message(100.10, JOINTS, *values), 5.62) is None
    assert reader.rejected == {"stamp not newer than the last one": 2}
    # A restarted robot may begin at any earlier time.
    assert reader.offer(message(50.0, JOINTS, *values), 6.0).age(6.0) == 0.0


def test_a_second_source_of_the_same_joints_is_refused_and_named() -> None:
    reader = JointStateReader(JOINTS)
    values = ([0.0, 0.0],) * 3
    assert reader.offer(message(1.0, JOINTS, *values), 1.0, "/robot") is not None
    assert reader.offer(message(1.01, JOINTS, *values), 1.01, "/other") is None
    assert reader.second_source == ("/robot", "/other")


def test_a_joint_named_twice_is_refused() -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(1.0, ("j1", "j2", "j2"), [0.0] * 3, [], [])) is None
    assert reader.rejected == {"a joint named twice": 1}


VALUES = ([0.0, 0.0],) * 3


@pytest.mark.parametrize("back, used", [(0.001, False), (0.999, False), (1.0, True), (1.001, True), (5.0, True)])
def test_a_stamp_a_second_back_is_a_restarted_robot(back: float, used: bool) -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(100.0, JOINTS, *VALUES), 5.0) is not None
    state = reader.offer(message(100.0 - back, JOINTS, *VALUES), 5.5)
    assert (state is not None) == used
    if used:
        assert state.delay == 0.0 and state.age(5.6) == pytest.approx(0.1)
        later = reader.offer(message(100.1 - back, JOINTS, *VALUES), 5.65)  # delays are those of the new clock
        assert later.delay == pytest.approx(0.05, abs=1e-3)


def test_a_stamp_that_goes_back_is_said() -> None:
    reader = JointStateReader(JOINTS)
    stamps = (100.0, 100.0, 100.05, 100.049, 100.09, 98.09, 98.1)
    for stamp, said in zip(stamps, ("", "", "", "0.001", "", "2.000", ""), strict=True):
        reader.offer(message(stamp, JOINTS, *VALUES), 5.0)
        assert reader.stepped == "" if not said else f"went back by {said} s: the robot was restarted" in reader.stepped
    reader.offer(message(90.0, ("x",), [0.0], [], []), 5.0)  # another publisher's
    assert reader.stepped == ""


def test_a_stamp_that_goes_ahead_of_the_quickest_message_is_said() -> None:
    for ahead, said in ((0.09, False), (0.11, True), (5.0, True)):
        reader = JointStateReader(JOINTS)
        reader.offer(message(100.0, JOINTS, *VALUES), 5.0)
        reader.offer(message(100.1, JOINTS, *VALUES), 5.4)  # late: the next one may catch up
        assert reader.stepped == ""
        reader.offer(message(100.5 + ahead, JOINTS, *VALUES), 5.5)
        assert (f"went ahead by {ahead:.3f} s" in reader.stepped) == said


@pytest.mark.parametrize("silence, used", [(0.5, False), (0.99, False), (1.0, True), (1.01, True)])
def test_another_source_may_take_over_after_a_second(silence: float, used: bool) -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(100.0, JOINTS, *VALUES), 5.0, "/one") is not None
    state = reader.offer(message(3.0, JOINTS, *VALUES), 5.0 + silence, "/two")
    assert (state is not None) == used and (reader.second_source is None) == used
    if used:
        assert state.delay == 0.0 and state.source == "/two"
    else:
        assert reader.rejected == {"second source of the arm's joints": 1}
        assert reader.offer(message(100.1, JOINTS, *VALUES), 6.0, "/one") is not None


def test_the_shortest_delay_is_forgotten_by_a_thousandth() -> None:
    """A robot's clock that falls behind by 0.5 ms/s makes no state old, one that falls behind by 10 ms/s does."""
    for drift, old in ((5e-4, False), (1e-2, True)):
        reader = JointStateReader(JOINTS)
        for k in range(1001):
            state = reader.offer(message(100 + 0.01 * k * (1 - drift), JOINTS, *VALUES), 5 + 0.01 * k)
        assert (state.delay > 0.05) == old and (old or state.delay < 1e-5)
        assert state.delay == pytest.approx(max(10 * (drift - 1e-3), 0.0), abs=1e-6)


def test_age_counts_from_the_measurement() -> None:
    reader = JointStateReader(JOINTS)
    reader.offer(message(100.0, JOINTS, *VALUES), 5.0)
    state = reader.offer(message(100.01, JOINTS, *VALUES), 5.04)
    assert state.delay == pytest.approx(0.03, abs=1e-4) and state.age(5.05) == pytest.approx(0.04, abs=1e-4)


@pytest.mark.parametrize(
    "position, velocity, effort, used",
    [(2, 2, 2, True), (2, 0, 2, True), (2, 2, 0, True), (1, 2, 2, False), (3, 2, 2, False), (2, 1, 2, False), (2, 2, 3, False),
     (0, 0, 0, False)],
)  # fmt: skip
def test_lengths(position: int, velocity: int, effort: int, used: bool) -> None:
    reader = JointStateReader(JOINTS)
    arrays = [[0.1] * count for count in (position, velocity, effort)]
    state = reader.offer(message(1.0, JOINTS, *arrays), 1.0)
    assert (state is not None) == used and (used or reader.rejected == {"array length": 1})
    if used:
        assert (state.effort is None) == (effort == 0) and state.finite == (velocity == 2)


def test_torques_that_are_not_finite_are_none() -> None:
    reader = JointStateReader(JOINTS)
    state = reader.offer(message(1.0, JOINTS, [0.1, 0.2], [0.0, 0.0], [np.nan, 1.0]), 1.0)
    assert state.effort is None and state.finite
    state = reader.offer(message(1.1, JOINTS, [0.1, np.nan], [0.0, 0.0], [1.0, 1.0]), 1.1)
    assert not state.finite and state.effort is not None
    state = reader.offer(message(1.2, JOINTS, [0.1, 0.1], [0.0, np.inf], [1.0, 1.0]), 1.2)
    assert not state.finite


def test_zero_stamps_are_refused_and_halves_are_not() -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(0.0, JOINTS, *VALUES), 1.0) is None and reader.rejected == {"zero stamp": 1}
    assert reader.offer(message(0.5, JOINTS, *VALUES), 1.0) is not None
    assert JointStateReader(JOINTS).offer(message(3.0, JOINTS, *VALUES), 1.0) is not None


def test_others_joints_are_ignored_and_a_part_is_rejected() -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(1.0, ("x",), [0.0], [], []), 1.0) is None
    assert reader.ignored == {"another publisher's joints": 1} and not reader.rejected
    assert reader.offer(message(1.0, ("x", "j2"), [0.0] * 2, [], []), 1.0) is None
    assert reader.rejected == {"j1 missing": 1}


@pytest.mark.parametrize(
    "source, later, rejected",
    [("/robot", 0.04, False), ("/robot", 0.06, True), ("/grippers", 0.06, False), ("/grippers", 2.0, False)],
)
def test_the_arms_own_source_that_does_not_name_it_any_more(source: str, later: float, rejected: bool) -> None:
    """Its messages of other joints are an addition as long as the arm's come too; another's always are."""
    reader = JointStateReader(JOINTS)
    reader.offer(message(1.0, JOINTS, *VALUES), 1.0, "/robot")
    assert reader.offer(message(1.0 + later, ("x",), [0.0], [], []), 1.0 + later, source) is None
    assert (reader.rejected == {"no joint of the arm named": 1}) == rejected == (not reader.ignored)


def test_many_orders_do_not_fill_the_memory() -> None:
    reader = JointStateReader(JOINTS)
    for k in range(1500):
        assert reader.offer(message(1.0 + k, (*JOINTS, f"x{k}"), [0.0] * 3, [], []), 1.0 + k) is not None
        assert len(reader._maps) == (k + 1 if k < 1001 else k - 1000)


def test_time_of_arrival_is_now_unless_told() -> None:
    state = JointStateReader(JOINTS).offer(message(1.0, JOINTS, *VALUES))
    assert 0.0 <= time.monotonic() - state.received < 5.0 and state.source == ""


def test_a_state_stays_what_it_is() -> None:
    state = JointStateReader(JOINTS).offer(message(1.0, JOINTS, *VALUES), 1.0)
    with pytest.raises(FrozenInstanceError):
        state.delay = 0.0
    assert len({state, replace(state)}) == 2  # each is itself: arrays have no one equality
