"""Q22: a load that nobody told is said at the end of a run; nothing is where the robot knows all that it carries."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from support.arms.lone_fr3 import Lone, lone

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.simulator import Payload
from diffpbd.runtime.loop.beside import Beside
from diffpbd.runtime.loop.reflexes import Reflex

from .conftest import LAWS, drive

UNKNOWN = 0.8
"""kg"""


@pytest.fixture(scope="module")
def burdened(fr3: Robot) -> Iterator[Lone]:
    with lone(fr3, payload=Payload(UNKNOWN)) as robot:
        yield robot


def test_a_load_that_nobody_told(burdened: Lone) -> None:
    ran = drive(burdened, LAWS["impedance"], rate=250.0, share=0.5, duration=3.5)
    assert ran.report.exit_code == 0
    said = ran.report.remark
    assert said in str(ran.report) and said == ran.report.facts()["remark"]
    held = re.search(r"fr3_joint4 by (-?[\d.]+) N·m.* like ([\d.]+) kg at its tip, up to ([\d.]+) rad beside", said)
    assert held is not None, said
    assert abs(float(held[1])) == pytest.approx(4.07, abs=0.8) and float(held[2]) == pytest.approx(UNKNOWN, abs=0.15)


@pytest.mark.thorough
def test_a_load_that_sinks_to_a_stop(burdened: Lone) -> None:
    ran = drive(burdened, LAWS["gravity"], rate=250.0, share=0.5, duration=20.0)
    assert ran.report.reflex is Reflex.POSITION and "kg at its tip" in ran.report.remark


@pytest.mark.thorough
def test_nothing_is_said_of_a_load_that_is_known(alone: Lone) -> None:
    ran = drive(alone, LAWS["impedance"], rate=250.0, share=0.5, duration=3.0)
    assert ran.report.exit_code == 0 and ran.report.remark == ""


def test_what_is_like_no_load() -> None:
    """The bars from both sides."""

    def words(external: list[float], dq: float = 0.0, seconds: float = 2.5) -> str:
        beside = Beside(("a", "b"), np.array([100.0, 50.0]))
        beside.load = lambda q: np.array([10.0, 5.0])
        for stamp in np.arange(0.0, seconds, 0.05):
            beside.add(float(stamp), np.zeros(2), np.array([dq, 0.0]), np.array(external), None)
        return beside.words

    assert "a by 5.0 N·m, b by 2.5 N·m, like 0.50 kg" in words([-5.0, -2.5])
    assert words([-5.0, 2.5]) == words([5.0, 2.5]) == ""  # no weight does that
    assert words([-3.05, -1.5]) != "" == words([-2.95, -1.4])  # 0.3 kg
    assert words([-1.4, -0.5]) == ""
    assert words([-5.0, -0.5]) == "" != words([-5.0, -1.3])
    assert words([-5.0, -2.5], dq=1.1) == words([-5.0, -2.5], seconds=1.0) == "" != words([-5.0, -2.5], seconds=1.1)
