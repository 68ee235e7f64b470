from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
from support.motions import samples
from support.robots import loaded

from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.result.result import Estimate
from diffpbd.runtime.report.identification import page
from diffpbd.runtime.report.identification_text import at_bound
from diffpbd.runtime.report.svg import Curve, lines

TRUTH = {"friction.coulomb.elbow": 0.2, "torque_offset.shoulder": 0.7}


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing() -> None:
    robot = loaded("double_pendulum")
    runs = samples(robot, TRUTH, noise=0.01, still=["shoulder"])
    for held in ([], samples(robot, TRUTH, "held & <out>", seed=3)):
        text = page(identify(robot, runs, ["friction"], validate=held))
        reader = Balanced()
        reader.feed(text)
        assert reader.open == []
        for what in ("position [rad]", "speed [rad/s]"):
            assert text.count(f">{what}<") == robot.n, what
        assert not re.search(r"https?:|src=|@import|<script|<link", text)
        for word in (
            "friction.viscous.elbow",
            "N·m·s/rad",
            "joint shoulder never moved",
            "autocorrelation",
            "lower bound",
        ):
            assert word in text
        assert ("held &amp; &lt;out&gt;" in text) == bool(held)
        assert "nan" not in text
        assert text.count("<svg") == 5 * robot.n


def test_peaks_survive_thinning_and_constants_are_drawn() -> None:
    y = np.zeros(20000)
    y[12345] = 7.0
    text = lines([Curve(np.arange(20000.0), y, "#000")], "x", "y")
    assert len(text) < 40000 and text.count(",8.") + text.count(",14.") >= 1
    flat = lines([Curve(np.arange(3.0), np.full(3, 2.0), "#000")], "x", "y")
    assert "nan" not in flat and "inf" not in flat


def test_a_bound_of_friction_in_both_directions_says_in_which_there_is_none() -> None:
    def found(**bounds: str) -> list[str]:
        names = ("friction.coulomb.a", "friction.coulomb_asymmetry.a", "friction.viscous.a")
        estimates = [Estimate(name, 0.0, 0.1, "N·m", bounds.get(name.replace(".", "_"))) for name in names]
        return [at_bound(e, estimates) for e in estimates]

    assert found() == ["", "", ""]
    assert found(friction_coulomb_a="lower") == ["none in the positive direction", "", ""]
    assert found(friction_coulomb_asymmetry_a="lower")[1] == "none in the negative direction"
    assert found(friction_viscous_a="lower")[2] == "at its lower bound"
    alone = Estimate("friction.coulomb.a", 0.0, 0.1, "N·m", "lower")
    assert at_bound(alone, [alone, Estimate("friction.coulomb_asymmetry.a", 0.1, None, "N·m")]) == "at its lower bound"
