"""Whole vectors of alpha that no contact has: refused in Python, and an end with a status in C."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.mechanisms import robot_of
from support.touching import block

from diffpbd.runtime import InputError, Robot

STATE = (np.array([0.0, 0.0, 1e-4]), np.array([1.0, 0.0, -1.0]), np.zeros(3))
SLIP, LOAD, FRICTION = "contact.slip", "contact.load.block", "contact.friction.block"
RADIUS, COMPLIANCE = "contact.radius.block", "contact.compliance.block"
UNITS = {SLIP: " m/s", LOAD: " N", FRICTION: "", RADIUS: " m", COMPLIANCE: " m/N"}


@cache
def robot() -> Robot:
    return robot_of(block(), "block")


def vector(name: str, value: float) -> Any:
    alpha = robot().alpha.defaults
    alpha[robot().alpha.index(name)] = value
    return alpha


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (SLIP, 0.0), (SLIP, -1e-5), (SLIP, 1e-12), (LOAD, 1e-9), (FRICTION, 1e-6),
        (LOAD, 0.0), (LOAD, -10.0), (FRICTION, 0.0), (FRICTION, -1.0), (RADIUS, -0.1),
        (COMPLIANCE, -1.0),
    ],
)  # fmt: skip
def test_refused_by_name(name: str, value: float) -> None:
    for function in ("joint_step", "contact_force", "jac_joint_step"):
        with pytest.raises(InputError, match=rf"{name}: expected at least [-.e0-9]+{UNITS[name]}, found {value:g}"):
            getattr(robot(), function)(*STATE, alpha=vector(name, value))
    many = np.stack([robot().alpha.defaults, vector(name, value)])
    with pytest.raises(InputError, match=name):
        robot().joint_step(*(np.stack([part, part]) for part in STATE), alpha=many)


@pytest.mark.parametrize(("name", "value"), [(RADIUS, -1e-6), (COMPLIANCE, -1e-8)])
def test_a_little_beyond_a_bound_is_taken(name: str, value: float) -> None:
    """For derivatives by differences there; a bound above zero is one that the equations need."""
    p, pd = robot().joint_step(*STATE, alpha=vector(name, value))
    assert np.isfinite(p).all() and np.isfinite(pd).all()


@pytest.mark.parametrize("name", [SLIP, LOAD, FRICTION, RADIUS, COMPLIANCE])
def test_c_ends_with_a_status_or_in_numbers(name: str) -> None:
    """Past the door: a negative slip had no end once."""
    steps = 3
    for value in (0.0, -1e-5, -1.0, np.nan):
        P, PD = np.zeros((steps + 1, 3)), np.zeros((steps + 1, 3))
        inputs = {"p0": STATE[0], "pd0": STATE[1], "U": np.zeros((steps, 3)), "h": np.array([0.01])}
        status = robot().rollout.fixed(steps, {**inputs, "alpha": vector(name, value)}, {"P": P, "PD": PD})()
        assert status != 0 or (np.isfinite(P).all() and np.isfinite(PD).all())
        if np.isnan(value):
            assert status != 0 or name == RADIUS


def test_a_number_without_a_unit_has_none_in_words() -> None:
    with pytest.raises(InputError, match=r"contact\.friction\.block: expected at most 10, found 11\.$"):
        robot().joint_step(*STATE, alpha={FRICTION: 11.0})
