"""Contact in joint coordinates: how far apart two bodies are, and how fast their surfaces move against each other.

Where both links of a contact are (`places`), the distance of `clearance` says its gap φ, the unit normal n from the other shape
to the first, and the point midway between the two surfaces along n (`meeting`). Both bodies are taken at that point, so that
what one loses of momentum the other gains. A row of J is what a unit force there along n, t₁ or t₂ does on the motion of every
joint between the two bodies: J ṗ are the rates of the first body against the other along these, the first of them φ's. Joints
further in move both alike.

Everything is in the axes of the link on which both hang, the world's where there is none. The tangents come from n without a
branch (Duff et al., Building an Orthonormal Basis, Revisited, 2017), by the sign of its third component. The cone of friction
is round: it does not matter which two they are, but both ends of a step must mean the same, so the end takes the start's sign.
A floating base is stepped in a frame of its own; tangents at the world are made of n in the world's axes (`heading` turns them
there), so that a step does not depend on that frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.contact.cones import LAW
from diffpbd.codegen.joint_space.links.link_frames import Links, Side, link_inputs, side, turned_rows
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Contact, Tree

MEETING: Final = 8
"""Numbers of a contact at a pose: gap, normal, and the point between both surfaces, in the axes of the link
on which both hang; last the gap's derivative by a turn about the normal at that point (two capsules alone have one)."""
PLACES: Final = 24
"""Axes (by rows) and origin of both links of a contact, in the same."""
ORIGIN: Final = Matrix([0, 0, 0])


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

    def both(self, contact: Contact) -> tuple[_Placed, _Placed]:
        """The links of a contact, seen from the one that carries both."""
        meet = self.meeting(contact.link, contact.other)
        return self.seen(contact.link, meet), self.seen(contact.other, meet)

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
    pitch: Any = sp.Integer(0)
    """Change of the gap with a turn about the normal."""


def _touch(places: _Places, contact: Contact, numbers: Any) -> _Touch:
    """`numbers` of its meeting."""
    ways = _motions(places.b, places.tree, *places.both(contact), numbers[4:7, 0])
    return _Touch(numbers[0, 0], numbers[1:4, 0], *ways, numbers[7, 0] if contact.crossing else sp.Integer(0))


def _motions(b: Program, tree: Tree, one: _Placed, two: _Placed, point: Any) -> tuple[dict[int, Any], dict[int, Any]]:
    """Motion of the first of two bodies against the other, at a point, by every joint between them, and its turn."""
    motions, turns = {}, {}
    for way, sign in ((one, 1), (two, -1)):
        for joint, axis, origin in way.joints:
            moved = axis if tree.slides[joint] else b.let(cross(axis, b.let(point - origin)))
            motions[joint] = sign * moved
            if not tree.slides[joint]:
                turns[joint] = sign * axis
    return motions, turns


class _Across:
    """Tangents of contacts, from their normals seen from the links on which both bodies hang."""

    def __init__(self, b: Program, places: _Places) -> None:
        self.b, self.places = b, places
        self.heading = Matrix(3, 3, list(b.input("heading", 9))) if places.tree.base else None

    def _turned(self, contact: Contact) -> bool:
        return self.heading is not None and self.places.meeting(contact.link, contact.other) < 0

    def normal(self, contact: Contact, normal: Any) -> Any:
        """Normal of length one (that of capsules that cross is shorter, see `meetings`), in the axes that say the tangents."""
        b = self.b
        if contact.crossing:
            normal = b.let(normal / b.let(sp.sqrt(dot(normal, normal))))
        return b.let(self.heading * normal) if self._turned(contact) else normal

    def tangents(self, contact: Contact, normal: Any, sign: Any) -> tuple[Any, ...]:
        """Tangents of such a normal, in the axes of the link."""
        found = tangents(self.b, normal, sign)
        back = None if self.heading is None else self.heading.T
        return tuple(self.b.let(back * t) for t in found) if back is not None and self._turned(contact) else found


def touching(
    b: Program, tree: Tree, links: Links, at: Side, signs: Any = None, every: bool = False
) -> tuple[list[Any], list[Any], list[Any]]:
    """Gaps, rows of J and the signs of the normals' third components. `signs` of the start of a step where this is its
    end. Rows of a contact are normal, t₁, t₂, then of turning about the normal, and about t₁ and t₂,
    times their levers; the normal alone without friction; with `every` the first three of each."""
    seen, gaps, rows, found = _Places(b, tree, links, at), [], [], []
    ways = _Across(b, seen)
    met = b.input("meeting", MEETING, len(tree.contacts))
    levers = b.input("contact_law", LAW + 2, len(tree.contacts))[LAW:, :] if tree.turned else Matrix()
    for k, contact in enumerate(tree.contacts):
        touch = _touch(seen, contact, met[:, k])
        normal = ways.normal(contact, touch.normal)
        sign = b.let(sign_of(normal[2])) if signs is None else signs[k]
        across = ways.tangents(contact, normal, sign) if contact.frictional or every else ()
        for direction in (touch.normal, *across):
            entries: list[Any] = [sp.Integer(0)] * tree.n
            for joint, motion in touch.motions.items():
                entries[joint] = b.let(dot(direction, motion))
                if direction is touch.normal and joint in touch.turns:
                    entries[joint] = b.let(entries[joint] + touch.pitch * dot(direction, touch.turns[joint]))
            rows.append(list(gears.torques(b, tree, entries)))
        about = [(0, touch.normal)] * contact.spun + [(1, direction) for direction in across] * contact.rolled
        for kind, direction in () if every else about:
            entries = [sp.Integer(0)] * tree.n
            for joint, turn in touch.turns.items():
                entries[joint] = b.let(levers[kind, k] * b.let(dot(direction, turn)))
            rows.append(list(gears.torques(b, tree, entries)))
        gaps.append(touch.gap)
        found.append(sign)
    return gaps, rows, found


@stored
def places(tree: Tree) -> Program:
    """p → `places` (24 × contacts)."""
    b = Program("contact_places", "Where the links of contacts are.")
    p, links = b.input("p", tree.freedoms), link_inputs(b, tree)
    known, columns = _Places(b, tree, links, side(b, tree, gears.positions(b, tree, p))), []
    for contact in tree.contacts:
        columns.append(Matrix([x for link in known.both(contact) for x in (*link.axes, *link.origin)]))
    b.output("places", Matrix.hstack(*columns))
    return b


@stored
def directions(tree: Tree) -> Program:
    """p and the `sign` of every normal → `frames` (9 × contacts): normal, t₁ and t₂ in world axes."""
    b = Program("contact_directions", "Directions of the impulses of contacts.")
    p, links = b.input("p", tree.freedoms), link_inputs(b, tree)
    met, signs = b.input("meeting", MEETING, len(tree.contacts)), b.input("sign", len(tree.contacts))
    seen, columns = _Places(b, tree, links, side(b, tree, gears.positions(b, tree, p))), []
    ways = _Across(b, seen)
    for k, contact in enumerate(tree.contacts):
        normal = _touch(seen, contact, met[:, k]).normal
        axes = seen.seen(seen.meeting(contact.link, contact.other), -1).axes
        vectors = (normal, *ways.tangents(contact, ways.normal(contact, normal), signs[k]))
        columns.append(Matrix([x for v in vectors for x in b.let(axes * v)]))
    b.output("frames", Matrix.hstack(*columns))
    return b


@stored
def rows(tree: Tree, every: bool = False, ending: bool = False) -> Program:
    """p → `gap` (contacts), `J` (rows × coordinates, see `touching`) and the `sign` of every normal; with `ending` the signs
    are given, those of the start of the step."""
    b = Program("contact_rows", "Gaps of contacts, and rates of the surfaces against each other.")
    p, links = b.input("p", tree.freedoms), link_inputs(b, tree)
    signs = list(b.input("sign", len(tree.contacts))) if ending else None
    at = side(b, tree, gears.positions(b, tree, p))
    gaps, gradient, found = touching(b, tree, links, at, signs, every)
    b.output("gap", Matrix(gaps))
    b.output("J", Matrix(gradient))
    if not ending:
        b.output("sign", Matrix(found))
    return b
