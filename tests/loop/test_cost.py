"""Cost of a tick, by the processor's time of its thread, beside a measure taken between the ticks of the same run."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
import pytest
from support.arms.bench import Bench
from support.arms.sensors import Filtered

from diffpbd.runtime.loop.decision import Decision
from diffpbd.runtime.loop.observer import BETWEEN
from diffpbd.runtime.loop.run import Run
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import Header, JointState

pytest.importorskip("pinocchio")

from support.reality.baxter_runs import executed, run_of

RATE, SECONDS = 1000.0, 1.0
IMPEDANCE: dict[str, Any] = {
    "name": "impedance", "stiffness": [30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0],
    "damping": [4.0, 4.0, 2.0, 2.0, 0.3, 0.3, 0.3], "goal": [0.3, -0.4, None, 1.1, None, None, None], "goal_speed": 0.2,
}  # fmt: skip
TOGETHER = 2 * round(BETWEEN * RATE)
"""Ticks of which the mean is taken: what is done now and then is in each such mean as often as in the run."""
MOST = {"tick": 6.5, "stop": 9.0, "state": 0.7}
"""Times the measure: a third more than is seen. With NumPy on seven numbers at every step it was 8.1, and 0.92 for a state."""


def measure() -> None:
    """Forty additions of seven numbers by NumPy, and their sums in Python: the work of which a tick is made."""
    one, other = np.ones(7), np.full(7, 0.5)
    for _ in range(40):
        one = one + other
        sum(one.tolist())


def timed(work: Callable[[], object]) -> float:
    begin = thread_time()
    work()
    return thread_time() - begin


class Timed(Run):
    """Takes the time of each tick and of the measure beside it, and of the stop's commands."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.ticks: list[float] = []
        self.stops: list[float] = []
        self.measures: list[float] = []
        self._braked, self.supervisor.brake = self.supervisor.brake, self._brake  # type: ignore[method-assign]

    def _tick(self, now: float, due: float) -> None:
        self.ticks.append(timed(lambda: super(Timed, self)._tick(now, due)))
        self.measures.append(timed(measure))

    def _brake(self, *args: Any, **named: Any) -> Decision:
        begin = thread_time()
        decision = self._braked(*args, **named)
        self.stops.append(thread_time() - begin)
        return decision


def quickest(times: list[float]) -> float:
    """The least mean of TOGETHER in a row [s]: what other programs do to the processor only adds."""
    rows = np.array(times[: len(times) // TOGETHER * TOGETHER]).reshape(-1, TOGETHER)
    return float(rows.mean(axis=1).min())


def test_a_tick_costs_little() -> None:
    run, _, _ = run_of(IMPEDANCE, RATE, SECONDS, bench=Bench(fault=Filtered()), kind=Timed)
    report = executed(run)
    assert report.reason is Reason.FINISHED, report
    for name, times in (("tick", run.ticks), ("stop", run.stops)):
        share = quickest(times) / quickest(run.measures)
        print(f"a {name}: {1e3 * quickest(times):.3f} ms, {share:.2f} times the measure")
        assert share < MOST[name], name


def test_a_state_costs_little() -> None:
    """Its bytes as ROS 1 sends them, with the joints of the whole robot, to the arm's state."""
    arm = tuple(f"left_{joint}" for joint in ("s0", "s1", "e0", "e1", "w0", "w1", "w2"))
    names = tuple(sorted((*arm, *(name.replace("left", "right") for name in arm), "head_nod", "head_pan", "torso_t0")))
    values = np.linspace(-1.0, 1.0, len(names))
    reader = JointStateReader(arm)
    states, measures = [], []
    for k in range(20 * TOGETHER):
        data = JointState(Header(k, (5, 1_000_000 * k), ""), names, values, values, values).encode()
        states.append(timed(lambda: reader.offer(JointState.decode(data), 1e-3 * k)))  # noqa: B023 it is called at once
        measures.append(timed(measure))
    assert not reader.rejected
    share = quickest(states) / quickest(measures)
    print(f"a state: {1e3 * quickest(states):.3f} ms, {share:.2f} times the measure")
    assert share < MOST["state"]
