from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.motions import motion, samples
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.processing import Processing, process

TRUTH = {
    "friction.coulomb.shoulder": 0.4,
    "friction.coulomb.elbow": 0.15,
    "friction.viscous.shoulder": 0.3,
    "friction.viscous.elbow": 0.0,
    "torque_offset.elbow": -0.6,
    "spring.stiffness.shoulder": 7.0,
    "spring.rest.shoulder": -0.8,
}


def test_friction_and_spring_to_the_truth(pendulum: Robot) -> None:
    runs = [s for seed in (1, 2) for s in samples(pendulum, TRUTH, seed=seed)]
    result = identify(pendulum, runs[:1], ["friction", "spring.shoulder"], validate=runs[1:])
    assert result.status == "Solve_Succeeded" and not result.lost
    assert set(result.parameters) == set(TRUTH)
    for name, value in TRUTH.items():
        assert result.parameters[name] == pytest.approx(value, abs=1e-6 * max(1.0, abs(value)))
    assert result.validate is not None
    assert all(value < 1e-6 for value in result.validate.rmse.values())
    bounds = {e.name: e.bound for e in result.estimates}
    assert bounds.pop("friction.viscous.elbow") == "lower" and not any(bounds.values())


def test_every_identifiable_parameter_of_an_arm_to_the_truth(count: Callable[[int, int], int]) -> None:
    robot = loaded("baxter")
    for seed in range(count(1, 10)):
        rng = np.random.default_rng(seed)
        kinds = {"friction.coulomb": 1.0, "friction.viscous": 1.0, "rotor_inertia": 0.1, "torque_offset": 1.0}
        truth = {f"{k}.{j}": float(size * rng.uniform(0.1, 1.0)) for k, size in kinds.items() for j in robot.joints}
        truth |= {"payload.mass": 0.8, **{f"payload.com.{a}": float(rng.uniform(0.02, 0.1)) for a in "xyz"}}
        truth |= {"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.5}
        del truth["torque_offset.left_s1"]
        fit = ["friction", "spring", "rotor_inertia", "payload.mass", "payload.com"]
        result = identify(robot, samples(robot, truth, seed=seed), fit)
        lost = {item.name for item in result.lost}
        assert set(result.parameters) == set(truth) and len(lost) <= 2, lost
        for name in set(truth) - lost:
            assert result.parameters[name] == pytest.approx(truth[name], rel=1e-6), name


@pytest.mark.parametrize("form", ["rest", "stiffness"])
def test_one_half_of_a_spring(pendulum: Robot, form: str) -> None:
    other = "spring.stiffness.shoulder" if form == "rest" else "spring.rest.shoulder"
    wanted = f"spring.{form}.shoulder"
    start = {name: value for name, value in TRUTH.items() if name != wanted}
    result = identify(pendulum, samples(pendulum, TRUTH), [wanted], start=start)
    assert result.parameters[wanted] == pytest.approx(TRUTH[wanted], abs=1e-6)
    kept = {e.name: e for e in result.estimates}[other]
    assert kept.value == TRUTH[other] and kept.std is None


def test_prismatic_joints_and_rotors() -> None:
    robot = loaded("prismatic_skew")
    rng = np.random.default_rng(8)
    kinds = ("friction.coulomb", "friction.viscous", "rotor_inertia", "torque_offset")
    truth = {f"{kind}.{joint}": float(rng.uniform(0.05, 0.5)) for kind in kinds for joint in robot.joints}
    result = identify(robot, samples(robot, truth), ["friction", "rotor_inertia"])
    assert result.parameters == pytest.approx(truth, abs=1e-6)


def test_a_joint_that_never_moved_is_named_and_the_rest_is_found(pendulum: Robot) -> None:
    truth = {**TRUTH, "friction.coulomb.elbow": 0.0}
    result = identify(pendulum, samples(pendulum, truth, still=["elbow"]), ["friction", "spring.shoulder"])
    assert {item.name for item in result.lost} == {"friction.coulomb.elbow", "friction.viscous.elbow"}
    assert all("joint elbow never moved" in item.reason for item in result.lost)
    stds = {e.name: e.std for e in result.estimates}
    assert stds["friction.coulomb.elbow"] is None and stds["torque_offset.elbow"] is not None
    assert result.parameters["torque_offset.elbow"] == pytest.approx(-0.6, abs=1e-6)
    assert result.parameters["spring.rest.shoulder"] == pytest.approx(-0.8, abs=1e-6)
    json.loads(result.to_json())


def test_what_only_a_combination_determines_is_named(pendulum: Robot) -> None:
    fit = ["torque_offset.shoulder", "spring.shoulder"]
    result = identify(pendulum, samples(pendulum, {"spring.stiffness.shoulder": 5.0, "spring.rest.shoulder": 0.3}), fit)
    assert {item.name for item in result.lost} == {"torque_offset.shoulder", "spring.rest.shoulder"}
    assert result.rank == 2 and result.unknowns == 3
    assert result.parameters["spring.stiffness.shoulder"] == pytest.approx(5.0, abs=1e-6)


def test_static_poses_credit_no_sign_to_coulomb_friction(pendulum: Robot) -> None:
    log = motion(pendulum, {})
    tau = pendulum.inverse_dynamics(log.q, 0 * log.q, 0 * log.q, pendulum.alpha.vector({"torque_offset.elbow": 1.3}))
    poses = process("static", replace(log, dq=0 * log.q, ddq=0 * log.q, tau=tau), Processing(cutoff=None))
    result = identify(pendulum, poses, ["friction"])
    assert {item.name for item in result.lost} == {
        f"friction.{k}.{j}" for k in ("coulomb", "viscous") for j in pendulum.joints
    }
    assert result.parameters["torque_offset.elbow"] == pytest.approx(1.3, abs=1e-9)
    without = identify(pendulum, poses, ["friction.viscous"])
    assert without.train.bias["elbow"] == pytest.approx(1.3, abs=1e-9)


def test_a_spring_that_is_not_there_has_no_rest(pendulum: Robot) -> None:
    runs = samples(pendulum, {"torque_offset.shoulder": 0.5}, noise=0.01)
    log = runs[0]
    push = replace(log, tau=log.tau - 0.5 * log.q)
    result = identify(pendulum, [push], ["spring.shoulder"])
    assert result.parameters["spring.stiffness.shoulder"] == 0.0
    assert [item.name for item in result.lost] == ["spring.stiffness.shoulder", "spring.rest.shoulder"]
    assert result.train.bias["shoulder"] == pytest.approx(0.5, abs=0.3)
    assert np.isfinite(list(result.parameters.values())).all()


@pytest.mark.thorough
@pytest.mark.parametrize("colour", [0.0, 0.9])
def test_deviations_cover_the_truth(pendulum: Robot, colour: float, count: Callable[[int, int], int]) -> None:
    """About 68 % of the errors within one deviation, 95 % within two, also where residuals are correlated."""
    trials = count(20, 200)
    clean = samples(pendulum, TRUTH, seconds=20.0)[0]
    names = [name for name in TRUTH if name != "friction.viscous.elbow"]
    fit = [*names[:4], "torque_offset.elbow", "spring.shoulder"]
    errors = []
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        noise = 0.05 * rng.normal(size=clean.tau.shape)
        for k in range(1, len(noise)):
            noise[k] += colour * noise[k - 1]
        run = replace(clean, tau=clean.tau + noise)
        estimates = {e.name: e for e in identify(pendulum, [run], fit).estimates}
        errors += [(estimates[n].value - TRUTH[n]) / (estimates[n].std or np.nan) for n in names]
    within = [float(np.mean(np.abs(errors) < k)) for k in (1.0, 2.0)]
    # With few trials their own scatter comes on top: the errors of a trial's parameters are not independent.
    spare = (0.0, 0.0) if trials >= 200 else (0.06, 0.04)
    for share, low, high, more in zip(within, (0.60, 0.92), (0.76, 0.98), spare, strict=True):
        assert low - more < share < min(high + more, 1.0), within


def test_a_failed_solve_names_its_status(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**ipopt.OPTIONS, "ipopt": {**ipopt.OPTIONS["ipopt"], "max_iter": 1}}
    monkeypatch.setattr(ipopt, "OPTIONS", options)
    with pytest.raises(SolverError, match="Maximum_Iterations_Exceeded after 1 iterations"):
        identify(pendulum, samples(pendulum, TRUTH), ["friction"])
