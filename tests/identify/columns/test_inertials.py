from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import casadi
import numpy as np
import pytest
from support.judges.convex import convex_optimum
from support.motions import samples
from support.robots import loaded

from diffpbd.runtime import Robot, load
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.identify.columns import inertials
from diffpbd.runtime.identify.doors import judging
from diffpbd.runtime.identify.motion import conclusion
from diffpbd.runtime.identify.torque import fitting as module
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

SYMBOLIC = ("mass", "com", "inertia")
EXACT = Processing(cutoff=None)
TRUTH = {
    "mass.lower": 1.9,
    "com.lower.x": 0.03,
    "com.lower.z": -0.9,
    "inertia.lower.yy": 0.11,
    "com.upper.z": -0.45,
    "inertia.upper.yy": 0.2,
}


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    from support.robots import generated

    return load(generated("double_pendulum", symbolic=SYMBOLIC))


def test_coordinates_make_every_body_and_only_bodies() -> None:
    rng = np.random.default_rng(2)
    mass, com = 3.0, [0.1, -0.2, 0.3]
    reference = inertials.factor(inertials.pseudo_inertia(mass, com, [0.3, 0.01, 0.02, 0.25, -0.03, 0.2]))
    at_zero = [float(v) for v in inertials.alpha_of(casadi.DM.zeros(10), reference)]
    assert at_zero == pytest.approx([mass, *com, 0.3, 0.01, 0.02, 0.25, -0.03, 0.2], abs=1e-12)
    assert float(inertials.divergence(casadi.DM.zeros(10))) == 0.0
    for _ in range(20):
        theta = casadi.DM(rng.normal(size=10))
        values = [float(v) for v in inertials.alpha_of(theta, reference)]
        J = inertials.pseudo_inertia(values[0], values[1:4], values[4:])
        assert np.linalg.eigvalsh(J).min() > 0.0
        ratio = np.linalg.solve(reference @ reference.T, J)
        expected = np.trace(ratio) - np.log(np.linalg.det(ratio)) - 4.0
        assert float(inertials.divergence(theta)) == pytest.approx(expected, rel=1e-9)


def test_a_rod_as_reference_is_thickened() -> None:
    root = inertials.factor(inertials.pseudo_inertia(1.0, [0.0, 0.0, 0.5], [0.08, 0.0, 0.0, 0.08, 0.0, 0.0]))
    assert np.isfinite(root).all() and np.linalg.matrix_rank(root) == 4
    assert float(inertials.alpha_of(casadi.DM.zeros(10), root)[0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("part", "decided"), [(0.99, True), (1.01, False)])
def test_nothing_has_a_deviation_that_only_the_prior_makes(
    pendulum: Robot, monkeypatch: pytest.MonkeyPatch, part: float, decided: bool
) -> None:
    """The description is the truth here, so that hardly anything moves with the prior; it decides where the recordings alone
    would leave more than some times the deviation."""
    name, runs, seen = "inertia.upper.yy", samples(pendulum, {}, noise=0.5), []
    evaluate = judging.evaluate
    monkeypatch.setattr(judging, "evaluate", lambda *a: seen.append(evaluate(*a)) or seen[-1])
    monkeypatch.setattr(judging, "MOVES", np.inf)

    def identified() -> tuple[float | None, dict[str, str]]:
        result = identify(pendulum, runs, ["inertials"], settings=Settings(prior=1.0))
        return {e.name: e.std for e in result.estimates}[name], {item.name: item.reason for item in result.lost}

    identified()
    some = [n for n in seen[0].deviations if seen[0].alone[n] > 1.2 * seen[0].deviations[n]]
    name = some[0]
    monkeypatch.setattr(judging, "DECIDED", part * seen[0].alone[name] / seen[0].deviations[name])
    std, lost = identified()
    assert (std is None) == decided == ("only the prior decides it" in lost.get(name, ""))


@pytest.mark.parametrize(
    ("moved", "alone", "said"),
    [(2.9, 2.9, None), (3.1, 2.9, "follows the prior"), (-3.1, 1.0, "follows the prior"), (0.0, 3.1, "only the prior")],
)
def test_the_same_along_trajectories(moved: float, alone: float, said: str | None) -> None:
    """In units of the deviation with the prior."""
    names = SimpleNamespace(names=("mass.arm",))
    end = SimpleNamespace(mean_square=4.0, coordinates=SimpleNamespace(parameters=names))
    found = list(
        conclusion._by_prior(
            end, np.array([0.2 * moved]), np.array([0.01 * alone**2]), np.array([0.01]), np.array([False])
        )
    )
    assert (said is None) == (not found) and all(said in item.reason for item in found)
    assert not list(conclusion._by_prior(end, np.ones(1), np.ones(1), np.array([0.01]), np.array([True])))


def test_what_is_identifiable_comes_to_the_truth(pendulum: Robot) -> None:
    runs = [s for seed in (1, 2) for s in samples(pendulum, TRUTH, seed=seed)]
    fit = ["inertials", "friction.viscous"]
    result = identify(pendulum, runs[:1], fit, validate=runs[1:])
    assert result.validate is not None
    assert max(result.validate.rmse.values()) < 1e-5
    truth = {**pendulum.alpha.by_name(pendulum.alpha.vector(TRUTH))}
    lost = {item.name for item in result.lost}
    assert {"mass.upper", "mass.lower", "inertia.upper.yy"} <= lost
    for e in result.estimates:
        if e.name not in lost:
            assert e.value == pytest.approx(truth[e.name], rel=1e-6, abs=1e-6), e.name


def test_with_a_known_mass_the_rest_is_identifiable(pendulum: Robot) -> None:
    fit = ["com.lower", "inertia.lower"]
    start = {"mass.lower": TRUTH["mass.lower"], "com.upper.z": -0.45, "inertia.upper.yy": 0.2}
    result = identify(pendulum, samples(pendulum, TRUTH), fit, start=start)
    lost = {item.name for item in result.lost}
    for name in ("com.lower.x", "com.lower.z", "inertia.lower.yy"):
        assert name not in lost
        assert result.parameters[name] == pytest.approx(TRUTH[name], rel=1e-6)
    assert result.parameters["mass.lower"] == TRUTH["mass.lower"]


def test_the_optimum_is_that_of_the_convex_problem(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []
    solve = module.solve

    def spy(*arguments: object) -> object:
        solved.append(solve(*arguments))
        return solved[-1]

    monkeypatch.setattr(module, "solve", spy)
    identify(pendulum, samples(pendulum, TRUTH, noise=0.3), ["inertials", "friction", "spring.shoulder"])
    problem, solution = solved[0]
    assert solution.objective == pytest.approx(convex_optimum(pendulum, problem), rel=1e-4)


@pytest.mark.parametrize("fit", [["payload.mass"], ["payload.mass", "payload.com"], ["payload"]])
def test_a_payload(fit: list[str]) -> None:
    robot = loaded("prismatic_skew")
    truth = {"payload.mass": 0.7}
    if len(fit) == 2 or fit == ["payload"]:
        truth |= {"payload.com.x": 0.05, "payload.com.y": -0.02, "payload.com.z": 0.1}
    if fit == ["payload"]:
        truth |= {f"payload.inertia.{m}": 0.004 for m in ("xx", "yy", "zz")}
    result = identify(robot, samples(robot, truth), fit)
    lost = {item.name for item in result.lost}
    found = {name: value for name, value in truth.items() if name not in lost}
    assert "payload.mass" in found
    for name, value in found.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-5, abs=1e-6), name


def case(shared: Path, name: str) -> Path:
    return next((shared / "cases").glob(f"{name}-*"))


def one_joint(path: Path, joint: str, rate_columns: bool = True) -> list[Samples]:
    columns = {"q": f"q_{joint}", "dq": f"dq_{joint}", "tau": f"tau_{joint}"}
    if rate_columns:
        columns["ddq"] = f"ddq_{joint}"
    return process(path.name, read_log(path, columns=columns), EXACT)


@pytest.fixture(scope="module")
def slow(shared: Path) -> Robot:
    from support.robots import generated

    return load(generated(str(case(shared, "P46") / "slow.urdf"), symbolic=SYMBOLIC))


def test_noisy_slow_motion_stays_physical_and_says_so(shared: Path, slow: Robot) -> None:
    runs = one_joint(case(shared, "P46") / "slow.csv", "swing")
    result = identify(slow, runs, ["com", "inertia", "friction"])
    p = result.parameters
    about_joint = p["inertia.bob.yy"] + 1.5 * (p["com.bob.x"] ** 2 + p["com.bob.z"] ** 2)
    assert about_joint > 1.5 * (p["com.bob.x"] ** 2 + p["com.bob.z"] ** 2) > 0.0
    (reason,) = (item.reason for item in result.lost if item.name == "inertia.bob.yy")
    assert "follows the prior" in reason and float(reason.split()[-1]) > 0.05
    free = identify(slow, runs, ["com", "inertia", "friction"], settings=Settings(prior=1e-6))
    assert any("bob is close to its physical limit" in note for note in free.notes)
    own = {
        e.name: e for e in free.estimates
    }  # nothing is missing, though the fit bends far off where a part is left out
    assert not any(e.rejected for e in own.values()), free.notes
    assert (own["inertia.bob.yy"].std or 0.0) > 0.05
    assert abs(own["com.bob.z"].value - 0.22) < 3.0 * (own["com.bob.z"].std or 0.0)


def test_starts_on_the_bounds_do_not_stall(shared: Path, slow: Robot) -> None:
    runs = one_joint(case(shared, "P47") / "swing.csv", "swing")
    fit = ["com", "inertia", "friction.viscous", "friction.coulomb"]
    # J 0.11, m c = (0.02, 0.41), viscous 0.5, coulomb 0; the mass is a known one.
    found = []
    for start in ({}, {"friction.viscous.swing": 2.0, "friction.coulomb.swing": 1.0, "inertia.bob.yy": 0.5}):
        p = identify(
            slow, runs, fit, start={"inertia.bob.xx": 0.5, "inertia.bob.zz": 0.5, **start} if start else {}
        ).parameters
        x, z = 1.5 * p["com.bob.x"], 1.5 * p["com.bob.z"]
        J = p["inertia.bob.yy"] + (x * x + z * z) / 1.5
        found.append([J, x, z, p["friction.viscous.swing"], p["friction.coulomb.swing"]])
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert found[0][3:] == pytest.approx([0.5, 0.0], abs=0.02)


def test_a_still_joint_is_named_and_the_rest_is_returned(shared: Path) -> None:
    from support.robots import generated

    folder = case(shared, "P49")
    robot = load(generated(str(folder / "still2.urdf"), symbolic=SYMBOLIC))
    columns = {f"{k}{j}": f"{k}_j{j}" for k in ("q", "dq", "ddq", "tau") for j in (1, 2)}
    runs = process("still", read_log(folder / "still.csv", columns=columns), EXACT)
    result = identify(robot, runs, ["inertials", "friction"])
    lost = {item.name: item.reason for item in result.lost}
    for kind in ("coulomb", "viscous"):
        assert "joint j2 never moved" in lost[f"friction.{kind}.j2"]
    assert result.rank < result.unknowns and np.isfinite(result.condition)
    assert "friction.viscous.j1" not in lost and np.isfinite(list(result.parameters.values())).all()
