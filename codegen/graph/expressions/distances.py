"""Signed distance of two convex shapes, with the wrench of a unit force there: the only definition of `clearance`.

A shape is a sphere swept over its core: a point (sphere), a segment (capsule), a box, or the half-space under a plane. Cores
are centres c, c' with unit axes and halves: points c + Σ s h u, |s| ≤ 1. The distance follows from the least

    V = |w|² + δ² Σ s²,    w = difference of two points of the cores,    distance = √V − radii,

of the segments' s alone. δ is the smoothing length: it makes the least unique where it would not be (parallel segments), so
that V has one derivative everywhere, that with s held (Danskin's theorem), and witnesses do not jump from end to end of
parallel segments but go over while the ends' distances differ by less than 4 δ²/|w|. A distance is never less than the true
one, and more by no more than δ²/|w| where cores are apart, by √2 δ where they meet.

Cores that overlap, of which one is a box, are −m deep, m the greatest separation along the normals of their difference's faces
(Gottschalk, Lin, Manocha: OBBTree, 1996). Two segments, or a point and a segment, have no inside: they are 0 apart at least.
Two faces that are equally deep within δ count both (`greater`). Where a box takes part δ is `OF_BOXES` of the given one.

∂distance/∂(motion) is n·v(P) with n the derivative by c and M = P × n: with u held by rotations alone M = c × n + Σ u × ∂/∂u.
Both bodies have the same n and M, since no motion of the two together changes the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

import casadi as ca

SPHERE, CAPSULE, BOX, PLANE = "sphere", "capsule", "box", "plane"
AXES: Final = {SPHERE: 0, CAPSULE: 1, BOX: 3, PLANE: 1}
"""Unit axes of a core; the one of a plane is its normal."""
ORDER: Final = (SPHERE, CAPSULE, BOX, PLANE)
"""Order of the shapes of a pair."""
OF_BOXES: Final = 5e-2
"""[1] Factor on the smoothing length for boxes and planes, whose error in contact is all of it."""
POINT: Final = 1e-12
"""[m] Distance of cores below which the normal fades out, because its direction is undefined at zero."""
ALONG: Final = 1e-15
"""[1] Part of a segment's direction across a face below which it runs along the face."""
PARALLEL: Final = 1e-9
"""[1] Sine of two edges' angle below which their common normal is undefined."""
FAR: Final = 1e9
"""[m] Beyond any distance."""
NEVER: Final = -FAR
"""[m] Separation along an undefined normal."""


@dataclass(frozen=True)
class Placed:
    """A shape in world axes: centre (3), unit axes (3 × k) and halves (k) of its core, radius about it [m]."""

    kind: str
    centre: Any
    axes: Any
    halves: Any
    radius: Any


@dataclass(frozen=True)
class Apart:
    """Signed distance [m], its derivative n by the first shape's place (3) and M = P × n about the world's origin (3)."""

    distance: Any
    normal: Any
    moment: Any


def ordered(one: Placed, other: Placed) -> tuple[Placed, Placed, bool]:
    """Two shapes in the order of `ORDER`, and whether that turns them round."""
    turned = ORDER.index(one.kind) > ORDER.index(other.kind)
    return (other, one, True) if turned else (one, other, False)


def apart(one: Placed, other: Placed, smoothing: Any) -> Apart:
    """Two shapes, in either order; two planes are none."""
    first, second, turned = ordered(one, other)
    given = (first.centre - second.centre, first.axes, first.halves, second.axes, second.halves)
    d, n, torque, _ = cores(first.kind, second.kind)(*given, smoothing)
    found = Apart(d - first.radius - second.radius, n, ca.cross(first.centre, n) + torque)
    return Apart(found.distance, -found.normal, -found.moment) if turned else found


def facing(one: Placed, at: Apart) -> Any:
    """The nearest point on the surface of the first shape: on the line along n that M says, its furthest against n."""
    size = ca.dot(at.normal, at.normal) + POINT**2
    reach = one.radius * ca.sqrt(size)
    for k in range(AXES[one.kind]):
        reach += one.halves[k] * ca.fabs(ca.dot(one.axes[:, k], at.normal))
    height = (ca.dot(one.centre, at.normal) - reach) / size
    if one.kind == PLANE:
        height = ca.dot(one.centre, at.normal) / size
    return ca.cross(at.normal, at.moment) / size + height * at.normal


def held(one: Placed, other: Placed, smoothing: Any) -> tuple[Any, Any]:
    """The arguments of a distance of the cores, c − c', axes and halves of both in one column, and its derivatives by
    these."""
    first, second, _ = ordered(one, other)
    given = (first.centre - second.centre, first.axes, first.halves, second.axes, second.halves)
    return ca.vertcat(*map(ca.vec, given)), cores(first.kind, second.kind)(*given, smoothing)[3]


@cache
def cores(one: str, other: str) -> ca.Function:
    """c − c', axes and halves of both, δ → distance of the cores, n (3), Σ u × ∂/∂u of the first (3), derivatives by all but
    δ in one column."""
    c, length = ca.SX.sym("c", 3), ca.SX.sym("smoothing")
    axes, more = ca.SX.sym("axes", 3, AXES[one]), ca.SX.sym("more", 3, AXES[other])
    halves, others = ca.SX.sym("halves", AXES[one]), ca.SX.sym("others", AXES[other])
    way = {SPHERE: _lines, CAPSULE: _lines, BOX: _from_box, PLANE: _from_plane}[other]
    value, held, at = way(c, axes, halves, more, others, length)
    slopes = ca.vertcat(*[ca.vec(ca.gradient(value, x)) for x in (c, axes, halves, more, others) if x.numel()])
    torque = ca.SX.zeros(3)
    for k in range(AXES[one]):
        torque += ca.cross(axes[:, k], slopes[3 + 3 * k : 6 + 3 * k])
    given, found = [c, axes, halves, more, others, length], [value, slopes[0:3], torque, slopes]
    if held.numel():
        found = ca.substitute(found, [held], [at])
    return ca.Function(f"{one}_{other}", given, [ca.densify(x) for x in found], {"cse": True})


Held = tuple[Any, Any, Any]
"""A distance, of symbols that are held while it is differentiated, and what they are."""


def _lines(c: Any, axes: Any, halves: Any, more: Any, others: Any, length: Any) -> Held:
    """Points and segments: the quadratic program in (s, t) on a square, by its clamped ends (Ericson, Real-Time Collision
    Detection, 5.1.9)."""
    a = axes[:, 0] * halves[0] if axes.size2() else ca.SX.zeros(3)
    b = more[:, 0] * others[0] if more.size2() else ca.SX.zeros(3)
    square, extra = length * length, POINT**2
    along, across, angle = ca.dot(c, a), ca.dot(c, b), ca.dot(a, b)
    if axes.size2():
        A, B = halves[0] ** 2 + square, others[0] ** 2 + square
        s = clamped((angle * across - B * along) / (A * B - angle * angle), 1)
        t = clamped((angle * s + across) / B, 1)
        s = clamped((angle * t - along) / A, 1)
    else:
        s, t = ca.SX(0), clamped(across / (others[0] ** 2 + square), 1) if more.size2() else ca.SX(0)
    held = ca.SX.sym("held", 2)
    w = c + held[0] * a - held[1] * b
    return ca.sqrt(ca.dot(w, w) + square * ca.dot(held, held) + extra), held, ca.vertcat(s, t)


def _from_plane(c: Any, axes: Any, halves: Any, more: Any, _others: Any, length: Any) -> Held:
    """The lowest end of every axis over the plane, both ends where they are level within δ."""
    normal = more[:, 0]
    total = ca.dot(normal, c)
    for k in range(axes.size2()):
        total -= _size(halves[k] * ca.dot(axes[:, k], normal), OF_BOXES * length)
    return total, ca.SX(0, 1), ca.SX(0, 1)


def _from_box(c: Any, axes: Any, halves: Any, more: Any, others: Any, length: Any) -> Held:
    """A point, a segment or a box, in the axes of the other box."""
    length = OF_BOXES * length
    q, u = ca.mtimes(more.T, c), ca.mtimes(more.T, axes)
    ends = [u[:, k] * halves[k] for k in range(axes.size2())]
    normals = _normals(q, ends, u, others)
    if len(ends) < 3:
        held = ca.SX.sym("held", len(ends))
        at = ca.vertcat(*[_nearest(q, end, others, length) for end in ends])
        outside = _outside(q, ends, held, others, length)
        return outside + ca.fmin(_greatest(normals, length), 0), held, at
    held, at = ca.SX.sym("held", 12), []
    value: Any = FAR
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        for m, (x, y) in enumerate(product((-1, 1), repeat=2)):
            edge = q + x * ends[i] + y * ends[j]
            at.append(_nearest(edge, ends[k], others, length))
            far = _outside(edge, [ends[k]], held[4 * k + m], others, length)
            value = -greater(-value, -far, length)
    for signs in product((-1, 1), repeat=3):
        corner = ca.mtimes(u.T, ca.vertcat(*[x * others[k] for k, x in enumerate(signs)]) - q)
        value = -greater(-value, -_outside(corner, [], held, halves, length), length)
    overlap = ca.fmin(_greatest(normals, length), 0)
    plain = normals[0]
    for normal in normals[1:]:
        plain = ca.fmax(plain, normal)
    return ca.if_else(plain > 0, value, overlap), held, ca.vertcat(*at)


def _outside(q: Any, ends: Sequence[Any], held: Any, box: Any, length: Any) -> Any:
    """√V of a point, or of a segment at `held`, to a box."""
    x, extra = q, POINT**2
    if ends:
        x, extra = q + held * ends[0], POINT**2 + (length * held) ** 2
    e = x - clamped(x, box)
    return ca.sqrt(ca.dot(e, e) + extra)


def _nearest(q: Any, end: Any, box: Any, length: Any) -> Any:
    """s of the least V of a segment q ± end to a box: V' is piecewise linear and grows, so its zero lies between the last
    kink where it is below 0 and the first where it is above."""

    def slope(s: Any) -> Any:
        x = q + s * end
        return ca.dot(end, x - clamped(x, box)) + length * length * s

    low, high = ca.SX(-1), ca.SX(1)
    below, above = slope(low), slope(high)
    first, last = below, above
    for i, sign in product(range(3), (-1, 1)):
        moved = ca.if_else(ca.fabs(end[i]) < ALONG, ALONG, end[i])
        kink = clamped((sign * box[i] - q[i]) / moved, 1)
        value = slope(kink)
        less = value <= 0
        low, below = ca.fmax(low, ca.if_else(less, kink, -1)), ca.fmax(below, ca.if_else(less, value, below))
        high, above = ca.fmin(high, ca.if_else(less, 1, kink)), ca.fmin(above, ca.if_else(less, above, value))
    rise = above - below
    zero = low - (high - low) * below / ca.if_else(rise > 0, rise, 1)
    return ca.if_else(first >= 0, -1, ca.if_else(last <= 0, 1, zero))


def _normals(q: Any, ends: Sequence[Any], u: Any, box: Any) -> list[Any]:
    """Separations along the normals of every face of the difference of a box and a point, segment or box."""

    def along(normal: Any) -> Any:
        """The separation along a normal that need not have unit length."""
        room = ca.fabs(ca.dot(q, normal)) - ca.dot(box, ca.fabs(normal))
        for end in ends:
            room -= ca.fabs(ca.dot(end, normal))
        return room

    unit = [ca.SX([float(i == k) for i in range(3)]) for k in range(3)]
    found = [along(axis) for axis in unit]
    if len(ends) == 3:
        found += [along(u[:, k]) for k in range(3)]
    for axis, k in product(unit, range(len(ends))):
        normal = ca.cross(axis, u[:, k])
        size = ca.dot(normal, normal)
        is_one = size > PARALLEL**2
        found.append(ca.if_else(is_one, along(normal) / ca.sqrt(ca.if_else(is_one, size, 1)), NEVER))
    return found


def _greatest(values: Sequence[Any], length: Any) -> Any:
    result = values[0]
    for value in values[1:]:
        result = greater(result, value, length)
    return result


def greater(a: Any, b: Any, length: Any) -> Any:
    """Smooth maximum: exact unless the two are within δ, where it is larger by at most δ/4."""
    near = length - ca.fmin(ca.fabs(a - b), length)
    return ca.fmax(a, b) + near * near / (4 * length)


def _size(x: Any, length: Any) -> Any:
    """Smooth |x|: exact unless within δ of 0, where it is larger by at most δ/2."""
    near = length - ca.fmin(ca.fabs(x), length)
    return ca.fabs(x) + near * near / (2 * length)


def clamped(x: Any, bound: Any) -> Any:
    """x within ± bound."""
    return ca.fmax(ca.fmin(x, bound), -bound)
