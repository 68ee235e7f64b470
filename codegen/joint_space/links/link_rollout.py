"""The step in momentum form: what a rollout needs between one step and the next, and of a node when it is done (`link_step`).

Without friction the momentum at the end of a step is that at the start of the next, so a rollout carries it instead of rates,
and the moments that the end of a step has worked out are the record of the next one's start. Rates follow from the momenta
when all poses are known, each node by itself.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.links import link_frames, link_moments
from diffpbd.codegen.joint_space.links.link_frames import ONE, ZERO, Side
from diffpbd.codegen.joint_space.links.link_step import iteration, kicked, known_factors, numbers, packed
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


@stored
def onward(tree: Tree) -> Program:
    """p_next, `factors` of a Jacobian, u and u_next of the step and the one after → `correction` and the corrected pose `next`,
    the joint `momentum` there after the step, and `record_next` and `terms_next` of the step that starts there.

    Cosines and sines of the corrected pose are of first order in the correction, its moments follow from them; torques of the
    pose enter with h², so those before the correction do."""
    b = Program("link_step_onward", "End of a step that is the start of the next one, in momentum form.")
    p1, step, F = iteration(b, tree, "p_next")
    factors, h = known_factors(b, tree), b.scalar("h")
    u, u_next = b.input("u", tree.freedoms), b.input("u_next", tree.freedoms)
    known = step.numbers.known_torques(b, tree, step.at1, step.first1)
    momentum = b.let(kicked(b, tree, b.let(1 / h), step.momentum(b, tree, F), b.let(h / 2), u, known))
    correction = b.let(-elimination.solve(b, factors, F))
    at = _shifted(b, tree, step.at1, gears.rates(b, tree, correction))
    b.output("correction", correction)
    b.output("next", b.each(tree.freedoms, lambda i: p1[i] + correction[i]))
    b.output("momentum", momentum)
    b.output("record_next", packed(tree, at, link_moments.firsts(b, tree, step.numbers.links, at)))
    b.output("terms_next", kicked(b, tree, h, momentum, b.let(h * h / 2), u_next, known))
    return b


def _shifted(b: Program, tree: Tree, at: Side, by: Any) -> Side:
    """All joints moved by little, of first order in it."""
    turned = [(ONE, ZERO)] * tree.n
    for i in range(tree.n):
        if not tree.slides[i]:
            turned[i] = b.let(at.c[i] - at.s[i] * by[i]), b.let(at.s[i] + at.c[i] * by[i])
    return Side([c for c, _ in turned], [s for _, s in turned], [b.let(at.q[i] + by[i]) for i in range(tree.n)])


@stored
def inertia(tree: Tree) -> Program:
    """p → `record` of a node, as `link_step.start` leaves it, and the inertia `M` there, rotors included."""
    b = Program("link_step_inertia", "Inertia at a node.")
    p, given = b.input("p", tree.freedoms), numbers(b, tree)
    at = link_frames.side(b, tree, gears.positions(b, tree, p))
    first = link_moments.firsts(b, tree, given.links, at)
    b.output("record", packed(tree, at, first))
    b.output("M", gears.folded(b, tree, link_moments.inertia(b, tree, given.links, at, first, given.plant.rotor)))
    return b


@stored
def solve(tree: Tree) -> Program:
    """`factors` of a Jacobian of h F, rhs → x = D⁻¹ rhs."""
    b = Program("link_step_solve", "Solve with the Jacobian that a Newton iteration factored.")
    factors = known_factors(b, tree)
    b.output("x", elimination.solve(b, factors, b.input("rhs", tree.freedoms)))
    return b
