"""Gravity has one owner: the case P62 and every other combination."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.supervisor import Settings, Supervisor
from diffpbd.runtime.model.limits import Limits


def settings(shared: Path, name: str) -> GravitySettings:
    path = shared / "cases" / "P62-gravity-twice" / f"{name}.json"
    data = json.loads(path.read_text())
    return GravitySettings(
        Mode[data["mode"].upper()], data["add_model_gravity"], data["suppress_robot_gravity_compensation"],
        data.get("suppress_rate_hz", 0.0), data.get("spring_in_model", False), data.get("without_spring_confirmed", False),
    )  # fmt: skip


def test_both_is_refused(shared: Path) -> None:
    with pytest.raises(InputError, match="gravity would be applied twice"):
        check_gravity(settings(shared, "both"))


def test_slow_suppression_is_refused_with_both_reasons(shared: Path) -> None:
    with pytest.raises(InputError, match="faster than 5 Hz.*S1 springs"):
        check_gravity(settings(shared, "ours_only"))


def test_robots_only_is_accepted_and_commands_nothing_at_rest(shared: Path) -> None:
    owner = check_gravity(settings(shared, "robots_only"))
    assert owner is GravityOwner.ROBOT
    one = np.ones(2)
    under = Supervisor(
        ImpedanceController(30 * one, one, np.array([0.3, -0.2]), goal_speed=0.5),
        Limits(-2 * one, 2 * one, 2 * one, 50 * one, 50 * one, 500 * one, 0.1),
        Settings(0.01),
        owner=owner,
        gravity=None,
    )
    q = np.array([0.3, -0.2])
    under.start(q)
    np.testing.assert_array_equal(under.tick(2.0, 2.0, q, np.zeros(2)).command, np.zeros(2))


def test_every_combination_has_one_owner_or_is_refused() -> None:
    accepted = set()
    for mode, add, suppress, rate, spring in itertools.product(
        Mode, (False, True), (False, True), (0.0, 5.0, 50.0, float("nan")), (False, True)
    ):
        case = GravitySettings(mode, add, suppress, rate, spring_in_model=spring)
        try:
            owner = check_gravity(case)
        except InputError:
            continue
        accepted.add((mode, add, suppress, owner))
        assert not add or (rate == 50.0 and spring)
    assert accepted == {(mode, False, False, GravityOwner.ROBOT) for mode in Mode} | {
        (Mode.TORQUE, True, True, GravityOwner.MODEL)
    }
