"""Torques compared at trajectories near the recorded positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.motions import EXACT, samples
from support.recordings.followed import PENDULUM, PENDULUM_TRUTH, followed
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.identify.motion import simultaneous
from diffpbd.runtime.identify.motion.nodes import DEVIATION, Nodes
from diffpbd.runtime.identify.motion.trajectory import motions, parameters_of
from diffpbd.runtime.identify.result.result import Estimate
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

STEP = 1e-6
NOISE, MEMORY = 0.1, 0.3  # N·m, and seconds that it lasts


def coloured(rng: np.random.Generator, shape: tuple[int, int], rate: float) -> np.ndarray:
    """An AR(1) process of unit variance."""
    from scipy.signal import lfilter

    decay = float(np.exp(-1.0 / (MEMORY * rate)))
    start = decay * rng.normal(size=(1, shape[1]))
    return lfilter([np.sqrt(1.0 - decay**2)], [1.0, -decay], rng.normal(size=shape), axis=0, zi=start)[0]


def noisy(robot: Robot, seed: int) -> list[Samples]:
    """Ten seconds whose torques are off by coloured noise."""
    (run,) = samples(robot, PENDULUM_TRUTH, seed=seed, seconds=10.0)
    rng = np.random.default_rng(1000 + seed)
    return [replace(run, tau=run.tau + NOISE * coloured(rng, run.tau.shape, run.rate))]


@pytest.mark.parametrize("held", [True, False])
def test_the_gradient_is_that_of_the_value(pendulum: Robot, held: bool) -> None:
    """The positions' own optimum has no part in it; the curvature is smaller where they are free."""
    parameters = parameters_of(pendulum, tuple(PENDULUM_TRUTH), pendulum.alpha.vector(PENDULUM_TRUTH), "simultaneous")
    problem = Nodes(pendulum, motions(noisy(pendulum, 0), "x"), parameters, np.full(2, 0.02))
    problem.held = held
    theta = 1.1 * np.array(list(PENDULUM_TRUTH.values()))
    found = problem.condense(theta, problem.states)
    assert 2.0 * found.value > 1.0
    rng = np.random.default_rng(0)
    for _ in range(3):
        d = rng.normal(size=len(theta))
        ahead, behind = (problem.half_mean_square(theta + s * STEP * d, problem.states) for s in (1.0, -1.0))
        assert (ahead - behind) / (2 * STEP) == pytest.approx(found.by_theta @ d, rel=1e-4)
    problem.held = True
    fixed = problem.condense(theta, problem.states).total
    assert (np.linalg.eigvalsh(fixed - found.total) >= -1e-9 * np.abs(fixed).max()).all()
    assert np.array_equal(fixed, found.total) == held


def test_positions_stay_near_the_recorded_ones(pendulum: Robot) -> None:
    """As the deviation of positions goes to zero the fit goes to that with the recorded ones."""
    parameters = parameters_of(pendulum, tuple(PENDULUM_TRUTH), pendulum.alpha.vector(PENDULUM_TRUTH), "simultaneous")
    problem = Nodes(pendulum, motions(noisy(pendulum, 0), "x"), parameters, np.full(2, 0.1))
    problem.held = False
    (path,) = problem.paths(np.array(list(PENDULUM_TRUTH.values())))
    problem.half_mean_square(np.array(list(PENDULUM_TRUTH.values())), problem.states)
    moved = np.abs(problem.positions[0] - path[0]).max()
    assert 0.0 < moved < 10.0 * DEVIATION


def worst(first: Identification, second: Identification, kind: str) -> float:
    """Largest difference of parameters of a kind in joint deviations, also of a rejected model, which does not tell them."""
    other = {e.name: e for e in second.estimates}

    def spread(e: Estimate) -> float:
        return e.std or e.formal or 0.0

    return max(
        abs(e.value - other[e.name].value) / np.hypot(spread(e), spread(other[e.name]))
        for e in first.estimates
        if e.name.startswith(kind)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["test_circle_XY_T2_r10", "train_sin_XYZ_12s_T2_Tz_6T_r5"])
def test_friction_of_a_physical_arm_is_that_of_the_torque_form(shared: Path, file: str) -> None:
    robot = loaded("baxter")
    log = read_log(shared / "data" / "baxter_left_100hz" / f"{file}.csv.gz", rate=99.0099)
    cut = slice(1000, 1400)
    assert log.dq is not None and log.tau is not None
    log = replace(log, time=log.time[cut], q=log.q[cut], dq=log.dq[cut], tau=log.tau[cut])
    runs, fit = process(file, log, Processing()), ["friction", "spring"]
    torque = identify(robot, runs, fit)
    found = identify(
        robot, runs, fit, settings=Settings("simultaneous", residual="torque")
    )  # refused where they differ
    assert not found.lost and worst(found, torque, "friction") < 2.0 and worst(found, torque, "spring") < 2.0
    assert any("--residual torque" in note for note in found.notes)


class Chosen(Exception):
    """What would be compared."""


@pytest.mark.parametrize(("off", "what"), [(0.0, "positions"), (0.4, "positions"), (0.6, "torques")])
def test_recordings_tell_what_is_compared(
    pendulum: Robot, monkeypatch: pytest.MonkeyPatch, off: float, what: str
) -> None:
    """Positions where they follow the step to within the deviations that these have: 1.2 and 2.7 of them squared."""

    def chosen(said: str) -> Callable[..., None]:
        def choose(*_arguments: object) -> None:
            raise Chosen(said)

        return choose

    monkeypatch.setattr(simultaneous, "compare_torques", chosen("torques"))
    monkeypatch.setattr(simultaneous, "_solve", chosen("positions"))
    rng = np.random.default_rng(0)
    runs = process("run", followed(pendulum, PENDULUM_TRUTH, 60), EXACT)
    runs = [replace(run, tau=run.tau + off * rng.normal(size=run.tau.shape)) for run in runs]
    with pytest.raises(Chosen, match=what):
        identify(pendulum, runs, PENDULUM, settings=Settings("simultaneous"))
    for residual in ("position", "torque"):
        with pytest.raises(Chosen, match=residual):
            identify(pendulum, runs, PENDULUM, settings=Settings("simultaneous", residual=residual))


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["simultaneous", "shooting"])
def test_intervals_hold_the_truth(pendulum: Robot, count: Callable[[int, int], int], form: str) -> None:
    """Nominal 95 %, with coloured noise in the torques: of those that are told, which nearly all are."""
    sets = count(4, 100)
    residual = {"simultaneous": "torque", "shooting": "auto"}[form]
    results = [
        identify(pendulum, noisy(pendulum, k), PENDULUM, settings=Settings(form, residual=residual))
        for k in range(sets)
    ]
    printed = np.mean([e.std is not None for result in results for e in result.estimates])
    held, ratio = {}, {}
    for name, value in PENDULUM_TRUTH.items():
        found = [e for result in results for e in result.estimates if e.name == name and e.std is not None]
        errors, deviations = np.array([e.value - value for e in found]), np.array([e.std for e in found], dtype=float)
        held[name] = float((np.abs(errors) <= 1.96 * deviations).mean())
        ratio[name] = float(deviations.mean() / errors.std())
    print(form, sets, printed, held, ratio)
    assert printed >= 0.9
    assert np.mean(list(held.values())) >= (0.90 if sets > 50 else 0.85), held
    if sets > 50:
        assert min(held.values()) >= 0.80 and 0.8 <= np.mean(list(ratio.values())) <= 1.5, (held, ratio)
