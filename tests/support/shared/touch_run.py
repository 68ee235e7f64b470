"""A step of contacts beside its oracle."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from support import touching
from support.touch_oracle import Oracle

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.graph.loops.build import build


@cache
def oracle(name: str, *options: Any) -> Oracle:
    made = getattr(touching, name)(*options)
    mechanism, line = made if isinstance(made, tuple) else (made, "")
    with TemporaryDirectory() as folder:
        recipe = load_recipe(mechanism.write(Path(folder), "made", line))
        return Oracle(build(read_robot(recipe), recipe))


def run(oracle: Oracle, p: Any, pd: Any, steps: int, h: float, **alpha: float) -> tuple[Any, Any, list[Any]]:
    names = [e.name for e in oracle.model.entries]
    values = oracle.defaults.copy()
    for name, value in alpha.items():
        values[names.index(name.replace("__", "."))] = value
    p, pd, ends = np.array(p, float), np.array(pd, float), []
    for _ in range(steps):
        end = oracle.step(p, pd, np.zeros(oracle.n), h, values)
        assert end.solved
        p, pd = end.p, end.pd
        ends.append(end)
    return p, pd, ends
