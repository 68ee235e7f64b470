"""Every script of docs/examples runs as it is, in seconds, and comes to what it promises."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.imports import ROOT
from support.robots import generated

EXAMPLES = ROOT / "docs" / "examples"
NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"
LONG = {"ur5"}
"""They derive a robot that nothing else needs."""


ELSEWHERE = {"minimal", "bumper", "swirl", "mppi", "inertias_by_gradient"}
"""The first is run by tests/test_readme.py, the next two by tests/parameters/test_own_elements.py; the others need PyTorch
and a graphics card."""


def found(text: str, words: str) -> float:
    match = re.search(words.replace("#", NUMBER), text)
    assert match is not None, text
    return float(match[1])


def halved(text: str, before: str, after: str) -> bool:
    return found(text, after) < 0.5 * found(text, before)


PROMISES: dict[str, Callable[[str], bool]] = {
    "acados_model": lambda text: found(text, "differs by #") < 1e-12 and found(text, "slope by #") < 1e-12,
    "gripper_mimic": lambda text: found(text, r"moves: \[\[#\]\]") == 0.2 and 8.0 < found(text, "rest at # mm") < 9.0,
    "jax_gradient": lambda text: halved(text, "loss # before", "before, # after"),
    "mpc_payload": lambda text: found(text, "with observer: #") < 0.1 * found(text, "plan alone: #"),
    "panda": lambda text: found(text, "from the truth: # %") < 2.0 and found(text, "RMSE at most #") < 0.05,
    "pendulum_design": lambda text: halved(text, "without choice #", "best #"),
    "reach_gradient": lambda text: found(text, "rad at the start, # rad") < 0.03,
    "ur5": lambda text: found(text, "tip off by # mm") < 5.0 and found(text, "effort limit: #") <= 1.0,
}


def test_there_is_a_promise_for_each() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts - ELSEWHERE == set(PROMISES)
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert all(f"{name}.py" in pages for name in scripts)


@pytest.mark.thorough("mpc_payload")
@pytest.mark.thorough("panda", "gripper_mimic", "jax", "reach")
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.soak) if n in LONG else n for n in PROMISES])
def test_it_runs_and_keeps_its_promise(name: str, tmp_path: Path) -> None:
    script = EXAMPLES / f"{name}.py"
    text = script.read_text(encoding="utf-8")
    assert text.count("\n# %%") >= 2, "editors open cells"
    if name in ("jax_gradient", "reach_gradient"):
        pytest.importorskip("jax")
    if name == "reach_gradient":
        pytest.importorskip("gymnasium")
    if name in ("panda", "ur5"):
        try:
            importlib.metadata.files("example-robot-data")
        except importlib.metadata.PackageNotFoundError:
            pytest.skip("example-robot-data is not installed")
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "double_pendulum").symlink_to(generated("double_pendulum"), target_is_directory=True)
    run = [sys.executable, "-W", "error:::diffpbd", str(script)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-3000:]
    assert PROMISES[name](done.stdout), done.stdout
