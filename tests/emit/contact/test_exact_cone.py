"""`--cone exact`: what sticks does not creep; derivatives are those of the step at a slip of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made.exact_cone import FRICTION, START, G, H, made
from support.touching import MASS


def leaning(share: float) -> Any:
    """Gravity that pulls the box along the table by that share of what friction holds."""
    slope = np.arctan(share * FRICTION)
    return {"gravity.x": G * np.sin(slope), "gravity.z": -G * np.cos(slope)}


def rolled(cone: str, share: float) -> tuple[Any, Any]:
    P, PD = made(cone).rollout(START, np.zeros(6), np.zeros((100, 6)), h=H, alpha=leaning(share))
    return P, PD


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_what_sticks_does_not_creep(share: float) -> None:
    """By the law, 2 slip (load/f) r/(1 − r²) for equal corners; 99 % of the cone with the default load: a thousandth of a
    millimetre in a second, where the smooth cone goes millimetres."""
    creep = {cone: abs(rolled(cone, share)[1][-1, 0]) for cone in ("smooth", "exact")}
    slip = 2 * share / (1 - share**2) * 10.0 / (MASS * G / 4)
    assert creep["exact"] < 3 * slip * 1e-9
    assert creep["exact"] * 5e3 < creep["smooth"] < 3 * slip * 1e-5


def test_it_slides_beyond_the_cone() -> None:
    P, PD = rolled("exact", 1.1)
    pull = leaning(1.1)
    wanted = pull["gravity.x"] + FRICTION * pull["gravity.z"]
    assert PD[-1, 0] == pytest.approx(wanted * H * 100, abs=1e-6)
    assert P[-1, 0] == pytest.approx(wanted / 2, abs=1e-5)


def test_a_gradient_is_that_of_the_law() -> None:
    exact = made("exact")
    steps, bar = 40, np.zeros((41, 6))
    bar[-1, 0] = 1.0
    speed = np.array([1.0, 0, 0, 0, 0, 0])
    v = exact.vjp_rollout(START, speed, np.zeros((steps, 6)), P_bar=bar, PD_bar=0 * bar, h=H)
    assert v.pd0_bar[0] == pytest.approx(1.0 / (FRICTION * G), rel=0.02)  # of the way to rest, v²/(2 μ g)
