"""Contact in joint coordinates: how far apart two bodies are, and how fast their surfaces move against each other.

A sphere (radius 0: a point) touches a plane or another sphere. With x_c its centre, n the unit normal from the other to it,

    plane    φ = n·x_c − height − radius
    sphere   φ = ‖x_a − x_b‖ − radius_a − radius_b,    n = (x_a − x_b)/‖x_a − x_b‖

Both bodies are taken at one point, midway between the two surfaces along n, so that what one loses of momentum the other
gains. A row of J is what a unit force there along n, t₁ or t₂ does on the motion of every joint between the two bodies: J ṗ
are the rates of the sphere against the other along these, the first of them φ's. Joints further in move both alike.

Everything is in the axes of the link on which both hang, the world's where there is none. The tangents come from n without a
branch (Duff et al., Building an Orthonormal Basis, Revisited, 2017), by the sign of its third component. The cone of friction
is round: it does not matter which two they are, but both ends of a step must mean the same, so the end takes the start's sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.link_frames import Links, Side, link_inputs, side, turned_rows
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Contact, Tree

CONTACT_ROWS: Final = 8
"""Numbers of a contact: centre of the sphere and its radius, then normal and height of the plane or centre and radius of the
other sphere; in the axes of the joints of either link. Where any contact has friction against turning (`discs`), its levers
about the normal and across it [m] stand behind them."""
LENGTH_GUARD: Final = 1e-9
"""[m] Distance of two centres below which the normal fades: it has no direction where they are one."""
ORIGIN: Final = Matrix([0, 0, 0])


def numbers_of(b: Program, tree: Tree) -> Any:
    """Numbers of all contacts, a column each."""
    return b.input("contact", CONTACT_ROWS + 2 * tree.turned, len(tree.contacts))


@dataclass(frozen=True)
class _Placed:
    """Axes and origin of a link, seen from another, with the axis and origin of the joints between them, that link's first."""

    axes: Any
    origin: Any
    joints: tuple[tuple[int, Any, Any], ...] = ()


class _Places:
    """Links seen from those on which both bodies of a contact hang; what contacts share is worked out once."""

    def __init__(self, b: Program, tree: Tree, links: Links, at: Side) -> None:
        self.b, self.tree, self.links, self.at = b, tree, links, at
        self.known: dict[tuple[int, int], _Placed] = {}

    def meeting(self, one: int, other: int) -> int:
        """The outermost link that carries both, -1 the world."""
        if one < 0 or other < 0:
            return -1
        behind = self.tree.ancestors(other)
        return next((k for k in self.tree.ancestors(one) if k in behind), -1)

    def seen(self, link: int, root: int) -> _Placed:
        """A link from another that carries it."""
        if link == root:
            return _Placed(Matrix.eye(3), ORIGIN)
        if (link, root) not in self.known:
            before, b = self.seen(self.tree.parents[link], root), self.b
            with b.part(link):
                axes = b.let(before.axes * self.links.E[link])
                origin = b.let(before.origin + before.axes * self.links.d[link])
                if self.tree.slides[link]:
                    origin = b.let(origin + self.at.q[link] * axes[:, 2])
                else:
                    axes = b.let(turned_rows(self.at.c[link], -self.at.s[link], axes))
            joints = (*before.joints, (link, axes[:, 2], origin))
            self.known[link, root] = _Placed(axes, origin, joints)
        return self.known[link, root]


def sign_of(x: Any) -> Any:
    """1 where x ≥ 0, else −1."""
    return sp.sign(2 * sp.sign(x) + 1)


def tangents(b: Program, n: Any, sign: Any) -> tuple[Any, Any]:
    """Two unit vectors across a unit vector n and each other, smooth but for n₃ = −sign."""
    a = b.let(-1 / (sign + n[2]))
    c = b.let(n[0] * n[1] * a)
    scaled = b.let(sign * n[0])
    first = Matrix([1 + b.let(scaled * b.let(n[0] * a)), b.let(sign * c), -scaled])
    return b.let(first), b.let(Matrix([c, sign + b.let(n[1] * b.let(n[1] * a)), -n[1]]))


@dataclass(frozen=True)
class _Touch:
    """A contact at a pose: gap, normal, and of every joint the motion of the sphere's body against the other's at the point
    between them, and how it turns against it, per unit of joint motion."""

    gap: Any
    normal: Any
    motions: dict[int, Any]
    turns: dict[int, Any]


def _touch(places: _Places, contact: Contact, numbers: Any) -> _Touch:
    b, tree = places.b, places.tree
    meet = places.meeting(contact.link, contact.other)
    one, two = places.seen(contact.link, meet), places.seen(contact.other, meet)
    centre, radius = b.let(one.origin + one.axes * numbers[0:3, 0]), numbers[3, 0]
    if contact.round:
        apart = b.let(centre - b.let(two.origin + two.axes * numbers[4:7, 0]))
        length = b.let(sp.sqrt(b.let(dot(apart, apart) + sp.Float(LENGTH_GUARD**2))))
        normal = b.let(apart * b.let(1 / length))
        gap = b.let(length - radius - numbers[7, 0])
    else:
        normal = b.let(two.axes * numbers[4:7, 0])
        gap = b.let(dot(normal, b.let(centre - two.origin)) - numbers[7, 0] - radius)
    point = b.let(centre - b.let(radius + gap / 2) * normal)
    motions, turns = {}, {}
    for way, sign in ((one, 1), (two, -1)):
        for joint, axis, origin in way.joints:
            moved = axis if tree.slides[joint] else b.let(cross(axis, b.let(point - origin)))
            motions[joint] = sign * moved
            if not tree.slides[joint]:
                turns[joint] = sign * axis
    return _Touch(gap, normal, motions, turns)


def touching(
    b: Program, tree: Tree, links: Links, at: Side, numbers: Any, signs: Any = None, every: bool = False
) -> tuple[list[Any], list[Any], list[Any]]:
    """Gaps, rows of J and the signs of the normals' third components. `signs` of the start of a step where this is its end.
    Rows of a contact are normal, t₁, t₂, then of turning about the normal, and about t₁ and t₂, times their levers; the normal
    alone without friction; with `every` the first three of each."""
    places, gaps, rows, found = _Places(b, tree, links, at), [], [], []
    for k, contact in enumerate(tree.contacts):
        touch, first = _touch(places, contact, numbers[:, k]), len(rows)
        sign = b.let(sign_of(touch.normal[2])) if signs is None else signs[k]
        across = tangents(b, touch.normal, sign) if contact.rough or every else ()
        for direction in (touch.normal, *across):
            entries: list[Any] = [sp.Integer(0)] * tree.n
            for joint, motion in touch.motions.items():
                entries[joint] = b.let(dot(direction, motion))
            rows.append(list(gears.torques(b, tree, entries)))
        about = (touch.normal,) * contact.spun + across * contact.rolled
        for direction in () if every else about:
            lever = numbers[CONTACT_ROWS + (len(rows) - first - 3 >= contact.spun), k]
            entries = [sp.Integer(0)] * tree.n
            for joint, turn in touch.turns.items():
                entries[joint] = b.let(lever * b.let(dot(direction, turn)))
            rows.append(list(gears.torques(b, tree, entries)))
        gaps.append(touch.gap)
        found.append(sign)
    return gaps, rows, found


@stored
def directions(tree: Tree) -> Program:
    """p and the `sign` of every normal → `frames` (9 × contacts): normal, t₁ and t₂ in world axes."""
    b = Program("contact_directions", "Directions of the impulses of contacts.")
    p, links = b.input("p", tree.freedoms), link_inputs(b, tree)
    numbers, signs = numbers_of(b, tree), b.input("sign", len(tree.contacts))
    places, columns = _Places(b, tree, links, side(b, tree, gears.positions(b, tree, p))), []
    for k, contact in enumerate(tree.contacts):
        normal = _touch(places, contact, numbers[:, k]).normal
        axes = places.seen(places.meeting(contact.link, contact.other), -1).axes
        vectors = (normal, *tangents(b, normal, signs[k]))
        columns.append(Matrix([x for v in vectors for x in b.let(axes * v)]))
    b.output("frames", Matrix.hstack(*columns))
    return b


@stored
def rows(tree: Tree, every: bool = False, ending: bool = False) -> Program:
    """p → `gap` (contacts), `J` (rows × coordinates, see `touching`) and the `sign` of every normal; with `ending` the signs
    are given, those of the start of the step."""
    b = Program("contact_rows", "Gaps of contacts, and rates of the surfaces against each other.")
    p, links = b.input("p", tree.freedoms), link_inputs(b, tree)
    numbers = numbers_of(b, tree)
    signs = list(b.input("sign", len(tree.contacts))) if ending else None
    at = side(b, tree, gears.positions(b, tree, p))
    gaps, gradient, found = touching(b, tree, links, at, numbers, signs, every)
    b.output("gap", Matrix(gaps))
    b.output("J", Matrix(gradient))
    if not ending:
        b.output("sign", Matrix(found))
    return b
