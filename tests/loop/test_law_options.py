"""Both ends of every option of every law, on Baxter's limits and the FR3's: named, with what was found and what is expected."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.control.ranges import expect_options
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.run import RunOptions
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.limits import Limits

BAXTER = (
    [50.0] * 4 + [15.0] * 3,
    [1.5] * 4 + [4.0] * 3,
    [f"left_{k}" for k in ("s0", "s1", "e0", "e1", "w0", "w1", "w2")],
)
FR3 = [87.0] * 4 + [12.0] * 3, [2.62] * 4 + [5.26, 4.18, 5.26], [f"fr3_joint{k}" for k in range(1, 8)]
JOINTS = {
    "gravity": [("damping", 20.0, 0.0)],
    "impedance": [("stiffness", 100.0, 0.0), ("damping", 20.0, 0.0)],
    "track": [("stiffness", 100.0, 0.0), ("damping", 20.0, 0.0)],
    "cartesian": [("posture", 100.0, 0.0), ("damping", 20.0, 0.0)],
}
"""Numbers a joint: key, largest value a newton metre of effort, least value."""
SINGLE = [
    ("impedance", "scaling", 0.0, 1.0, False), ("cartesian", "damping_ratio", 0.0, 2.0, False),
    ("cartesian", "speed", 0.0, 2.0, True),
    ("mpc", "horizon", 1, 50, False), ("mpc", "delay", 0, 10, False), ("mpc", "disturbance", 0.0, 10.0, False),
]  # fmt: skip
BEYOND = 1.0 + 1e-9
WRONG = (np.nan, np.inf, -np.inf, 1e308)


def limits(arm: tuple[list[float], list[float], list[str]]) -> Limits:
    effort, speed = np.array(arm[0]), np.array(arm[1])
    return Limits(-3 * np.ones(7), 3 * np.ones(7), speed, effort, effort, 10 * effort, 0.1)


def refused(arm: Any, settings: dict[str, Any]) -> str:
    try:
        expect_options(settings, arm[2], limits(arm))
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("arm", [BAXTER, FR3], ids=["baxter", "fr3"])
def test_numbers_of_joints(arm: Any) -> None:
    for law, options in JOINTS.items():
        for (key, most, least), k in itertools.product(options, range(7)):
            upper = most * arm[0][k]
            for value in (least, upper):
                given = np.full(7, 0.5)
                given[k] = value
                assert refused(arm, {"name": law, key: given.tolist()}) == ""
            for value in (least - 1e-9, upper * BEYOND, *WRONG):
                given = np.full(7, 0.5)
                given[k] = value
                said = refused(arm, {"name": law, key: given.tolist()})
                option = {"posture": "--stiffness"}.get(key, f"--{key}")
                assert f"{option}: {arm[2][k]}: expected from 0 to {upper:g}" in said and f"found {value:g}" in said, (
                    said
                )
                assert "Give a number in that range." in said


@pytest.mark.parametrize("arm", [BAXTER, FR3], ids=["baxter", "fr3"])
@pytest.mark.parametrize("law", ["impedance", "track", "mpc"])
def test_a_goal_is_as_fast_as_the_fastest_joint_at_the_most(arm: Any, law: str) -> None:
    fastest = max(arm[1])
    for value in (1e-6, fastest):
        assert refused(arm, {"name": law, "goal_speed": value}) == ""
    for value in (0.0, -0.1, fastest * BEYOND, *WRONG):
        assert f"--goal-speed: expected above 0 to {fastest:g} rad/s" in refused(
            arm, {"name": law, "goal_speed": value}
        )


@pytest.mark.parametrize("law, key, least, most, opened", SINGLE)
def test_single_numbers(law: str, key: str, least: float, most: float, opened: bool) -> None:
    for value in (least + 1e-9 * opened, most, None):
        assert refused(BAXTER, {"name": law, key: value}) == ""
    for value in (least - 1e-9 * (not opened), most * BEYOND, *WRONG):
        assert f"{key.replace('speed', 'goal-speed')}: expected" in refused(BAXTER, {"name": law, key: value})
    assert "expected numbers, found 'much'" in refused(BAXTER, {"name": law, key: "much"})


def test_numbers_of_the_tip_and_of_the_cost() -> None:
    ends = [3000.0] * 3 + [300.0] * 3
    assert refused(BAXTER, {"name": "cartesian", "stiffness": ends, "offset": [2.0, -2.0, 0.0]}) == ""
    for k, value in itertools.product(range(6), (0.0, -1.0, *WRONG, ends[0] * BEYOND)):
        given = list(ends)
        given[k] = value
        assert f"--tip-stiffness: number {k + 1}: expected above 0 to" in refused(
            BAXTER, {"name": "cartesian", "stiffness": given}
        )
    for value in (-2.0 * BEYOND, 2.0 * BEYOND, *WRONG):
        assert "--tip-offset: number 2" in refused(BAXTER, {"name": "cartesian", "offset": [0.0, value, 0.0]})
    assert refused(BAXTER, {"name": "mpc", "weights": {"p": [1.0] * 7, "end": 1e9, "du": 0.0}}) == ""
    for value in (-1e-9, 1e9 * BEYOND, *WRONG):
        assert "--weights: du: expected from 0 to 1e+09" in refused(
            BAXTER, {"name": "mpc", "weights": {"p": 1.0, "du": value}}
        )
        assert "--weights: p: left_w2" in refused(BAXTER, {"name": "mpc", "weights": {"p": [1.0] * 6 + [value]}})


@pytest.mark.parametrize(
    "made, good, bad",
    [
        (lambda v: Settings(v, patience=0.5), (1e-3, 0.5), (0.0, 0.51)),
        (lambda v: Settings(0.01, ramp=v), (0.0, 60.0), (-1e-9, 60.1)),
        (lambda v: Settings(0.01, patience=v), (0.01, 0.5), (0.009, 0.51)),
        (lambda v: ReflexSettings(speed=v), (1.0, 1.5), (0.99, 1.51)),
        (lambda v: ReflexSettings(tracking=v), (1e-9, 3.2), (0.0, 3.3)),
        (lambda v: ReflexSettings(power=v), (1e-9, 1000.0), (0.0, 1001.0)),
        (lambda v: ReflexSettings(contact=v), (0.01, 1.0), (0.0, 1.01)),
        (lambda v: ReflexSettings(margin=v), (0.01, 0.49), (0.0, 0.5)),
        (lambda v: RunOptions(duration=v), (0.1, 1e9), (0.0, -1.0)),
        (lambda v: RunOptions(hold=v), (0.3, 60.0), (0.29, 60.1)), (lambda v: RunOptions(wait=v), (0.1, 60.0), (0.0, 60.1)),
        (lambda v: RunOptions(timeout=v), (0.05, 0.5), (0.049, 0.51)),
    ],
)  # fmt: skip
def test_settings_of_a_run(made: Any, good: tuple[float, ...], bad: tuple[float, ...]) -> None:
    for value in good:
        made(value)
    for value in (*bad, np.nan):
        with pytest.raises(InputError, match="expected"):
            made(value)


@pytest.mark.parametrize(
    ("settings", "alone"),
    [
        ({"name": "impedance", "stiffness": 5001.0}, False), ({"name": "impedance", "stiffness": -1e-9}, True),
        ({"name": "impedance", "damping": np.nan}, True), ({"name": "impedance", "goal_speed": 4.1}, False),
        ({"name": "impedance", "goal_speed": 0.0}, True), ({"name": "impedance", "scaling": 1.1}, True),
        ({"name": "cartesian", "offset": [0.0, 0.0, 2.1]}, True), ({"name": "cartesian", "stiffness": [3001.0] * 6}, True),
        ({"name": "mpc", "horizon": 51}, True), ({"name": "mpc", "delay": 11}, True),
        ({"name": "mpc", "weights": {"p": -1.0}}, True),
    ],
)  # fmt: skip
def test_what_no_robot_would_take_is_wrong_by_the_line_alone(settings: dict[str, Any], alone: bool) -> None:
    """The command exits with 2 for these, and with 1 where the robot's efforts or speeds set the end."""
    with pytest.raises(InputError) as refusal:
        expect_options(settings, BAXTER[2], limits(BAXTER))
    assert isinstance(refusal.value, ArgumentError) == alone
