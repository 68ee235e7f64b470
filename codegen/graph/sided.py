"""What acts on one side of a step only, limits and contacts: its rows, and kernels of templates/constrained_step.c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph import rebounds
from diffpbd.codegen.graph.joint_step import kernel_graph, residuals
from diffpbd.codegen.graph.model import Model, Prepared
from diffpbd.codegen.graph.parameters import SIDES
from diffpbd.codegen.graph.slid import slid, slid_kernel, started
from diffpbd.codegen.graph.touched import Touched, contact_rows
from diffpbd.codegen.graph.translate import graph_of, inline
from diffpbd.codegen.joint_space import cones, contacts, discs, distant
from diffpbd.codegen.method.limits import INWARDS, OUTSIDE
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Program

STRAIGHT: Final = 12
"""Coordinates up to which a stage's inertia is inverted by straight-line code; beyond, loops factor it."""


def sided_kernels(model: Model, prepared: Prepared) -> list[ca.Function]:
    """Kernels of limits and contacts that no program of the tree is."""
    tree = model.tree
    made = [plain(elimination.inverse(tree.freedoms))] if tree.freedoms <= STRAIGHT and tree.sided else []
    if tree.limits:
        made += [plain(cones.side()), plain(distant.distant_side()), plain(cones.side_parameters())]
    for rough in sorted({contact.rough for contact in tree.contacts}):
        made += [plain(f(rough)) for f in (cones.contact, distant.distant, cones.contact_parameters)]
    made += [plain(cones.apart())] if any(contact.rough for contact in tree.contacts) else []
    for size in sorted({rows.stop - rows.start for contact in tree.contacts for _, rows in contact.discs}):
        made += [plain(f(size)) for f in (discs.disc, discs.disc_far, discs.disc_parameters)]
    if tree.contacts:
        made += [
            touch(prepared, False),
            touch(prepared, True),
            law(model),
            touch_slopes(model),
            touch_curvature(model),
            touch_parameters(model),
        ]
    made += rebounds.kernels(model)
    return [*made, slid_kernel(model)] if tree.contacts and tree.base else made


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
    """Of every joint whose limits act."""
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


def touch(prepared: Prepared, ending: bool) -> ca.Function:
    """Gaps and rows J at a pose, a row after the other; of the start of a step the signs of normals too."""
    program = contacts.rows(prepared.model.tree, ending=ending)
    f = kernel_graph(program, "touch" if ending else "touch_start", prepared)
    inputs = {k: ca.SX.sym(k, *f.size_in(k)) for k in f.name_in()}
    outputs = dict(zip(f.name_out(), f.call(list(inputs.values())), strict=True))
    return graph_of(f.name(), inputs, {**outputs, "J": outputs["J"].T})


def law(model: Model) -> ca.Function:
    """alpha → `IN_CONE` of every contact, and its levers of friction against turning where any has one (numbers × contacts)."""
    return graph_of("law", {"alpha": model.alpha}, {"law": model.blocks["contact_law"]})


class Touching:
    """Contacts of a model at both ends of a step, with the signs of the start as a symbol."""

    def __init__(self, model: Model) -> None:
        self.r, touched = residuals(model), Touched(model)
        self.sign = ca.SX.sym("sign", len(model.tree.contacts))
        start, end = touched.at(self.r.p, self.sign), touched.at(self.r.p_next, self.sign)
        self.first, self.last, self.gap, self.count = start.J, end.J, end.gap, touched.count
        across = ca.DM.ones(touched.count)
        across[touched.first] = 0
        self.slid = across * slid(model, self.first, self.last, self.r.p, self.r.p_next, self.r.h)
        """Rates of the pose stage across (0 along normals)."""
        self.rates = ca.mtimes(self.last, self.r.pd_next)


def touch_slopes(model: Model) -> ca.Function:
    """Rows at the start of a step (a row after the other) → what the rates of the pose stage change by with its end: J₀ and J₁
    over 2 h, and how the tangents at the end turn."""
    t, r = Touching(model), residuals(model)
    first = ca.SX.sym("first", r.n, t.count)
    across = ca.DM.ones(t.count)
    across[Touched(model).first] = 0
    slides = across * slid(model, first.T, t.last, started(model, r.p), r.p_next, r.h)
    given = {"p": r.p, "p_next": r.p_next, "sign": t.sign, "first": first, "h": r.h, "alpha": r.alpha}
    return graph_of("touch_slopes", given, {"slopes": ca.jacobian(slides, r.p_next).T})


def touch_curvature(model: Model) -> ca.Function:
    """Impulses → ∂(J₀ᵀ λ)/∂p₀, ∂(J₁ᵀ γ)/∂p₁, and derivatives of the rates of either stage by poses, a row after the other."""
    t = Touching(model)
    r, push, push_rate = t.r, ca.SX.sym("push", t.count), ca.SX.sym("push_rate", t.count)
    outputs = {
        "C0": ca.jacobian(ca.mtimes(t.first.T, push), r.p),
        "C1": ca.jacobian(ca.mtimes(t.last.T, push_rate), r.p_next),
        "S0": ca.jacobian(t.slid, r.p).T,
        "S1": ca.jacobian(t.slid, r.p_next).T,
        "R1": ca.jacobian(t.rates, r.p_next).T,
    }
    given = {"p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "sign": t.sign, "push": push, "push_rate": push_rate}
    return graph_of("touch_curvature", {**given, "h": r.h, "alpha": r.alpha}, outputs)


def touch_parameters(model: Model) -> ca.Function:
    """Multipliers x, y of both stages, impulses, and seeds on rates, gaps and laws → gradient by alpha and h."""
    t = Touching(model)
    r, c = t.r, len(model.tree.contacts)
    push, push_rate, slid_bar, rates_bar = (
        ca.SX.sym(k, t.count) for k in ("push", "push_rate", "slid_bar", "rates_bar")
    )
    of_law = law(model)(r.alpha)
    x, y, gap_bar, law_bar = (
        ca.SX.sym(k, size) for k, size in (("x", r.n), ("y", r.n), ("gap_bar", c), ("law_bar", of_law.numel()))
    )
    total = r.h * ca.dot(push, ca.mtimes(t.first, x)) + r.h * ca.dot(push_rate, ca.mtimes(t.last, y))
    total += (
        ca.dot(slid_bar, t.slid) + ca.dot(rates_bar, t.rates) + ca.dot(gap_bar, t.gap) + ca.dot(law_bar, ca.vec(of_law))
    )
    pulled = ca.gradient(total, ca.vertcat(r.alpha, r.h))
    alpha_bar, h_bar = ca.vertsplit(pulled, [0, r.alpha.numel(), r.alpha.numel() + 1])
    given = {
        "p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "sign": t.sign, "x": x, "y": y, "push": push,
        "push_rate": push_rate, "slid_bar": slid_bar, "rates_bar": rates_bar, "gap_bar": gap_bar, "law_bar": law_bar,
        "h": r.h, "alpha": r.alpha,
    }  # fmt: skip
    return graph_of("touch_parameters", given, {"alpha_bar": alpha_bar, "h_bar": h_bar})


class Sided:
    """What acts on one side as expressions: impulses β of limits, then λ of contacts, and their rows."""

    def __init__(self, model: Model) -> None:
        self.r, self.sides, self.tree = residuals(model), sides(model), model.tree
        n, where = self.r.n, {entry.name: k for k, entry in enumerate(model.entries)}
        self.push = ca.SX(n, len(self.sides))
        for k, side in enumerate(self.sides):
            self.push[side.coordinate, k] = side.slope
        self.load, self.slip = (model.alpha[where[f"limit.{k}"]] if self.sides else ca.SX(1) for k in ("load", "slip"))
        self.touching = Touching(model) if model.tree.contacts else None
        self.first = [*Touched(model).first, model.tree.contact_rows]
        self.law = law(model)(model.alpha) if self.touching else None
        self.count = len(self.sides) + self.first[-1]
        self.cones = len(self.sides) + len(model.tree.contacts)
        self.masses = self.cones + 2 * len(model.tree.contacts) * model.tree.turned
        self.shifts = rebounds.shifts(model, self.r.p, self.r.pd, self.r.u, self.r.h)

    def pushes(self, last: bool) -> Any:
        """What impulses do on the coordinates in either stage (n × count)."""
        t = self.touching
        return self.push if t is None else ca.horzcat(self.push, (t.last if last else t.first).T)

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

    def limit_rows(self, impulse: Any, last: bool, rho: Any) -> list[Any]:
        """Those of limits; a ρ for each."""
        r, gaps = self.r, self.gaps()
        opening = ca.mtimes(self.push.T, r.pd_next) if last else ca.SX.zeros(len(self.sides))
        given = [(impulse[k], opening[k], gaps[k], rho[k], r.h, self.load, self.slip) for k in range(len(self.sides))]
        return [_row(cones.side(), values) for values in given]

    def rows(self, impulse: Any, last: bool, rho: Any) -> Any:
        """The rows of either stage; a ρ for each limit and contact, then for friction against turning, see `weights`."""
        r, count, found = self.r, len(self.sides), self.limit_rows(impulse, last, rho)
        for k, contact in enumerate(self.tree.contacts):
            t, rows = self.touching, slice(self.first[k], self.first[k + 1])
            assert t is not None and self.law is not None
            rates = (t.rates if last else t.slid)[rows]
            rates[0] -= self.shifts[int(last), k]
            of_turning = rho[self.cones + 2 * k : self.cones + 2 * k + 2] if self.tree.turned else ()
            given = (impulse[count:][rows], rates, t.gap[k], r.h, self.law[:, k], rho[count + k], of_turning)
            found.append(contact_rows(contact, *given))
        return ca.vertcat(*found)

    def start(self, last: bool) -> Any:
        """Impulses of the gaps at (p_next, pd_next), half the load's at most, none across."""
        r, found = self.r, []
        gaps, opening = self.gaps(), ca.mtimes(self.push.T, r.pd_next)
        for k in range(len(self.sides)):
            found.append(_begun(gaps[k], opening[k] if last else 0, self.load, self.slip, r.h))
        for k, contact in enumerate(self.tree.contacts):
            t = self.touching
            assert t is not None and self.law is not None
            rate = t.rates[self.first[k]] if last else 0
            found.append(_begun(t.gap[k], rate, self.law[2, k], self.law[3, k], r.h))
            found += [ca.SX(0)] * (contact.rows - 1)
        return ca.vertcat(*found, ca.SX(0, 1))

    def weights(self, D: Any) -> Any:
        """ρ of every limit and contact from D, roughly the inertia at (p, p_next); then of friction against turning about the
        normal of every contact and across it, where any has some."""
        found, diagonal = [abs(D[k.coordinate, k.coordinate]) for k in self.sides], ca.fabs(ca.diag(D))
        turning: list[Any] = []
        for k, contact in enumerate(self.tree.contacts):
            assert self.touching is not None
            own = ca.mtimes(self.touching.first[self.first[k] : self.first[k + 1], :] ** 2, 1 / diagonal)
            found.append(1 / ca.mmax(own[: min(contact.rows, 3)]))
            of = {kind: 1 / ca.mmax(own[rows]) for kind, rows in contact.discs}
            turning += [of.get(kind, ca.SX(1)) for kind in (0, 1)] if self.tree.turned else []
        return ca.vertcat(*found, *turning, ca.SX(0, 1))


def _row(program: Program, given: Any) -> Any:
    return inline(program, dict(zip(program.inputs, given, strict=True)))["row"]


def _begun(gap: Any, rate: Any, load: Any, slip: Any, h: Any) -> Any:
    away, most, kappa = 2 * gap / h + rate, load * h / 2, cones.smoothing(load, slip, h)
    return ca.if_else(away * most > kappa, kappa / ca.fmax(away, kappa / most), most)
