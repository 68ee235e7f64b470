"""The first block of Python on pages about kinds of robots runs as printed, on such a robot."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.imports import ROOT
from support.robots import generated
from support.small.closed_robots import case
from support.small.floating_arm import floating_arm


def ball() -> Path:
    return generated(str(ROOT / "docs" / "examples" / "contact" / "ball.toml"), functions=("joint_step",))


PAGES: dict[str, tuple[Callable[[], Path], str, str]] = {
    "bases": (lambda: floating_arm().folder, "flying", "'base_qw'"),
    "contact": (ball, "ball", "9.81"),
    "learning": (lambda: generated("double_pendulum"), "double_pendulum", ""),
    "loops": (lambda: case("four_bar").folder, "four_bar", "e-1"),
}
"""Of each a folder, the name by which the page opens it, and what is printed: of the ball its weight, of the loop rounding."""


@pytest.mark.parametrize("page", PAGES)
def test_the_block_runs_as_printed(page: str, tmp_path: Path) -> None:
    if page == "learning":
        pytest.importorskip("gymnasium", reason="Gymnasium is not installed (extra gym)")
    make, name, said = PAGES[page]
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / name).symlink_to(make(), target_is_directory=True)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    run = [sys.executable, "-W", "error", "-c", re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout and "nan" not in done.stdout
