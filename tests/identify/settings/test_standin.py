"""Inertias of a robot whose code has them as numbers: as if it had been generated with `--symbolic mass,com,inertia`."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion, samples
from support.robots import generated, loaded

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import identify, with_inertials
from diffpbd.runtime.identify.settings.selection import INERTIALS
from diffpbd.runtime.identify.settings.standin import StandIn
from diffpbd.runtime.logs.csv import write_log

TRUTH = {"mass.lower": 1.9, "com.lower.x": 0.03, "com.lower.z": -0.9, "inertia.lower.yy": 0.11, "gravity.x": 0.4}


@pytest.fixture(scope="module")
def symbolic() -> Robot:
    return load(generated("double_pendulum", symbolic=INERTIALS))


@pytest.fixture(scope="module")
def free() -> Robot:
    robot = with_inertials(loaded("double_pendulum"), ["inertials"], "torque")
    assert isinstance(robot, StandIn)
    return robot


def anything(robot: Robot, seed: int = 3) -> np.ndarray:
    return robot.alpha.defaults + np.random.default_rng(seed).uniform(0.01, 0.3, len(robot.alpha))


def test_alpha_is_that_of_the_robot_generated_so(symbolic: Robot, free: Robot) -> None:
    assert free.alpha.names == symbolic.alpha.names and free.alpha.units == symbolic.alpha.units
    assert (free.alpha.lower == symbolic.alpha.lower).all() and (free.alpha.upper == symbolic.alpha.upper).all()
    assert free.alpha.defaults == pytest.approx(symbolic.alpha.defaults, abs=1e-15)


def test_coefficients_and_derivatives_are_too(symbolic: Robot, free: Robot) -> None:
    """With a payload, which acts on the tip's coefficients beside the link's own."""
    alpha = anything(symbolic)
    alpha[[symbolic.alpha.index(f"payload.inertia.{axes}") for axes in ("xx", "yy", "zz")]] += 1.0  # of a body
    ours, theirs = (np.array(robot.casadi("torque_coefficients")(alpha)).ravel() for robot in (free, symbolic))
    assert ours == pytest.approx(theirs, rel=1e-13, abs=1e-13)
    state = np.random.default_rng(1).normal(size=(3, 5, symbolic.n))
    wanted = [k for k, name in enumerate(free.alpha.names) if name.startswith(("gravity", "friction.transition"))]
    found, expected = (robot.jac_alpha_inverse_dynamics(*state, alpha)[:, :, wanted] for robot in (free, symbolic))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    "fit", [["inertials", "friction"], ["mass.lower", "com.lower"], ["inertia.lower", "gravity.x"]]
)
def test_the_fit_is_that_of_the_robot_generated_so(symbolic: Robot, fit: list[str]) -> None:
    runs = samples(symbolic, TRUTH, seconds=4.0, noise=0.02)
    plain, other = (identify(robot, runs, fit) for robot in (loaded("double_pendulum"), symbolic))
    assert plain.generate == "diffpbd generate double_pendulum --symbolic mass,com,inertia" and other.generate is None
    assert [(e.name, e.unit, e.bound) for e in plain.estimates] == [(e.name, e.unit, e.bound) for e in other.estimates]
    assert plain.rank == other.rank and [i.name for i in plain.lost] == [i.name for i in other.lost]
    for ours, theirs in zip(plain.estimates, other.estimates, strict=True):
        assert ours.value == pytest.approx(theirs.value, rel=1e-5, abs=1e-7), ours.name
        assert (ours.std is None) == (theirs.std is None), ours.name
        assert ours.std is None or ours.std == pytest.approx(theirs.std, rel=1e-3, abs=1e-9), ours.name
    assert list(plain.train.rmse.values()) == pytest.approx(list(other.train.rmse.values()), rel=1e-8)


def test_workers_get_it(free: Robot) -> None:
    again = pickle.loads(pickle.dumps(free))
    assert isinstance(again, StandIn) and again.alpha.names == free.alpha.names


def test_it_stands_in_for_bodies_alone() -> None:
    robot = loaded("double_pendulum")
    assert with_inertials(robot, ["friction"], "torque") is robot


def test_the_file_names_the_robot_that_takes_it(tmp_path: Path, symbolic: Robot) -> None:
    log, out = tmp_path / "run.csv", tmp_path / "params.json"
    write_log(log, motion(symbolic, {**TRUTH, "gravity.x": 0.0}, seconds=4.0))
    words = ["identify", generated("double_pendulum"), log, "--fit", "mass.lower", "--cutoff", 0, "--out", out]
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    command = "diffpbd generate double_pendulum --symbolic mass,com,inertia"
    assert f"to use these: {command}" in result.output
    assert json.loads(out.read_text())["generate"] == command
    assert symbolic.alpha.vector(out)[symbolic.alpha.index("mass.lower")] > 0.0
    with pytest.raises(InputError, match="mass.lower.*generated with --symbolic mass,com,inertia"):
        loaded("double_pendulum").alpha.vector(out)
