"""One direction, no way back: description, method, graph, emitted files, runtime; and inside each of these two houses."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from support.imports import ROOT, arrows, circle, importers, imports

GENERATOR_ONLY = {"sympy", "casadi", "jinja2"}
# Beyond numpy: what the solvers, the plots and the command line import when they are called.
LAZY = GENERATOR_ONLY | {"scipy", "matplotlib", "lxml", "diffpbd.codegen"}


# From the top down; a room may use those below it, in its own line only itself. In no room: runtime's top, codegen's bottom.
RUNTIME = (
    ("cli", "with_gym", "with_jax", "with_torch", ""), ("commands",), ("api",), ("report",), ("arms",),
    ("loop",), ("control",), ("identify", "mpc", "torques", "excite"), ("simulate",), ("causes",), ("logs",),
    ("ros1",), ("records",), ("model",), ("gpu",), ("functions",), ("folder",), ("interface",), ("base",),
)  # fmt: skip
CODEGEN = (
    ("generate",), ("emit",), ("graph",), ("joint_space", "method"), ("laws",),
    ("program",), ("description",), ("",),
)  # fmt: skip
DESCRIPTION = (
    ("front",), ("check",), ("recipe",), ("shapes",), ("joints", "read.urdf", "read.mjcf"), ("tree",),
    ("geometry",), ("read",), ("robot",), ("",),
)  # fmt: skip
GRAPH = (
    ("clearance",), ("loops",), ("solved",), ("contact",), ("functions",), ("step",), ("model",), ("expressions",), ("",),
)  # fmt: skip
EMIT = (("",), ("solved", "step"), ("emission",), ("tables",), ("text",))
IDENTIFY = (
    ("",), ("doors",), ("causes", "choices", "contact"), ("motion", "torque"), ("settings",), ("columns",), ("result",),
)  # fmt: skip
JOINT_SPACE = (("contact", "loops"), ("links",), ("",))
COMMANDS = (("",), ("options", "results"))
SUPPORT = (
    ("line_coverage",), ("shared",), ("made",), ("planning",), ("reality",), ("arms",), ("spoiled",), ("recordings",),
    ("small",), ("judges",), ("description", "twin"), ("",),
)  # fmt: skip


def room(inside: str, rows: tuple[tuple[str, ...], ...]) -> str:
    """The room of a module, named from the house on: its folder, or a file that has a place of its own."""
    rooms = [name for row in rows for name in row if name and f"{inside}.".startswith(f"{name}.")]
    return max(rooms, key=len, default="")


@pytest.mark.parametrize(
    ("folder", "rows"),
    [
        ("runtime", RUNTIME),
        ("codegen", CODEGEN),
        ("codegen/description", DESCRIPTION),
        ("codegen/graph", GRAPH),
        ("codegen/emit", EMIT),
        ("codegen/joint_space", JOINT_SPACE),
        ("runtime/identify", IDENTIFY),
        ("runtime/commands", COMMANDS),
        ("tests/support", SUPPORT),
    ],
)
def test_no_arrow_runs_back_up(folder: str, rows: tuple[tuple[str, ...], ...]) -> None:
    rank = {name: k for k, row in enumerate(rows) for name in row}
    house = f"diffpbd.{folder}".replace("/", ".").removeprefix("diffpbd.tests.")
    folders = {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
    assert folders <= set(rank), "a room without a place in the order"
    found = {
        (room(a[len(house) + 1 :], rows), room(b[len(house) + 1 :], rows))
        for a, after in arrows(folder).items()
        for b in after
    }
    up = {(a, b) for a, b in found if a != b and rank[a] >= rank[b]}
    assert up == set()


@pytest.mark.parametrize("folder", ["runtime", "codegen", "experiments", "benchmarks", "tests/support"])
def test_no_circle(folder: str) -> None:
    assert circle(arrows(folder)) == []


def test_a_circle_is_seen() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"b"}}
    assert circle(graph) == ["b", "d", "b"]
    assert circle({**graph, "d": {"c"}}) == []


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


def test_runtime_reaches_into_codegen_only_from_its_commands_and_what_python_calls() -> None:
    allowed = {"runtime/cli.py"} | {
        path.relative_to(ROOT).as_posix()
        for room in ("commands", "api")
        for path in (ROOT / "runtime" / room).rglob("*.py")
    }
    assert importers("runtime", "diffpbd.codegen", "sympy", "jinja2") <= allowed


def test_codegen_uses_of_runtime_only_what_opens_a_generated_folder() -> None:
    names = {
        name
        for path in (ROOT / "codegen").rglob("*.py")
        for name in imports(path)
        if name.startswith("diffpbd.runtime.")
    }
    # `generate` compiles and opens what it emitted with the code that the runtime opens it with, and meshes are looked for
    # where the viewer looks
    assert {name.split(".")[2] for name in names} <= {"base", "folder"}


def test_one_file_knows_jinja2() -> None:
    assert importers("codegen", "jinja2") <= {"codegen/emit/text/environment.py"}
    assert importers("codegen/description", *GENERATOR_ONLY) == set()
    for room in ("program", "laws", "method", "joint_space"):
        assert importers(f"codegen/{room}", "casadi", "jinja2") == set()


def test_no_test_module_imports_another() -> None:
    """Helpers that several tests share lie in tests/support."""
    lent = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                above = path.parents[node.level - 1] if node.level else ROOT / "tests"
                lender = (above / (node.module or "").replace(".", "/")).with_suffix(".py")
                if lender.name.startswith("test_") and lender.exists():
                    lent.add(lender.relative_to(ROOT / "tests").as_posix())
    assert lent == set()
