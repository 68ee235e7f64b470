"""Energies of a state in link frames: what a step is judged by (templates/_certificate.jinja)."""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space import gears, link_frames, link_moments
from diffpbd.codegen.joint_space.link_frames import ZERO, Links, Side
from diffpbd.codegen.joint_space.link_moments import Firsts
from diffpbd.codegen.joint_space.link_step import Numbers, momenta, numbers
from diffpbd.codegen.laws import forces, levers
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


def _fallen(b: Program, tree: Tree, links: Links, at: Side, first: Firsts, gravity: Any) -> Any:
    """Of gravity (3, world axes) [J]; zero for mass at the world origin."""
    total: Any = ZERO
    for i in range(tree.n):
        if tree.parents[i] >= 0:
            continue
        with b.part(i):
            g = link_frames.down(b, tree, links, at, i, gravity)
            place = links.d[i] + links.E[i][:, 2] * at.q[i] if tree.slides[i] else links.d[i]
            total = b.let(total - dot(g, first.own[i]) - links.carried[i] * dot(gravity, place))
    return total


def _potentials(b: Program, tree: Tree, given: Numbers, at: Side, first: Firsts) -> list[Any]:
    """Of gravity and of springs [J]."""
    plant = given.plant
    lever = levers.on_joints(b, "potential", tree, plant.lever, at.q)
    own = [forces.spring_energy(at.q[i], plant.stiffness[i], plant.rest[i]) + lever[i] for i in range(tree.n)]
    return [_fallen(b, tree, given.links, at, first, given.gravity), b.let(sum(own, ZERO))]


@stored
def energies(tree: Tree) -> Program:
    """p, pd → `energies` (3) [J]: kinetic, of gravity (zero at the world origin), of springs."""
    b = Program("link_step_energies", "Energies of a state.")
    p, pd = (b.input(k, tree.freedoms) for k in ("p", "pd"))
    given = numbers(b, tree)
    at = link_frames.side(b, tree, gears.positions(b, tree, p))
    held = momenta(b, tree, given, at, pd)
    kinetic = b.let(sum((held[i] * pd[i] for i in range(tree.freedoms)), ZERO) / 2)
    first = link_moments.firsts(b, tree, given.links, at)
    b.output("energies", Matrix([kinetic, *_potentials(b, tree, given, at, first)]))
    return b


@stored
def potentials(tree: Tree) -> Program:
    """p → `potentials` (2) [J]: of gravity, of springs."""
    b = Program("link_step_potentials", "Potential energies of a pose.")
    given = numbers(b, tree)
    at = link_frames.side(b, tree, gears.positions(b, tree, b.input("p", tree.freedoms)))
    first = link_moments.firsts(b, tree, given.links, at)
    b.output("potentials", Matrix(_potentials(b, tree, given, at, first)))
    return b
