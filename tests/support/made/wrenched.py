"""External wrenches on a pendulum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.robots import generated

from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.runtime import Robot, load

TIPS = ["tool", "d"]


FRAMES = ["tool", "b", "d"]


ENDS = ["upper", "tip"]


def wrenches(frames: list[str], seed: int = 3, size: float = 5.0) -> dict[str, float]:
    """A random force and torque at every frame."""
    names = [f"wrench.{f}.{k}.{a}" for f in frames for k in ("force", "torque") for a in "xyz"]
    return dict(zip(names, np.random.default_rng(seed).uniform(-size, size, len(names)).tolist(), strict=True))


def pushed_pendulum(folder: Path) -> Robot:
    """A pendulum of two links, the wrenches on the first and on the second's tip; `folder` holds its recipe."""
    toml = folder / "pushed_pendulum.toml"
    urdf = find_recipe("double_pendulum").urdf
    toml.write_text(f'urdf = "{urdf}"\ntip = "tip"\nvariants = ["variational_direct", "paper_direct"]\n')
    return load(generated(str(toml), wrench=ENDS))
