"""The four-bar of docs/examples: the gradient that IPOPT gets is that of the loss, and the design is better than its start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.mark.soak
def test_the_design_of_the_page(root: Path, tmp_path: Path) -> None:
    script = root / "docs" / "examples" / "four_bar" / "design.py"
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    mine, wanted = (
        np.array(text.strip(" []").split(), float) for text in lines[0].removeprefix("gradient ").split("; ")
    )
    np.testing.assert_allclose(mine, wanted, rtol=1e-5)
    before, after = (float(line.split("line ")[1].split(" mm")[0]) for line in lines[-2:])
    assert after < 0.15 * before
