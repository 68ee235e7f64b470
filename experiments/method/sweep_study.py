"""A step in maximal coordinates with any number of sweeps or of any other setting, as a graph: what that does to a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.description.recipe.options import MOST_SWEEPS, Relaxation
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.functions.maximal import casadi_step, values, variant
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint

__all__ = ["Setting", "setting_graphs", "settings"]


@dataclass(frozen=True)
class Setting:
    """A step: its sweeps, what of them is as printed (`recipe.printed`), Jacobi's factor (None: the default), steps of
    h/`substeps` with so many sweeps each, and a joint whose link has its mass centre at the joint."""

    name: str
    step: str = "paper_gauss_seidel"
    sweeps: int = 30
    printed: tuple[str, ...] = ("multiplier", "order")
    relaxation: Relaxation = None
    substeps: int = 1
    centred: str = ""

    def recipe_options(self) -> dict[str, Any]:
        """Entries of a recipe."""
        return {
            "multiplier": "scalar" if "multiplier" in self.printed else "block",
            "sweep_order": "printed" if "order" in self.printed else "joints",
            "relaxation": self.relaxation,
        }


def settings(last: str) -> tuple[Setting, ...]:
    """Settings that the paper's step may have had; `last` is the joint whose error stays open."""
    jacobi = "paper_jacobi"
    return (
        Setting("Jacobi as printed, but θ = 0.9", jacobi, relaxation=0.9),
        Setting("… θ = 0.9, 50 sweeps", jacobi, sweeps=50, relaxation=0.9),
        Setting("… θ = 0.5", jacobi, relaxation=0.5),
        Setting("… averaging", jacobi, relaxation="averaging"),
        Setting("Gauss–Seidel as printed, but joint by joint", printed=("multiplier",)),
        Setting("… block multiplier", printed=("order",)),
        Setting("… two steps of 5 ms, 15 sweeps each", sweeps=15, substeps=2),
        Setting("… two steps of 5 ms, 30 sweeps each", substeps=2),
        Setting(f"… the mass centre beyond {last} at that joint", centred=last),
    )


def setting_graphs(robot: str, settings: Sequence[Setting]) -> Iterator[tuple[Setting, Any, Any]]:
    """For every setting the graphs (xi, u, h, alpha) → (xi_next, jac_u) and (p, pd, alpha) → xi of ROBOT.

    ROBOT is a description; alpha is the one of its generated code without further options. Friction is left out.
    """
    recipe, described = resolve(robot)
    for one in settings:
        if not 1 <= one.sweeps <= MOST_SWEEPS:
            raise InputError(f"sweeps: expected 1 to {MOST_SWEEPS}, found {one.sweeps}.")
        model = build(
            _centred(described, one.centred), dataclasses.replace(recipe, limits=False, **one.recipe_options())
        )
        step = casadi_step(model, variant(model, one.step, one.sweeps).free, one.step, {})
        if one.substeps > 1:
            xi, u, h, alpha = (ca.MX.sym(name, step.size1_in(k)) for k, name in enumerate(step.name_in()))
            end = xi
            for _ in range(one.substeps):
                end = step(end, u, h / one.substeps, alpha)
            step = ca.Function(one.step, [xi, u, h, alpha], [end], step.name_in(), ["xi_next"])
        _, inputs, outputs = next(part for part in values(model) if part[0] == "fk")
        ahead = ca.Function("fk", [symbol for _, symbol in inputs], [outputs["xi"]])
        yield one, step.factory(one.step, step.name_in(), ["xi_next", "jac:xi_next:u"]), ahead


def _centred(robot: Robot, joint: str) -> Robot:
    """With the mass centre of a joint's link at the joint."""
    if not joint:
        return robot
    names = [j.name for j in robot.joints]
    if joint not in names:
        raise InputError(f"{robot.name} has no joint {joint!r}. {hint(joint, names)}")
    k, links = names.index(joint), list(robot.links)
    own = dataclasses.replace(links[k].inertial, com=(0.0, 0.0, 0.0))
    links[k] = dataclasses.replace(links[k], inertial=own)
    return dataclasses.replace(robot, links=tuple(links))
