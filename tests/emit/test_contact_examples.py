"""The plans of docs/contact.md reach their goals."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


def printed(root: Path, folder: Path, script: str) -> str:
    path = root / "docs" / "examples" / "contact" / script
    return subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.soak
def test_the_ball_rests_at_its_goal(root: Path, tmp_path: Path) -> None:
    text = printed(root, tmp_path, "throw.py")
    off = re.search(r"([-+.0-9]+) mm off", text)
    spins = [float(x) for x in re.findall(r"spin (-[.0-9]+)", text)]
    assert off and abs(float(off[1])) < 1.0
    assert spins[0] == pytest.approx(spins[1], rel=0.01)


@pytest.mark.soak
def test_the_block_rests_at_its_goal(root: Path, tmp_path: Path) -> None:
    off = re.search(r"off by ([.0-9]+) mm and ([-.0-9]+) deg", printed(root, tmp_path, "push.py"))
    assert off and float(off[1]) < 3.0 and abs(float(off[2])) < 1.0
