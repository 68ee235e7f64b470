"""The README's quickstart runs as printed, and the commands that it lists exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.robots import generated

from diffpbd.runtime.cli import COMMANDS
from experiments.__main__ import PLACES, command


def quickstart(root: Path) -> str:
    """The Python block of the README."""
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


def test_quickstart_runs_as_printed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "baxter").symlink_to(generated("baxter"), target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", quickstart(root)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "(7, 7)" in done.stdout
    assert "nan" not in done.stdout


MOST_WORDS = 900


def test_the_readme_is_short_and_begins_with_one_screen(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= MOST_WORDS, "say it in docs/, and link"
    screen = text.split("\n## ")[0]
    assert screen.count("\n- **") in (3, 4) and screen.count("](docs/") >= 3 and "```sh" in screen
    assert re.search(r"arXiv:2201\.05753.*2022.*the paper", text) and text.count("the paper") <= 2


def test_the_first_commands_end_in_a_moving_picture(root: Path, tmp_path: Path) -> None:
    """As printed, but for the environment and the robot, which are there."""
    block = re.search(r"```sh\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    made, activated, *commands = block[1].splitlines()
    assert made.startswith("make generate ROBOT=baxter") and activated == ". .venv/bin/activate"
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "baxter").symlink_to(generated("baxter"), target_is_directory=True)
    script = f'diffpbd() {{ "{sys.executable}" -m diffpbd.runtime.cli "$@"; }}\n' + "\n".join(commands)
    run = subprocess.run(["sh", "-e", "-c", script], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "reach.gif").read_bytes().startswith(b"GIF89a")


def test_the_line_for_an_fr3_can_be_given_again(root: Path) -> None:
    (line,) = re.findall(r"^diffpbd run fr3 .*$", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert "--log" in line and "--overwrite" in line and re.search(r"--rate (1\d\d|2[0-4]\d|250)\b", line)


def test_quickstart_is_short(root: Path) -> None:
    assert len([line for line in quickstart(root).splitlines() if line.strip()]) <= 11


def test_the_minimal_example_goes_the_whole_way(root: Path, tmp_path: Path) -> None:
    """URDF to a step of compiled C; what it prints of the difference is rounding."""
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "double_pendulum").symlink_to(generated("double_pendulum"), target_is_directory=True)
    example = root / "docs" / "examples" / "minimal.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 25
    run = [sys.executable, "-W", "error:::diffpbd", str(example)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout.split("differ by ")[1]) < 1e-13
    assert "examples/minimal.py" in (root / "README.md").read_text(encoding="utf-8")


def test_listed_commands_exist(root: Path) -> None:
    listed = re.findall(r"^\| `diffpbd ([a-z0-9-]+)", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) >= 7
    assert set(listed) <= set(COMMANDS)


def test_what_commands_write_is_ignored_by_git(root: Path) -> None:
    """The outputs of the README's commands and, by default, of every experiment, with the files beside them."""
    if not (root / ".git").exists():
        pytest.skip("no checkout")
    blocks = re.findall(r"```sh\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    words = "\n".join([*blocks, *re.findall(r"^diffpbd .*$", (root / "README.md").read_text(encoding="utf-8"), re.M)])
    files = {*re.findall(r"--(?:out|log|movie|plot|report) (\S+)", words), "run.json"}  # beside run.bag
    assert {"run.csv", "reach.gif", "run.bag"} <= files
    for name in PLACES:
        (out,) = [one.default for one in command.get_command(click.Context(command), name).params if one.name == "out"]
        files |= {out, str(Path(out).with_suffix(".csv"))} if out.endswith(".png") else {f"{out}/page.html"}
    git = subprocess.run(["git", "check-ignore", *files], cwd=root, capture_output=True, text=True, check=False)
    assert files - set(git.stdout.split()) == set()
