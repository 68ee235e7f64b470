"""What is refused, as `refusals.txt` of each room shows it: `$` a command, then its exit code and its message; `>>>` an
expression in Python, then its message.

`= FILE TEXT` writes a file before. `pytest tests/test_refusals.py --update-golden` writes the messages anew.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated

import diffpbd
from diffpbd.codegen.description.resolve import find_recipe
from diffpbd.runtime import load
from diffpbd.runtime.cli import cli

ROOT = Path(__file__).resolve().parent
ACCEPT = "If the change is intended: pytest tests/test_refusals.py --update-golden"


def refused(words: list[str]) -> list[str]:
    """Exit code and message without the usage; nothing was written, and no error of Python is left."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, SystemExit) and done.exit_code in (1, 2), (
        f"{words}: {done.output} {done.exception}"
    )
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before, words
    if done.exit_code == 2 and words[0] != "run":  # of which arm a robot is, its folder says
        nobody = [word if word not in ("twin", "pendulum", "arm") else "nobody" for word in words]
        again = CliRunner().invoke(cli, nobody)
        assert again.exit_code == 2, f"{words}: {done.output} {again.output} 2 is for what the command line alone shows"
    said = done.output.replace(str(Path.cwd()), ".").replace(str(Path.cwd().parent), "..")
    lines = [line for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("Usage: ", "Try "))]
    return [f"{done.exit_code} {lines[0].removeprefix('Error: ')}", *(f"  {line}" for line in lines[1:])]


def refused_in_python(expression: str, names: dict[str, Any]) -> list[str]:
    """The message, which names no option."""
    with pytest.raises(diffpbd.InputError) as told:
        eval(expression, names)
    said = str(told.value)
    assert "--" not in said, said
    return said.splitlines()


@pytest.mark.parametrize("shown", sorted(ROOT.glob("*/refusals.txt")), ids=lambda path: path.parent.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_refusals(
    shown: Path, tmp_path: Path, twin_folder: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    robots = tmp_path / "robots"
    robots.mkdir()
    for name, folder in (
        ("twin", twin_folder), ("pendulum", generated("double_pendulum")), ("arm", generated("baxter_bare")),
    ):  # fmt: skip
        (robots / name).symlink_to(folder)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("DIFFPBD_ROBOTS", str(robots))
    robot = load(generated("double_pendulum"))
    names = {
        "diffpbd": diffpbd, "np": np, "nan": np.nan, "robot": robot, "urdf": find_recipe("double_pendulum").urdf,
        "run": diffpbd.simulate(robot, duration=0.5),
    }  # fmt: skip
    found: list[str] = []
    for line in shown.read_text(encoding="utf-8").splitlines():
        if line[:2] in ("$ ", "= ", "# ", ">>") or not line:
            found.append(line)
        if line.startswith("= "):
            _, name, text = line.split(" ", 2)
            Path(name).write_text(text.replace("\\n", "\n") + "\n", encoding="utf-8")
        elif line.startswith("$ "):
            found += refused(shlex.split(line[2:]))
        elif line.startswith(">>> "):
            found += refused_in_python(line[4:], names)
    text = "\n".join(found) + "\n"
    if update_golden:
        shown.write_text(text, encoding="utf-8")
    assert shown.read_text(encoding="utf-8") == text, ACCEPT
