"""Contacts of a model as expressions of coordinates and impulses: what both stages of a step ask of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.meetings import inlined
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.joint_space import cones, contacts, discs
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Contact

WEIGHT: Final = 9.81
"""[m/s²] A load is that of a mass which weighs it: the scale of impulses against rates in a contact's row."""


def contact_rows(contact: Contact, impulse: Any, rates: Any, gap: Any, h: Any, law: Any, rho: Any, turning: Any) -> Any:
    """β − P(β − ρ σ) of a contact, and the rows of its friction against turning, with a ρ for either kind of it."""
    size = min(contact.rows, 3)
    program = cones.contact(contact.rough)
    given: Any = (impulse[:size], rates[:size], gap, h, law[: cones.LAW], rho)
    row = inline(program, dict(zip(program.inputs, given, strict=True)))["row"]
    found = [row]
    for kind, rows in contact.discs:
        program, normal = discs.disc(rows.stop - rows.start), impulse[0] - row[0] / law[0]
        slip = law[cones.LAW + kind] * law[3]
        given = (normal, impulse[rows], rates[rows], h, law[2], slip, turning[kind])
        found.append(inline(program, dict(zip(program.inputs, given, strict=True)))["row"])
    return ca.vertcat(*found)


@dataclass(frozen=True)
class At:
    """Contacts at a pose: gaps (c), rows J (impulses × n), signs of the normals (c)."""

    gap: Any
    J: Any
    sign: Any


class Touched:
    """Impulses λ stand contact by contact, normal and along two tangents with friction, the normal one without [N s], then
    those of friction against turning over their levers. Those of the pose stage act along the rows at the start of a step,
    those of the rate stage along the rows at its end."""

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, model.tree
        self.first: list[int] = []
        count = 0
        for contact in self.tree.contacts:
            self.first.append(count)
            count += contact.rows
        self.count = count

    def _inlined(self, program: Program, **given: Any) -> dict[str, Any]:
        return inlined(program, self.model, given)

    def at(self, p: Any, sign: Any = None) -> At:
        """At p; `sign` is that of the start of the step where p is its end."""
        if not self.count:
            return At(ca.SX(0, 1), ca.SX(0, self.tree.freedoms), ca.SX(0, 1))
        if sign is None:
            found = self._inlined(contacts.rows(self.tree), p=p)
            return At(found["gap"], found["J"], found["sign"])
        found = self._inlined(contacts.rows(self.tree, False, True), p=p, sign=sign)
        return At(found["gap"], found["J"], sign)

    def rows(
        self, impulse: Any, rates: Any, gap: Any, h: Any, opening: bool, mass: Any = None, lost: Any = None
    ) -> Any:
        """β − P(β − ρ σ) of every contact, β = (μ λₙ, λₜ) [N s]: `rates` (impulses) along the rows, of which the normal
        ones count where `opening` (the rate stage), and gaps at the end. ρ is `mass` (c), by default what the load weighs;
        closing rates lose what is `lost` (c, see `rebounds`)."""
        found, laws = [], self.model.blocks["contact_law"]
        for k, (first, contact) in enumerate(zip(self.first, self.tree.contacts, strict=True)):
            law, size = laws[:, k], contact.rows
            rho = law[2] / WEIGHT if mass is None else mass[k]
            normal = (rates[first] if opening else 0) - (0 if lost is None else lost[k])
            own = ca.vertcat(normal, rates[first + 1 : first + size]) if contact.rough else normal
            found.append(contact_rows(contact, impulse[first : first + size], own, gap[k], h, law, rho, (rho, rho)))
        return ca.vertcat(*found, ca.SX(0, 1))

    def pose(self, impulse: Any, p: Any, p_next: Any, h: Any, mass: Any = None, lost: Any = None) -> tuple[Any, Any]:
        """Rows of the pose stage, and what its impulses do."""
        start = self.at(p)
        end = self.at(p_next, start.sign)
        rates = ca.mtimes(start.J + end.J, p_next - p) / (2 * h)
        return self.rows(impulse, rates, end.gap, h, False, mass, lost), ca.mtimes(start.J.T, impulse)

    def rate(
        self, impulse: Any, p: Any, p_next: Any, pd_next: Any, h: Any, mass: Any = None, lost: Any = None
    ) -> tuple[Any, Any]:
        """Rows of the rate stage, and what its impulses do."""
        end = self.at(p_next, self.at(p).sign)
        return self.rows(impulse, ca.mtimes(end.J, pd_next), end.gap, h, True, mass, lost), ca.mtimes(end.J.T, impulse)

    def force(self, first_half: Any, second_half: Any, p: Any, p_next: Any, h: Any) -> Any:
        """Mean force over a step on the sphere of every contact (3 × c) [N], world axes."""
        sign, columns = self.at(p).sign, []
        frames = [self._inlined(contacts.directions(self.tree), p=q, sign=sign)["frames"] for q in (p, p_next)]
        for k, first in enumerate(self.first):
            total = ca.SX.zeros(3)
            rows = min(self.tree.contacts[k].rows, 3)
            for impulse, frame in zip((first_half, second_half), frames, strict=True):
                total += ca.mtimes(ca.reshape(frame[:, k], 3, 3)[:, :rows], impulse[first : first + rows])
            columns.append(total / h)
        return ca.horzcat(*columns)
