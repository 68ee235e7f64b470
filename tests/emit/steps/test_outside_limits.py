"""Starts outside a joint's limits: led in without energy, derivatives on the way, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.small.stopped import stopped_arm as arm

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.functions.parameters import ParameterVector

H, INWARDS, OUTSIDE = 0.01, 0.01, 0.05
LIMIT = 1.0
"""[rad, m] Of both stopped joints, either side."""
VARIANTS = ("variational_direct", "paper_direct", "paper_gauss_seidel", "paper_jacobi")
Array = np.ndarray


def kinetic(r: Robot, P: Array, PD: Array) -> Array:
    M = np.array([r.mass_matrix(p) for p in P])
    return 0.5 * np.einsum("ki,kij,kj->k", PD, M, PD)


@pytest.mark.parametrize("h", [H, 0.001])
@pytest.mark.parametrize(("depth", "pressed"), [(0.003, 0.0), (0.003, 30.0), (-0.004, 0.0), (-0.004, -30.0)])
def test_a_joint_is_led_in_without_energy(h: float, depth: float, pressed: float) -> None:
    r, steps = arm(), int(0.6 / h)
    alpha = r.alpha.vector({"gravity.z": 0.0})
    start = np.array([np.sign(depth) * LIMIT + depth, 0.0, 0.3])
    P, PD = r.rollout(start, np.zeros(3), np.tile([pressed, 0.0, 0.0], (steps, 1)), h=h, alpha=alpha)
    inwards = -np.sign(depth) * np.diff(P[:, 0])
    assert inwards.max() <= 1.2 * INWARDS * h + 1e-6  # the smoothing of a stop pulls a little
    assert kinetic(r, P, PD).max() <= 0.5 * r.mass_matrix(start)[0, 0] * (1.2 * INWARDS) ** 2
    out = np.abs(P[:, 0]) > LIMIT
    if pressed:  # against what holds it outside it comes in at that speed, and stays
        assert out[0] and np.flatnonzero(out)[-1] == pytest.approx(abs(depth) / (INWARDS * h), abs=1.5)
    assert not out[-1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_on_maximal_states_lead_in_too(variant: str) -> None:
    r, sweeps = arm(), not variant.endswith("direct")
    alpha = r.alpha.vector({"gravity.z": 0.0})
    for place, depth in ((0, 0.02), (1, -0.003)):
        p = np.zeros(3)
        p[place] = np.sign(depth) * LIMIT + depth
        xi = r.fk(p, np.zeros(3), alpha=alpha)
        found, rate = r.joint_state(r.function(f"step_{variant}")(xi, np.zeros(3), H, alpha), p_ref=p)
        moved = -np.sign(depth) * (found - p)[place]
        assert 0 < moved < 1.2 * INWARDS * H if sweeps else moved == pytest.approx(INWARDS * H, rel=1e-6)
        assert np.abs(rate).max() < 1.3 * INWARDS


def test_derivatives_outside_on_maximal_states() -> None:
    r, rng, e = arm(), np.random.default_rng(1), 1e-6
    p, pd, u, seed = np.array([LIMIT + 0.02, 0.1, 0.2]), np.zeros(3), rng.standard_normal(3), rng.standard_normal(39)

    def end(p: Array) -> float:
        return float(seed @ r.step(r.fk(p, pd), u, h=H))

    back = r.vjp_step(r.fk(p, pd), u, h=H, xi_next_bar=seed)
    exact = r.vjp_fk(p, pd, xi_bar=back.xi_bar).p_bar
    found = [(end(p + d) - end(p - d)) / (2 * e) for d in e * np.eye(3)]
    np.testing.assert_allclose(exact, found, atol=1e-6 * np.abs(exact).max())


def test_the_graph_leads_in_and_ends_where_the_step_does() -> None:
    r, zero = arm(), np.zeros(3)
    graph, alpha = r.casadi("joint_step"), r.alpha.defaults
    for depth in (0.001, 0.02, 0.0499):
        p = np.array([-LIMIT - depth, 0.1, 0.2])
        found = np.array(ca.vertcat(*graph(p, zero, zero, H, alpha))).ravel()
        np.testing.assert_allclose(found, np.concatenate(r.joint_step(p, zero, zero, h=H)), atol=1e-8)
    assert np.isnan(np.array(graph(np.array([-LIMIT - 0.0501, 0, 0]), zero, zero, H, alpha)[0])).all()


@pytest.mark.parametrize("depth", [OUTSIDE + 1e-9, 0.1, 1.0, 3.0, 6.0])
def test_further_outside_is_a_status(depth: float) -> None:
    """0.1 rad gave 10 rad/s, 1 rad 62 rad/s and 3 kJ, 6 rad a whole turn."""
    r, zero = arm(), np.zeros(3)
    p = np.array([LIMIT + depth, 0.0, 0.0])
    xi = r.fk(p, zero)
    ways: list[Any] = [
        lambda: r.joint_step(p, zero, zero), lambda: r.jac_joint_step(p, zero, zero),
        lambda: r.rollout(p, zero, np.zeros((2, 3))), lambda: r.jac_kicked_step(p, zero, zero, zero),
        lambda: r.joint_step(np.array([zero, p]), np.zeros((2, 3)), np.zeros((2, 3))),
    ]  # fmt: skip
    if depth < np.pi:  # a pose of links does not count turns
        ways += [lambda: r.step(xi, zero), lambda: r.rollout_step(xi, np.zeros((2, 3)))]
        ways += [lambda: r.vjp_step(xi, zero, xi_next_bar=xi), lambda: r.step_paper_jacobi(xi, zero)]
    for way in ways:
        with pytest.raises(SolverError, match=r"more than 0.05 rad or m outside its limits .* \(status 22\)"):
            way()
    r.joint_step([LIMIT + OUTSIDE - 1e-9, 0.0, 0.0], zero, zero)


def test_a_range_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """33 J in a second came of it."""
    r, zero = arm(), np.zeros(3)
    names, crossed = r.alpha.names, {"limit.lower.swing": 0.05, "limit.upper.swing": 0.01}
    with pytest.raises(
        InputError, match=r"limit.lower.swing = 0.05 is above limit.upper.swing = 0.01: expected a range"
    ):
        r.joint_step(zero, zero, zero, alpha=crossed)
    with pytest.raises(InputError, match=r"limit.lower.swing = 1.5 is above limit.upper.swing = 1: "):
        r.alpha.vector({"limit.lower.swing": 1.5})
    alpha = r.alpha.defaults
    for name, value in crossed.items():
        alpha[names.index(name)] = value
    rows = np.array([r.alpha.defaults, alpha])
    for given in (alpha, rows):
        with pytest.raises(InputError, match="limit.lower.swing = 0.05 is above"):
            r.joint_step(np.zeros((len(rows), 3)), np.zeros((2, 3)), np.zeros((2, 3)), alpha=given)
    monkeypatch.setattr(ParameterVector, "checked", lambda self, values: values)  # C by itself
    for way in (r.joint_step, r.jac_joint_step):
        with pytest.raises(SolverError, match=r"\(status 22\)"):
            way([0.03, 0.0, 0.0], zero, zero, alpha=alpha)
    with pytest.raises(SolverError, match=r"\(status 22\)"):
        r.step(r.fk([0.03, 0.0, 0.0], zero), zero, alpha=alpha)


def rejected(r: Robot, P: Array, PD: Array, U: Array, h: float, alpha: Array) -> dict[str, int]:
    """Steps that are no motion, by the range of each joint and the robot's own energy: nothing of how steps are solved."""
    lower, upper = np.array([-LIMIT, -LIMIT, -np.inf]), np.array([LIMIT, LIMIT, np.inf])
    deep = np.maximum(np.maximum(lower - P, P - upper), 0.0)
    moved, most = np.diff(P, axis=0), h * (np.abs(PD[:-1]) + np.abs(PD[1:]))
    led = INWARDS * h * (deep[:-1] > 0.0)  # what a stop may move a joint by
    kinetic, potential = (np.ravel(x) for x in r.energy(P, PD, alpha=alpha))
    pressing = np.abs(r.gravity(P[:-1], alpha)) + np.abs(U) + np.abs(np.diff(PD, axis=0)) * 3.0 / h  # 3 kg·m² at most
    turn = most[:, [0, 2]].sum(axis=1)
    allowed = (0.01 + turn**2 / 12) * (np.maximum(kinetic[:-1], kinetic[1:]) + np.abs(np.diff(potential)))
    allowed += np.abs(U * moved).sum(axis=1) + (pressing * led).sum(axis=1) + 2.0 * INWARDS**2 + 1e-5
    return {
        "finite": int(not (np.isfinite(P).all() and np.isfinite(PD).all())),
        "moved": int((np.abs(moved) > 1.5 * most + led + 0.15).any(axis=1).sum()),
        "deeper": int((deep[1:] > np.maximum(deep[:-1] - led, 0.0) + 1e-6).any(axis=1).sum()),
        "energy": int((np.diff(kinetic + potential) > allowed).sum()),
    }


@pytest.mark.parametrize("kind", ["quiet", "violent"])
def test_random_starts_in_and_outside_of_limits(kind: str, count: Callable[[int, int], int]) -> None:
    """Each step has its motion, or the status that its start asks for."""
    r, rng, steps, total = arm(), np.random.default_rng(3), 20, {"statuses": 0, "steps": 0}
    found: dict[str, int] = {}
    alpha, turned = r.alpha.vector({}), r.alpha.vector({"gravity.z": 0.0, "gravity.y": -9.81})
    while total["steps"] < count(2000, 100_000):
        h, own = 10.0 ** rng.uniform(-3, -2), alpha if rng.random() < 0.5 else turned
        size = 10.0 ** (rng.uniform(-1, 1) if kind == "violent" else rng.uniform(-6, -2))
        p, pd = rng.uniform(-1.06, 1.06, 3), size * rng.standard_normal(3)
        U = (30.0 if kind == "violent" else 3.0) * rng.standard_normal((steps, 3))
        beyond = np.abs(p[:2]).max() - LIMIT
        total["steps"] += steps
        try:
            P, PD = r.rollout(p, pd, U, h=h, alpha=own)
        except SolverError as error:
            total["statuses"] += "(status 22)" not in str(error)
            assert ("(status 22)" in str(error)) == (beyond > OUTSIDE)
            continue
        assert beyond <= OUTSIDE
        for ground, many in rejected(r, P, PD, U, h, own).items():
            found[ground] = found.get(ground, 0) + many
    print(kind, total, found)
    assert not any(found.values()) and total["statuses"] <= 1e-3 * total["steps"] + 3
