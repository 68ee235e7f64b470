"""Parameters of a robot's closed loops, contacts, wrenches and springs, as columns of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from diffpbd.codegen.description.geometry.rigid import AXES, triad_of
from diffpbd.codegen.description.robot.contact_law import IN_CONE, LEVERS
from diffpbd.codegen.description.robot.robot import BOX, CAPSULE, IDENTITY, SPHERE, ZERO, Loop, Pair, Plane, Robot, Tip
from diffpbd.codegen.description.robot.robot import Contact as Sphere
from diffpbd.codegen.graph.expressions.distances import PLANE
from diffpbd.codegen.graph.expressions.geometry import rows, turned, vector
from diffpbd.codegen.graph.model.parameters import WRENCH_PARTS, across, extent
from diffpbd.codegen.laws import elements
from diffpbd.codegen.program.tree import Attached, Contact

SHORT = 1e-9
"""[m] Length of a capsule whose ends are entries of alpha, below which it has no direction."""


def loop_numbers(entry: Any, index: Mapping[str, int], aligned: Sequence[Any], loop: Loop) -> Any:
    """Cut frame of a loop in the axes of the joints of both links, see `closures`; z is its axis."""
    triad = ca.reshape(ca.DM([x for axis in frame_of(loop) for x in axis]), 3, 3)
    parts = []
    for side, link, rotation, translation in (
        ("parent", loop.parent, loop.parent_rotation, loop.parent_translation),
        ("child", loop.child, loop.child_rotation, loop.child_translation),
    ):
        prefix = f"loop.origin.{loop.name}.{side}"
        place = vector(entry, prefix, AXES, translation)
        axes = ca.mtimes(turned(entry, index, prefix, rotation), triad)
        if link >= 0:
            axes, place = ca.mtimes(aligned[link].T, axes), ca.mtimes(aligned[link].T, place)
        parts += [rows(axes), place]
    return ca.vertcat(*parts, entry(f"loop.length.{loop.name}", loop.length))


def as_touching(pair: Pair) -> Contact:
    """A pair as an input of the derivation."""
    own, other = pair.sphere, pair.other
    cores = (own.core, PLANE if isinstance(other, Plane) else other.core)
    return Contact(own.link, other.link, cores, bool(own.friction), own.torsional > 0.0, own.rolling > 0.0)


def placed(entry: Any, robot: Robot, sphere: Sphere) -> Any:
    """Centre of a sphere in its link's frame [m]: its own entries of alpha, or from the size and pose of its surface."""
    middle, half = extent(robot, sphere)
    centre = vector(entry, f"contact.centre.{sphere.surface}", AXES, middle)
    parts = []
    for k, axis in enumerate(AXES):
        if sphere.surface and half[k] > 0.0:
            share = (sphere.point[k] - middle[k]) / half[k]
            off = entry(f"contact.half.{sphere.surface}.{axis}", half[k]) * share
            parts.append(sphere.point[k] if off.is_constant() and centre[k].is_constant() else centre[k] + off)
        elif sphere.surface:
            parts.append(centre[k])
        else:
            parts.append(entry(f"contact.point.{sphere.name}.{axis}", sphere.point[k]))
    return ca.vertcat(*parts)


def sloped(entry: Any, plane: Plane) -> Any:
    """Normal of a plane in its link's frame (3), by its slopes."""
    first, second = across(plane.normal)
    slopes = [entry(f"plane.slope.{plane.name}.{k}", 0.0) for k in (1, 2)]
    normal = ca.DM(list(plane.normal))
    if all(slope.is_constant() for slope in slopes):
        return normal
    leaning = normal + slopes[0] * ca.DM(list(first)) + slopes[1] * ca.DM(list(second))
    return leaning / ca.sqrt(1 + slopes[0] ** 2 + slopes[1] ** 2)


def contact_blocks(entry: Any, aligned: Sequence[Any], robot: Robot) -> dict[str, Any]:
    """Numbers of both shapes of every contact, and of its law; with torsional or rolling friction then its lever arms."""
    columns, laws = [], []
    turned = any(pair.sphere.torsional > 0.0 or pair.sphere.rolling > 0.0 for pair in robot.pairs)
    for pair in robot.pairs:
        columns.append(ca.vertcat(*[_core(entry, aligned, robot, shape) for shape in (pair.sphere, pair.other)]))
        names = [
            f"{kind}.{pair.sphere.law}" if kind != "slip" else kind for kind in (*IN_CONE, *(LEVERS if turned else ()))
        ]
        laws.append(ca.vertcat(*[entry(f"contact.{name}", 0.0) for name in names]))
    return {"core": ca.horzcat(*columns), "contact_law": ca.horzcat(*laws)}


def _core(entry: Any, aligned: Sequence[Any], robot: Robot, shape: Sphere | Plane) -> Any:
    """Numbers of a shape in the axes of its link's joint, see `meetings`."""
    axes, halves, radius = ca.SX.eye(3), ca.SX.zeros(3), ca.SX(0)
    if isinstance(shape, Plane):
        axes[:, 0] = sloped(entry, shape)
        centre = axes[:, 0] * entry(f"plane.height.{shape.name}", shape.height)
    else:
        centre, radius = placed(entry, robot, shape), entry(f"contact.radius.{shape.shape}", shape.radius)
    if not isinstance(shape, Plane) and shape.core == CAPSULE:
        ends = [placed(entry, robot, c) for c in robot.contacts if c.part == shape.part and c.core == SPHERE]
        way = (ends[1] - ends[0]) / 2
        halves[0] = ca.sqrt(ca.dot(way, way) + (0.0 if way.is_constant() else SHORT**2))
        axes[:, 0], centre = way / halves[0], (ends[0] + ends[1]) / 2
    elif not isinstance(shape, Plane) and shape.core == BOX:
        axes, halves = ca.SX(ca.DM([list(row) for row in shape.axes])), ca.SX(ca.DM(list(shape.halves)))
        if shape.axes == IDENTITY:
            halves = vector(entry, f"contact.half.{shape.surface}", AXES, shape.halves)
    if shape.link >= 0:
        centre, axes = ca.mtimes(aligned[shape.link].T, centre), ca.mtimes(aligned[shape.link].T, axes)
    return ca.vertcat(centre, ca.vec(axes), halves, radius)


def wrench_numbers(entry: Any, frame: Tip) -> Any:
    """Point, force and torque of an external wrench (9)."""
    parts = [vector(entry, f"wrench.{frame.name}.{kind}", AXES, ZERO) for kind, _ in WRENCH_PARTS]
    return ca.vertcat(ca.DM(list(frame.translation)), *parts)


def spring_numbers(entry: Any, robot: Robot, one: Attached) -> Any:
    """Numbers of a spring on a chosen joint, a column."""
    spring, joint = elements.spring(one.element), robot.joints[one.joint].name
    return ca.vertcat(*[entry(f"{spring.name}.{number.name}.{joint}", 0.0) for number in spring.numbers])


def frame_of(loop: Loop) -> tuple[tuple[float, ...], ...]:
    """The axes that the rows are written in, three vectors in the cut frame; the third is the axis of a hinge or a slide."""
    if loop.type.value not in ("hinge", "slide"):
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    triad = triad_of(loop.axis)
    return triad[0:3], triad[3:6], triad[6:9]
