"""Errors of what commands share speak Python where Python called."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from support.imports import ROOT
from support.robots import loaded

import diffpbd
from diffpbd.runtime.api.words import in_python
from diffpbd.runtime.base.errors import arg


def test_each_door_spells_an_argument() -> None:
    def said() -> str:
        return f"{arg.cutoff} {arg.start} {arg.form('torque')} {arg.unwrap(False)}"

    assert said() == "--cutoff --params --form torque --no-unwrap"
    assert in_python(said)() == "cutoff start form='torque' unwrap=False"
    assert said() == "--cutoff --params --form torque --no-unwrap"


OPTION = re.compile(r"`[^`]*`|(?<![\w-])--[a-z]")
ROOMS = [ROOT / "runtime" / room for room in ("identify", "logs", "excite", "mpc", "torques", "simulate", "model")]
COMMANDS = {"standin.py"}
"""Files that make up command lines."""


def _declares(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("option", "distance_option")
    )


def test_messages_name_arguments_as_the_caller_does() -> None:
    """In rooms that both doors share no text has an option but help of options, docstrings, and whole commands."""
    for path in sorted(path for room in ROOMS for path in room.rglob("*.py") if path.name not in COMMANDS):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        quiet = {
            id(part)
            for node in ast.walk(tree)
            if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or _declares(node)
            for part in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                quiet |= {id(part) for part in node.values}
            text = ast.unparse(node) if isinstance(node, ast.JoinedStr) else getattr(node, "value", None)
            if id(node) not in quiet and isinstance(text, str):
                strange = [found for found in OPTION.findall(text) if not found.startswith("`")]
                assert not strange, f"{path.name}: {text}"


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
    "a motion's": (lambda: diffpbd.excite(robot(), duration=-1.0), "^duration: expected 0.1 to 3600 s"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_python(what: str) -> None:
    call, words = WRONG[what]
    with pytest.raises(diffpbd.InputError, match=words) as told:
        call()
    assert "--" not in str(told.value)
