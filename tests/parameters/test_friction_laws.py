"""Friction that differs by direction and falls with the rate: every function, step and derivative; closed forms."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import mechanisms
from support.described import Described
from support.judges.properties import Scene, properties_of
from support.made.rubbing import HUB, OFF_AXIS, RAIL, STATES
from support.numeric import Array
from support.robots import CACHE, generated
from support.small.closed_robots import case
from support.small.rolled import rolled_step, run_rolled
from support.small.sled import LAWS, MASS, URDF, description, friction, law, sled

from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.options import option_words
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.model.parameters import alpha_entries
from diffpbd.codegen.graph.step import joint_step
from diffpbd.codegen.joint_space.links import link_jacobian
from diffpbd.codegen.program.program import Program
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.simulate.simulation import simulate

H = 0.01


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return sled(tmp_path_factory.mktemp("sled"))


@pytest.fixture(scope="module")
def alpha(arm: Robot) -> Array:
    return arm.alpha.vector(friction(RAIL, HUB) | OFF_AXIS)


def test_the_law_is_in_every_function(arm: Robot, alpha: Array) -> None:
    rng = np.random.default_rng(2)
    plain = arm.alpha.vector(OFF_AXIS)
    p, pd, pdd = rng.uniform(-1.0, 1.0, (3, 40, 2))
    pd[:20] *= 0.05
    expected = np.column_stack([law(pd[:, 0], RAIL), law(pd[:, 1], HUB)])
    np.testing.assert_allclose(arm.friction_torque(pd, alpha), -expected, atol=1e-13)
    u = arm.inverse_dynamics(p, pd, pdd, alpha)
    np.testing.assert_allclose(u - arm.inverse_dynamics(p, pd, pdd, plain), expected, atol=1e-12)
    np.testing.assert_allclose(arm.forward_dynamics(p, pd, u, alpha), pdd, atol=1e-10)
    np.testing.assert_allclose(arm.torque_terms(p, pd, pdd, alpha) @ arm.torque_coefficients(alpha), u, atol=1e-12)


def test_a_kick_takes_energy_and_rest_stays(arm: Robot) -> None:
    """Whatever the numbers are: light, steep, long steps, friction that falls to nothing within a step."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        c, d, s = 10.0 ** rng.uniform(-3.0, 3.0, 3)
        delta, epsilon = c * rng.uniform(-1.0, 1.0), d * rng.uniform(-1.0, 1.0)
        numbers = (c, d, 10.0 ** rng.uniform(-4.0, 0.0), delta, epsilon, s, 10.0 ** rng.uniform(-3.0, 1.0))
        alpha, h = arm.alpha.vector(friction(numbers, numbers)), 10.0 ** rng.uniform(-4.0, 0.0)
        pd = np.sign(rng.normal(size=2)) * np.minimum(10.0 ** rng.uniform(-4.0, 1.0, 2), 0.5 / h)
        after = arm.joint_step(np.zeros(2), pd, np.zeros(2), h, alpha).pd_next
        assert np.isfinite(after).all() and (np.abs(after) <= np.abs(pd) * (1.0 + 1e-12)).all(), (numbers, h, pd, after)
        assert (after * pd >= 0.0).all(), "friction brakes, and never turns a joint round"
        assert (arm.joint_step(np.zeros(2), np.zeros(2), np.zeros(2), h, alpha).pd_next == 0.0).all()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sled_runs_out_as_its_side_says(side: float, arm: Robot) -> None:
    """M v' = −C − D v from v₀: v = (v₀ + C/D) exp(−D t/M) − C/D, C and D of the direction; an error of first order."""
    c, d, delta, epsilon = 4.0, 1.5, 1.0, -0.6
    alpha = arm.alpha.vector(friction((c, d, 1e-4, delta, epsilon, 0.0, 0.1)))
    C, D, seconds = c + side * delta, d + side * epsilon, 0.5
    exact = (2.0 + C / D) * np.exp(-D * seconds / MASS) - C / D
    errors = []
    for h in (1e-3, 5e-4):
        steps = round(seconds / h)
        _, PD = arm.rollout(np.zeros(2), np.array([2.0 * side, 0.0]), np.zeros((steps, 2)), h, alpha)
        errors.append(abs(side * PD[-1, 0] - exact))
    assert exact > 0.5 and errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    "laws", [((1.0, 0.4, 0.05, 0.3, 0.1, 0.0, 0.1), 0.8), ((1.0, 0.4, 0.05, 0.2, -0.1, 1.5, 0.2), 0.8)]
)
def test_against_an_integrator_of_differential_equations(laws: tuple[tuple[float, ...], float], arm: Robot) -> None:
    """The sled pushed to and fro, through rest and reversal: the step converges to scipy's solution, with first order."""
    numbers, seconds = laws[0], 3.0
    alpha = arm.alpha.vector(friction(numbers))

    def push(t: Array | float) -> Array:
        return 4.0 * np.sin(3.0 * np.asarray(t))

    exact = solve_ivp(
        lambda t, x: [x[1], (push(t) - law(x[1], numbers)) / MASS], (0.0, seconds), [0.0, laws[1]],
        method="LSODA", rtol=1e-9, atol=1e-11,
    ).y[:, -1]  # fmt: skip
    errors = []
    for h in (1e-3, 5e-4):
        t = (np.arange(round(seconds / h)) + 0.5) * h
        P, PD = arm.rollout(np.zeros(2), np.array([laws[1], 0.0]), np.column_stack([push(t), 0.0 * t]), h, alpha)
        errors.append(float(np.hypot(P[-1, 0] - exact[0], PD[-1, 0] - exact[1])))
    assert errors[0] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_stick_and_slip(arm: Robot) -> None:
    """Drawn by a slow spring a joint holds to c + s, then slips; where friction falls at once to c, by as much beyond c."""
    c, s, k, speed, h = 0.3, 0.2, 2.0, 0.04, 2e-3
    base = friction((0.0,) * 2 + (1e-3, 0.0, 0.0, 0.0, 0.1), (c, 0.0, 1e-4, 0.0, 0.0, s, 2e-3))
    alpha = arm.alpha.vector(base)
    p, pd, forces = np.zeros(2), np.zeros(2), []
    for j in range(8000):
        force = k * (speed * h * j - p[1])
        p, pd = arm.joint_step(p, pd, np.array([0.0, force]), h, alpha)
        forces.append(force)
    late = np.array(forces[3000:])
    assert late.max() == pytest.approx(c + s, rel=0.02)
    assert late.min() == pytest.approx(c - s, abs=0.02)


def test_what_would_push_is_refused_by_name(arm: Robot) -> None:
    for values, words in (
        ({"friction.stribeck.rail": -0.1}, "friction.stribeck.rail: expected at least 0 N"),
        ({"friction.stribeck_velocity.hub": 0.0}, "friction.stribeck_velocity.hub: expected at least 0.0001 rad/s"),
        ({"friction.coulomb.hub": 1.0, "friction.coulomb_asymmetry.hub": -1.1}, "coulomb_asymmetry.hub = -1.1: exp"),
        ({"friction.viscous_asymmetry.rail": 0.2}, "at most friction.viscous.rail = 0 in size"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words.replace(".", r"\.")):
            arm.alpha.vector(values)
    base = arm.alpha.vector({"friction.coulomb.hub": 1.0, "friction.coulomb_asymmetry.hub": 1.0})
    with pytest.raises(InputError, match="found|expected at most"):
        arm.alpha.vector({"friction.coulomb.hub": 0.9}, base=base)
    assert arm.alpha.vector({"friction.viscous.hub": 0.0}, base=base) is not None
    whole = base.copy()
    whole[arm.alpha.index("friction.coulomb.hub")] = 0.99
    with pytest.raises(InputError, match=r"coulomb_asymmetry.hub = 1: expected at most friction.coulomb.hub = 0.99"):
        arm.joint_step([0, 0], [0, 0], [0, 0], alpha=np.array([base, whole]))
    with pytest.raises(InputError, match="order 4 is for conservative forces"):
        simulate(arm, duration=H, h=H, step=4, alpha=arm.alpha.vector({"friction.stribeck.hub": 1.0}))


@pytest.mark.thorough
def test_the_step_along_a_tree(arm: Robot, alpha: Array, tmp_path: Path) -> None:
    """As deep trees are emitted: values, reverse mode and Jacobian are those of the straight-line step."""
    library = rolled_step(Described.of(description(tmp_path), friction_law=LAWS).model, tmp_path)
    for p, pd, u in STATES.values():
        found = run_rolled(library, "jac_joint_step", [p, pd, u, H, alpha], [2, 2] + [4] * 6)
        for value, want in zip(found, arm.jac_joint_step(p, pd, u, H, alpha), strict=True):
            np.testing.assert_allclose(value, np.ravel(want, order="F"), atol=1e-8)
        found = run_rolled(library, "jac_alpha_joint_step", [p, pd, u, H, alpha], [2 * len(alpha)] * 2)
        for value, want in zip(found, arm.jac_alpha_joint_step(p, pd, u, H, alpha), strict=True):
            np.testing.assert_allclose(value, np.ravel(want, order="F"), atol=1e-8)


def test_a_joint_that_follows_another(tmp_path: Path) -> None:
    """∂G by the rates at both ends, in both axes, and the torque at a node, where the hub turns with the sled."""
    geared = URDF.replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="rail" multiplier="-1.5" offset="0.2"/>'
    )
    d = Described.of(description(tmp_path, geared), friction_law=LAWS)
    alpha = d.alpha.vector(friction(RAIL, HUB) | OFF_AXIS)
    m, r = d.model, joint_step.Residuals(d.model)
    program = Program("blocks")
    _, s = link_jacobian.declare_blocks(program, m.tree)
    program.output("lag", s.lag)
    program.output("M1", s.M1)
    own = dict(r.inputs)
    link = inline(program, {k: own[k] if k in own else m.blocks[k] for k in program.inputs})
    gaps = [link["lag"] - ca.jacobian(r.G, r.pd), r.h * link["M1"] - ca.jacobian(r.G, r.pd_next)]
    f = ca.Function("f", [*r.inputs.values(), m.alpha], gaps)
    by_start = ca.Function("s", [*r.inputs.values(), m.alpha], [ca.jacobian(r.G, r.pd)])
    for pd, pd_next in ((0.1, 0.05), (-0.02, 0.01), (0.0, -0.3)):
        given = (0.3, pd, 1.0, H, 0.31, pd_next, alpha)
        assert abs(float(by_start(*given))) > 1e-7
        for gap in f(*given):
            np.testing.assert_allclose(np.array(gap.full()), 0.0, atol=1e-13)


def test_a_robot_that_does_not_ask_has_no_entries(tmp_path: Path) -> None:
    plain = default_recipe(description(tmp_path))
    kinds = [
        {e.name.rpartition(".")[0] for e in alpha_entries(read_urdf(plain.urdf), with_options(plain, friction_law=law))}
        for law in ([], ["asymmetric"], ["stribeck"])
    ]
    assert kinds[1] - kinds[0] == {"friction.coulomb_asymmetry", "friction.viscous_asymmetry"}
    assert kinds[2] - kinds[0] == {"friction.stribeck", "friction.stribeck_velocity"}
    asked = option_words(with_options(plain, friction_law=["asymmetric", "stribeck"]), plain)
    assert asked == ["--friction-law", "asymmetric,stribeck"]


def test_closed_loops_take_every_law() -> None:
    """Without the laws' own terms the step is the plain law's; with them its derivatives are exact and it loses energy."""
    plain = case("four_bar")
    sources = CACHE / "mechanisms"
    words = 'symbolic = ["mass", "origin", "loop"]\nfriction_law = ["asymmetric", "stribeck"]'
    file = mechanisms.four_bar().write(sources, "rough_four_bar", words)
    robot = load(generated(str(file), functions=("joint_step", "jac_alpha_joint_step")))
    shared = {f"friction.{kind}.{j}": x for j in robot.joints for kind, x in (("coulomb", 0.3), ("viscous", 0.1))}
    shared |= {f"friction.transition_velocity.{j}": 0.1 for j in robot.joints}
    u, h, p, pd = np.array([0.5, 0.0, 0.0]), 0.01, plain.p, plain.pd
    wanted = np.concatenate(plain.robot.joint_step(p, pd, u, h, plain.robot.alpha.vector(shared)))
    np.testing.assert_allclose(
        np.concatenate(robot.joint_step(p, pd, u, h, robot.alpha.vector(shared))), wanted, atol=1e-11
    )
    own = {"coulomb_asymmetry": 0.05, "viscous_asymmetry": 0.02, "stribeck": 0.2, "stribeck_velocity": 0.4}
    alpha = robot.alpha.vector(shared | {f"friction.{kind}.{j}": x for j in robot.joints for kind, x in own.items()})
    properties_of(Scene(robot, p, pd, u, alpha, h), {"friction": 1e-4}, graph=None)
    P, PD = robot.rollout(p, pd, np.zeros((300, 3)), h, alpha)
    energy = np.array([sum(robot.energy(*state)) for state in zip(P, PD, strict=True)])
    assert np.diff(energy).max() < 1e-5  # of a step of second order, beside what friction takes
    assert np.abs(robot.loop_residual(P, PD).rows).max() < 1e-13
    assert np.abs(PD[-1]).max() < 0.05
