"""Gradients through rollouts in contact, by everything that a plan or a fit changes, and what a plan by them is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.made.block import G, alpha_of, rest, robot

from diffpbd.runtime import Robot

H = 0.01


def stop_slope_error(speed: float, slip: float, h: float) -> float:
    """[1] What the rollout's gradient says of a block's way to rest by its speed, of v/(μ g) too much."""
    r, mu = robot("block"), 0.5
    steps = round(speed / (mu * G) / h) + 20
    seeds = np.zeros((2, steps + 1, 3))
    seeds[0, -1, 0] = 1.0
    start = [0.0, 0.0, rest(mu, h, slip)], [speed, 0.0, 0.0]
    alpha = alpha_of(r, contact__slip=slip)
    bars = r.vjp_rollout(*start, np.zeros((steps, 3)), h=h, alpha=alpha, P_bar=seeds[0], PD_bar=seeds[1])
    return float(bars.pd0_bar[0] / (speed / (mu * G)) - 1.0)


def test_stop_distance_by_speed() -> None:
    """Within 1 % at a slip of 1e-3 m/s; softer it is that of another friction, harder it is that of the last step's place."""

    def worst(slowest: float, slip: float, h: float) -> float:
        return max(abs(stop_slope_error(speed, slip, h)) for speed in np.linspace(slowest, 2.0, 15))

    assert worst(0.6, 1e-3, 0.01) < 0.01 and worst(0.3, 1e-3, 0.005) < 0.01
    assert worst(0.6, 1e-2, 0.01) > 0.01 and worst(0.6, 1e-5, 0.01) > 0.01


def ends(P: Any, PD: Any) -> Any:
    return np.array([P[-1, 0], P[-1, 1], 2 * P[-1, 6], PD[-1, 0], PD[-1, 1]])


def planned(r: Robot, goal: Any, slips: Any) -> tuple[Any, dict[float, float]]:
    """Forces at six knots that slide a resting box to a goal by Gauss-Newton through the rollout, slip after slip; how far off
    [m] it rests by the forces of each slip at 1e-7 m/s."""
    t = np.arange(40) * H
    shape = np.array([np.clip(1 - np.abs(t - k) / 0.125, 0, 1) * (t <= 0.25) for k in (0.0, 0.125, 0.25)])
    start, own = np.r_[0, 0, 0.05 + 1e-5, 1, 0, 0, 0], {f"contact.load.corner_{k}": 2.45 for k in range(1, 5)}

    def run(x: Any, slip: float) -> Any:
        U = np.zeros((40, 6))
        U[:, :2] = (x.reshape(2, 3) @ shape).T
        return U, *r.rollout(start, np.zeros(6), U, h=H, alpha={**own, "contact.slip": slip})

    def left(x: Any, slip: float) -> Any:
        return np.r_[ends(*run(x, slip)[1:]) - goal, 1e-4 * x]

    def by(x: Any, slip: float) -> Any:
        U, _, _ = run(x, slip)
        rows = []
        for k in (0, 1, 5, 6, 7):  # place and yaw, rates along the table
            seeds = np.zeros((2, 41, 6))
            seeds[k // 6, -1, k % 6] = 1.0
            alpha = {**own, "contact.slip": slip}
            bars = r.vjp_rollout(start, np.zeros(6), U, h=H, alpha=alpha, P_bar=seeds[0], PD_bar=seeds[1])
            rows.append((shape @ bars.U_bar[:, :2]).T.ravel())
        return np.vstack([rows, 1e-4 * np.eye(6)])

    x, off = np.zeros(6), {}
    for slip in slips:
        x = least_squares(left, x, by, args=(slip,), method="lm").x
        assert np.linalg.norm((ends(*run(x, slip)[1:]) - goal)[:2]) < 2e-5
        off[slip] = float(np.linalg.norm((ends(*run(x, 1e-7)[1:]) - goal)[:2]))
    return x, off


@pytest.mark.thorough
def test_a_plan_holds_at_a_smaller_slip() -> None:
    """Forces planned at 1e-4 m/s and played at 1e-7: within a millimetre; planned softer it is not, harder it is better."""
    goal = np.array([0.06, 0.02, 0.0, 0.0, 0.0])
    _, off = planned(robot("tumbling_box"), goal, (1e-1, 1e-2, 1e-3, 1e-4, 1e-5))
    assert off[1e-4] == pytest.approx(4.0e-4, abs=1e-4)
    assert off[1e-2] > 1e-2 and off[1e-3] > 2e-3 and off[1e-5] < 1e-4
