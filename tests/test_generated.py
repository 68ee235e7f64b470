"""Two tiny robots whose C is committed (tests/golden): what a change of the generator does to it is read in its review."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from support.golden import check_golden
from support.imports import ROOT
from support.mechanisms import Mechanism, four_bar
from support.touching import block

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.emit.folder import write_folder

GOLDEN = ROOT / "tests" / "golden"
ROBOTS: dict[str, Callable[[], Mechanism]] = {"contact": block, "loop": four_bar}
FILES = ("{name}.h", "src/model.h", "src/constrained_step_model.h", "src/frames_model.h")
"""What says most: functions, numbers, sizes and tables, the step's kernels. Plain C is read where it stands."""
STRICT = "-pedantic -Wall -Wextra -Wconversion -Werror -fsyntax-only".split()


@pytest.fixture(scope="module", params=ROBOTS)
def emitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot's folder, of its name, without a library."""
    folder = tmp_path_factory.mktemp("golden")
    recipe, robot = resolve(str(ROBOTS[request.param]().write(folder, request.param)))
    out = folder / request.param
    out.mkdir()
    write_folder(out, robot, replace(recipe, functions=("joint_step",)), "0" * 64, lambda _: "", lambda _: None)
    return out


def test_committed_c_is_up_to_date(emitted: Path, update_golden: bool) -> None:
    name, made = emitted.name, "\n".join(f"{package} {version(package)}" for package in ("casadi", "sympy"))
    folder = GOLDEN / name
    with_versions = folder / "versions.txt"
    if not update_golden and with_versions.read_text(encoding="utf-8").strip() != made:
        pytest.skip(f"committed with {with_versions.read_text(encoding='utf-8')}, this is {made}")
    actual = {path: (emitted / path).read_bytes() for path in (k.format(name=name) for k in FILES)}
    actual["versions.txt"] = f"{made}\n".encode()
    committed = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    command = "make check-generated OPTS=--update-golden"
    check_golden(folder, actual, update=update_golden, committed=committed, command=command)


def test_every_header_compiles_alone(emitted: Path) -> None:
    """Each header that a source includes, with the data of the robot and the work array that the source includes.
    Sources that compile another one for an instruction set have no headers of their own."""
    compile_c = ["gcc", "-std=c99", "-I.", "-I.."]
    failed = list[str]()
    for source in sorted((emitted / "src").glob("*.c")):
        text = source.read_text(encoding="utf-8")
        if "push_options" in text:
            continue
        known = [
            word for name in re.findall(r'^#include "(.*(?:model|work).h)"', text, re.M) for word in ("-include", name)
        ]
        run = {"cwd": source.parent, "capture_output": True, "text": True, "check": False}
        read = subprocess.run([*compile_c, "-MM", source.name], **run).stdout.split()
        for header in sorted({name for name in read if name.endswith(".h") and not name.startswith("..")}):
            alone = ["-xc", "-fsyntax-only", "-Werror=implicit-function-declaration", *known, header]
            made = subprocess.run([*compile_c, *alone], **run)
            failed += [f"{source.name}, {header}: {made.stderr[:300]}"] if made.returncode else []
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_compiler_warns(compiler: str, emitted: Path) -> None:
    """Compile the sources as C99 and, where they are for every compiler, of the header as C++."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    for language, sources in (
        ("-std=c99", sorted((emitted / "src").glob("*.c"))),
        ("-xc++", [emitted / f"{emitted.name}.h"]),
    ):
        made = subprocess.run(
            [compiler, language, *STRICT, f"-I{emitted}", *map(str, sources)],
            capture_output=True,
            text=True,
            check=False,
        )
        errors = made.stderr.replace("pragma once in main file", "")
        assert made.returncode == 0, errors[:3000]
