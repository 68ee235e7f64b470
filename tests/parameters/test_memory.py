"""Dahl's friction with memory in every function and in the step: closed forms, scipy, energy, derivatives, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.described import Described
from support.judges.properties import Scene, properties_of
from support.made.remembering import FUNCTIONS, HUB, KINDS, RAIL, STATES, friction
from support.numeric import Array
from support.robots import generated
from support.small.rolled import rolled_step, run_rolled
from support.small.sled import MASS, URDF, description, sled

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.identify import identify
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.simulate.memory import Motion, Remembering
from diffpbd.runtime.simulate.simulation import simulate

H = 0.002
OFF_AXIS = {"payload.mass": 0.7, "payload.com.x": 0.2, "payload.com.y": -0.1, "payload.inertia.zz": 0.01}


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    file = description(tmp_path_factory.mktemp("sled"))
    return load(generated(str(file), friction_law=["dahl"], functions=FUNCTIONS))


def carried(arm: Robot, alpha: Array, deflection: Array) -> Array:
    """alpha with the deflection that a step ended with."""
    found = alpha.copy()
    found[list(arm.alpha.indices("friction.deflection"))] = deflection
    return found


def moved(
    arm: Robot, entries: Mapping[str, float], pushes: Array, h: float, pd: float = 0.0
) -> tuple[Array, Array, Array]:
    """Position, rate and deflection of the rail after every step under these forces."""
    alpha, p, pd_now, found = arm.alpha.vector(entries), np.zeros(2), np.array([pd, 0.0]), []
    for push in pushes:
        p, pd_now = arm.joint_step(p, pd_now, np.array([push, 0.0]), h, alpha)
        z = arm.deflection_next(pd_now, h, alpha)
        alpha = carried(arm, alpha, z)
        found.append((p[0], pd_now[0], z[0]))
    return tuple(np.array(found).T)  # type: ignore[return-value]


def test_the_deflection_is_in_every_function_at_an_instant(arm: Robot) -> None:
    rng = np.random.default_rng(2)
    alpha, plain = arm.alpha.vector(friction(RAIL, HUB) | OFF_AXIS), arm.alpha.vector(OFF_AXIS)
    p, pd, pdd = rng.uniform(-1.0, 1.0, (3, 40, 2))
    expected = np.array([RAIL[0] * RAIL[4], HUB[0] * HUB[4]]) + pd * np.array([RAIL[1], HUB[1]])
    np.testing.assert_allclose(arm.friction_torque(pd, alpha), -expected, atol=1e-13)
    u = arm.inverse_dynamics(p, pd, pdd, alpha)
    np.testing.assert_allclose(u - arm.inverse_dynamics(p, pd, pdd, plain), expected, atol=1e-12)
    np.testing.assert_allclose(arm.forward_dynamics(p, pd, u, alpha), pdd, atol=1e-10)
    np.testing.assert_allclose(arm.torque_terms(p, pd, pdd, alpha) @ arm.torque_coefficients(alpha), u, atol=1e-12)


@pytest.mark.parametrize("state", STATES)
def test_properties_of_the_step(state: str, arm: Robot) -> None:
    p, pd, u, more = STATES[state]
    alpha = arm.alpha.vector(friction(RAIL, HUB) | OFF_AXIS | more)
    # A deflection at its bound has no room: |z| is differentiated from within in the test below.
    sizes = {
        "friction.deflection": 0.0 if state == "used up" else 1e-4,
        "friction.way": 1e-6,
        "friction.transition": 1e-5,
    }
    properties_of(Scene(arm, *map(np.array, (p, pd, u)), alpha, H), sizes, graph=1e-9)


def test_derivatives_of_the_deflection(arm: Robot) -> None:
    """By the rate, every number of friction and h against differences, at rest and where friction is used up too."""
    rng, e = np.random.default_rng(3), 1e-7
    rest = arm.alpha.vector(friction(RAIL, HUB))
    for pd, z in (((0.3, -0.2), (0.1, 0.9)), ((0.0, 0.0), (0.5, -0.99)), ((0.004, -0.002), (0.999, 0.0))):
        alpha, pd = carried(arm, rest, np.array(z)), np.array(pd)
        J, A = arm.jac_deflection_next(pd, H, alpha), arm.jac_alpha_deflection_next(pd, H, alpha)
        seed = rng.normal(size=2)
        back = arm.vjp_deflection_next(pd, H, alpha, seed)
        for k in range(2):
            d = 1e-9 * np.eye(2)[k]  # far below where the slope changes
            slope = (arm.deflection_next(pd + d, H, alpha) - arm.deflection_next(pd - d, H, alpha)) / 2e-9
            np.testing.assert_allclose(J.ddeflection_dpd_next[:, k], slope, rtol=1e-6, atol=1e-6)
        for k, name in enumerate(arm.alpha.names):
            d = e * alpha[k] * np.eye(len(alpha))[k] if name.startswith("friction") else np.zeros(len(alpha))
            if d.any():
                slope = (arm.deflection_next(pd, H, alpha + d) - arm.deflection_next(pd, H, alpha - d)) / (2 * d.sum())
                np.testing.assert_allclose(A[:, k], slope, rtol=1e-6, atol=1e-6, err_msg=name)
        slope = (arm.deflection_next(pd, H + e * H, alpha) - arm.deflection_next(pd, H - e * H, alpha)) / (2 * e * H)
        assert back.h_bar == pytest.approx(seed @ slope, rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(back.pd_next_bar, seed @ J.ddeflection_dpd_next, atol=1e-12)
        np.testing.assert_allclose(back.alpha_bar, seed @ A, atol=1e-12)
    for z in (1.0, -1.0):  # and from within: finite, and friction that is used up stays so
        alpha = carried(arm, rest, np.array([z, -z]))
        for pd in ((0.0, 0.0), (0.1 * z, -0.1 * z)):
            found = (arm.deflection_next(pd, H, alpha), arm.jac_alpha_deflection_next(pd, H, alpha))
            assert all(np.isfinite(x).all() for x in found)
            np.testing.assert_allclose(found[0], [z, -z], atol=1e-6)


def test_along_a_known_motion(arm: Robot) -> None:
    """At a constant rate z → sign ṗ by exp(−way/s): of first order, with the constant of backward Euler and of h v beside s."""
    s, rate, seconds, v = 0.02, 0.05, 0.6, 1e-4
    errors = []
    for h in (1e-3, 5e-4):
        alpha = arm.alpha.vector(friction((0.0, 0.0, v, s, -0.4)))
        for _ in range(round(seconds / h)):
            alpha = carried(arm, alpha, arm.deflection_next([rate, 0.0], h, alpha))
        ways = rate * seconds / s
        errors.append(1.0 - 1.4 * np.exp(-ways) - alpha[arm.alpha.index("friction.deflection.rail")])
        assert errors[-1] == pytest.approx(1.4 * ways * np.exp(-ways) * (0.5 * rate + v) * h / s, rel=0.05)
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.02)


def test_hysteresis_of_presliding(arm: Robot) -> None:
    """To and fro over an amplitude A the loop of z over p has the area 4 (A − s tanh(A/s)), and turns at ± tanh(A/s)."""
    s, rate, h, at = 0.02, 0.1, 5e-4, arm.alpha.index("friction.deflection.rail")
    for amplitude in (0.005, 0.02):
        alpha = arm.alpha.vector(friction((0.0, 0.0, 1e-3, s, 0.0)))
        steps = round(2.0 * amplitude / (rate * h))
        for turn in range(30):
            z, way = [alpha[at]], rate * (-1.0) ** turn
            for _ in range(steps):
                alpha = carried(arm, alpha, arm.deflection_next([way, 0.0], h, alpha))
                z.append(alpha[at])
        area = 2.0 * (np.sum(z) - 0.5 * (z[0] + z[-1])) * way * h  # the other half is the same
        assert abs(z[-1]) == pytest.approx(np.tanh(amplitude / s), rel=5e-3)
        assert area == pytest.approx(4.0 * (amplitude - s * np.tanh(amplitude / s)), rel=0.02)


def test_against_an_integrator_of_differential_equations(arm: Robot) -> None:
    """The sled pushed to and fro, within presliding and beyond: first order, to scipy's solution of Dahl's equations."""
    c, d, s, seconds, z0 = 3.0, 0.8, 0.01, 1.2, 0.2

    def push(t: Array | float) -> Array:
        return 2.5 * np.sin(7.0 * np.asarray(t)) + 1.5 * np.sin(17.0 * np.asarray(t))

    def slopes(t: float, x: Array) -> list[float]:
        return [x[1], (float(push(t)) - d * x[1] - c * x[2]) / MASS, (x[1] - x[2] * abs(x[1])) / s]

    exact = solve_ivp(slopes, (0.0, seconds), [0.0, 0.1, z0], method="LSODA", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for h in (1e-3, 5e-4):
        t = (np.arange(round(seconds / h)) + 0.5) * h
        p, pd, z = moved(arm, friction((c, d, 1e-4, s, z0)), push(t), h, 0.1)
        errors.append(np.abs(np.array([p[-1], pd[-1], z[-1]]) - exact))
    assert (errors[0] < [1e-4, 1e-3, 0.02]).all(), errors
    assert np.linalg.norm(errors[0]) / np.linalg.norm(errors[1]) == pytest.approx(2.0, rel=0.1)


def test_a_load_is_held_without_creep(arm: Robot) -> None:
    """Six tenths of Coulomb friction pull: the joint gives way by s |ln 0.4| if it is damped, and then stays; with the
    plain law it creeps at v artanh 0.6."""
    c, s, v, h = 4.0, 0.01, 0.02, 2e-3
    p, pd, z = moved(arm, friction((c, 80.0, v, s, 0.0)), np.full(6000, 0.6 * c), h)
    assert z[-1] == pytest.approx(0.6, abs=1e-9)
    assert p[-1] == pytest.approx(s * abs(np.log(0.4)), rel=0.03)
    assert abs(p[-1] - p[-500]) < 1e-12 and abs(pd[-1]) < 1e-12 < 1e-6 * v * np.arctanh(0.6)


def test_friction_only_takes_energy(arm: Robot) -> None:
    """Kinetic energy and that of the deflection, ½ c (s + h v) z², fall whatever the numbers are, and |z| stays within one."""
    rng, at = np.random.default_rng(6), arm.alpha.indices("friction.deflection")
    for _ in range(200):
        v, s, h = (
            10.0 ** rng.uniform(-4.0, 0.0),
            rng.choice([0.0, 10.0 ** rng.uniform(-6.0, 0.0)]),
            10.0 ** rng.uniform(-4.0, -1.0),
        )
        c, d = np.minimum(
            10.0 ** rng.uniform(-3.0, 3.0, 2), [0.02 / h**2, np.inf]
        )  # a step turns no joint by more than that
        alpha = arm.alpha.vector(friction((c, d, v, s, 0.0), (c, d, v, s, 0.0)))
        alpha = carried(arm, alpha, rng.choice([-1.0, 1.0, rng.uniform(-1.0, 1.0)], 2))
        pd = np.sign(rng.normal(size=2)) * np.minimum(10.0 ** rng.uniform(-4.0, 1.0, 2), 0.5 / h)
        p = np.zeros(2)
        before = np.inf
        for _ in range(6):
            z = alpha[list(at)]
            energy = arm.energy(p, pd, alpha).kinetic + 0.5 * c * (s + h * v) * z @ z
            assert energy <= before * (1.0 + 1e-12), (c, d, v, s, h, pd, z)
            assert (np.abs(z) <= 1.0).all()
            before = energy
            p, pd = arm.joint_step(p, pd, np.zeros(2), h, alpha)
            alpha = carried(arm, alpha, arm.deflection_next(pd, h, alpha))
        rest = arm.joint_step(np.zeros(2), np.zeros(2), np.zeros(2), h, carried(arm, alpha, np.zeros(2)))
        assert (rest.pd_next == 0.0).all()


def test_a_short_way_is_coulombs_law(arm: Robot) -> None:
    """A moving joint, with first order in the way: what is left of the memory is (1 − z) (s/h + v)/|ṗ| and less."""
    rate, v, left = 0.5, 1e-4, []
    for s in (1e-5, 5e-6):
        alpha = arm.alpha.vector(friction((1.0, 0.0, v, s, -0.3)))
        left.append(1.0 - arm.deflection_next([rate, 0.0], H, alpha)[0])
        assert left[-1] <= 1.3 * (s / H + v) / rate
    alpha = arm.alpha.vector(friction((1.0, 0.0, v, 0.0, -0.3)))
    least = 1.0 - arm.deflection_next([rate, 0.0], H, alpha)[0]
    assert (left[0] - least) / (left[1] - least) == pytest.approx(2.0, rel=0.02)
    assert least <= 1.3 * v / rate


def test_what_knows_no_memory_is_left_out_by_name(arm: Robot, tmp_path: Path) -> None:
    for name in ("rollout", "vjp_rollout", "node_torque", "mpc", "step", "estimate_torque"):
        assert name not in arm.functions
        assert "friction with memory (dahl)" in arm.manifest.why_not(name), name
    with pytest.raises(AttributeError, match=r"no 'rollout'.*deflection_next carries on"):
        arm.rollout  # noqa: B018
    file = description(tmp_path)
    with pytest.raises(InputError, match=r"memory of friction.*friction with memory \(dahl\)"):
        generated(str(file), friction_law=["dahl"], cuda=True)
    with pytest.raises(InputError, match=r"friction_law = stribeck,dahl: friction with memory \(dahl\) stands alone"):
        generated(str(file), friction_law=["stribeck", "dahl"])
    with pytest.raises(InputError, match=r"friction\.deflection\.rail: expected at most 1"):
        arm.alpha.vector({"friction.deflection.rail": 1.1})


def test_a_simulation_carries_the_deflection(arm: Robot) -> None:
    """From that of alpha, which stays as it is."""
    h, pushes = 5e-3, 3.0 * np.sin(np.arange(60))
    entries = friction(RAIL)
    alpha = arm.alpha.vector(entries)
    before = alpha.copy()
    run = simulate(arm, duration=60 * h, h=h, torque=np.column_stack([pushes, 0.0 * pushes]), alpha=alpha)
    p, pd, _ = moved(arm, entries, pushes, h)
    np.testing.assert_array_equal(run.q[1:, 0], p)
    np.testing.assert_array_equal(run.dq[1:, 0], pd)
    np.testing.assert_array_equal(alpha, before)


def test_the_gradient_of_a_rollout(arm: Robot) -> None:
    """By start, first deflection, torques, h and friction, through a reversal, against differences; nodes are the steps'."""
    rng, steps, h = np.random.default_rng(4), 30, 5e-3
    alpha = arm.alpha.vector(friction((4.0, 1.5, 0.02, 0.01, 0.3), HUB) | OFF_AXIS)
    p, pd, U = np.array([0.1, 0.4]), np.array([0.2, -0.3]), rng.normal(size=(steps, 2)) * np.array([20.0, 1.0])
    U[steps // 2 :] -= np.array([30.0, -1.5])
    along = Remembering(arm)
    motion, bars = along.rollout(p, pd, U, h, alpha), Motion(*rng.normal(size=(3, steps + 1, 2)))
    assert np.ptp(np.sign(motion.PD[:, 0])) == 2.0

    def loss(p: Array, pd: Array, U: Array, h: float, alpha: Array) -> float:
        return float(sum(np.sum(a * b) for a, b in zip(along.rollout(p, pd, U, h, alpha), bars, strict=True)))

    found = along.vjp_rollout(motion, U, bars, h, alpha)

    def slope(k: int, direction: Array, size: float) -> float:
        ends = []
        for side in (1.0, -1.0):
            given: list[Array] = [p, pd, U, h, alpha]
            given[k] = given[k] + side * size * direction
            ends.append(loss(*given))
        return (ends[0] - ends[1]) / (2.0 * size)

    for k, bar in enumerate((found.p0_bar, found.pd0_bar, found.U_bar)):
        direction = rng.normal(size=bar.shape)
        assert slope(k, direction, 1e-7) == pytest.approx(np.sum(bar * direction), rel=2e-5)
    assert slope(3, np.array(1.0), 1e-9) == pytest.approx(found.h_bar, rel=1e-4)
    for kind in KINDS:
        direction = np.zeros(len(alpha))
        direction[list(arm.alpha.indices(f"friction.{kind}"))] = 1.0
        assert slope(4, direction, 1e-7) == pytest.approx(found.alpha_bar @ direction, rel=1e-4, abs=1e-5), kind


def test_what_would_not_carry_it_is_refused(arm: Robot) -> None:
    with pytest.raises(InputError, match=r"MPC of sled: friction of rail, hub has memory .*--friction-law dahl"):
        Mpc(arm, 5)
    with pytest.raises(InputError, match=r"Identification of sled: .*by .*dahl.*, whose params.json"):
        identify(arm, [None], ["friction"])  # type: ignore[list-item]


def test_the_sled_without_memory_has_none(tmp_path: Path) -> None:
    plain = sled(tmp_path)
    assert "deflection_next" not in plain.functions
    assert not any(name.startswith("friction.way") for name in plain.alpha.names)


@pytest.mark.thorough
def test_the_step_along_a_tree(arm: Robot, tmp_path: Path) -> None:
    """As deep trees are emitted: values, Jacobians and reverse mode are those of the straight-line step."""
    library = rolled_step(Described.of(description(tmp_path), friction_law=["dahl"]).model, tmp_path)
    for p, pd, u, more in STATES.values():
        alpha = arm.alpha.vector(friction(RAIL, HUB) | OFF_AXIS | more)
        found = run_rolled(library, "jac_joint_step", [p, pd, u, H, alpha], [2, 2] + [4] * 6)
        for value, want in zip(found, arm.jac_joint_step(p, pd, u, H, alpha), strict=True):
            np.testing.assert_allclose(value, np.ravel(want, order="F"), atol=1e-8)
        found = run_rolled(library, "jac_alpha_joint_step", [p, pd, u, H, alpha], [2 * len(alpha)] * 2)
        for value, want in zip(found, arm.jac_alpha_joint_step(p, pd, u, H, alpha), strict=True):
            np.testing.assert_allclose(value, np.ravel(want, order="F"), rtol=1e-6, atol=1e-8)


@pytest.mark.thorough
def test_a_joint_that_follows_another(tmp_path: Path) -> None:
    """Its own friction has a deflection of its own, which turns with its own rate."""
    geared = URDF.replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="rail" multiplier="-1.5" offset="0.2"/>'
    )
    file = description(tmp_path, geared)
    robot = load(generated(str(file), friction_law=["dahl"], functions=("joint_step", "jac_alpha_joint_step")))
    alpha = robot.alpha.vector(friction(RAIL, HUB) | OFF_AXIS)
    for pd in (0.3, 0.0, -0.02):
        properties_of(
            Scene(robot, np.array([0.3]), np.array([pd]), np.array([1.0]), alpha, H),
            {"friction.deflection": 1e-4, "friction.way": 1e-6, "friction.transition": 1e-5}, graph=1e-9,
        )  # fmt: skip
    z = robot.deflection_next([0.3], H, alpha)
    assert z.shape == (2,) and z[0] > RAIL[4] and z[1] < HUB[4]
