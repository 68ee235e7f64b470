"""Contacts that bounce: closed forms of a ball, a rod and a row of balls, derivatives, and that nothing gains energy."""

from __future__ import annotations

import numpy as np
import pytest
from support.made.bouncing import HEAVY, G, given, made
from support.touching import RADIUS


@pytest.mark.parametrize("h", [0.01, 0.0027])
@pytest.mark.parametrize("e", [0.5, 0.8, 1.0])
def test_a_ball_bounces_as_high_and_as_late_as_mechanics_says(e: float, h: float) -> None:
    r, top = made("ball"), 1.0
    P, PD = r.rollout([0, top + RADIUS, 0], np.zeros(3), np.zeros((round(1.7 / h), 3)), h=h, alpha=given(r, e))
    when = h * np.arange(len(P))
    fall = np.sqrt(2 * top / G)
    hits = np.cumsum([fall, *[2 * e**k * fall for k in range(1, 9)]])
    for n in range({0.5: 4, 0.8: 2, 1.0: 2}[e]):
        in_flight = (when > hits[n] + h) & (when < min(hits[n + 1], when[-1]))
        height, rate = P[in_flight, 1] - RADIUS, PD[in_flight, 1]
        assert in_flight.sum() > 3
        np.testing.assert_allclose(height + rate**2 / (2 * G), top * e ** (2 * n + 2), rtol=0, atol=1e-7)
        np.testing.assert_allclose(when[in_flight] - hits[n], (e ** (n + 1) * G * fall - rate) / G, rtol=0, atol=1e-6)


def test_a_ball_comes_to_rest() -> None:
    r = made("ball")
    P, PD = r.rollout([0, 0.2 + RADIUS, 0], np.zeros(3), np.zeros((200, 3)), h=0.01, alpha=given(r, 0.6))
    assert abs(PD[-1]).max() < 1e-6
    assert abs(P[-1, 1] - RADIUS) < 1e-7


def test_a_gradient_knows_of_the_time_of_bounces() -> None:
    """Height after two bounces by the height of the fall: a step that only changed rates at its end would say nothing of it."""
    r, e, h, steps = made("ball"), 0.8, 0.01, 100
    alpha = given(r, e)

    def height(top: float, e: float) -> float:
        t, v = steps * h - np.sqrt(2 * top / G), e * np.sqrt(2 * top * G)
        while t > 2 * v / G:
            t, v = t - 2 * v / G, e * v
        return float(v * t - G * t * t / 2)

    P, _ = r.rollout([0, 1.0 + RADIUS, 0], np.zeros(3), np.zeros((steps, 3)), h=h, alpha=alpha)
    assert P[-1, 1] - RADIUS == pytest.approx(height(1.0, e), abs=1e-6)
    bar = np.zeros((steps + 1, 3))
    bar[-1, 1] = 1.0
    v = r.vjp_rollout(
        [0, 1.0 + RADIUS, 0], np.zeros(3), np.zeros((steps, 3)), P_bar=bar, PD_bar=0 * bar, h=h, alpha=alpha
    )
    d = 1e-6
    assert v.p0_bar[1] == pytest.approx((height(1 + d, e) - height(1 - d, e)) / (2 * d), abs=1e-4)
    by_e = v.alpha_bar[r.alpha.names.index("contact.restitution.ball")]
    assert by_e == pytest.approx((height(1, e + d) - height(1, e - d)) / (2 * d), abs=1e-4)


@pytest.mark.parametrize("e", [0.7, 1.0])
def test_balls_in_a_row(e: float) -> None:
    """They meet one after another, the last one the wall, and again: rates and places in closed form."""
    r, h = made("row"), 0.003
    x, v, t, end = np.array([0.0, 0.25, 0.5, 0.75]), np.array([2.0, 0.0, 0.0, 0.0]), 0.0, 0.6
    P, PD = r.rollout(x, v, np.zeros((round(end / h), 4)), h=h, alpha=given(r, e))
    m, hits = np.array([*HEAVY, np.inf]), 0
    while True:
        rates = -np.diff([*v, 0.0])
        gaps = np.diff([*x, 1.2 + RADIUS]) - 2 * RADIUS
        wait = np.where(rates > 1e-12, gaps / np.where(rates > 1e-12, rates, 1), np.inf)
        k = int(np.argmin(wait))
        if t + wait[k] > end:
            break
        x, t, hits = x + v * wait[k], t + wait[k], hits + 1
        push = (1 + e) * rates[k] / (1 / m[k] + 1 / m[k + 1])
        v[k] -= push / m[k]
        if k + 1 < len(v):
            v[k + 1] += push / m[k + 1]
    assert hits >= 5
    np.testing.assert_allclose(PD[-1], v, rtol=0, atol=1e-6)
    np.testing.assert_allclose(P[-1], x + v * (end - t), rtol=0, atol=1e-6)


@pytest.mark.parametrize("e", [0.6, 0.95])
def test_a_spinning_rod(e: float) -> None:
    """Its tip meets the table: Newton's law there, at the pose of the impact; the step knows that of its start, so the error is
    of first order, 1.1 m/s (or rad/s) a second of step at most."""
    r, turn, v = made("smooth_rod"), 0.5, np.array([0.3, -1.0, 2.0])
    alpha, at = given(r, e, gravity__z=0.0), np.array([0.0, np.sin(turn) + 0.02, turn])
    k = int(np.argmin(abs(r.contact_gap(at))))
    J = np.reshape(r.contact_jacobian(at), (-1, 3, 3))[k, 0]
    back = J / [1.0, 1.0, 1 / 3]
    wanted = v - back * (1 + e) * (J @ v) / (J @ back)
    errors = []
    for h in (0.01, 0.005, 0.0025):
        ends = []
        for phase in np.linspace(0, 1, 7)[:-1]:
            ends.append(r.rollout(at - v * (0.03 + phase * h), v, np.zeros((round(0.08 / h), 3)), h=h, alpha=alpha)[1])
        errors.append(max(abs(PD[-1] - wanted).max() for PD in ends))
        assert max(np.diff(PD**2 @ [0.5, 0.5, 1 / 6]).max() for PD in ends) < 1e-6
        assert errors[-1] <= 1.1 * h
    ratios = [one / other for one, other in zip(errors, errors[1:], strict=False)]
    assert all(1.7 < ratio < 2.7 for ratio in ratios), errors


def test_energy_between_floor_and_ceiling() -> None:
    """With e = 1 it is kept, also where gravity works while the ball is thrown back down."""
    r, h = made("between"), 0.01
    P, PD = r.rollout([0, 0.3, 0], [0, 4.0, 0], np.zeros((300, 3)), h=h, alpha=given(r, 1.0))
    energy = G * P[:, 1] + PD[:, 1] ** 2 / 2
    assert np.count_nonzero(np.diff(np.sign(PD[:, 1]))) > 20
    assert abs(energy - energy[0]).max() < 1e-6


def test_without_restitution_nothing_changes() -> None:
    """A contact whose restitution is 0 ends a step where one without that entry does."""
    p, pd = [0, 0.1 + 1e-3, 0], [1.0, -2.0, 3.0]
    own = made("rod").rollout([0, 0.3, 0.2], pd, np.zeros((80, 3)), h=0.01, alpha=given(made("rod"), 0.0))
    plain = made("rod", None).rollout([0, 0.3, 0.2], pd, np.zeros((80, 3)), h=0.01, alpha={"contact.slip": 1e-7})
    for one, other in zip(own, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
    assert np.array_equal(
        made("ball").joint_step(p, pd, np.zeros(3), alpha=given(made("ball"), 0.0))[1],
        made("ball", None).joint_step(p, pd, np.zeros(3), alpha={"contact.slip": 1e-7})[1],
    )
