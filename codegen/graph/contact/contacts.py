"""Contacts of a model over a step as expressions: gaps, rows along which impulses act, rates of surfaces, equations.

Impulses λ [N s] per contact: normal and, with friction, two tangential ones, then torsional and rolling ones over their lever
arms. Those of the pose stage act along the rows at the start of a step,
those of the rate stage along the rows at its end.
"""

from __future__ import annotations

from typing import Any, Final

import casadi as ca

from diffpbd.codegen.description.robot.contact_law import IN_CONE
from diffpbd.codegen.graph.expressions.geometry import product
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.model.meetings import inlined
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.step.joint_step import residuals
from diffpbd.codegen.joint_space.contact import cones, contacts, discs
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Contact, Tree

LOAD, SLIP = (IN_CONE.index(name) for name in ("load", "slip"))
TURNS: Final = 2
"""Kinds of rotational friction: torsional and rolling."""


def normals(tree: Tree) -> list[int]:
    """Indices of the normal impulses among all impulses of contacts, then the number of all."""
    found = [0]
    for contact in tree.contacts:
        found.append(found[-1] + contact.rows)
    return found


def across(tree: Tree) -> Any:
    """1 for every impulse of contacts, 0 for the normal ones."""
    found = ca.DM.ones(tree.contact_rows)
    found[normals(tree)[:-1]] = 0
    return found


def rows_at(model: Model, p: Any, sign: Any = None) -> dict[str, Any]:
    """`gap` (c), rows `J` (impulses × n) and the `sign` of every normal (c) at p; with the `sign` at the start of a step where
    p is its end."""
    if not model.tree.contacts:
        return {"gap": ca.SX(0, 1), "J": ca.SX(0, model.tree.freedoms), "sign": ca.SX(0, 1)}
    if sign is None:
        return inlined(contacts.rows(model.tree), model, {"p": p})
    return inlined(contacts.rows(model.tree, ending=True), model, {"p": p, "sign": sign}) | {"sign": sign}


class Contacts:
    """A model's contacts at both ends of a step of its `residuals`. `sign` of normals is that of the start, as symbols unless
    it is `known`; `first` and `last` are the rows at the start and at the end, `gap` that at the end; `slid` are the mean rates
    of the pose stage (0 along normals), `rates` those of the rate stage. `law` has a column for every contact."""

    def __init__(self, model: Model, known: bool = False) -> None:
        self.r, self.tree = residuals(model), model.tree
        count = len(self.tree.contacts)
        start = rows_at(model, self.r.p, None if known else ca.SX.sym("sign", count))
        end = rows_at(model, self.r.p_next, start["sign"])
        self.sign, self.first, self.last, self.gap = start["sign"], start["J"], end["J"], end["gap"]
        self.normals, self.count = normals(self.tree), self.tree.contact_rows
        self.slid = across(self.tree) * slid(self.tree, self.first, self.last, self.r.p, self.r.p_next, self.r.h)
        self.rates = ca.mtimes(self.last, self.r.pd_next)
        self.law = model.blocks.get("contact_law", ca.SX(cones.LAW, 0))

    def own(self, k: int) -> slice:
        """The impulses of a contact."""
        return slice(self.normals[k], self.normals[k + 1])

    def row(self, k: int, impulse: Any, last: bool, shift: Any, rho: Any, turning: Any) -> Any:
        """β − P(β − ρ σ) of a contact in either stage, and the rows of its friction against turning, with a ρ for either kind
        of it; its closing rate loses `shift` (see `rebounds`)."""
        contact, law, h = self.tree.contacts[k], self.law[:, k], self.r.h
        rates = (self.rates if last else self.slid)[self.own(k)]
        rates[0] -= shift
        size = min(contact.rows, 3)
        given = (impulse[:size], rates[:size], self.gap[k], h, law[: cones.LAW], rho)
        row = row_of(cones.contact(contact.frictional), given)
        found = [row]
        for kind, rows in contact.discs:
            program, normal = discs.disc(rows.stop - rows.start), impulse[0] - row[0] / law[0]
            slip = law[cones.LAW + kind] * law[SLIP]
            found.append(row_of(program, (normal, impulse[rows], rates[rows], h, law[LOAD], slip, turning[kind])))
        return ca.vertcat(*found)

    def weights(self, k: int, diagonal: Any) -> tuple[Any, list[Any]]:
        """ρ of a contact, and of its friction against turning about the normal and across it, from the inertia's diagonal."""
        contact: Contact = self.tree.contacts[k]
        inverse = ca.mtimes(self.first[self.own(k), :] ** 2, 1 / diagonal)
        of = {kind: 1 / ca.mmax(inverse[rows]) for kind, rows in contact.discs}
        return 1 / ca.mmax(inverse[: min(contact.rows, 3)]), [of.get(kind, ca.SX(1)) for kind in range(TURNS)]


def row_of(program: Program, given: Any) -> Any:
    """The row of a program, of what is given in the order of its inputs."""
    return inline(program, dict(zip(program.inputs, given, strict=True)))["row"]


def slid(tree: Tree, first: Any, last: Any, p: Any, p_next: Any, h: Any) -> Any:
    """Mean rates along rows of both ends over a step. A floating base is turned from one pose to the other by 2 vec(q₁ ⊗ q₀⁻¹),
    not by its hinges' angles, which depend on where they are counted from."""
    moved = p_next - p
    if not tree.base:
        return ca.mtimes(first + last, moved) / (2 * h)
    q, back = _base_turn(p_next), _base_turn(p) * ca.DM([1, -1, -1, -1])
    turn = 2 * product(q, back)[1:4]
    along = [ca.vertcat(moved[0:3], ca.mtimes(_hinges_by_turn(at), turn), moved[6:]) for at in (p, p_next)]
    return (ca.mtimes(first, along[0]) + ca.mtimes(last, along[1])) / (2 * h)


def _base_turn(p: Any) -> Any:
    """Quaternion of the three hinges of a floating base, about x, y and z."""
    q = ca.SX([1, 0, 0, 0])
    for k in range(3):
        half, axis = p[3 + k] / 2, ca.DM([float(k == i) for i in range(3)])
        q = product(q, ca.vertcat(ca.cos(half), ca.sin(half) * axis))
    return q


def _hinges_by_turn(p: Any) -> Any:
    """Rates of the three hinges by the angular velocity that they make (3 × 3)."""
    c1, s1, c2, s2 = ca.cos(p[3]), ca.sin(p[3]), ca.cos(p[4]), ca.sin(p[4])
    return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])
