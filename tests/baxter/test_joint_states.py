"""Joint states by name: the case P42 and its kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.ros1.joint_states import JointStateReader
from diffpbd.runtime.ros1.messages import Header, JointState

JOINTS = ("j1", "j2")


def message(stamp: float, names: object, *arrays: object) -> JointState:
    nanoseconds = round(stamp * 1e9)
    header = Header(0, (nanoseconds // 10**9, nanoseconds % 10**9), "")
    return JointState(header, tuple(names), *(np.array(array, dtype=float) for array in arrays))


def test_partial_messages(shared: Path) -> None:
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
    assert reader.second_source == "/robot and /other"


def test_a_joint_named_twice_is_refused() -> None:
    reader = JointStateReader(JOINTS)
    assert reader.offer(message(1.0, ("j1", "j2", "j2"), [0.0] * 3, [], [])) is None
    assert reader.rejected == {"a joint named twice": 1}
