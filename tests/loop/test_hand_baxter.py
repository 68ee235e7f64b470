"""The arm with its hand: the generated `baxter`, against an arm of the same description."""

from __future__ import annotations

import pytest

from diffpbd.runtime.loop.stopping import Reason

pytest.importorskip("pinocchio")

from .baxter_runs import REST, check_account, executed, run_of

GRAVITY = {"name": "gravity", "damping": [1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1]}


def test_the_hand_is_carried() -> None:
    run, arm, _ = run_of(GRAVITY, 250.0, 0.8, name="baxter")
    report = executed(run)
    check_account(arm)
    assert report.reason is Reason.FINISHED and report.sent > 100
    assert max(abs(a - b) for a, b in zip(arm.q, REST, strict=True)) < 0.02
