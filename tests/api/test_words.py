"""Errors of what commands share speak Python where Python called."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from support.robots import loaded

import diffpbd
from diffpbd.runtime.api.words import python_words


@pytest.mark.parametrize(("said", "wanted"), [
    ("--loss: there is no 'z'.", "loss: there is no 'z'."),
    ("use --form torque, --form simultaneous --residual torque", "use form='torque', form='simultaneous' residual='torque'"),
    ("Run `diffpbd generate x --symbolic mass` once.", "Run `diffpbd generate x --symbolic mass` once."),
    ("--friction-model auto: expected", "friction_model='auto': expected"),
    ("(--no-unwrap leaves them)", "(unwrap=False leaves them)"),
    ("gravity is zero in --params; it", "gravity is zero in start; it"),
    ("give --rate only for tables", "give rate only for tables"),
    ("a -- b, x--y, 3--4", "a -- b, x--y, 3--4"),
])  # fmt: skip
def test_options_become_arguments(said: str, wanted: str) -> None:
    assert python_words(said) == wanted


@cache
def robot() -> diffpbd.Robot:
    return loaded("double_pendulum")


@cache
def run() -> diffpbd.Run:
    return diffpbd.simulate(robot(), duration=0.5)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "form": (lambda: diffpbd.identify(robot(), run(), "friction", form="x"), "^form: expected torque"),
    "a form's": (
        lambda: diffpbd.identify(robot(), run(), "friction", form="shooting", loss="huber"),
        "^loss='huber' is an option of form='torque', found form='shooting'",
    ),
    "an argument": (
        lambda: diffpbd.identify(robot(), run(), "friction", cutof=3),
        "no argument 'cutof'. Did you mean cutoff",
    ),
    "cutoff": (
        lambda: diffpbd.identify(robot(), run(), "friction", cutoff=-1.0),
        "^cutoff: expected a positive number",
    ),
    "fit": (lambda: diffpbd.identify(robot(), run(), "frictoin"), "no parameter|no parameters"),
    "a log": (
        lambda: diffpbd.identify(robot(), {"a": 1}, "friction"),
        "expected a file's name, a recording.*found a dict",
    ),
    "loss": (
        lambda: diffpbd.estimate_torque(robot(), run(), loss="z"),
        "^loss: expected angle or omega or .* found 'z'",
    ),
    "torque": (lambda: diffpbd.simulate(robot(), np.zeros(3)), r"^torque: expected shape \(2,\), or \(100, 2\)"),
    "a controller": (
        lambda: diffpbd.simulate(robot(), lambda t, q, dq: [1.0]),
        r"controller's torque at 0 s: expected shape \(2,\), found \(1,\)",
    ),
    "what it gives": (
        lambda: diffpbd.simulate(robot(), lambda t, q, dq: [np.nan, 0.0]),
        "torque of the controller.*finite",
    ),
    "a word": (lambda: diffpbd.simulate(robot(), "gravty"), "gravty"),
    "an option": (
        lambda: diffpbd.generate("double_pendulum", symbolc="mass"),
        "no argument 'symbolc'. Did you mean symbolic",
    ),
    "a goal": (lambda: diffpbd.Mpc(robot()).run_to([0.1]), r"goal: expected shape \(2,\), found \(1,\)"),
    "a joint": (lambda: diffpbd.Mpc(robot()).run_to({"elbw": 0.1}), "no joint 'elbw'. Did you mean elbow"),
    "no goal": (lambda: diffpbd.Mpc(robot()).run_to(), "expected one of goal and tip"),
    "two goals": (lambda: diffpbd.Mpc(robot()).run_to([0.0, 0.0], tip=[0, 0, 0]), "expected one of goal and tip"),
    "far away": (
        lambda: diffpbd.Mpc(robot()).run_to(tip=[0.0, 0.0, 9.0]),
        "the nearest pose within the joint limits is",
    ),
    "weights": (lambda: diffpbd.Mpc(robot(), weights={"q": 1.0}), "weights: there is no 'q'"),
    "an option of it": (lambda: diffpbd.Mpc(robot(), delays=1), "no argument 'delays'. Did you mean delay"),
    "harmonics": (lambda: diffpbd.excite(robot(), harmonics=1), "^harmonics: expected 2 to 50"),
    "a speed": (
        lambda: diffpbd.Mpc(robot()).run_to([0.0, 0.0], speed=-1.0),
        "^speed: expected above 0, up to 100 rad/s",
    ),
    "a plant's": (lambda: diffpbd.Plant(noise=-1.0), "^noise: expected 0 to 1000"),
    "its load": (
        lambda: diffpbd.Mpc(robot()).run_to([0.0, 0.1], plant=diffpbd.Plant(load=[1.0])),
        r"load of the plant: expected shape \(2,\), found \(1,\)",
    ),
    "a distance": (lambda: diffpbd.Mpc(robot(), clearance=0.0), "^clearance: double_pendulum was generated without"),
    "a step": (lambda: diffpbd.simulate(robot(), duration=0.1, h=0.2), "^h: expected a step within the duration"),
    "spans": (
        lambda: diffpbd.identify(robot(), run(), "friction", cut=[("run.csv", 0.0)]),  # type: ignore[list-item]
        r"cut: expected spans, each \(file, from, to\), found",
    ),
    "a motion's": (lambda: diffpbd.excite(robot(), duration=-1.0), "^duration: expected 0.1 to 3600 s"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_python(what: str) -> None:
    call, words = WRONG[what]
    with pytest.raises(diffpbd.InputError, match=words) as told:
        call()
    assert not re.search(r"--[a-z]", re.sub("`[^`]*`", "", str(told.value)))
