"""No stop without a reason on the simulated FR3: four laws with noisy, filtered speeds, in lock-step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.arms.faulty_franky import FaultyRobot, State
from support.arms.lone_fr3 import Lone
from support.arms.sensors import Filtered

from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.loop.stopping import Reason

from .conftest import LAWS, drive

LONG, SHORT = 600.0, 1.5  # s
TURNING: dict[str, Any] = LAWS["impedance"] | {"goal": [0.6, *[None] * 6], "goal_speed": 0.3}
CASES: dict[str, tuple[dict[str, Any], float]] = {
    "gravity": (LAWS["gravity"], 1000.0),
    "impedance": (TURNING, 1000.0),
    "cartesian": (LAWS["cartesian"] | {"offset": [0.03, -0.04, 0.02]}, 500.0),
    "mpc": (LAWS["mpc"] | {"goal": [0.3, *[None] * 6], "goal_speed": 0.2}, 250.0),
}
"""Each law with its rate [Hz]."""


def noisy(alone: Lone) -> FaultyRobot:
    """The robot behind sensors like those of physical arms; franky's own are exact."""
    sensors, faulty = Filtered(lag=2e-3, noise=1e-3), FaultyRobot(alone.driver)

    def change(raw: Any) -> State:
        return State(raw, dq=sensors({"stamp": alone.clock.now(), "dq": np.array(raw.dq)})["dq"])

    faulty.change = change
    return faulty


@pytest.mark.thorough("gravity", "impedance", "mpc")
@pytest.mark.parametrize("name", list(CASES))
def test_no_stop_without_a_reason(
    alone: Lone, name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    law, rate = CASES[name]
    expected = ImpedanceController.expected
    monkeypatch.setattr(
        ImpedanceController, "expected", lambda self, t: expected(self, 1.0 - np.cos(1.5 * t))
    )  # to and fro
    seconds = LONG if request.config.getoption("--soak") else SHORT
    arm = alone.arm(limits_of(alone.robot, torque_share=0.5), wrapped=noisy(alone))
    ran = drive(alone, law, arm=arm, rate=rate, share=0.5, duration=seconds)
    report = ran.report
    assert report.reason is Reason.FINISHED, str(report)
    assert all(status.good for status in report.counts), report.counts
    assert report.ticks >= 0.99 * rate * seconds
    if name != "gravity":  # without friction, gravity compensation may drift
        assert np.ptp(ran.q, axis=0).max() > 0.05
