"""One direction, no way back: description, symbolic, graph, emitted files, runtime."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

GENERATOR_ONLY = {"sympy", "casadi", "jinja2"}
# Beyond numpy: what the solvers, the plots and the command line import when they are called.
LAZY = GENERATOR_ONLY | {"scipy", "matplotlib", "lxml", "diffpbd.codegen"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, dotted; relative imports are not used in this project."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write diffpbd.… in full"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(folder: str, *modules: str) -> set[str]:
    """Files under `folder` that import one of `modules`, or something inside it, as paths from the root."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path)
        if any(name == module or name.startswith(f"{module}.") for module in modules)
    }


@pytest.mark.parametrize("module", ["diffpbd.runtime", "diffpbd.runtime.cli"])
def test_importing_the_runtime_stays_light(module: str) -> None:
    if module == "diffpbd.runtime.cli" and not (ROOT / "runtime" / "cli.py").exists():
        pytest.skip("runtime/cli.py is not there yet")
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    unwanted = LAZY if module.endswith("cli") else LAZY | {"click", "rich"}
    assert module in loaded
    assert not loaded & unwanted


def test_runtime_reaches_into_codegen_only_from_its_commands() -> None:
    allowed = {"runtime/cli.py"} | {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "runtime" / "commands").glob("*.py")
    }
    assert importers("runtime", "diffpbd.codegen", "sympy", "jinja2") <= allowed


def test_codegen_uses_of_runtime_only_what_opens_a_generated_folder() -> None:
    names = {
        name
        for path in (ROOT / "codegen").rglob("*.py")
        for name in imports(path)
        if name.startswith("diffpbd.runtime.")
    }
    # `generate` compiles and opens what it emitted with the code that the runtime opens it with
    assert {name.split(".")[2] for name in names} <= {"manifest", "errors", "compiler", "library", "naming"}


def test_one_file_knows_jinja2() -> None:
    assert importers("codegen", "jinja2") <= {"codegen/emit/environment.py"}
    assert importers("codegen/description", *GENERATOR_ONLY) == set()
    for room in ("program", "laws", "method", "joint_space"):
        assert importers(f"codegen/{room}", "casadi", "jinja2") == set()


CODEGEN = (
    ("description", "program", "result"),
    ("laws",),
    ("method", "joint_space"),
    ("graph",),
    ("emit",),
    ("generate",),
)
"""Rooms and files of codegen, below first; those of one row do not know each other."""


def test_every_arrow_inside_codegen_runs_down() -> None:
    rank = {room: k for k, rooms in enumerate(CODEGEN) for room in rooms} | {"convergence": len(CODEGEN)}
    for path in (ROOT / "codegen").rglob("*.py"):
        own = path.relative_to(ROOT / "codegen").with_suffix("").parts[0]
        for name in imports(path):
            other = (name.split(".") + [""] * 3)[2] if name.startswith("diffpbd.codegen.") else ""
            assert other in ("", own) or rank[other] < rank[own], f"{path}: {own} imports {other}"
