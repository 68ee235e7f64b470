"""Bounded reuse of plans: the case P61 and its kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.mpc.plan import PlanReuse, PlanSource

FALL_BACK = np.array([-1.0])


def test_forty_failures_in_a_row_do_not_lock_up(shared: Path) -> None:
    data = json.loads((shared / "cases" / "P61-mpc-lockup" / "replay.json").read_text())
    period = data["period_ms"] / 1000
    reuse = PlanReuse(reuse=data["max_consecutive_failures"])
    warm_at, sources, times = {}, {}, []
    for entry in data["solver"]:
        tick = entry["tick"]
        now = tick * period  # the clock, whatever the solver did: reference time is read off it
        times.append(now)
        warm_at[tick] = reuse.warm
        if entry["solver_status"] == "Solve_Succeeded":
            plan = tick + 0.01 * np.arange(20.0)[:, None]
            sources[tick], torque = reuse.success(now, plan, warm=("primal", "dual", tick))
        else:
            sources[tick], torque = reuse.failure(now, period, FALL_BACK)
        if sources[tick] is PlanSource.SHIFTED:
            assert torque == pytest.approx(19 + 0.01 * (tick - 19))
        elif sources[tick] is PlanSource.FALL_BACK:
            assert torque is FALL_BACK
    failed = [e["tick"] for e in data["solver"] if e["solver_status"] != "Solve_Succeeded"]
    assert len(failed) == 40 and failed[0] == 20
    assert [sources[tick] for tick in failed[:5]] == [PlanSource.SHIFTED] * 5
    assert {sources[tick] for tick in failed[5:]} == {PlanSource.FALL_BACK}
    assert warm_at[25] is not None and all(warm_at[tick] is None for tick in failed[6:])
    after = failed[-1] + 1
    assert warm_at[after] is None and sources[after] is PlanSource.SOLVED
    assert warm_at[after + 1] == ("primal", "dual", after)
    assert reuse.total_failures == 40 and reuse.failures == 0
    assert reuse.last_success == times[-1]


def test_a_short_plan_is_not_read_beyond_its_end() -> None:
    reuse = PlanReuse()
    reuse.success(0.0, np.array([[1.0], [2.0]]), warm=1)
    assert reuse.failure(0.02, 0.02, FALL_BACK)[1] == 2.0
    assert reuse.failure(0.04, 0.02, FALL_BACK) == (PlanSource.FALL_BACK, FALL_BACK)


def test_a_plan_that_is_not_finite_is_no_success() -> None:
    with pytest.raises(InputError, match="not finite"):
        PlanReuse().success(0.0, np.array([[np.nan]]), warm=1)
