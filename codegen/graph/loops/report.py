"""Report on a robot's closed loops: rows kept and dropped, mobility, nearly singular poses."""

from __future__ import annotations

import dataclasses

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.report import Report, quoted
from diffpbd.codegen.description.robot.robot import WORLD, Loop, Plane, Robot
from diffpbd.codegen.description.shapes.contacts import contact_lines
from diffpbd.codegen.graph.loops.build import chosen_rows
from diffpbd.codegen.graph.loops.poses import row_names
from diffpbd.codegen.graph.model.model import Chosen, Model
from diffpbd.runtime.folder import manifest


def loop_facts(model: Model) -> tuple[manifest.Loop, ...]:
    """The manifest's entry of every loop."""
    facts = []
    for loop, kept in zip(model.robot.loops, model.chosen.kept, strict=True):
        names = row_names(loop)
        dropped = tuple(name for k, name in enumerate(names) if k not in kept)
        ends = _ends(model.robot, loop)
        facts.append(manifest.Loop(loop.name, loop.type.value, *ends, tuple(names[k] for k in kept), dropped))
    return tuple(facts)


def contact_facts(robot: Robot) -> tuple[manifest.Contact, ...]:
    """The manifest's entries of contacts."""

    def on(link: int) -> str:
        return robot.base if link == WORLD else robot.links[link].name

    return tuple(
        manifest.Contact(
            p.name, on(p.sphere.link), p.sphere.radius, p.other.name,
            "plane" if isinstance(p.other, Plane) else p.other.core, on(p.other.link), bool(p.sphere.friction),
            "" if p.sphere.law == p.sphere.name else p.sphere.law,
        )
        for p in robot.pairs
    )  # fmt: skip


def with_loops(report: Report, robot: Robot, recipe: Recipe) -> Report:
    """The report on a description with what rows its loops keep, or why they cannot."""
    chosen = chosen_rows(robot, recipe) if robot.loops else Chosen()
    return dataclasses.replace(
        report,
        faults=(*report.faults, *chosen.faults),
        doubts=(*report.doubts, *chosen.doubts),
        loops=() if chosen.faults else tuple(_lines(robot, chosen)),
    )


def _ends(robot: Robot, loop: Loop) -> tuple[str, str]:
    parent, child = (robot.base if k == WORLD else robot.links[k].name for k in (loop.parent, loop.child))
    return parent, child


def _lines(robot: Robot, chosen: Chosen) -> list[str]:
    lines = []
    for loop, kept in zip(robot.loops, chosen.kept, strict=True):
        names = [name.removeprefix(f"{loop.name}.") for name in row_names(loop)]
        dropped = [name for k, name in enumerate(names) if k not in kept]
        parent, child = _ends(robot, loop)
        text = f"loop {quoted(loop.name)}: {loop.type.value} between {parent} and {child}, rows kept "
        text += ", ".join(names[k] for k in kept) or "none"
        lines.append(f"{text}; dropped {', '.join(dropped)}" if dropped else text)
    if robot.loops:
        text = f"closed: rank {chosen.rank} at every closed pose, mobility {chosen.mobility}, largest residual at zero "
        lines.append(f"{text}{chosen.gap:.3g}, least singular value found {chosen.least:.2g} of the largest")
    if robot.base_freedoms:
        lines.append(f"base: {robot.base_joint}, coordinates {', '.join(robot.base_freedoms)}")
    if passive := robot.passive[len(robot.base_freedoms) :]:
        lines.append(f"passive: {', '.join(passive)}")
    return [*lines, *contact_lines(robot)]
