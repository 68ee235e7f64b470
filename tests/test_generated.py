"""Two tiny robots whose C is committed (tests/golden): what a change of the generator does to it is read in its review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from support.golden import check_golden
from support.imports import ROOT
from support.mechanisms import Mechanism, four_bar
from support.touching import block

from diffpbd.codegen.description.resolve import resolve
from diffpbd.codegen.emit.folder import write_folder

GOLDEN = ROOT / "tests" / "golden"
ROBOTS: dict[str, Callable[[], Mechanism]] = {"contact": block, "loop": four_bar}
FILES = ("{name}.h", "src/model.h", "src/constrained_step_model.h", "src/frames_model.h")
"""What says most: functions, numbers, sizes and tables, the step's kernels. Plain C is read where it stands."""


@pytest.mark.parametrize("name", ROBOTS)
def test_committed_c_is_up_to_date(name: str, tmp_path: Path, update_golden: bool) -> None:
    folder, made = GOLDEN / name, "\n".join(f"{package} {version(package)}" for package in ("casadi", "sympy"))
    with_versions = folder / "versions.txt"
    if not update_golden and with_versions.read_text(encoding="utf-8").strip() != made:
        pytest.skip(f"committed with {with_versions.read_text(encoding='utf-8')}, this is {made}")
    recipe, robot = resolve(str(ROBOTS[name]().write(tmp_path, name)))
    out = tmp_path / "out"
    out.mkdir()
    write_folder(out, robot, replace(recipe, functions=("joint_step",)), "0" * 64, lambda _: "", lambda _: None)
    actual = {path: (out / path).read_bytes() for path in (k.format(name=name) for k in FILES)}
    actual["versions.txt"] = f"{made}\n".encode()
    committed = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    command = "make check-generated OPTS=--update-golden"
    check_golden(folder, actual, update=update_golden, committed=committed, command=command)
