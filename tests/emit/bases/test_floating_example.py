"""The example of docs/bases.md: what it prints is what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.soak
def test_a_trunk_turns_itself_round(root: Path, tmp_path: Path) -> None:
    script = root / "docs" / "examples" / "floating" / "turn.py"
    command = [sys.executable, str(script), "turn.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    circles, corrected, momentum = done.stdout.splitlines()
    assert "turns by 89.992 degrees" in circles
    assert "90.000000000 degrees" in corrected
    assert float(momentum.split("at most ")[1].split(" ")[0]) < 1e-12
    assert (tmp_path / "turn.png").stat().st_size > 10_000
