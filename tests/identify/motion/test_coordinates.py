"""Inertias in the forms that follow a trajectory: always physical, drawn to the description, true where determined."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from support.recordings.followed import followed
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.identify.columns import inertials
from diffpbd.runtime.identify.doors.forms import ALONG, identify
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.trajectory import parameters_of
from diffpbd.runtime.identify.result.result import Identification
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, process

EXACT = Processing(cutoff=None)
TRUE = 1e-6
BODIES = {
    "mass.lower": 1.9,
    "com.lower.x": 0.03,
    "com.lower.z": -0.9,
    "inertia.lower.yy": 0.11,
    "com.upper.z": -0.45,
    "inertia.upper.yy": 0.2,
    "friction.viscous.shoulder": 0.2,
    "friction.viscous.elbow": 0.05,
}
STEP = 1e-6


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    return load(generated("double_pendulum", symbolic=("mass", "com", "inertia")))


@pytest.fixture(scope="module")
def log(pendulum: Robot) -> Log:
    return followed(pendulum, BODIES, 100)


def eigenvalue(values: np.ndarray) -> float:
    """Smallest of the pseudo-inertia of mass, COM and inertia."""
    return float(np.linalg.eigvalsh(inertials.pseudo_inertia(values[0], values[1:4], values[4:])).min())


def entries(link: str) -> list[str]:
    return [
        f"mass.{link}",
        *(f"com.{link}.{a}" for a in "xyz"),
        *(f"inertia.{link}.{m}" for m in "xx xy xz yy yz zz".split()),
    ]


def coordinates_of(robot: Robot, names: list[str]) -> Coordinates:
    chosen = tuple(name for name in robot.alpha.names if any(name == n or name.startswith(f"{n}.") for n in names))
    return Coordinates(robot, parameters_of(robot, chosen, robot.alpha.vector(), "shooting"))


def test_derivatives_by_the_coordinates(pendulum: Robot) -> None:
    coordinates = coordinates_of(pendulum, ["com.lower", "inertia.lower", "friction.viscous"])
    rng = np.random.default_rng(1)
    x = coordinates.start + 0.3 * rng.normal(size=coordinates.size)
    by_entries, by_equal = rng.normal(size=coordinates.slopes(x).shape[0]), rng.normal(size=coordinates.equations)
    assert coordinates.size == 12 and coordinates.equations == 1  # the mass is given
    curved = np.array(coordinates._bent(x, by_entries, by_equal)[0])

    def pull(at: np.ndarray) -> np.ndarray:
        return coordinates.slopes(at).T @ by_entries + coordinates.equal(at)[1].T @ by_equal

    for k in range(coordinates.size):
        d = STEP * np.eye(coordinates.size)[k]
        slope = (coordinates.entries(x + d) - coordinates.entries(x - d)) / (2 * STEP)
        assert coordinates.slopes(x)[:, k] == pytest.approx(slope, rel=1e-6, abs=1e-8)
        prior = (coordinates.prior(x + d)[0] - coordinates.prior(x - d)[0]) / (2 * STEP)
        assert coordinates.prior(x)[1][k] == pytest.approx(prior, rel=1e-6, abs=1e-8)
        assert curved[:, k] == pytest.approx((pull(x + d) - pull(x - d)) / (2 * STEP), rel=1e-5, abs=1e-6)
    assert np.linalg.eigvalsh(coordinates.curvature(x, by_entries, by_equal, 1e-9)).min() > -1e-9


def test_prior_by_entries_is_that_by_coordinates(pendulum: Robot) -> None:
    coordinates = coordinates_of(pendulum, ["mass", "com", "inertia"])
    x = 0.2 * np.random.default_rng(3).normal(size=coordinates.size)
    gradient, curvature = coordinates.prior_by_entries(x)
    assert coordinates.slopes(x).T @ gradient == pytest.approx(coordinates.prior(x)[1], rel=1e-9)
    zero = np.zeros(coordinates.size)
    pulled = coordinates.slopes(zero).T @ coordinates.prior_by_entries(zero)[1] @ coordinates.slopes(zero)
    assert pulled == pytest.approx(np.array(coordinates._bent(zero, np.zeros(20), np.zeros(0))[1]), abs=1e-9)
    assert np.linalg.eigvalsh(curvature).min() > 0.0


@pytest.mark.thorough("simultaneous")
@pytest.mark.parametrize("fit", [["inertials", "friction.viscous"], ["com.lower", "inertia.lower", "friction.viscous"]])
@pytest.mark.parametrize("form", sorted(ALONG))
def test_what_is_identifiable_comes_to_the_truth(pendulum: Robot, log: Log, form: str, fit: list[str]) -> None:
    given = ("mass.lower", "com.upper.z", "inertia.upper.yy")
    start = {name: BODIES[name] for name in given} if "inertials" not in fit else {}
    result = fitted(form, pendulum, log, fit, start)  # for the torque form see test_inertials
    truth = pendulum.alpha.by_name(pendulum.alpha.vector(BODIES))
    lost = {item.name for item in result.lost}
    assert ("com.lower.x" in lost) is ("inertials" in fit)
    assert {"friction.viscous.elbow", "friction.viscous.shoulder"}.isdisjoint(lost)
    for e in result.estimates:
        if e.name not in lost:
            assert e.value == pytest.approx(truth[e.name], rel=TRUE, abs=TRUE), e.name
    p, pd, pdd = np.random.default_rng(7).uniform(-2.0, 2.0, (3, 40, 2))
    wanted = pendulum.inverse_dynamics(p, pd, pdd, pendulum.alpha.vector(BODIES))
    found = pendulum.inverse_dynamics(p, pd, pdd, pendulum.alpha.vector(result.parameters))
    assert found == pytest.approx(wanted, abs=TRUE * np.abs(wanted).max())


def fitted(form: str, robot: Robot, log: Log, fit: list[str], start: dict[str, float]) -> Identification:
    runs = process("run", log, EXACT)
    return (
        identify(robot, runs, fit, start=start)
        if form == "torque"
        else identify(robot, runs, fit, start=start, settings=Settings(form))
    )


@pytest.mark.thorough("simultaneous")
@pytest.mark.parametrize("form", ["torque", *sorted(ALONG)])
def test_no_body_is_ever_unphysical(pendulum: Robot, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data of a body that cannot exist pull beyond the limit; nothing on the way there or at the end goes over it."""
    alpha = pendulum.alpha.vector({"friction.viscous.shoulder": 0.2, "friction.viscous.elbow": 0.05})
    alpha[pendulum.alpha.index("inertia.lower.yy")] = -0.03
    seen: list[float] = []
    original = inertials.factor_of

    def watched(theta: casadi.DM) -> casadi.DM:
        U = original(theta)
        if isinstance(U, casadi.DM):
            seen.append(float(np.linalg.svd(U.full(), compute_uv=False)[-1]))
        return U

    monkeypatch.setattr(inertials, "factor_of", watched)
    tried: list[float] = []
    evaluate = Coordinates.entries

    def recorded(self: Coordinates, x: np.ndarray) -> np.ndarray:
        theta = evaluate(self, x)
        whole = self.parameters.alpha(theta)
        tried.append(eigenvalue(whole[[pendulum.alpha.index(name) for name in entries("lower")]]))
        return theta

    monkeypatch.setattr(Coordinates, "entries", recorded)
    with monkeypatch.context() as unheld:  # a truth that is no body's
        unheld.setattr(ParameterVector, "checked", lambda self, values: values)
        log = followed(pendulum, alpha, 100)
    result = fitted(form, pendulum, log, ["inertia.lower", "friction.viscous"], {})
    values = pendulum.alpha.vector(result.parameters)[[pendulum.alpha.index(name) for name in entries("lower")]]
    assert eigenvalue(values) > 0.0
    assert result.parameters["inertia.lower.yy"] < 2e-3  # from 0.2: the data pull as far as that goes
    assert any("physical limit" in note for note in result.notes)
    assert min(seen) > 0.0
    if form != "torque":
        assert len(tried) > 20 and min(tried) > 0.0


@pytest.mark.thorough("simultaneous")
@pytest.mark.parametrize("form", sorted(ALONG))
def test_a_strong_prior_holds_the_description(pendulum: Robot, log: Log, form: str) -> None:
    noise = np.random.default_rng(0).normal(size=(2, *log.q.shape))
    noisy = process("run", replace(log, q=log.q + 1e-3 * noise[0], dq=log.dq + 1e-2 * noise[1]), EXACT)
    friction = {name: value for name, value in BODIES.items() if name.startswith("friction")}
    described = pendulum.alpha.by_name(pendulum.alpha.defaults)
    moved = []
    for weight in (1e-2, 1e6):
        settings = Settings(form, prior=weight)
        result = identify(pendulum, noisy, ["inertials"], start=friction, settings=settings)
        moved.append(abs(result.parameters["com.lower.z"] - described["com.lower.z"]))
    assert moved[1] < 1e-3 < moved[0]


def test_a_payload_is_a_body_too(pendulum: Robot) -> None:
    truth = {"payload.mass": 0.7, "payload.com.z": -0.05, "payload.com.x": 0.04, "payload.inertia.yy": 0.003}
    truth |= {"payload.inertia.xx": 0.002, "payload.inertia.zz": 0.002}
    given = {k: v for k, v in truth.items() if "yy" not in k and "com" not in k}
    runs = process("run", followed(pendulum, truth, 100), EXACT)
    start = {**given, "payload.inertia.yy": 0.001}
    result = identify(
        pendulum, runs, ["payload.com", "payload.inertia"], start=start, settings=Settings(form="shooting")
    )
    for name in ("payload.com.x", "payload.com.z", "payload.inertia.yy"):
        assert result.parameters[name] == pytest.approx(truth[name], rel=TRUE), name
    assert {"payload.com.y", "payload.inertia.xy"} <= {item.name for item in result.lost}
