"""The control PC needs numpy alone, and click for the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "casadi", "sympy", "jinja2", "scipy", "matplotlib", "pinocchio", "mujoco", "viser", "rospy", "rosbags", "lxml",
    "diffpbd.codegen",
}  # fmt: skip


@pytest.mark.parametrize(
    "module",
    ["diffpbd.runtime.loop.run", "diffpbd.runtime.loop.replay", "diffpbd.runtime.arms.viewer",
     "diffpbd.runtime.arms.baxter.description", "diffpbd.runtime.control", "diffpbd.runtime.commands.run",
     "diffpbd.runtime.commands.sim_baxter"],
)  # fmt: skip
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded and not loaded & HEAVY
    if ".commands." not in module:
        assert "click" not in loaded
