"""Joint forces: friction at every speed (P31), springs from their potentials, the paper's spring corrected."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from diffpbd.codegen.graph.expressions.translate import function
from diffpbd.codegen.laws import forces
from diffpbd.codegen.laws.elements import lever_spring, plain
from diffpbd.codegen.laws.elements.plain import TRANSITION_BOUNDS, TRANSITION_VELOCITY
from diffpbd.codegen.program.program import Program


def friction_at(pd: np.ndarray, coulomb: float, viscous: float, transition: float) -> np.ndarray:
    run = forces.friction_program(1).numpy()
    return np.array([run(pd=v, coulomb=coulomb, viscous=viscous, transition=transition)["torque"][0, 0] for v in pd])


@pytest.fixture(scope="module")
def speeds(shared: Path) -> np.ndarray:
    with (shared / "cases" / "P31-friction-at-zero-speed" / "velocities.csv").open() as file:
        return np.array([float(row["dq"]) for row in csv.DictReader(file)])


@pytest.fixture(scope="module")
def constants(shared: Path) -> dict[str, float]:
    text = (shared / "cases" / "P31-friction-at-zero-speed" / "expected.json").read_text()
    return dict(json.loads(text)["params"])


@pytest.mark.parametrize("transition", [TRANSITION_VELOCITY, *TRANSITION_BOUNDS])
def test_friction_and_its_derivatives_are_finite_at_every_speed(
    speeds: np.ndarray, constants: dict[str, float], transition: float
) -> None:
    f = function(forces.friction_program(1))
    x = [ca.SX.sym(k) for k in ("pd", "coulomb", "viscous", "transition")]
    torque = f(*x)
    first = ca.jacobian(torque, ca.vertcat(*x))
    second = ca.hessian(torque, ca.vertcat(*x))[0]
    every = ca.Function("every", x, [torque, first, second])
    for pd in speeds:
        for value in every(pd, constants["coulomb"], constants["viscous"], transition):
            assert np.isfinite(np.array(value)).all(), (pd, transition)


def test_friction_is_odd_monotonic_and_coulomb_beyond_the_transition(
    speeds: np.ndarray, constants: dict[str, float]
) -> None:
    coulomb, viscous = constants["coulomb"], constants["viscous"]
    pd = np.sort(np.concatenate([speeds, -speeds, np.geomspace(1e-9, 1e4, 200)]))
    torque = friction_at(pd, coulomb, viscous, TRANSITION_VELOCITY)
    np.testing.assert_array_equal(friction_at(-pd, coulomb, viscous, TRANSITION_VELOCITY), -torque)
    assert (friction_at(np.array([0.0, -0.0]), coulomb, viscous, TRANSITION_VELOCITY) == 0.0).all()
    assert (np.diff(torque) <= 0.0).all(), "the torque on the joint falls with the rate"
    assert (torque * pd <= 0.0).all(), "friction never drives"
    fast = np.abs(pd) >= 0.7
    plain = -(viscous * pd + coulomb * np.sign(pd))
    np.testing.assert_allclose(torque[fast], plain[fast], rtol=0, atol=1e-3)


def test_friction_slope_is_the_derivative() -> None:
    for pd in (0.0, 1e-3, -0.02, 0.7, 2000.0):
        b = Program("slope")
        b.output(
            "slope",
            b.let(forces.friction_slope(b.scalar("pd"), sp.Float(0.9), sp.Float(0.4), sp.Float(0.01))),
        )
        slope = b.numpy()(pd=pd)["slope"][0, 0]
        expected = 0.4 + 0.9 / 0.01 * (1.0 - np.tanh(pd / 0.01) ** 2)
        assert slope == pytest.approx(expected, rel=1e-12, abs=1e-9) and slope >= 0.4 - 1e-12


def test_steepness_is_bounded() -> None:
    """A free smoothing parameter is bounded: public fits report 1e8 for it."""
    lower, upper = TRANSITION_BOUNDS
    assert 0.0 < lower <= TRANSITION_VELOCITY <= upper
    assert 1.0 / lower <= 1e4


def test_spring_torque_is_minus_the_slope_of_its_energy() -> None:
    p, k, rest = sp.symbols("p k rest", real=True)
    difference = forces.spring_torque(p, k, rest) + sp.diff(plain.spring_potential(p, k, rest), p)
    assert sp.simplify(difference) == 0


def test_lever_spring_against_the_paper() -> None:
    """τ = k (x − x_rest) l₁ l₂ sin γ / x with γ = π − α₁ − α₂ − θ; the printed length lacks θ and the sign."""
    p, k, l1, l2, offset, rest = sp.symbols("p k l1 l2 offset rest", positive=True)
    x = lever_spring.length(p, l1, l2, offset)
    torque = -sp.diff(lever_spring.potential(p, k, l1, l2, offset, rest), p)
    gamma = sp.pi - offset - p
    at = {p: 0.4, k: 30.0, l1: 0.11, l2: 0.23, offset: 0.9, rest: 0.2}
    corrected = (k * (x - rest) * l1 * l2 * sp.sin(gamma) / x).subs(at).evalf()
    printed_length = sp.sqrt(l1**2 + l2**2 + 2 * l1 * l2 * sp.cos(sp.pi - offset))
    printed = (k * (printed_length - rest) * l1 * l2 * sp.sin(gamma) / printed_length).subs(at).evalf()
    assert float(torque.subs(at)) == pytest.approx(float(corrected), rel=1e-12)
    assert abs(float(torque.subs(at)) - float(printed)) > 0.1
    step = 1e-5
    energy = k * (x - rest) ** 2 / 2
    low, high = (float(energy.subs({**at, p: at[p] + s})) for s in (-step, step))
    assert float(torque.subs(at)) == pytest.approx(-(high - low) / (2.0 * step), rel=1e-8)
