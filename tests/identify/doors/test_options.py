"""What the torque is not linear in, and Huber's loss: to the truth on logs consistent with it, with honest deviations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from support.motions import EXACT, motion, samples

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.torque import fitting
from diffpbd.runtime.identify.torque.robust import beyond, inliers, reweighted
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import process

SMOOTH = {"friction.viscous.shoulder": 0.3, "friction.viscous.elbow": 0.1, "torque_offset.elbow": -0.6}
"""Without Coulomb's step, which a spline between samples does not reproduce."""
FIT = ["friction.viscous", "torque_offset"]
FRICTION = {"friction.viscous.shoulder": 0.3, "friction.coulomb.shoulder": 0.4, "torque_offset.elbow": -0.6}


def read(log: Log, gain: Mapping[str, float], delay: float) -> Log:
    """What a sensor with gains and a delay [s] reads."""
    assert log.tau is not None
    factors = np.array([gain.get(joint, 1.0) for joint in log.joints])
    return replace(log, tau=factors * CubicSpline(log.time, log.tau)(log.time - delay))


def test_the_direction_of_gravity(pendulum: Robot) -> None:
    tilt = 0.05
    truth = {**FRICTION, "gravity.x": 9.81 * np.sin(tilt), "gravity.z": -9.81 * np.cos(tilt)}
    result = identify(pendulum, samples(pendulum, truth), ["gravity_direction", "friction"])
    for name, value in truth.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-6, abs=1e-8), name
    lost = {item.name for item in result.lost}
    assert not {"gravity.x", "gravity.z"} & lost  # the pendulum swings in the plane of x and z
    assert np.hypot(result.parameters["gravity.x"], result.parameters["gravity.z"]) == pytest.approx(9.81, rel=1e-6)


def test_gravity_and_transition_velocities(pendulum: Robot) -> None:
    truth = {**FRICTION, "gravity.x": 0.4, "gravity.z": -9.6, "friction.transition_velocity.shoulder": 0.03}
    fit = ["gravity.x", "gravity.z", "friction", "friction.transition_velocity.shoulder"]
    result = identify(pendulum, samples(pendulum, truth), fit)
    assert not [item for item in result.lost if item.name in truth]
    for name, value in truth.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-6), name


def test_gain_and_delay_of_the_sensors(pendulum: Robot) -> None:
    gain = {"shoulder": 1.05, "elbow": 0.92}
    run, held = (process("run", read(motion(pendulum, SMOOTH, seed=k), gain, 0.004), EXACT) for k in (0, 1))
    result = identify(pendulum, run, [*FIT, "sensor.gain", "sensor.delay"], validate=held)
    for name, value in SMOOTH.items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-4), name
    for joint, value in gain.items():
        assert result.parameters[f"sensor.gain.{joint}"] == pytest.approx(value, rel=1e-6)
        assert result.parameters[f"sensor.delay.{joint}"] == pytest.approx(0.004, rel=1e-4)
    assert result.validate is not None and max(result.validate.rmse.values()) < 5e-3  # the ends of the log
    data = json.loads(result.to_json())
    assert set(data["sensor"]) == {f"sensor.{kind}.{joint}" for kind in ("gain", "delay") for joint in gain}
    assert not [name for name in data["parameters"] if name.startswith("sensor")]


def test_the_deviations_of_gain_and_delay_are_those_of_repeated_fits(pendulum: Robot) -> None:
    clean = process("run", read(motion(pendulum, SMOOTH, seconds=10.0), {"elbow": 1.1}, 0.003), EXACT)[0]
    names = ("sensor.gain.elbow", "sensor.delay.elbow")
    found, stds = [], []
    for trial in range(12):
        noise = 0.1 * np.random.default_rng(trial).normal(size=clean.tau.shape)
        result = identify(pendulum, [replace(clean, tau=clean.tau + noise)], [*FIT, *names])
        own = {e.name: e for e in result.estimates}
        found.append([own[name].value for name in names])
        stds.append([own[name].std for name in names])
    ratio = np.mean(stds, axis=0) / np.std(found, axis=0, ddof=1)
    assert (0.5 < ratio).all() and (ratio < 2.0).all(), ratio


def test_huber_is_not_moved_by_outliers(pendulum: Robot) -> None:
    truth = {**FRICTION, "friction.coulomb.elbow": 0.15, "spring.stiffness.shoulder": 7.0, "spring.rest.shoulder": -0.8}
    rng = np.random.default_rng(4)
    (run,) = samples(pendulum, truth, noise=0.02, seconds=20.0)
    tau = run.tau.copy()
    hit = rng.random(tau.shape) < 0.03
    tau[hit] += rng.uniform(5.0, 20.0, hit.sum())
    fit = ["friction", "spring.shoulder"]
    errors = {}
    for loss in ("squares", "huber"):
        result = identify(pendulum, [replace(run, tau=tau)], fit, settings=Settings(loss=loss))
        own = {e.name: e for e in result.estimates}
        errors[loss] = {name: abs(own[name].value - value) for name, value in truth.items()}
        if loss == "huber":
            assert any("Huber" in note for note in result.notes)
            assert all(errors[loss][name] < 4.0 * (own[name].std or 0.0) for name in truth if "offset" not in name)
    assert sum(errors["huber"].values()) < 0.15 * sum(errors["squares"].values())
    assert errors["huber"]["torque_offset.elbow"] < 0.01 < 0.2 < errors["squares"]["torque_offset.elbow"]


@pytest.mark.parametrize(("size", "weight"), [(1.3, 1.0), (-1.34, 1.0), (2.69, 0.5), (-13.45, 0.1)])
def test_huber_s_weights(size: float, weight: float) -> None:
    """Beyond 1.345 deviations the weight is that over the residual, so that 95 % of the efficiency on normal ones is left."""
    targets, nothing = np.full((4, 1), size), np.zeros((4, 1))
    design = Design(None, (np.array([0]),), (nothing,), targets, nothing)  # type: ignore[arg-type]
    assert reweighted([design], np.zeros(1), np.ones(1))[0].weights == pytest.approx(np.full((4, 1), weight))
    assert inliers([design], np.zeros(1), np.ones(1))[0].weights == pytest.approx(np.full((4, 1), float(weight == 1.0)))
    rng = np.random.default_rng(0)
    normal = replace(design, targets=rng.normal(size=(20000, 1)), matrices=(np.zeros((20000, 1)),))
    assert beyond(reweighted([normal], np.zeros(1), np.ones(1))) == pytest.approx([0.179], abs=0.008)


def test_huber_without_outliers_is_least_squares(pendulum: Robot) -> None:
    (run,) = samples(pendulum, FRICTION, noise=0.02, seconds=20.0)
    both = [identify(pendulum, [run], ["friction"], settings=Settings(loss=loss)) for loss in ("squares", "huber")]
    for a, b in zip(both[0].estimates, both[1].estimates, strict=True):
        assert a.std and b.std
        assert abs(a.value - b.value) < 1.0 * a.std and 0.8 < b.std / a.std < 1.3


@pytest.mark.soak
def test_huber_s_deviations_cover_the_truth(pendulum: Robot) -> None:
    """With the weights for the second derivative they would be 15 % too small."""
    (clean,) = samples(pendulum, FRICTION, seconds=20.0)
    errors: list[float] = []
    for trial in range(200):
        rng = np.random.default_rng(trial)
        run = replace(clean, tau=clean.tau + 0.05 * rng.standard_t(3.0, clean.tau.shape))
        own = {e.name: e for e in identify(pendulum, [run], ["friction"], settings=Settings(loss="huber")).estimates}
        errors += [(own[n].value - v) / (own[n].std or np.nan) for n, v in FRICTION.items()]
        errors += [own["torque_offset.shoulder"].value / (own["torque_offset.shoulder"].std or np.nan)]
    within = float(np.mean(np.abs(errors) < 1.0))
    assert 0.60 < within < 0.76, within
    assert 0.88 < np.sqrt(np.mean(np.square(errors))) < 1.14


def test_what_does_not_settle_is_a_failure(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "ROUNDS", 1)
    with pytest.raises(SolverError, match="did not settle in 1 rounds; nothing was written"):
        identify(pendulum, samples(pendulum, {"gravity.x": 1.0}), ["gravity"])


def test_an_offset_that_is_not_fitted_is_named(pendulum: Robot) -> None:
    runs = samples(pendulum, {"torque_offset.elbow": 0.8}, noise=0.01)
    (note,) = (n for n in identify(pendulum, runs, ["friction.viscous"]).notes if "offset" in n)
    assert "joint elbow" in note and "0.8 N·m" in note and "torque_offset.elbow" in note
    assert not [n for n in identify(pendulum, runs, ["friction"]).notes if "offset" in n]
