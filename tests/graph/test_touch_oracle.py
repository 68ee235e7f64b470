"""What judges the step of robots that touch things is judged itself, by closed forms of mechanics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.shared.touch_run import oracle, run
from support.touching import RADIUS

from diffpbd.codegen.graph.functions.functions import Graphs

GRAVITY = 9.81


def test_a_block_slides_to_rest() -> None:
    """v²/(2 μ g), whatever the step."""
    speed = np.hypot(0.93, 0.31)
    for h in (0.02, 0.01):
        p, _, ends = run(oracle("block"), [0, 0, 1e-7], [0.93, 0.31, 0.0], round(0.4 / h), h)
        assert np.hypot(p[0], p[1]) == pytest.approx(speed**2 / (2 * 0.5 * GRAVITY), abs=1e-5)
        np.testing.assert_allclose(ends[-1].force, [[0.0, 0.0, GRAVITY]], atol=1e-3)
        np.testing.assert_allclose(
            ends[0].force[0, :2] / ends[0].force[0, 2], [-0.5 * 0.93 / speed, -0.5 * 0.31 / speed], 1e-3
        )
        assert min(end.gap.min() for end in ends) > -0.5 * h * 0.5 * 1e-5


def test_a_box_creeps_on_a_slope_as_the_smoothing_says() -> None:
    """2 slip r/(1 − r²), r = tan 20° / μ, where each corner carries the load of the smoothing."""
    angle, slip = np.radians(20), 1e-5
    load = GRAVITY * np.cos(angle) / 2
    alpha = {f"contact__load__corner_{k}": load for k in (1, 2)}
    tilt = {"gravity__x": GRAVITY * np.sin(angle), "gravity__z": -GRAVITY * np.cos(angle)}
    _, pd, _ = run(oracle("box"), [0, 0.05 + 1e-8, 0], np.zeros(3), 60, 0.01, **tilt, **alpha)
    r = np.tan(angle) / 0.5
    # the lower corner carries more than its half; both together as the formula says to second order of the difference
    assert pd[0] == pytest.approx(2 * slip * r / (1 - r * r), rel=0.02)


def test_a_ball_begins_to_roll() -> None:
    """Five sevenths of its speed are left when it rolls, and it errs by the step's square on the way."""
    speed, mu, errors = 2.0, 0.2, []
    exact = 12 * speed**2 / (49 * mu * GRAVITY) + 5 / 7 * speed * (0.5 - 2 * speed / (7 * mu * GRAVITY))
    for h in (0.02, 0.01):
        p, pd, _ = run(oracle("ball"), [0, RADIUS + 1e-7, 0], [speed, 0, 0], round(0.5 / h), h)
        assert pd[0] == pytest.approx(5 / 7 * speed, abs=2e-6)
        assert pd[2] == pytest.approx(pd[0] / RADIUS, abs=1e-4)
        errors.append(abs(p[0] - exact))
    assert errors[1] < 1e-3 and errors[0] / errors[1] > 2.5


def test_its_derivatives_are_those_of_differences() -> None:
    """At a slide, by state, torque and every parameter of contact."""
    o = oracle("box")
    p, pd, _ = run(o, [0, 0.05 + 1e-7, 0.001], [0.7, 0.0, 0.0], 3, 0.01)
    names = [e.name for e in o.model.entries]
    alpha = o.defaults.copy()
    for k, name in enumerate(names):
        if "compliance" in name:
            alpha[k] = 1e-4
    alpha[names.index("contact.slip")] = 1e-2
    u = np.array([0.5, -1.0, 0.02])

    def step(y: Any) -> Any:
        end = o.step(y[:3], y[3:6], y[6:9], y[-1], y[9:-1])
        assert end.solved
        return np.concatenate([end.p, end.pd])

    y = np.concatenate([p, pd, u, alpha, [0.01]])
    step(y)
    J = o.jacobian()
    columns = [*range(9), *(9 + k for k, name in enumerate(names) if name.startswith(("contact", "plane"))), len(y) - 1]
    for k in columns:
        errors = []
        for e in (1e-4, 1e-5, 1e-6):
            d = e * max(abs(y[k]), 1e-2) * np.eye(len(y))[k]
            slope = (8 * (step(y + d) - step(y - d)) - step(y + 2 * d) + step(y - 2 * d)) / (12 * d[k])
            errors.append(np.abs(J[:, k] - slope).max() / (np.abs(slope).max() + 1e-3))
        assert min(errors) < 1e-6, (k, errors)


def test_a_hand_on_a_tray_that_turns_keeps_the_momentum_of_both() -> None:
    """What presses the one presses the other back, at one point: nothing outside turns them about the upright axis, but the
    smoothing of the wall, a few centimetres away, which pushes with load · slip over 2 gap/h."""
    o = oracle("reaching_arm")
    graphs = Graphs(o.model)
    inertia = ca.Function("M", [graphs.p, graphs.alpha], [graphs.mass_matrix(graphs.p)])
    p, pd, _ = run(o, [-0.6, 0.7, 0.1], [2.0, 0.0, 0.0], 20, 0.01)
    kept, pressed = [], 0.0
    for _ in range(20):
        p, pd, ends = run(o, p, pd, 1, 0.01, contact__slip=1e-9)
        kept.append(float((np.array(inertia(p, o.defaults)) @ pd)[0]))
        pressed = max(pressed, np.abs(ends[0].force[2]).max())
    assert pressed > 5.0
    assert max(kept) - min(kept) < 1e-10 * abs(kept[0])
