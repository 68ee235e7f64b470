"""Small pieces: no file above 300 lines but one with a reason, no function above 60, at most 8 parameters outside commands,
at most 25 files in a folder.
Of the C and CUDA of templates/: no file above 500 lines, no function above 60, no solver in a Jinja template."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.imports import ROOT

FILE, FUNCTION, PARAMETERS = 300, 60, 8
LONG_FILES = {
    "runtime/logs/processing.py": "one filter",
    "runtime/folder/manifest.py": "records and their reader are one contract",
    "runtime/loop/run.py": "one run from the first state to the last command, on one page",
    "runtime/ros1/node.py": "one protocol",
    "codegen/description/read/urdf/document.py": "one format",
    "codegen/emit/text/call_writer.py": "one writer",
    "codegen/emit/step/step_kernels.py": "one step's kernels, until work arrays are structs",
    "codegen/method/projection.py": "one elimination",
    "codegen/program/program.py": "one language",
    "codegen/joint_space/step.py": "one step",
    "codegen/joint_space/links/link_frames.py": "one step in link frames",
    "codegen/joint_space/links/link_step.py": "one step in link frames",
}
"""Files above the bar, and why each is one piece."""
LONG_FUNCTIONS = {"runtime/control/laws/cartesian.py __init__"}
"""Functions above a bar: nine numbers of one law, by name. None may join it."""

FOLDER = 25

C_FILE, C_FUNCTION = 500, 60
C_FUNCTIONS = re.compile(r"^[A-Za-z_][^;{}=]*\([^;{}]*\) \{\n.*?^\}", re.M | re.S)
"""A function of C or CUDA: from its first line, at the left, to the brace at the left that ends it."""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    a = function.args
    return len([one for one in (*a.posonlyargs, *a.args, *a.kwonlyargs) if one.arg not in ("self", "cls")])


def test_no_file_is_longer_than_the_bar() -> None:
    long = {
        path.relative_to(ROOT).as_posix()
        for room in ("runtime", "codegen")
        for path in (ROOT / room).rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE
    }
    assert long <= set(LONG_FILES), sorted(long - set(LONG_FILES))


def test_no_function_is_longer_than_the_bar() -> None:
    long = set()
    for path in (ROOT / "runtime").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            if lines > FUNCTION or (parameters(function) > PARAMETERS and "/commands/" not in name):
                long.add(f"{name} {function.name}")
    assert long <= LONG_FUNCTIONS, sorted(long - LONG_FUNCTIONS)


def test_no_folder_is_fuller_than_the_bar() -> None:
    files = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for room in ("runtime", "codegen", "templates", "tests")
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    full = {folder: n for folder, n in files.items() if n > FOLDER}
    assert not full, full


def c_functions(text: str) -> dict[str, int]:
    """Lines of every function, by the one that it begins with."""
    return {found.split("\n")[0]: found.count("\n") + 1 for found in C_FUNCTIONS.findall(text)}


def test_c_of_the_solvers() -> None:
    sources = [path for path in (ROOT / "templates").glob("*/*") if path.suffix in (".c", ".h", ".cu", ".cuh")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    assert len(texts) > 60 and sum(len(c_functions(text)) for text in texts.values()) > 400
    files = {name for name, text in texts.items() if text.count("\n") > C_FILE}
    long = {f"{name} {head}" for name, text in texts.items() for head, n in c_functions(text).items() if n > C_FUNCTION}
    assert not files and not long, (files, long)


def test_rooms_of_templates() -> None:
    """A generated src/ has the files of all rooms beside each other."""
    rooms = [path for path in (ROOT / "templates").iterdir() if path.is_dir() and path.name != "__pycache__"]
    files = {room.name: [path.name for path in room.iterdir()] for room in rooms}
    names = sorted(name for room in files.values() for name in room)
    assert len(names) == len(set(names)) and max(map(len, files.values())) <= 25, files


def test_templates_hold_no_solver() -> None:
    """main.c is an example, which prints."""
    solving = [
        path.name
        for path in (ROOT / "templates").glob("*/*.jinja")
        if path.name != "main.c.jinja" and re.search(r"\b(for|while) \(", path.read_text(encoding="utf-8"))
    ]
    assert not solving, solving


def test_the_bars_count_what_they_say() -> None:
    tree = ast.parse("class A:\n def f(self, a, /, b, *, c=1):\n  pass\n")
    assert [parameters(f) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)] == [3]
    c = "typedef struct {\n  int x;\n} A;\nstatic int f(int a,\n             int b) {\n  return a;\n}\nENTRY(g) {\n}\n"
    assert c_functions(c) == {"static int f(int a,": 4, "ENTRY(g) {": 2}
