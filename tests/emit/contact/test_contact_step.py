"""Steps in contact, compiled, against closed forms of mechanics."""

from __future__ import annotations

import numpy as np
import pytest
from support.made.block import G, H, alpha_of, rest, robot
from support.touching import MASS, RADIUS


@pytest.mark.parametrize("h", [0.02, 0.01, 0.005, 0.0025])
def test_a_block_slides_as_far_as_friction_lets_it(h: float) -> None:
    mu = 0.5
    v = 30 * mu * G * 0.01  # it stops at the end of a step, whatever h
    P, PD = robot("block").rollout([0, 0, rest(mu, h)], [v, 0, 0], np.zeros((round(0.6 / h), 3)), h=h)
    assert P[-1, 0] == pytest.approx(v * v / (2 * mu * G), abs=1e-5)
    assert np.abs(PD[-1]).max() < 1e-12
    assert P[:, 2].min() >= -0.5 * h * mu * 1e-5


def test_a_block_that_stops_within_a_step_falls_short_by_what_the_step_knows() -> None:
    """Within its last step of deceleration a = μ g it moves by nothing or by h (v − a h/2), not by v²/(2 a): short by a h²/8 at
    most. It goes on by slip a second at most while it slides."""
    rng, short = np.random.default_rng(0), 0.0
    for h in (0.01, 0.0025):
        for _ in range(15):
            mu, v = rng.uniform(0.2, 1.0), rng.uniform(0.3, 3.0)
            a, steps = mu * G, round(v / (mu * G * h)) + 20
            alpha = alpha_of(robot("block"), contact__friction__block=mu)
            P, _ = robot("block").rollout([0, 0, rest(mu, h)], [v, 0, 0], np.zeros((steps, 3)), h=h, alpha=alpha)
            off = P[-1, 0] - v * v / (2 * a)
            assert -a * h * h / 8 - 1e-7 < off < 1.1e-5 * v / a + 1e-7
            short = max(short, -off / (a * h * h / 8))
    assert short > 0.7


@pytest.mark.parametrize("angle", [5.0, 20.0])
def test_what_sticks_on_an_incline_creeps_by_the_formula(angle: float) -> None:
    r, mu, slip, load = robot("block"), 0.5, 1e-5, 10.0
    tilt = np.radians(angle)
    alpha = alpha_of(r, gravity__x=G * np.sin(tilt), gravity__z=-G * np.cos(tilt))
    _, PD = r.rollout(np.zeros(3), np.zeros(3), np.zeros((100, 3)), h=H, alpha=alpha)
    share = np.tan(tilt) / mu
    assert PD[-1, 0] == pytest.approx(2 * slip * load / (MASS * G * np.cos(tilt)) * share / (1 - share**2), rel=1e-6)


def test_a_steep_incline_lets_go() -> None:
    r, tilt, time = robot("block"), np.radians(40.0), 0.5
    alpha = alpha_of(r, gravity__x=G * np.sin(tilt), gravity__z=-G * np.cos(tilt))
    P, _ = r.rollout([0, 0, 2e-8], np.zeros(3), np.zeros((50, 3)), h=H, alpha=alpha)
    assert P[-1, 0] == pytest.approx(0.5 * G * (np.sin(tilt) - 0.5 * np.cos(tilt)) * time**2, rel=2e-4)


def test_a_drop_loses_its_rate_and_never_sinks_in() -> None:
    r = robot("block")
    P, PD = r.rollout([0, 0, 0.3], [0.2, 0, 0], np.zeros((100, 3)), h=H)
    flight = np.arange(1, 20) * H
    np.testing.assert_allclose(P[1:20, 2], 0.3 - 0.5 * G * flight**2, atol=1e-7)
    assert P[:, 2].min() > -0.5 * H * 0.5 * 1e-5 and P[-1, 2] == pytest.approx(rest(0.5, H), rel=1e-3)
    assert np.abs(PD[-1]).max() < 1e-10
    energy = np.array([sum(r.energy(*state)) for state in zip(P, PD, strict=True)])
    assert np.diff(energy).max() < 1e-6


def test_a_sliding_ball_rolls_at_five_sevenths() -> None:
    r, v = robot("ball"), 2.0
    names = [j.name for j in r.manifest.robot.joints]
    found = []
    for h in (0.01, 0.005):
        p, pd = np.zeros(r.n), np.zeros(r.n)
        p[1], pd[0] = RADIUS + rest(0.2, h), v
        P, PD = r.rollout(p, pd, np.zeros((round(0.8 / h), r.n)), h=h)
        found.append(PD[-1, 0])
        assert P[:, 1].min() >= RADIUS - 0.5 * h * 0.2 * 1e-5
        assert abs(PD[-1, 0]) == pytest.approx(RADIUS * abs(PD[-1, 2]), abs=3e-5)
    assert found[1] == pytest.approx(v * 5 / 7, abs=2e-5), (found, names)
