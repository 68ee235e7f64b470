"""A robot that nothing constrains is generated as if loops, limits, contacts and moving bases did not exist."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from support.mechanisms import bar, joint
from support.plain_c import TEMPLATES

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.emit.folder import write_folder

CONSTRAINED = (
    "emit.solved.constrained_step", "emit.solved.floating", "emit.solved.loop_instant", "graph.contact.constrained_step",
    "graph.contact.contact_kernels", "graph.solved.contact_residual", "graph.contact.contacts",
    "graph.solved.floating", "graph.loops.findings", "graph.loops.instant", "graph.loops.poses", "graph.loops.rows",
    "graph.contact.unilateral", "joint_space.loops.bordered", "joint_space.loops.closures", "joint_space.contact.cones",
    "joint_space.contact.contacts", "joint_space.links.link_energies",
)  # fmt: skip
"""Modules of diffpbd.codegen that only constrained robots need."""
ASKED_OF_EVERY_ROBOT = {
    "motors",
    "graphs_of",
    "sides",
    "normals",
    "across",
    "slid",
    "rows_at",
    "closed_rows",
    "equations",
}
"""Functions of theirs that look whether a robot is one, and that make the equations of a step's CasADi graph."""
WORDS = re.compile(
    r"(?i)\b(closed loops?|loop_\w+|contacts?|cones?|impulses? of|impacts?|stops|limit\.\w+|floating|unit quaternion)\b"
)
"""None of them is in the text of such a robot, so no block of a template is there unasked. C that is the same for every
robot may have them."""


def emitted(folder: Path, **options: Any) -> Mapping[str, str]:
    """C, header and build files of two continuous hinges, without the hash of their options."""
    folder.mkdir()
    path = folder.parent / "plain.urdf"
    links = [bar("a", 1.0, 0.3), bar("b", 0.5, 0.2)]
    joints = [joint("j1", "base", "a", (0, 0, 0)), joint("j2", "a", "b", (0.3, 0.1, 0), (1, 0, 0))]
    path.write_text(f'<robot name="plain"><link name="base"/>{"".join((*links, *joints))}</robot>')
    recipe, described = resolve(str(path))
    recipe = replace(recipe, functions=("default", "mpc"), **options)
    write_folder(folder, described, recipe, "0" * 64, lambda _: "", lambda _: None, lambda _source, _headers: None)
    kept = (k for k in sorted(folder.rglob("*")) if k.is_file() and k.suffix not in (".json", ".casadi"))
    return {str(k.relative_to(folder)): k.read_text() for k in kept}


def traps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Makes every function of the constrained modules an error, under all of its names; how many there are."""
    found = {}
    for name in CONSTRAINED:
        module = importlib.import_module(f"diffpbd.codegen.{name}")
        for key, value in vars(module).items():
            plain = getattr(value, "__wrapped__", value)
            if (
                isinstance(plain, FunctionType)
                and plain.__module__ == module.__name__
                and key not in ASKED_OF_EVERY_ROBOT
            ):
                found[id(value)] = f"{name}.{key}"
    for module in [m for k, m in sys.modules.items() if k.startswith("diffpbd.codegen")]:
        for key, value in list(vars(module).items()):
            if id(value) in found:
                monkeypatch.setattr(module, key, _trap(found[id(value)]))
    return len(found)


def _trap(name: str) -> Any:
    def called(*_: Any, **__: Any) -> Any:
        raise AssertionError(f"{name} is called for a robot that nothing constrains")

    return called


def test_bytes_are_those_without_constraints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = emitted(tmp_path / "as_ever")
    assert {"src/joint_step.c", "src/mpc.c", "plain.h"} <= plain.keys()
    assert not {"src/constrained_step.c", "src/floating.c"} & plain.keys()
    written = {path: text for path, text in plain.items() if Path(path).name not in TEMPLATES}
    assert {"plain.h", "src/joint_step_model.h", "src/mpc_model.h"} <= written.keys()
    for path, text in written.items():
        asked = re.sub(r"#define \w+ 0\n", "", text)  # which parts there are, and this is not
        assert not WORDS.search(asked), (path, WORDS.search(asked))
    assert traps(monkeypatch) > 60
    assert emitted(tmp_path / "trapped", limits=True) == plain  # asked for, and no joint has any
