"""Deadlines: what a loop may miss, and what ends it, by a clock that only the loop moves."""

from __future__ import annotations

import pytest
from support.arms.bench import BenchArm
from support.arms.bench_runs import check, run

from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason


class SlowArm(BenchArm):
    """Takes time for what it sends: `slow` [s] by the number of the command in the run phase."""

    def __init__(self, slow) -> None:
        super().__init__()
        self.slow, self.count = slow, 0

    def transmit(self, mode, values) -> None:
        super().transmit(mode, values)
        if self.in_run():
            self.count += 1
            self.advance(self.slow(self.count))


@pytest.mark.parametrize("work, late", [(0.0045, True), (0.0035, False)])
def test_a_loop_that_misses_its_deadlines_ends(work: float, late: bool) -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: work), duration=2.0)
    check(arm)
    assert (report.reflex is Reflex.LATENESS) == late and report.exit_code == (29 if late else 0)
    if late:  # every second period is missed: 0.3 of the time beyond the allowed fifth
        assert arm.last_law - arm.begun == pytest.approx(0.2 / 0.3, abs=0.02)
        assert report.overruns == pytest.approx(0.5 * (0.2 / 0.3) / 0.004, abs=3)


def test_a_fifth_of_the_deadlines_may_be_missed() -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: 0.0045 if k % 5 == 0 else 0.0), duration=2.0)
    assert report.reason is Reason.FINISHED and report.overruns > 50


@pytest.mark.parametrize("pause, paused", [(0.096, False), (0.108, True)])
def test_a_pause_ends_the_run(pause: float, paused: bool) -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: pause if k == 100 else 0.0))
    check(arm)
    assert (report.reason is Reason.PAUSED) == paused and report.phase is Phase.RUN
