"""A loop in real time: ticks when they are due, and those that were missed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from diffpbd.runtime.base import latency


def test_a_long_tick_makes_up_for_those_it_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds + 1e-5))
    monkeypatch.setattr(latency, "clock", clock)
    loop, seen = latency.RealTime(), []
    for time in loop.ticks(0.01):
        seen.append(round(time - 5.0, 3))
        if len(seen) == 2:
            now[0] += 0.035
        if len(seen) == 4:
            loop.stop.set()
    assert seen == [0.01, 0.02, 0.055, 0.06]
    assert loop.skipped == 2 and loop.lateness.count == 4 and loop.lateness.maximum == pytest.approx(0.005, abs=1e-4)
