"""The step of mechanisms with closed loops in C: pinocchio and its ODE, closed rows, derivatives, friction, statuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.small.closed_robots import case

from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.simulate.simulation import simulate

QUICK = ("four_bar", "five_bar", "spatial_four_bar", "bennett")
LONG = tuple(pytest.param(name, marks=pytest.mark.soak) for name in ("slider_crank", "watt", "delta", "ring"))


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_accelerations_are_those_of_pinocchio(name: str) -> None:
    c, rng = case(name), np.random.default_rng(3)
    for _ in range(5):
        p = c.robot.close_loops(c.p + 0.1 * rng.standard_normal(c.robot.n), np.zeros(c.robot.n))
        pd, u = c.robot.close_rates(p, rng.standard_normal(c.robot.n)), rng.standard_normal(c.robot.n)
        wanted = c.judge.acceleration(p, pd, u)
        np.testing.assert_allclose(c.robot.forward_dynamics(p, pd, u), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


LONGEST = {
    "bennett": 0.5,
    "delta": 0.2,
    "five_bar": 0.3,
    "ring": 0.2,
}  # the delta comes near a singular pose after that


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_second_order_and_closed_rows(name: str) -> None:
    c = case(name)
    duration = LONGEST.get(name, 1.0)
    wanted, u, errors = c.judge.swing(c.p, c.pd, np.zeros(c.robot.n), duration), np.zeros(c.robot.n), []
    for h in (0.01, 0.005, 0.0025):
        steps = round(duration / h)
        P, PD = c.robot.rollout(c.p, c.pd, np.tile(u, (steps, 1)), h=h)
        errors.append(float(np.abs(np.concatenate([P[-1], PD[-1]]) - wanted)[: c.robot.n].max()))
        left = c.robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < (1e-11 if name == "bennett" else 1e-13)
        assert np.abs(left.row_rates).max() < (1e-8 if name == "bennett" else 1e-12)
    ratios = [a / b for a, b in zip(errors, errors[1:], strict=False)]
    assert all(3.8 < ratio < 4.4 for ratio in ratios), (errors, ratios)


@pytest.mark.parametrize(
    ("name", "rates", "bar"), [("four_bar", {"j1": 2.0}, 5e-4), ("five_bar", {"j1": 1.0, "j3": -1.0}, 1.5e-3)]
)
def test_error_after_a_second_at_ten_milliseconds(name: str, rates: dict[str, float], bar: float) -> None:
    c = case(name)
    names = [joint.name for joint in c.robot.manifest.robot.joints]
    fixed = np.array([float(joint in rates) for joint in names])
    guess = MECHANISMS[name]().guess
    p = c.robot.close_loops([guess[joint] for joint in names], fixed)
    # rates of the driven joints given: the others follow from A pd = 0
    A = np.array([c.robot.loop_residual(p, e).row_rates for e in np.eye(c.robot.n)]).T
    pd = np.array([rates.get(joint, 0.0) for joint in names])
    free = fixed == 0.0
    pd[free] = -np.linalg.lstsq(A[:, free], A @ pd, rcond=None)[0]
    u = np.zeros(c.robot.n)
    if name == "five_bar":
        u = c.robot.inverse_dynamics(p, np.zeros_like(p), np.zeros_like(p)).u  # holds the start against gravity
    P, _ = c.robot.rollout(p, pd, np.tile(u, (100, 1)), h=0.01)
    error = float(np.abs(P[-1] - c.judge.swing(p, pd, u, 1.0)[: c.robot.n]).max())
    assert error < bar, error


@pytest.mark.parametrize("name", ["four_bar", "bennett", pytest.param("watt", marks=pytest.mark.soak)])
def test_energy_does_not_drift(name: str) -> None:
    """Over 20 s its mean stays, and how far it swings falls with the square of the step."""
    c, swings = case(name), []
    for h in (0.01, 0.005):
        P, PD = c.robot.rollout(c.p, c.pd, np.zeros((round(20 / h), c.robot.n)), h=h)
        kinetic, potential = (np.asarray(part) for part in c.robot.energy(P, PD))
        energy = kinetic + potential
        swings.append(float(np.ptp(energy)))
    np.testing.assert_allclose(
        energy[:3], [c.judge.energy(p, pd) for p, pd in zip(P[:3], PD[:3], strict=True)], atol=1e-12
    )
    drift = abs(energy[-400:].mean() - energy[:400].mean())
    assert drift < 1e-5 * kinetic.max(), (drift, kinetic.max())
    assert 3.6 < swings[0] / swings[1] < 4.4


def test_coulomb_friction_takes_energy_and_stops() -> None:
    c = case("four_bar")
    alpha = {f"friction.coulomb.{j.name}": 0.8 for j in c.robot.manifest.robot.joints}
    for h in (0.01, 0.002):
        P, PD = c.robot.rollout(c.p, c.pd, np.zeros((round(4 / h), c.robot.n)), h=h, alpha=alpha)
        energy = np.array([sum(c.robot.energy(p, pd)) for p, pd in zip(P, PD, strict=True)])
        assert np.diff(energy).max() < 1e-9
        left = c.robot.loop_residual(P, PD)
        assert np.abs(left.rows).max() < 1e-13
        assert np.abs(left.row_rates).max() < 1e-12


def test_motors_share_what_they_give() -> None:
    """Torques of two motors drive a five-bar; from accelerations, and from poses alone, they come back."""
    c, h = case("five_bar"), 0.01
    active = [j.name in ("j1", "j3") for j in c.robot.manifest.robot.joints]
    U = np.zeros((60, c.robot.n))
    t = np.arange(60)
    U[:, np.array(active)] = np.stack([3 * np.sin(0.2 * t) + 4, 2 * np.cos(0.15 * t) - 1], axis=1)
    P, PD = c.robot.rollout(c.p, c.pd, U, h=h)
    worst = 0.0
    for k in range(1, 60):
        found = c.robot.node_torque(P[k - 1], P[k], P[k + 1], h=h)
        worst = max(worst, float(np.abs(found - (U[k] + U[k - 1]) / 2).max()))
    assert worst < 3e-10  # rates are good to 1e-12, and a hundredth of a second divides them
    pdd = c.robot.forward_dynamics(P[7], PD[7], U[7])
    back = c.robot.inverse_dynamics(P[7], PD[7], pdd)
    np.testing.assert_allclose(back.u, U[7], rtol=0, atol=1e-11)
    np.testing.assert_allclose(back.loop_force, c.robot.loop_force(P[7], PD[7], U[7]), rtol=0, atol=1e-11)
    assert np.abs(back.unbalanced).max() < 1e-11
    # an acceleration that the loop does not allow leaves nothing to the motors; the loop's force takes it
    offset = {"torque_offset.j1": 0.7, "torque_offset.j2": 5.0}
    more = c.robot.inverse_dynamics(P[7], PD[7], pdd, alpha=offset).u - back.u
    np.testing.assert_allclose(
        more, [0.7 if j.name == "j1" else 0.0 for j in c.robot.manifest.robot.joints], atol=1e-12
    )


def test_more_motors_give_the_least_torques_and_fewer_what_they_can() -> None:
    c = case("spatial_four_bar")  # two motors, mobility 1
    rng = np.random.default_rng(1)
    u = rng.standard_normal(2)
    pdd = c.robot.forward_dynamics(c.p, c.pd, u)
    back = c.robot.inverse_dynamics(c.p, c.pd, pdd)
    np.testing.assert_allclose(c.robot.forward_dynamics(c.p, c.pd, back.u), pdd, rtol=0, atol=1e-10)
    assert np.linalg.norm(back.u) < np.linalg.norm(u)
    A = np.array([c.robot.loop_residual(c.p, e).row_rates for e in np.eye(2)]).T
    assert abs(A @ back.u).max() < 1e-12  # least: nothing along the loop's own force


def test_singular_passages() -> None:
    """A parallelogram swings through both poses where it is stretched out, as one, and keeps its energy; at such a pose itself
    its rows say nothing, and that is a status."""
    c = case("parallelogram")
    r, still = c.robot, np.zeros(3)
    p, pd = np.array([0.5, -0.5, 0.5]), np.array([-3.0, 3.0, -3.0])
    swings = []
    for h in (0.01, 0.005):
        P, PD = r.rollout(p, pd, np.zeros((round(0.5 / h), 3)), h=h)
        assert P[-1, 0] < -np.pi - 0.3  # 0 and -π are behind it
        np.testing.assert_allclose(P, P[:, :1] * np.array([1.0, -1.0, 1.0]), atol=1e-9)
        swings.append(np.ptp(np.sum(r.energy(P, PD), axis=0)))
    assert 3.8 < swings[0] / swings[1] < 4.2
    for call in (
        lambda: r.joint_step(still, pd, still, h=0.01),
        lambda: r.forward_dynamics(still, pd, still),
        lambda: r.inverse_dynamics(still, pd, still),
        lambda: r.close_rates(still, pd),
        lambda: r.node_torque(still - 0.01 * pd, still, still + 0.01 * pd, h=0.01),
    ):
        with pytest.raises(SolverError, match=r"singular|did not close"):
            call()


@pytest.mark.parametrize("name", ["four_bar", "bennett"])
def test_open_start_is_refused(name: str) -> None:
    c = case(name)
    u, off = np.zeros(c.robot.n), np.eye(c.robot.n)[0]
    c.robot.joint_step(c.p + 1e-8 * off, c.pd, u, h=0.01)
    with pytest.raises(SolverError, match="close_loops"):
        c.robot.joint_step(c.p + 1e-3 * off, c.pd, u, h=0.01)
    with pytest.raises(SolverError, match="close_loops"):
        c.robot.rollout(c.p + 1e-3 * off, c.pd, np.zeros((3, c.robot.n)), h=0.01)


def test_a_simulation_says_where_its_open_start_closes() -> None:
    c = case("four_bar")
    with pytest.raises(SolverError, match=r"open at the start.*nearest pose that closes four_bar is \[") as caught:
        simulate(c.robot, duration=0.05, start=(c.p + 1e-3 * np.eye(3)[0], c.pd))
    closed = np.array(json.loads(str(caught.value).split(" is ")[-1].rstrip(".")))
    assert np.abs(c.robot.loop_residual(closed, c.pd).rows).max() < 1e-12
    with pytest.raises(SolverError, match=r"step of four_bar failed.*nearest pose that closes four_bar is \["):
        simulate(c.robot, duration=0.05, start=(c.p + 1e-3 * np.eye(3)[0], c.pd), step="step")
    with pytest.raises(SolverError, match="open at the start"):  # stretched out, where rows depend on each other
        simulate(c.robot, duration=0.05, start=(np.zeros(3), np.zeros(3)))


def test_closing_keeps_what_is_fixed_or_says_that_it_cannot() -> None:
    c = case("four_bar")
    fixed = np.array([1.0, 0.0, 0.0])
    p = c.robot.close_loops(c.p + 0.1, fixed)
    assert p[0] == c.p[0] + 0.1
    assert np.abs(c.robot.loop_residual(p, c.pd).rows).max() < 1e-12
    with pytest.raises(SolverError, match="did not close"):
        c.robot.close_loops(c.p + 0.1, np.ones(3))
    with pytest.raises(InputError):
        c.robot.close_loops(np.array([np.nan, 0.0, 0.0]), np.zeros(3))


def test_non_finite_states_end_in_a_status() -> None:
    c = case("four_bar")
    for bad in (np.inf, 1e200):
        with pytest.raises((SolverError, InputError)):
            c.robot.joint_step(c.p, c.pd + bad, np.zeros(3), h=0.01)


def test_what_does_not_know_loops_is_left_out_by_name() -> None:
    robot = case("four_bar").robot
    for name in ("step_paper_direct", "momentum_residual"):
        with pytest.raises(InputError, match="left out"):
            robot.function(name)


@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics"])
def test_derivatives_at_a_singular_pose_end_in_a_status(function: str) -> None:
    """Stretched out: rows depend on each other there."""
    c = case("four_bar")
    for kind in ("jac_", "jac_alpha_"):
        with pytest.raises(SolverError, match="singular"):
            c.robot.functions[kind + function](np.zeros(3), c.pd, np.ones(3))
