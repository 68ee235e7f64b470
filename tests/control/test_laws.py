"""The table of control laws: plain data and back, what is refused, and which options lead to which laws."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from support.robots import loaded

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import options_of
from diffpbd.runtime.commands.options.laws import words_of_laws
from diffpbd.runtime.commands.run import command
from diffpbd.runtime.control.law import Law, Setup
from diffpbd.runtime.control.laws import LAWS, law_of
from diffpbd.runtime.loop.configuration import limits_of

ROWS: dict[str, list[list[float]]] = {key: [[0.0] * 7] * 2 for key in ("q", "dq")}
SETTINGS: dict[str, dict[str, Any]] = {
    "cartesian": {"stiffness": [100.0] * 3 + [5.0] * 3, "offset": [0.0, 0.0, 0.1], "damping_ratio": 0.7, "speed": 0.1,
                  "damping": [1.0] * 7, "posture": [2.0] * 7},
    "gravity": {"damping": [0.5] * 7},
    "hold": {},
    "impedance": {"stiffness": [20.0] * 7, "damping": [2.0] * 7, "goal": [None] * 6 + [0.1], "goal_speed": 0.2},
    "mpc": {"horizon": 5, "goal_speed": 0.2},
    "program": {"command": ["cat"], "timeout": 0.01},
    "track": {"stiffness": [20.0] * 7, "damping": [2.0] * 7, "goal_speed": 0.2, "reference": {"time": [0.0, 1.0], **ROWS}},
}  # fmt: skip


def test_every_law_is_here() -> None:
    assert list(LAWS) == sorted(SETTINGS)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_plain_data_make_the_same_law_again(name: str) -> None:
    law = law_of({"name": name, **SETTINGS[name]})
    again = law_of(json.loads(json.dumps(law.settings())))
    assert type(again) is LAWS[name] and again.settings() == law.settings()


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - {"program"}))
def test_a_law_makes_its_controller(name: str) -> None:
    robot = loaded("baxter_bare")
    law = law_of({"name": name, **SETTINGS[name]})
    made = law.make(Setup(robot, robot.alpha.defaults, limits_of(robot), 0.01))
    assert (made.name, made.mode) == (name, law.mode)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_settings_that_are_missing_or_strange_are_named(name: str) -> None:
    with pytest.raises(InputError, match=rf"Settings of the controller {name}: there is no stifness\. Expected: "):
        law_of({"name": name, **SETTINGS[name], "stifness": 1.0})
    for field in dataclasses.fields(LAWS[name]):
        if field.default is dataclasses.MISSING:
            with pytest.raises(InputError, match=f"{name}: {field.name} is missing"):
                law_of({"name": name, **{k: v for k, v in SETTINGS[name].items() if k != field.name}})


def test_an_unknown_law() -> None:
    with pytest.raises(InputError, match="There is no controller 'hover': expected cartesian, .* program or track"):
        law_of({"name": "hover"})


def test_the_command_has_every_option_of_every_law_once() -> None:
    names = [param.name for param in command.params]
    for name, (_, _, users) in words_of_laws().items():
        assert names.count(name) == 1
        assert users == tuple(law.name for law in LAWS.values() if name in {f.name for f, _ in options_of(law.words)})
    assert all(issubclass(law, Law) for law in LAWS.values())
