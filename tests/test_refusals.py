"""Refusals as `refusals.txt` of each room shows them: `$` a command, then its exit code and its message; `>>>` a line of
Python, then its message, after the error's name if it is not an InputError. A command is one of diffpbd, or after the word
`experiments` one of the paper's.

`= FILE TEXT` writes a file before; `:` begins lines of Python that prepare something and must not be refused.
`pytest tests/test_refusals.py --update-golden` writes the messages anew; what is not refused stays an error.
"""

from __future__ import annotations

import shlex
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated

import diffpbd
from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.runtime import load
from diffpbd.runtime.cli import cli
from experiments.__main__ import command as experiments

ROOT = Path(__file__).resolve().parent
ACCEPT = "If the change is intended: pytest tests/test_refusals.py --update-golden"


def refused(words: list[str]) -> list[str]:
    """Exit code and message without the usage; nothing was written, and no error of Python is left."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    group = experiments if words[0] == "experiments" else cli
    words = words[1:] if group is experiments else words
    done = CliRunner().invoke(group, words)
    assert isinstance(done.exception, SystemExit) and done.exit_code in (1, 2), (
        f"{words}: {done.output} {done.exception}"
    )
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before, words
    if done.exit_code == 2 and words[0] != "run":  # of which arm a robot is, its folder says
        nobody = [word if word not in ("twin", "pendulum", "arm") else "nobody" for word in words]
        again = CliRunner().invoke(group, nobody)
        assert again.exit_code == 2, f"{words}: {done.output} {again.output} 2 is for what the command line alone shows"
    said = done.output.replace(str(Path.cwd()), ".").replace(str(Path.cwd().parent), "..")
    lines = [line for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("Usage: ", "Try "))]
    return [f"{done.exit_code} {lines[0].removeprefix('Error: ')}", *(f"  {line}" for line in lines[1:])]


def refused_in_python(line: str, names: dict[str, Any]) -> list[str]:
    with pytest.raises(Exception, match=r"\S") as told:  # which one, the first line shows
        exec(line, names)
    said = str(told.value).replace(str(Path.cwd()), ".")
    kind = "" if isinstance(told.value, diffpbd.InputError) else f"{told.typename}: "
    return [line for line in (kind + said).splitlines() if line]


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
        "diffpbd": diffpbd, "np": np, "nan": np.nan, "Path": Path, "monkeypatch": monkeypatch, "robot": robot,
        "urdf": find_recipe("double_pendulum").urdf, "run": diffpbd.simulate(robot, duration=0.5), "twin": load(twin_folder),
    }  # fmt: skip
    found: list[str] = []
    written = shown.read_text(encoding="utf-8").splitlines()
    for mark, lines in groupby(written, lambda line: not line.startswith(" ") and line.split(" ")[0]):
        block = list(lines)
        if mark in (":", "#", ""):
            found += block
        if mark == ":":
            exec("\n".join(line[2:] for line in block), names)
        for line in block if mark in ("=", "$", ">>>") else ():
            found.append(line)
            if mark == "=":
                _, name, text = line.split(" ", 2)
                Path(name).write_text(text.replace("\\n", "\n") + "\n", encoding="utf-8")
            else:
                found += refused(shlex.split(line[2:])) if mark == "$" else refused_in_python(line[4:], names)
    text = "\n".join(found) + "\n"
    assert shown.parent.name != "api" or "--" not in text, "Python's words name no option"
    if update_golden:
        shown.write_text(text, encoding="utf-8")
    assert shown.read_text(encoding="utf-8") == text, ACCEPT
