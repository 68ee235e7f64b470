"""Unilateral constraints, limits of joints and contacts: their rows, and the kernels that no robot changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.contact import contact_kernels, rebounds
from diffpbd.codegen.graph.contact.contacts import LOAD, SLIP, Contacts, row_of
from diffpbd.codegen.graph.expressions.translate import graph_of, inline
from diffpbd.codegen.graph.model.model import Model, Prepared
from diffpbd.codegen.graph.model.parameters import SIDES
from diffpbd.codegen.graph.step.joint_step import residuals
from diffpbd.codegen.joint_space.contact import cones, discs, distant
from diffpbd.codegen.method.limits import INWARDS, OUTSIDE
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Program

STRAIGHT: Final = 12
"""Coordinates up to which a stage's inertia is inverted by straight-line code; beyond, loops factor it."""
WEIGHT: Final = 9.81
"""[m/s²] A load is that of a mass which weighs it: the scale of impulses against rates where none is worked out."""


def kernels(model: Model, prepared: Prepared) -> list[ca.Function]:
    """Kernels of limits and contacts that no program of the tree is."""
    tree = model.tree
    made = [plain(elimination.inverse(tree.freedoms))] if tree.freedoms <= STRAIGHT and tree.unilateral else []
    if tree.limits:
        made += [plain(cones.side()), plain(distant.distant_side()), plain(cones.side_parameters())]
    for frictional in sorted({contact.frictional for contact in tree.contacts}):
        made += [plain(f(frictional)) for f in (cones.contact, distant.distant, cones.contact_parameters)]
    made += [plain(cones.apart())] if any(contact.frictional for contact in tree.contacts) else []
    for size in sorted({rows.stop - rows.start for contact in tree.contacts for _, rows in contact.discs}):
        made += [plain(f(size)) for f in (discs.disc, discs.disc_far, discs.disc_parameters)]
    return made + (contact_kernels.kernels(model, prepared) if tree.contacts else [])


def plain(program: Program) -> ca.Function:
    """A program of numbers that no robot has; one inverse stays one, where CasADi would divide by it time and again."""
    given = {k: ca.SX.sym(k, m.rows, m.cols) for k, m in program.inputs.items()}
    ca.GlobalOptions.setSimplificationOnTheFly(False)
    try:
        return graph_of(program.name, given, inline(program, given))
    finally:
        ca.GlobalOptions.setSimplificationOnTheFly(True)


@dataclass(frozen=True)
class Side:
    """An end of a joint's range: gap = slope · p[coordinate] + shift − sign · alpha[entry]."""

    coordinate: int
    entry: int
    slope: float
    shift: float
    sign: float


def sides(model: Model) -> list[Side]:
    """Sides of every joint whose limits act."""
    tree, found = model.tree, []
    place = {joint: k for k, joint in enumerate(tree.coordinates)}
    index = {entry.name: k for k, entry in enumerate(model.entries)}
    for j in tree.limits:
        gear = tree.gears[j] if tree.gears else None
        coordinate, ratio, shift = (j, 1.0, 0.0) if gear is None else (gear.leader, gear.ratio, gear.shift)
        for end, sign in zip(SIDES, (1.0, -1.0), strict=True):
            entry = index[f"limit.{end}.{model.robot.joints[j].name}"]
            found.append(Side(place[coordinate], entry, sign * ratio, sign * shift, sign))
    return found


class Unilateral:
    """Limits and contacts over a step as expressions: impulses β of limits, then λ of contacts, and their rows. The signs of
    contacts' normals are symbols unless they are `known`."""

    def __init__(self, model: Model, known: bool = False) -> None:
        self.r, self.sides, self.tree = residuals(model), sides(model), model.tree
        self.push = ca.SX(self.r.n, len(self.sides))
        for k, side in enumerate(self.sides):
            self.push[side.coordinate, k] = side.slope
        where = {entry.name: k for k, entry in enumerate(model.entries)}
        self.load, self.slip = (model.alpha[where[f"limit.{k}"]] if self.sides else ca.SX(1) for k in ("load", "slip"))
        self.contacts = Contacts(model, known)
        self.count = len(self.sides) + self.contacts.count
        self.masses = len(self.sides) + (1 + 2 * self.tree.turned) * len(self.tree.contacts)
        self.shifts = rebounds.shifts(model, self.r.p, self.r.pd, self.r.u, self.r.h)

    def pushes(self, last: bool) -> Any:
        """Effect of impulses on the coordinates in either stage (n × count)."""
        return ca.horzcat(self.push, (self.contacts.last if last else self.contacts.first).T)

    def room(self, p: Any) -> Any:
        """To every limit."""
        found = [k.slope * p[k.coordinate] + k.shift - k.sign * self.r.alpha[k.entry] for k in self.sides]
        return ca.vertcat(*found, ca.SX(0, 1))

    def gaps(self) -> Any:
        """Room to every limit at the end of a step; a start outside is led in."""
        return self.room(self.r.p_next) - ca.fmin(self.room(self.r.p) + float(INWARDS) * self.r.h, 0)

    def outside(self) -> Any:
        """Below zero where a step is refused: a joint starts too far outside, or has no range."""
        room = self.room(self.r.p)
        return ca.mmin(ca.vertcat(room + float(OUTSIDE), room[0::2] + room[1::2], 1))

    def rows(self, impulse: Any, last: bool, rho: Any) -> Any:
        """The rows of either stage; a ρ for each limit and contact, then for friction against turning, see `weights`."""
        r, gaps, count, found = self.r, self.gaps(), len(self.sides), []
        opening = ca.mtimes(self.push.T, r.pd_next) if last else ca.SX.zeros(count)
        for k in range(count):
            given = (impulse[k], opening[k], gaps[k], rho[k], r.h, self.load, self.slip)
            found.append(row_of(cones.side(), given))
        turning = ca.reshape(rho[count + len(self.tree.contacts) :], 2, -1) if self.tree.turned else None
        for k in range(len(self.tree.contacts)):
            own = impulse[count:][self.contacts.own(k)]
            of = () if turning is None else turning[:, k]
            found.append(self.contacts.row(k, own, last, self.shifts[int(last), k], rho[count + k], of))
        return ca.vertcat(*found, ca.SX(0, 1))

    def start(self, last: bool) -> Any:
        """Impulses of the gaps at (p_next, pd_next), half the load's at most, none across."""
        t, found = self.contacts, []
        gaps, opening = self.gaps(), ca.mtimes(self.push.T, self.r.pd_next)
        for k in range(len(self.sides)):
            found.append(_begun(gaps[k], opening[k] if last else 0, self.load, self.slip, self.r.h))
        for k, contact in enumerate(self.tree.contacts):
            rate = t.rates[t.normals[k]] if last else 0
            found.append(_begun(t.gap[k], rate, t.law[LOAD, k], t.law[SLIP, k], self.r.h))
            found += [ca.SX(0)] * (contact.rows - 1)
        return ca.vertcat(*found, ca.SX(0, 1))

    def weights(self, D: Any) -> Any:
        """ρ of every limit and contact from D, roughly the inertia at (p, p_next); then of friction against turning about the
        normal of every contact and across it, where any has some."""
        found, diagonal = [abs(D[k.coordinate, k.coordinate]) for k in self.sides], ca.fabs(ca.diag(D))
        turning: list[Any] = []
        for k in range(len(self.tree.contacts)):
            own, of = self.contacts.weights(k, diagonal)
            found.append(own)
            turning += of if self.tree.turned else []
        return ca.vertcat(*found, *turning, ca.SX(0, 1))

    def loads(self) -> Any:
        """The same by the mass that weighs the load of each."""
        own = self.contacts.law[LOAD, :].T
        turning = [x for x in ca.vertsplit(own) for _ in range(2)] if self.tree.turned else []
        return ca.vertcat(ca.SX.ones(len(self.sides)) * self.load, own, *turning) / WEIGHT


def _begun(gap: Any, rate: Any, load: Any, slip: Any, h: Any) -> Any:
    away, most, kappa = 2 * gap / h + rate, load * h / 2, cones.smoothing(load, slip, h)
    return ca.if_else(away * most > kappa, kappa / ca.fmax(away, kappa / most), most)
