"""A step in maximal coordinates with any number of sweeps, as a graph: what the number of sweeps does to a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import casadi as ca

from diffpbd.codegen.description.recipe import MOST_SWEEPS, Relaxation
from diffpbd.codegen.description.resolve import resolve
from diffpbd.codegen.graph.maximal import casadi_step, variant
from diffpbd.codegen.graph.model import build
from diffpbd.runtime.base.errors import InputError

__all__ = ["sweep_graphs"]


def sweep_graphs(
    robot: str, step: str, counts: Sequence[int], relaxation: Relaxation = None, printed: bool = False
) -> Iterator[tuple[int, Any]]:
    """For every count of sweeps the graph (xi, u, h, alpha) → (xi_next, jac_u) of ROBOT's `step`, such as paper_jacobi.

    ROBOT is a description; alpha is the one of its generated code without further options. Friction is left out. `relaxation`
    is that of Jacobi sweeps, None the default factor; `printed`: the paper's multiplier and order of a sweep.
    """
    for count in counts:
        if not 1 <= count <= MOST_SWEEPS:
            raise InputError(f"sweeps: expected 1 to {MOST_SWEEPS}, found {count}.")
    recipe, described = resolve(robot)
    chosen: dict[str, Any] = {"multiplier": "scalar", "sweep_order": "printed"} if printed else {}
    model = build(described, dataclasses.replace(recipe, limits=False, relaxation=relaxation, **chosen))
    known: dict[int, ca.Function] = {}
    for count in counts:
        graph = casadi_step(model, variant(model, step, count).free, step, known)
        inputs = graph.name_in()
        both = graph.factory(step, inputs, ["xi_next", "jac:xi_next:u"])
        yield count, both
