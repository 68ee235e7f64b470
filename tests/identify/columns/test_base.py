"""Base parameters: as many as the rank, and to the truth where the recordings have no noise."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.motions import samples
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.columns import base
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS
from diffpbd.runtime.report.identification import page

TRUTH = {
    "mass.lower": 1.9,
    "com.lower.x": 0.03,
    "com.lower.z": -0.9,
    "inertia.lower.yy": 0.11,
    "rotor_inertia.shoulder": 0.2,
}


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    return load(generated("double_pendulum", symbolic=("mass", "com", "inertia")))


def value_of(name: str, robot: Robot) -> float:
    """A combination, written out, at the truth."""
    alpha = robot.alpha.vector(TRUTH)
    phi = robot.torque_coefficients(alpha)
    total, rest = 0.0, f" + {name}"
    while rest:
        sign, factor, column, body = re.match(r" ([+-]) (?:([\d.e-]+) )?(\S+)(?: (\S+))?", rest).groups()
        if column.startswith("rotor_inertia."):
            rest, own = rest.split(column, 1)[1], alpha[robot.alpha.index(column)]
        else:
            rest = rest.split(f"{column} {body}", 1)[1]
            own = phi[LINK_COLUMNS * robot.links.index(body) + base.COLUMN_NAMES.index(column)]
        total += (1.0 if sign == "+" else -1.0) * float(factor or 1.0) * own
    return total


def test_they_come_to_the_truth(pendulum: Robot) -> None:
    runs = [s for seed in (1, 2) for s in samples(pendulum, TRUTH, seed=seed)]
    result = identify(pendulum, runs, ["inertials", "rotor_inertia", "friction.viscous"])
    # a double pendulum in a plane: two first moments and one inertia of each link, rotors lumped or apart
    assert len(result.base) == 6
    for e in result.base:
        assert e.value == pytest.approx(value_of(e.name, pendulum), rel=1e-5, abs=1e-5), e.name
        assert e.std is not None
    assert any("rotor_inertia.shoulder" in e.name for e in result.base)
    assert "base_parameters" in result.to_json() and "6 base parameters" in page(result)


def test_bodies_that_are_given_in_part_have_none(pendulum: Robot) -> None:
    assert identify(pendulum, samples(pendulum, {}), ["com.lower", "inertia.lower"]).base == ()


def test_dependent_columns_are_lumped_into_those_before_them() -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 3))
    columns = np.column_stack([own[:, 0], 0.0 * own[:, 0], own[:, 1], 2.0 * own[:, 0] - 0.5 * own[:, 1], own[:, 2]])
    sizes = np.where(columns.any(axis=0), np.linalg.norm(columns, axis=0), 1.0)
    found = base.combinations(columns / sizes, 1.0 / sizes, ["a", "none", "b", "c", "d"], ["kg"] * 5)
    assert [b.name for b in found] == ["a + 2 c", "b - 0.5 c", "d"]
    x = rng.normal(size=5)
    np.testing.assert_allclose(own @ [b.row @ x for b in found], columns @ x, atol=1e-12)
