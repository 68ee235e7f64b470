from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.robots import generated, loaded, loaded_alpha
from support.shared.estimated import H, motion

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.functions.function import addresses
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, process
from diffpbd.runtime.torques.adam import Lane, _Descents, descend
from diffpbd.runtime.torques.errors import TorqueErrors
from diffpbd.runtime.torques.estimation import estimate
from diffpbd.runtime.torques.settings import LOSSES, STARTS, Settings, window_start

EXACT = 1e-8  # N·m
ROBOTS = ("baxter", "double_pendulum", "prismatic_skew")


def alpha_of(robot: Robot, parameters: str) -> np.ndarray:
    """Defaults, everything away from them, or that with friction as stiff as Baxter's."""
    if parameters == "default":
        return robot.alpha.defaults
    return loaded_alpha(robot.alpha, transition=0.01 if parameters == "stiff" else 0.2)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_rollout_is_inverted_from_every_start_with_stiff_friction(name: str) -> None:
    """At other parameters: the property matrix."""
    robot = loaded(name)
    alpha = alpha_of(robot, "stiff")
    U, P, PD = motion(robot, alpha)
    variants = ((1, False, "recorded"), (1, True, "recorded"), (3, False, "recorded"), (3, False, "step"))
    for loss in LOSSES:
        for start in STARTS:
            for horizon, carry, friction in variants:
                settings = Settings(loss, start, horizon, carry=carry, friction=friction)
                found = estimate(robot, P, PD, H, settings, alpha=alpha)
                assert found.unsettled == 0
                worst = np.abs(found.u - U).max()
                assert worst < EXACT, (loss, start, horizon, carry, friction, worst)
    np.testing.assert_array_equal(found.q, P[:-1])
    offset = alpha[list(robot.alpha.indices("torque_offset"))]
    np.testing.assert_allclose(found.reading, found.u + offset)


def test_the_step_is_the_inverse_of_a_rollout_at_rest_and_at_the_goal() -> None:
    robot = loaded("baxter")
    for alpha in (robot.alpha.defaults, alpha_of(robot, "stiff")):
        p = np.zeros((5, robot.n))
        hold = robot.gravity(p[0], alpha) - robot.spring_torque(p[0], alpha)
        for loss in LOSSES:
            for start in STARTS:
                found = estimate(robot, p, p, H, Settings(loss, start, 2), alpha=alpha)
                assert np.abs(found.u - hold).max() < EXACT
        nodes = estimate(robot, p, p, H, Settings("nodes"), alpha=alpha)
        np.testing.assert_allclose(nodes.u, np.tile(hold, (3, 1)), atol=EXACT)


@pytest.mark.parametrize("known", [1.0, 0.0])
def test_the_optimum_is_that_of_a_general_solver(known: float) -> None:
    """A window that cannot be followed exactly, all three terms at work, against scipy on the same residuals."""
    robot = loaded("double_pendulum")
    alpha = robot.alpha.vector({"friction.viscous.elbow": 0.5, "friction.coulomb.shoulder": 0.3} if not known else {})
    U, P, PD = motion(robot, alpha, steps=4)
    rng = np.random.default_rng(1)
    p_ref, pd_ref = P[1:] + 1e-3 * rng.normal(size=U.shape), PD[1:] + 0.1 * rng.normal(size=U.shape)
    weights = np.array([5.0, 0.02, 2e-6])
    before = U[0] + 1.0
    omega_ref = robot.fk(p_ref, pd_ref, alpha).reshape(4, -1, 13)[..., 10:]

    def residuals(flat: np.ndarray) -> np.ndarray:
        torques = flat.reshape(U.shape)
        p, pd = robot.rollout(P[0], PD[0], torques, H, alpha)
        turn = robot.fk(p[1:], pd[1:], alpha).reshape(4, -1, 13)[..., 10:] - omega_ref
        changes = np.diff(np.concatenate([before[None], torques]), axis=0)
        parts = (np.sqrt(weights[0]) * (p[1:] - p_ref), np.sqrt(weights[1]) * turn, np.sqrt(weights[2]) * changes)
        return np.concatenate([part.ravel() for part in parts])

    expected = least_squares(residuals, U.ravel(), xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac", jac="3-point")
    rest = (p_ref, pd_ref, before, weights, known, H, alpha)
    results = [robot.estimate_torque(P[0], PD[0], start, *rest) for start in (0 * U, U, U + 9.0)]
    for found in results:
        np.testing.assert_allclose(found.U.ravel(), expected.x, atol=1e-6)
        assert found.loss == pytest.approx(2.0 * expected.cost / U.size, rel=1e-9)
        np.testing.assert_allclose(found.U, results[0].U, atol=1e-6)


def test_known_friction_is_a_kick_at_the_end_of_the_step() -> None:
    robot = loaded("baxter")
    alpha = loaded_alpha(robot.alpha)
    U, P, PD = motion(robot, alpha, steps=1)
    given = P[0], PD[0], U[0]
    plain = robot.jac_joint_step(*given, H, alpha)
    for a, b in zip(plain, robot.jac_kicked_step(*given, np.zeros(robot.n), H, alpha), strict=True):
        np.testing.assert_array_equal(a, b)
    free = alpha.copy()
    for kind in ("friction.coulomb", "friction.viscous"):
        free[list(robot.alpha.indices(kind))] = 0.0
    kick = H * robot.friction_torque(PD[1], alpha)
    kicked = robot.jac_kicked_step(*given, kick, H, free)
    np.testing.assert_allclose(kicked.pd_next, PD[1], atol=1e-9)
    e, direction = 1e-6, np.cos(np.arange(robot.n))
    for index, name in enumerate(("p", "pd", "u")):
        sides = []
        for sign in (1.0, -1.0):
            moved = [x + sign * e * direction * (k == index) for k, x in enumerate(given)]
            sides.append(robot.jac_kicked_step(*moved, kick, H, free))
        for end in ("p_next", "pd_next"):
            difference = (getattr(sides[0], end) - getattr(sides[1], end)) / (2 * e)
            exact = getattr(kicked, f"d{end}_d{name}") @ direction
            np.testing.assert_allclose(exact, difference, atol=1e-6 * (1.0 + np.abs(exact).max()))


@pytest.mark.parametrize("weights", [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_what_no_term_depends_on_stays_or_follows_the_others(weights: tuple[float, float, float]) -> None:
    robot = loaded("double_pendulum")
    U, P, PD = motion(robot, robot.alpha.defaults, steps=3)
    before = U[0] + 2.0
    found = robot.estimate_torque(P[0], PD[0], U, P[1:], PD[1:], before, np.array(weights), 1.0, H)
    np.testing.assert_allclose(found.U, U if weights[2] == 0.0 else np.tile(before, (3, 1)), atol=1e-12)
    empty = robot.estimate_torque(P[0], PD[0], U[:0], P[:0], PD[:0], before, np.array(weights), 1.0, H)
    assert empty.U.shape == (0, 2) and empty.loss == 0.0


def test_nothing_is_written_behind_work_or_outputs_and_nothing_stale_is_read() -> None:
    robot = loaded("double_pendulum")
    function = robot.functions["estimate_torque"]
    library = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    alpha = alpha_of(robot, "stiff")
    U, P, PD = motion(robot, alpha, steps=3)
    inputs = [P[0], PD[0], 0 * U, P[1:], PD[1:], U[0], np.array([1.0, 0.02, 2e-7]), np.ones(1), np.array([H]), alpha]
    inputs = [np.ascontiguousarray(x, dtype=float) for x in inputs]
    work_size = library.double_pendulum_estimate_torque_work_size
    results = []
    for fill in (777.0, -3e300):
        work = np.full(work_size(3) + 2, fill)
        outputs = [np.full(size + 2, fill) for size in (U.size, P.size, PD.size, 1, 1)]
        call = getattr(library, function.facts.symbol)
        assert call(3, addresses(inputs), addresses(outputs), ctypes.c_void_p(work.ctypes.data)) == 0
        assert (work[-2:] == fill).all() and all((x[-2:] == fill).all() for x in outputs)
        results.append(np.concatenate([x[:-2] for x in outputs]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("at", range(10))
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_what_is_not_finite_gives_a_status_and_no_estimate(at: int, value: float) -> None:
    """Every argument, in its last number."""
    robot = loaded("double_pendulum")
    function = robot.functions["estimate_torque"]
    alpha = alpha_of(robot, "stiff")
    U, P, PD = motion(robot, alpha, steps=3)
    names = [argument.name for argument in function.facts.inputs]
    inputs = [P[0], PD[0], 0 * U, P[1:], PD[1:], U[0], np.array([1.0, 0.02, 2e-7]), np.ones(1), np.array([H]), alpha]
    inputs = [np.array(x, dtype=float) for x in inputs]
    outputs = {a.name: np.full(a.size(3), np.nan) for a in function.facts.outputs}
    call = function.fixed(3, dict(zip(names, inputs, strict=True)), outputs)  # type: ignore[attr-defined]
    assert call() == 0
    inputs[at].flat[-1] = value
    assert call() == 9
    assert all((x == 0.0).all() for x in outputs.values())


def test_a_loss_beyond_all_numbers_gives_a_status() -> None:
    robot = loaded("double_pendulum")
    alpha = alpha_of(robot, "stiff")
    U, P, PD = motion(robot, alpha, steps=3)
    with pytest.raises(SolverError, match="no finite value"):
        far, heavy = 1e100 + P[1:], np.array([1e149, 0.0, 0.0])
        robot.estimate_torque(P[0], PD[0], U, far, PD[1:], U[0], heavy, 1.0, H, alpha)


def test_the_size_of_work_is_counted_or_refused() -> None:
    """From both sides of the longest window that an int can count."""
    robot = loaded("double_pendulum")
    for name in ("estimate_torque", "mpc", "vjp_rollout"):
        size = getattr(ctypes.CDLL(str(robot.folder / robot.manifest.library)), f"double_pendulum_{name}_work_size")
        each = size(1) - size(0)
        assert each > 0 and size(-1) == size(0)
        most = (2**31 - 1 - size(0)) // each
        assert size(most) == size(0) + most * each
        assert size(most + 1) == size(2**31 - 1) == -1
        with pytest.raises(InputError, match="larger than C can count"):
            robot.functions[name]._library.work_size(robot.functions[name].facts, most + 1)


def test_previous_starts_as_published() -> None:
    held, before = np.arange(6.0).reshape(3, 2), np.array([7.0, 8.0])
    window = np.array([[10.0, 11.0], [12.0, 13.0], [14.0, 15.0]])
    np.testing.assert_array_equal(window_start("previous", held, before, window, 3), [window[1], window[2], held[2]])
    np.testing.assert_array_equal(window_start("previous", held, before, window[:1], 1), [before])
    np.testing.assert_array_equal(window_start("gravity", held, before, window, 2), held[:2])
    np.testing.assert_array_equal(window_start("zero", held, before, window, 2), np.zeros((2, 2)))


@pytest.mark.parametrize("horizon", [1, 3])
def test_the_descents_gradient_is_the_derivative_of_its_loss(horizon: int) -> None:
    robot = loaded("double_pendulum")
    alpha = robot.alpha.vector({"friction.viscous.elbow": 0.2})
    U, P, PD = motion(robot, alpha, steps=4)
    lanes = [Lane("zero", np.array(w), horizon) for w in ((1.0, 0.0, 0.0), (0.3, 0.02, 2e-3))]
    descents = _Descents(robot, P, PD, H, lanes, alpha)
    xi = np.repeat(robot.fk(P[:1], PD[:1], alpha), 2, axis=0)
    before = np.repeat(U[:1] + 1.0, 2, axis=0)
    at = np.repeat(U[None, :horizon] + 0.5, 2, axis=0)
    loss, gradient = descents._loss(xi, at, 0, before)
    e, direction = 1e-3, np.sin(1.0 + np.arange(at[0].size)).reshape(at[0].shape)
    sides = [descents._loss(xi, at + sign * e * direction, 0, before)[0] for sign in (1.0, -1.0)]
    np.testing.assert_allclose((gradient * direction).sum(axis=(1, 2)), (sides[0] - sides[1]) / (2 * e), rtol=1e-5)
    assert (loss > 0.0).all()


def test_the_descent_goes_down_and_lanes_do_not_touch_each_other() -> None:
    """ADAM ends far below where it starts, far from converged; each lane as if it were alone."""
    robot = loaded("double_pendulum")
    alpha = robot.alpha.defaults
    _, P, PD = motion(robot, alpha, steps=3)
    lanes = [Lane(start, np.array(LOSSES[loss])) for start, loss in (("gravity", "omega"), ("previous", "angle+omega"))]
    found = descend(robot, P, PD, H, lanes, alpha)
    descents = _Descents(robot, P, PD, H, lanes, alpha)
    xi, held = np.repeat(descents.xi[:1], 2, axis=0), np.repeat(descents.held[:1], 2, axis=0)
    before, _ = descents._loss(xi, held[:, None], 0, held)
    for k, lane in enumerate(lanes):
        assert found[k].u.shape == (3, robot.n) and np.isfinite(found[k].u).all()
        assert found[k].loss[0] < 0.5 * before[k]
        alone = descend(robot, P, PD, H, [lane], alpha)[0]
        np.testing.assert_array_equal(alone.u, found[k].u)
        np.testing.assert_allclose(found[k].q[0], P[0], atol=1e-12)


def test_descent_by_jacobi_sweeps_and_of_other_lengths() -> None:
    robot = loaded("double_pendulum")
    alpha = robot.alpha.defaults
    _, P, PD = motion(robot, alpha, steps=1)
    lanes = [Lane("zero", np.array(LOSSES["omega"]), from_zero=count) for count in (1, 2, 120)]
    one, two, all_of_them = (found.u[0] for found in descend(robot, P, PD, H, lanes, alpha, solver="jacobi"))
    np.testing.assert_allclose(np.abs(one), 1.0, rtol=1e-3)  # ADAM's first move is the rate, by sign
    assert np.abs(two).max() > 1.5
    assert np.abs(all_of_them - descend(robot, P, PD, H, lanes[2:], alpha)[0].u[0]).max() > 1e-9  # other sweeps
    with pytest.raises(InputError, match="jacobi"):
        descend(robot, P, PD, H, lanes, alpha, solver="jacobo")


def test_one_joint(shared: Path) -> None:
    """Vectors of one number all the way."""
    urdf = next((shared / "cases").glob("P46-*")) / "slow.urdf"
    robot = load(generated(str(urdf), variants=("published",)))
    assert robot.n == 1
    alpha = robot.alpha.vector({"friction.coulomb." + robot.joints[0]: 0.1})
    U, P, PD = motion(robot, alpha)
    for start in STARTS:
        found = estimate(robot, P, PD, H, Settings(start=start, horizon=2), alpha=alpha)
        assert np.abs(found.u - U).max() < EXACT
    nodes = estimate(robot, P, PD, H, Settings("nodes"), alpha=robot.alpha.defaults)
    assert nodes.u.shape == (len(P) - 2, 1) and np.isfinite(nodes.u).all()
    adam = estimate(robot, P[:3], PD[:3], H, Settings(optimizer="adam", horizon=2), alpha=robot.alpha.defaults)
    assert adam.u.shape == adam.q.shape == (2, 1) and np.isfinite(adam.u).all()


def test_robots_without_the_step_say_why() -> None:
    real = loaded("double_pendulum")
    _, P, PD = motion(real, real.alpha.defaults)
    functions = {k: f for k, f in real.functions.items() if k not in ("estimate_torque", "joint_step", "node_torque")}
    robot: Any = SimpleNamespace(
        name="r", n=real.n, n_p=real.n_p, functions=functions, manifest=real.manifest, alpha=real.alpha,
        gravity=real.gravity, spring_torque=real.spring_torque,
    )  # fmt: skip
    for settings in (Settings(), Settings("nodes")):
        with pytest.raises(InputError, match="without inertia"):
            estimate(robot, P, PD, H, settings)


@pytest.mark.thorough
def test_recordings_of_a_physical_arm(shared: Path, count: Callable[[int, int], int]) -> None:
    """Friction and spring identified; the whole validation run; among the long counts the worst training run, the fastest."""
    folder = shared / "data" / "baxter_left_100hz"
    if not folder.is_dir():
        pytest.skip(f"the recordings are not here: {folder}")
    robot = loaded("baxter_bare")

    def read(path: Path) -> Any:
        return process(path.name, read_log(path, rate=99.0099).select(robot.joints), Processing())[0]

    train = {path.name: read(path) for path in sorted(folder.glob("train_*"))}
    test = read(folder / "test_circle_XY_T2_r10.csv.gz")
    alpha = robot.alpha.vector(identify(robot, list(train.values()), ["friction", "spring"]).parameters)
    fastest = train["train_sin_XYZ_15s_T2_5_Tz_6T_r18.csv.gz"]
    bars = {"test": (test, (0.75, 0.58, 0.24, 0.15)), "train": (fastest, (0.82, 0.62, 0.25, 0.20))}
    for samples, bar in list(bars.values())[: count(1, 2)]:
        found = estimate(robot, samples.q, samples.dq, 1.0 / samples.rate, alpha=alpha)
        assert found.unsettled == 0
        errors = TorqueErrors.of([samples], [found]).filtered[:4]
        assert (errors <= bar).all(), errors
        nodes = estimate(robot, samples.q, samples.dq, 1.0 / samples.rate, Settings("nodes"), alpha=alpha)
        assert np.sqrt(np.mean(np.diff(nodes.u, axis=0) ** 2, axis=0)).max() < 0.5
    short = slice(0, 300)
    every = [
        estimate(robot, test.q[short], test.dq[short], 1.0 / test.rate, Settings(start=s), alpha=alpha).u
        for s in STARTS
    ]
    assert max(np.abs(u - every[0]).max() for u in every) < 1e-6


def test_the_cache_holds_the_function() -> None:
    facts = loaded("double_pendulum").functions["estimate_torque"].facts
    assert facts.rollout and (generated("double_pendulum") / "src" / "torque_estimation.c").is_file()
