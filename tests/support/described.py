"""Functions of a URDF that is not shipped, as CasADi graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.recipe import Recipe, default_recipe, with_options
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.functions.parameters import ParameterVector


class Described:
    """`functions` of a recipe's robot by name, and its `alpha`."""

    def __init__(self, recipe: Recipe, robot: Robot | None = None, only: Sequence[str] = ()) -> None:
        self.recipe = recipe
        self.robot = read_robot(recipe) if robot is None else robot
        self.model = build(self.robot, recipe)
        self.alpha = ParameterVector(self.model.entries, recipe.name)
        self.graphs = Graphs(self.model)
        self.functions = {
            name: ca.Function(
                name, [v for _, v in inputs], [ca.densify(ca.SX(v)) for v in outputs.values()],
                [k for k, _ in inputs], list(outputs), {"cse": True},
            )
            for name, inputs, outputs in self.graphs.values()
            if not only or name in only
        }  # fmt: skip

    @classmethod
    def of(cls, urdf: Path, *, only: Sequence[str] = (), **options: Any) -> Described:
        """Describe a URDF file with options of a recipe."""
        return cls(with_options(default_recipe(urdf), **options), only=only)

    def __call__(self, name: str, *arguments: Any, alpha: Any = None) -> np.ndarray:
        values = self.alpha.vector(alpha) if alpha is None or isinstance(alpha, dict) else alpha
        return np.squeeze(np.array(self.functions[name](*arguments, values)))
