"""Energies of a state in link frames: what a step is judged by (templates/unilateral/certificate.h)."""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space.links import link_frames
from diffpbd.codegen.joint_space.links.link_frames import ZERO, Links, Side
from diffpbd.codegen.joint_space.links.link_moments import Firsts
from diffpbd.codegen.joint_space.links.link_step import Begun, Numbers
from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.tree import Tree


def _fallen(b: Program, tree: Tree, links: Links, at: Side, first: Firsts, gravity: Any) -> Any:
    """Potential of gravity (3, world axes) [J]; zero for mass at the world origin."""
    total: Any = ZERO
    for i in range(tree.n):
        if tree.parents[i] >= 0:
            continue
        with b.part(i):
            g = link_frames.down(b, tree, links, at, i, gravity)
            place = links.d[i] + links.E[i][:, 2] * at.q[i] if tree.slides[i] else links.d[i]
            total = b.let(total - dot(g, first.own[i]) - links.carried[i] * dot(gravity, place))
    return total


def potentials(b: Program, tree: Tree, given: Numbers, at: Side, first: Firsts) -> list[Any]:
    """Potentials of what is constant during a step, gravity and what friction with memory holds, and of springs [J]."""
    plant = given.plant
    chosen = attached.on_joints(b, "potential", tree, plant.attached, at.q)
    stretch = [b.let(at.q[i] - plant.rest[i]) for i in range(tree.n)]
    pull = [b.let(-forces.spring_torque(at.q[i], plant.stiffness[i], plant.rest[i])) for i in range(tree.n)]
    springs = b.let(sum((pull[i] * stretch[i] for i in range(tree.n)), ZERO) / 2)
    fallen = _fallen(b, tree, given.links, at, first, given.gravity)
    if plant.held is not None:
        fallen = b.let(fallen + sum((plant.held[i] * at.q[i] for i in range(tree.n)), ZERO))
    return [fallen, b.let(sum(chosen, springs))]


def energies(b: Program, tree: Tree, begun: Begun, pd: Any) -> list[Any]:
    """Kinetic, of gravity (zero at the world origin) and of springs [J] of a start at rates pd."""
    kinetic = b.let(sum((begun.held[i] * pd[i] for i in range(tree.freedoms)), ZERO) / 2)
    return [kinetic, *potentials(b, tree, begun.numbers, begun.at, begun.first)]
