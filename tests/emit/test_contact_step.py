"""The step in contact in C: the oracle's end, forces and derivatives, closed forms of mechanics, statuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from support import touching
from support.robots import CACHE, generated
from support.touch_oracle import Oracle
from support.touching import RADIUS

from diffpbd.codegen.description.resolve import find_recipe, read_robot
from diffpbd.codegen.graph.model import build
from diffpbd.runtime import Robot, load

GRAVITY, H = 9.81, 0.01


@dataclass(frozen=True)
class Case:
    """A robot, what judges it, and a state in contact after some steps from a start."""

    robot: Robot
    oracle: Oracle
    p: Any
    pd: Any

    def alpha(self, **more: float) -> dict[str, float]:
        """Compliance away from zero, and what is asked."""
        names = [name for name in self.robot.alpha.names if name.startswith("contact.compliance")]
        return {**dict.fromkeys(names, 1e-5), **{k.replace("__", "."): v for k, v in more.items()}}

    def vector(self, alpha: dict[str, float]) -> Any:
        return self.robot.alpha.vector(alpha)


CASES: dict[str, tuple[Any, Any, int]] = {
    "block": ([0.0, 0.0, 1e-7], [0.9, 0.3, 0.0], 3),
    "ball": ([0.0, RADIUS + 1e-7, 0.0], [1.0, 0.0, 0.0], 5),
    "box": ([0.0, 0.05 + 1e-7, 0.001], [0.7, 0.0, 0.0], 3),
    "reaching_arm": ([-0.6, 0.7, 0.1], [2.0, 0.0, 0.0], 32),
}


@cache
def case(name: str) -> Case:
    sources = CACHE / "touching"
    sources.mkdir(parents=True, exist_ok=True)
    made = getattr(touching, name)()
    mechanism, line = made if isinstance(made, tuple) else (made, "")
    path = mechanism.write(sources, name, f'{line}\nsymbolic = ["mass"]')
    robot = load(generated(str(path), functions=("joint_step", "jac_alpha_joint_step")))
    recipe = find_recipe(str(path))
    p, pd, steps = CASES[name]
    P, PD = robot.rollout(np.array(p), np.array(pd), np.zeros((steps, robot.n)), h=H)
    return Case(robot, Oracle(build(read_robot(recipe), recipe)), np.array(P[-1]), np.array(PD[-1]))


def torque(c: Case) -> Any:
    return np.linspace(0.05, 0.3, c.robot.n)


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_the_oracle(name: str) -> None:
    c, u = case(name), torque(case(name))
    for slip in (1e-5, 1e-2):
        alpha = c.alpha(contact__slip=slip)
        p, pd = c.p, c.pd
        for _ in range(5):
            end = c.oracle.step(p, pd, u, H, c.vector(alpha))
            assert end.solved
            p_next, pd_next = c.robot.joint_step(p, pd, u, h=H, alpha=alpha)
            np.testing.assert_allclose(p_next, end.p, rtol=0, atol=1e-13)
            np.testing.assert_allclose(pd_next, end.pd, rtol=0, atol=1e-11)
            p, pd = end.p, end.pd
        assert np.abs(end.force).max() > 1.0


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_the_oracle(name: str) -> None:
    c, u, n = case(name), torque(case(name)), case(name).robot.n
    for slip in (1e-5, 1e-2):
        alpha = c.alpha(contact__slip=slip)
        assert c.oracle.step(c.p, c.pd, u, H, c.vector(alpha)).solved
        wanted = c.oracle.jacobian()
        J = c.robot.jac_joint_step(c.p, c.pd, u, h=H, alpha=alpha)
        A = c.robot.jac_alpha_joint_step(c.p, c.pd, u, h=H, alpha=alpha)
        blocks = [np.vstack([getattr(J, f"dp_next_d{k}"), getattr(J, f"dpd_next_d{k}")]) for k in ("p", "pd", "u")]
        found = np.hstack([*blocks, np.vstack([A.dp_next_dalpha, A.dpd_next_dalpha])])
        scale = np.abs(wanted[:, :-1]).max(axis=0) + 1e-3
        worst = (np.abs(found - wanted[:, :-1]) / scale).max(axis=0)
        assert worst.max() < 1e-7, (int(worst.argmax()), worst.max())
        seed = np.random.default_rng(2).standard_normal(2 * n)
        back = c.robot.vjp_joint_step(c.p, c.pd, u, h=H, alpha=alpha, p_next_bar=seed[:n], pd_next_bar=seed[n:])
        pulled = np.concatenate([back.p_bar, back.pd_bar, back.u_bar, back.alpha_bar, [back.h_bar]])
        size = np.abs(wanted).max(axis=0) + 1e-3
        assert (np.abs(pulled - seed @ wanted) / size).max() < 1e-6


def slope(f: Callable[[float], float], e: float) -> float:
    return (8 * (f(e) - f(-e)) - f(2 * e) + f(-2 * e)) / (12 * e)


def test_gradient_of_a_rollout_through_an_impact() -> None:
    """A ball falls, touches, slides and rolls: its place by the throw, friction, radius, mass and height of the table."""
    robot = case("ball").robot
    p0, pd0 = np.array([0.0, RADIUS + 0.02, 0.0]), np.array([0.8, 0.0, 2.0])
    U, slip = np.zeros((25, 3)), {"contact.slip": 1e-3}
    P_bar, PD_bar = np.zeros((26, 3)), np.zeros((26, 3))
    P_bar[-1], PD_bar[-1] = [1.0, 0.3, 0.1], [0.2, -0.4, 0.05]
    back = robot.vjp_rollout(p0, pd0, U, h=H, alpha=slip, P_bar=P_bar, PD_bar=PD_bar)

    def value(p: Any, pd: Any, alpha: dict[str, float]) -> float:
        P, PD = robot.rollout(p, pd, U, h=H, alpha={**slip, **alpha})
        return float(P[-1] @ P_bar[-1] + PD[-1] @ PD_bar[-1])

    defaults = dict(zip(robot.alpha.names, robot.alpha.vector(slip), strict=True))
    for k in range(3):
        e = np.eye(3)[k]
        assert back.pd0_bar[k] == pytest.approx(
            slope(lambda d, e=e: value(p0, pd0 + d * e, {}), 1e-5), rel=1e-5, abs=1e-7
        )
    for name in ("contact.friction.ball", "contact.radius.ball", "plane.height.table", "mass.ball"):
        own = slope(lambda d, name=name: value(p0, pd0, {name: defaults[name] + d}), 1e-5)
        assert back.alpha_bar[robot.alpha.names.index(name)] == pytest.approx(own, rel=1e-5, abs=1e-7), name


def test_a_block_slides_to_rest_and_stays_above_the_table() -> None:
    robot, speed = case("block").robot, np.hypot(0.93, 0.31)
    for h in (0.02, 0.01, 0.005):
        P, PD = robot.rollout([0, 0, 1e-7], [0.93, 0.31, 0.0], np.zeros((round(0.4 / h), 3)), h=h)
        assert np.hypot(*P[-1][:2]) == pytest.approx(speed**2 / (2 * 0.5 * GRAVITY), abs=1e-5)
        assert P[:, 2].min() > -0.5 * h * 0.5 * 1e-5
        energy = 0.5 * (PD**2).sum(axis=1) + GRAVITY * P[:, 2]
        assert np.diff(energy).max() < 1e-9


def test_the_way_to_rest_by_the_speed() -> None:
    """v/(μ g) to a percent at a slip of a millimetre a second."""
    robot, U = case("block").robot, np.zeros((40, 3))
    for speed in np.linspace(0.8, 0.9, 5):
        P_bar = np.zeros((41, 3))
        P_bar[-1, 0] = 1.0
        back = robot.vjp_rollout(
            [0, 0, 1e-6], [speed, 0, 0], U, h=H, alpha={"contact.slip": 1e-3}, P_bar=P_bar, PD_bar=np.zeros((41, 3))
        )
        assert back.pd0_bar[0] == pytest.approx(speed / (0.5 * GRAVITY), rel=0.01)


def test_a_ball_begins_to_roll() -> None:
    speed, mu, errors = 2.0, 0.2, []
    exact = 12 * speed**2 / (49 * mu * GRAVITY) + 5 / 7 * speed * (1.0 - 2 * speed / (7 * mu * GRAVITY))
    for h in (0.02, 0.01, 0.005, 0.0025):
        P, PD = case("ball").robot.rollout([0, RADIUS + 1e-7, 0], [speed, 0, 0], np.zeros((round(1 / h), 3)), h=h)
        assert PD[-1, 0] == pytest.approx(5 / 7 * speed, abs=2e-6)
        errors.append(abs(P[-1, 0] - exact))
    assert errors[-1] < 1e-4 and errors[0] / errors[-1] > 30, errors


def test_a_batch_is_its_rows() -> None:
    c = case("box")
    rows = np.array([[0.0, 0.05 + 1e-7, x] for x in (0.0, 0.001, 0.3)])
    rates, u = np.tile(c.pd, (3, 1)), np.tile(torque(c), (3, 1))
    many = c.robot.joint_step(rows, rates, u, h=H)
    for k in range(3):
        one = c.robot.joint_step(rows[k], rates[k], u[k], h=H)
        np.testing.assert_array_equal(many.p_next[k], one.p_next)
        np.testing.assert_array_equal(many.pd_next[k], one.pd_next)
