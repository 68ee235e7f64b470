"""Steps of higher order: derivatives against differences, rollouts, refusals; their order is tested with `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
from support.numeric import BAR, Worst, differences
from support.robots import generated, loaded

from diffpbd.runtime import InputError, Robot, SolverError, load
from diffpbd.runtime.simulate.orders import COMPILED, ORDERS, SIXTH, Composed, Order

H = 0.02


class Made(Composed):
    """Made of joint_steps, whatever the folder has."""

    def _compiled(self, name: str) -> None:
        return None


CASES = [
    (name, order, kind)
    for name in ("double_pendulum", "prismatic_skew")
    for order in (4, 6)
    for kind in (Composed, Made)
    if (name, kind) != ("prismatic_skew", Made)
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[2].__name__}")
def composed(request: pytest.FixtureRequest) -> Composed:
    """Compiled, and made of joint_steps."""
    name, order, kind = request.param
    made: Composed = kind(loaded(name), order)
    return made


def test_chains_begin_and_end_with_the_step() -> None:
    for order, chains in ORDERS.items():
        assert sum(weight for weight, _ in chains) == pytest.approx(1.0, abs=1e-15)
        for power in range(2, order, 2):  # what the error of a symmetric step has
            left = sum(weight * sum(f ** (power + 1) for f in fractions) for weight, fractions in chains)
            assert left == pytest.approx(0.0, abs=1e-14), (order, power)
        assert all(sum(fractions) == pytest.approx(1.0, abs=1e-15) for _, fractions in chains)


def motion(composed: Composed) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng, robot = np.random.default_rng(2), composed.robot
    p, pd, u = rng.uniform(-1.0, 1.0, (3, robot.n))
    alpha = robot.alpha.vector({"payload.mass": 0.4, f"rotor_inertia.{robot.joints[0]}": 0.05})
    return p, pd, u, alpha


def test_the_jacobian_is_the_derivative(composed: Composed) -> None:
    p, pd, u, alpha = motion(composed)
    n, found = composed.robot.n, composed.jacobian(p, pd, u, H, alpha)

    def ends(x: np.ndarray) -> dict[str, np.ndarray]:
        return {"end": np.array([np.concatenate(composed(*np.split(row, 3), H, alpha)) for row in x])}

    exact = differences(ends, np.concatenate([p, pd, u]), 1e-3)["end"]
    worst = Worst(f"Jacobian of order {composed.order}", BAR)
    worst.see(np.block([[*found[2:5]], [*found[5:8]]]), exact, "blocks")
    np.testing.assert_allclose(np.concatenate(found[:2]), ends(np.concatenate([p, pd, u])[None])["end"][0], atol=1e-10)
    assert found.dp_next_dp.shape == (n, n)
    worst.close()


def test_the_gradient_is_the_derivative(composed: Composed) -> None:
    """By start, torques, h and parameters, along random directions."""
    p, pd, u, alpha = motion(composed)
    rng, n = np.random.default_rng(5), composed.robot.n
    U = np.array([u, -u, 0.3 * u])
    P, PD = composed.rollout(p, pd, U, H, alpha)
    seeds = rng.normal(size=(2, 4, n))
    found = composed.vjp_rollout(P, PD, U, H, alpha, *seeds)
    held = {"p0": p, "pd0": pd, "U": U, "h": H, "alpha": alpha}
    bars = dict(zip(held, found, strict=True))
    still = np.array([name.startswith(("friction", "lever")) for name in composed.robot.alpha.names])
    for name, value in held.items():
        along = rng.normal(size=np.shape(value)) * (~still * np.maximum(np.abs(alpha), 0.1) if name == "alpha" else 0.3)
        along = along * 0.01 if name == "h" else along

        def loss(step: float, name: str = name, along: np.ndarray = along) -> float:
            moved = {**held, name: held[name] + step * along}
            return float((seeds * np.array(composed.rollout(*moved.values()))).sum())

        exact = (8 * (loss(1e-3) - loss(-1e-3)) - (loss(2e-3) - loss(-2e-3))) / 12e-3
        ours = float(np.sum(bars[name] * along))
        print(f"order {composed.order}, {composed.robot.name}, by {name}: {abs(ours - exact):.1e} of {abs(exact):.1e}")
        assert abs(ours - exact) <= 1e-7 * max(1.0, abs(exact)), (name, ours, exact)


@pytest.fixture(scope="module", params=["double_pendulum", "prismatic_skew"])
def compiled(request: pytest.FixtureRequest) -> Robot:
    return load(generated(request.param, functions=("joint_step", SIXTH), variants=()))


@pytest.mark.parametrize("order", [4, 6])
def test_the_compiled_functions_are_the_composed_ones(compiled: Robot, order: Order) -> None:
    """`Composed` takes them; on other paths they are tested with these."""
    composed, made, n = Composed(compiled, order), Made(compiled, order), compiled.n
    for row in range(12):
        rng = np.random.default_rng(row)
        p, pd, u = rng.uniform(-0.7, 0.7, (3, n))
        h = 0.04 if row % 3 else 0.01
        names = ("{}_step", "jac_{}_step", "{}_rollout", "vjp_{}_rollout")
        assert all(composed._compiled(name) is not None for name in names)
        for found, wanted in zip(composed.jacobian(p, pd, u, h), made.jacobian(p, pd, u, h), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(composed(p, pd, u, h), made(p, pd, u, h), rtol=0, atol=1e-8)
        U, seeds, h = rng.uniform(-0.7, 0.7, (3, n)), rng.normal(size=(2, 4, n)), 0.01
        P, PD = made.rollout(p, pd, U, h)
        np.testing.assert_allclose(composed.rollout(p, pd, U, h), (P, PD), rtol=0, atol=1e-8)
        wanted = made.vjp_rollout(P, PD, U, h, None, *seeds)
        for bar, want in zip(composed.vjp_rollout(P, PD, U, h, None, *seeds), wanted, strict=True):
            np.testing.assert_allclose(bar, want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
        step = compiled.function(f"vjp_{COMPILED[order]}_step")(p, pd, U[0], h, None, seeds[0, 1], seeds[1, 1])
        seeds[:, 0], seeds[:, 2:] = 0.0, 0.0
        one = composed.vjp_rollout(P[:2], PD[:2], U[:1], h, None, *seeds[:, :2])
        for bar, want in zip(step, one, strict=True):
            np.testing.assert_allclose(np.ravel(bar), np.ravel(want), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", [4, 6])
def test_a_rollout_that_fails_holds_the_last_good_state(compiled: Robot, order: Order) -> None:
    zero, start, U = np.zeros(compiled.n), np.full(compiled.n, 0.5), np.zeros((4, compiled.n))
    U[2] = 1e12
    P, PD = np.full((2, 5, compiled.n), 7.0)
    inputs = {"p0": start, "pd0": zero, "U": U, "h": np.array([0.01]), "alpha": compiled.alpha.defaults}
    assert compiled.function(f"{COMPILED[order]}_rollout").fixed(4, inputs, {"P": P, "PD": PD})() == 1
    assert np.abs(np.diff(P, axis=0)).max(axis=1).astype(bool).tolist() == [True, True, False, False]


def test_what_the_compiled_step_refuses(compiled: Robot) -> None:
    zero, step = np.zeros(compiled.n), compiled.functions[SIXTH]
    for kind in ("coulomb", "viscous"):
        with pytest.raises(SolverError, match="conservative forces: set friction to 0"):
            step(zero, zero, zero, 0.01, {f"friction.{kind}.{compiled.joints[-1]}": 0.1})
    with pytest.raises(SolverError, match="not found"):
        step(zero, zero, np.full(compiled.n, 1e12), 0.01)


def test_bad_input_is_refused(composed: Composed) -> None:
    robot = composed.robot
    zero = np.zeros(robot.n)
    wrong: Order = 3  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"expected one of 2, 4, 6, found 3"):
        Composed(robot, wrong)
    name = f"friction.coulomb.{robot.joints[-1]}"
    with pytest.raises(InputError, match=rf"order {composed.order} .*{name} is not zero"):
        composed.jacobian(zero, zero, zero, H, robot.alpha.vector({name: 0.1}))
    with pytest.raises(InputError, match="'p0?'"):
        composed(np.full(robot.n + 1, 0.0), zero, zero)
    with pytest.raises(InputError, match="'p'"):
        composed.jacobian([np.nan] * (robot.n + 1), zero, zero)
