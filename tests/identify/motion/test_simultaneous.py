from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np
import pytest
from support.recordings.followed import PENDULUM, PENDULUM_TRUTH, arm_truth, followed
from support.robots import loaded

from diffpbd.runtime import InputError, Robot
from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.motion import simultaneous
from diffpbd.runtime.identify.motion.assembly import Assembly
from diffpbd.runtime.identify.motion.conclusion import conclude
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.pieces import Pieces
from diffpbd.runtime.identify.motion.trajectory import motions, parameters_of
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.processing import Processing, Samples, process

EXACT = Processing(cutoff=None)
STEP = 1e-6
MOST_ITERATIONS = 30


@pytest.fixture(scope="module")
def samples(pendulum: Robot) -> list[Samples]:
    return process("run", followed(pendulum, PENDULUM_TRUTH, 8), EXACT)


def assembled(robot: Robot, samples: list[Samples], free_torque: bool) -> Assembly:
    parameters = parameters_of(robot, tuple(PENDULUM_TRUTH), robot.alpha.vector(PENDULUM_TRUTH), "simultaneous")
    m = len(PENDULUM_TRUTH)
    torque = np.full(robot.n, 0.1) if free_torque else np.array([np.inf, 0.0])
    undetermined = np.eye(m)[:, :1]
    coordinates = Coordinates(robot, parameters)
    pieces = Pieces(robot, coordinates, coordinates.start, 0.5 + np.arange(m), undetermined, torque)
    return Assembly(pieces, motions(samples, "simultaneous"))


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew", "baxter"])
def test_a_simulated_trajectory_solves_the_equations(name: str) -> None:
    """joint_step, rotors, springs and friction included, is what the equations between states say."""
    robot = loaded(name)
    rng = np.random.default_rng(2)
    kinds = {"rotor_inertia": 0.05, "spring.stiffness": 3.0, "spring.rest": 0.4}
    kinds |= {"friction.coulomb": 0.3, "friction.viscous": 0.2}
    alpha = robot.alpha.vector({f"{kind}.{joint}": size for kind, size in kinds.items() for joint in robot.joints})
    p, pd, u = rng.uniform(-0.8, 0.8, (3, robot.n))
    p_next, pd_next = robot.joint_step(p, pd, u, 0.01, alpha)
    xi, xi_next = robot.fk(p, pd, alpha), robot.fk(p_next, pd_next, alpha)
    for state in (xi, xi_next):
        assert np.abs(robot.state_residual(state, alpha)).max() < 1e-14
    zero = np.zeros(5 * robot.n)
    graph = robot.casadi("momentum_residual")
    names = graph.name_in()
    slopes = graph.factory("slopes", names, ["jac:balance:impulse", "jac:balance:impulse_next"])
    J = np.hstack([np.array(block) for block in slopes(xi, u, 0.01, alpha, xi_next, zero, zero, p)])
    start = robot.momentum_residual(xi, u, 0.01, alpha, xi_next, zero, zero, p)
    impulses = np.linalg.lstsq(J, -start, rcond=None)[0]
    left = robot.momentum_residual(xi, u, 0.01, alpha, xi_next, impulses[: len(zero)], impulses[len(zero) :], p)
    assert np.abs(left).max() < 1e-10 < 1e-3 < np.abs(start).max()
    wrong = robot.momentum_residual(xi, u + 0.1, 0.01, alpha, xi_next, impulses[: len(zero)], impulses[len(zero) :], p)
    assert np.abs(wrong).max() > 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize("free_torque", [True, False])
def test_derivatives_against_differences(pendulum: Robot, samples: list[Samples], free_torque: bool) -> None:
    assembly = assembled(pendulum, samples, free_torque)
    problem, derived = assembly.problem(), assembly.derivatives()
    f = casadi.Function("f", [problem["x"]], [problem["f"], problem["g"]])
    rng = np.random.default_rng(0)
    x = assembly.start() + 0.01 * rng.normal(size=assembly.unknowns)
    multipliers = rng.normal(size=assembly.rows)
    assert f.size1_out(1) == assembly.rows
    value, gradient = derived["grad_f"](x, [])
    g, jacobian = derived["jac_g"](x, [])
    assert float(value) == pytest.approx(float(f(x)[0]))
    assert np.array(g) == pytest.approx(np.array(f(x)[1]))
    hessian = casadi.triu2symm(derived["hess_lag"](x, [], 0.7, multipliers))

    def slope(at: np.ndarray) -> np.ndarray:
        pull = derived["jac_g"](at, [])[1].T @ multipliers
        return 0.7 * np.array(derived["grad_f"](at, [])[1]).ravel() + np.array(pull).ravel()

    for _ in range(5):
        d = rng.normal(size=len(x))
        ahead, behind = f(x + STEP * d), f(x - STEP * d)
        assert float(casadi.dot(gradient, d)) == pytest.approx(float(ahead[0] - behind[0]) / (2 * STEP), rel=1e-5)
        rows = np.array(ahead[1] - behind[1]).ravel() / (2 * STEP)
        assert np.array(jacobian @ d).ravel() == pytest.approx(rows, rel=1e-5, abs=1e-6 * np.abs(rows).max())
        curve = (slope(x + STEP * d) - slope(x - STEP * d)) / (2 * STEP)
        assert np.array(hessian @ d).ravel() == pytest.approx(curve, rel=1e-5, abs=1e-6 * np.abs(curve).max())
    flat = assembly.derivatives(exact=False)["hess_lag"](x, [], 1.0, multipliers)
    assert np.array(flat) == pytest.approx(np.array(derived["hess_lag"](x, [], 1.0, 0 * multipliers)))


@pytest.mark.thorough
def test_baxter_within_thirty_iterations(count: Callable[[int, int], int]) -> None:
    robot = loaded("baxter")
    truth = arm_truth(robot)
    samples = process("run", followed(robot, truth, count(30, 100)), EXACT)
    result = identify(robot, samples, ["friction", "spring"], settings=Settings(form="simultaneous"))
    assert not result.lost and result.iterations < MOST_ITERATIONS
    for name, value in truth.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-6), name


def test_known_torques(pendulum: Robot) -> None:
    runs = process("run", followed(pendulum, PENDULUM_TRUTH, 60), EXACT)
    parameters = parameters_of(pendulum, tuple(PENDULUM_TRUTH), pendulum.alpha.vector(), "simultaneous")
    recorded = motions(runs, "simultaneous")
    found = simultaneous.transcribe(
        pendulum, recorded, parameters, lambda _line: None, Settings(form="simultaneous", torques={})
    )
    assert found.theta == pytest.approx(list(PENDULUM_TRUTH.values()), rel=1e-6)
    assert conclude(found).rank == len(PENDULUM_TRUTH)


def test_states_alone(pendulum: Robot) -> None:
    """No unknown parameter: what is left is the smoothed trajectory."""
    runs = process("run", followed(pendulum, PENDULUM_TRUTH, 20), EXACT)
    parameters = parameters_of(pendulum, (), pendulum.alpha.vector(PENDULUM_TRUTH), "simultaneous")
    found = simultaneous.transcribe(pendulum, motions(runs, "simultaneous"), parameters, lambda _line: None)
    assert found.mean_square < 1e-12 and found.theta.shape == (0,)


def test_refusals(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = process("run", followed(pendulum, PENDULUM_TRUTH, 40), EXACT)
    monkeypatch.setattr(simultaneous, "MOST_STEPS", 10)
    with pytest.raises(InputError, match="expected at most 10 steps, found 40"):
        identify(pendulum, runs, PENDULUM, settings=Settings(form="simultaneous", residual="position"))
    monkeypatch.undo()
    monkeypatch.setitem(ipopt.OPTIONS["ipopt"], "max_iter", 2)
    with pytest.raises(SolverError, match="Maximum_Iterations_Exceeded"):
        identify(pendulum, runs, PENDULUM, settings=Settings(form="simultaneous"))
