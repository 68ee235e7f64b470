"""A pendulum of two links with a lever spring at its shoulder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.robots import generated

from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.runtime import Robot, load

SPRING = (300.0, 0.06, 0.15, 1.9, 0.2)
"""k [N/m], l1, l2 [m], alpha [rad], x_rest [m]."""
PARTS = ("stiffness", "arm_1", "arm_2", "angle", "rest")


def springs(joints: Sequence[str] = ("shoulder",), **others: float) -> dict[str, float]:
    """A spring at every joint, no two alike, and other entries of alpha."""
    return {
        f"lever_spring.{part}.{name}": value * (1.0 + 0.1 * k)
        for k, name in enumerate(joints)
        for part, value in zip(PARTS, SPRING, strict=True)
    } | others


def sprung_pendulum(folder: Path) -> Robot:
    """Generated once; `folder` holds its recipe."""
    toml = folder / "sprung_pendulum.toml"
    urdf = find_recipe("double_pendulum").urdf
    toml.write_text(f'urdf = "{urdf}"\ntip = "tip"\nvariants = ["variational_direct"]\nsprings = ["shoulder"]\n')
    return load(generated(str(toml), lever_springs=["shoulder"]))
