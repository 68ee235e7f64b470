"""Errors of what commands share speak Python where Python called."""

from __future__ import annotations

import ast
import re

from support.imports import ROOT

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
