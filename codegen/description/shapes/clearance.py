"""Shapes that must not touch: spheres, capsules, boxes and planes of every link, from a recipe, or of its `<collision>`.

Spheres, boxes and capsules are taken as they are. A cylinder becomes the capsule of least volume about it, a mesh the one that
`capsules.fitted` finds about its vertices, or several (`mesh_parts`); what that adds is said. `[[shape]]` entries of a link
replace all of its own, but those with `capsules`, which say into how many its meshes may be cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.geometry.capsules import Capsule, about_cylinder, fitted
from diffpbd.codegen.description.geometry.mesh_parts import MOST, capsules_of
from diffpbd.codegen.description.geometry.rigid import SHORTEST_AXIS, Pose, add, compose, norm, rotation_from_rpy, scale
from diffpbd.codegen.description.joints.loops import WORLD_FRAME, no_link, place_of
from diffpbd.codegen.description.read.meshes import MeshError, hull, hull_triangles, mesh_points
from diffpbd.codegen.description.read.numerals import NumberError, read_number, read_vector
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Mat3, Robot, Shape, Vec3
from diffpbd.codegen.description.shapes.collisions import Refused, placed_shape
from diffpbd.codegen.description.shapes.units import unit_doubt
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.base.errors import InputError, arg

LEAST: Final = 1e-9
"""[m] A capsule shorter than this is a sphere, and what is written smaller is nothing."""


@dataclass(frozen=True)
class ShapeEntry:
    """A `[[shape]]` of a recipe on `link`, in whose frame all numbers are [m, rad].

    A sphere has `point` and `radius`; a capsule `end` too, the other end of its axis; a box `size` about `point`, turned by
    `rpy`; a plane through `point` has `normal`, away from the solid. With `capsules` every mesh of the link becomes so many
    capsules at most. With none of these the link has no shape.
    """

    name: str
    link: str
    point: Vec3 = ZERO
    radius: float = 0.0
    end: Vec3 | None = None
    size: Vec3 | None = None
    normal: Vec3 | None = None
    rpy: Vec3 = ZERO
    capsules: int | None = None


@dataclass(frozen=True)
class Shaping:
    """A recipe's entries about shapes; nothing is read unless `asked`."""

    asked: bool = False
    entries: tuple[ShapeEntry, ...] = ()


Core = tuple[str, Pose, tuple[float, ...], float]
"""Kind, place, halves and radius."""


def shapes_of(
    root: Element, selection: Selection, shaping: Shaping, source: Path | None, vertices: dict[str, list[Any]]
) -> tuple[tuple[Shape, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """Shapes of all chosen links and the world, faults, doubts. Meshes lie beside `source`, or are `vertices` by link, (k, 3)
    [m] in its frame, which stand for the link's `<mesh>` elements in turn."""
    found: list[Shape] = []
    faults: list[Finding] = []
    doubts: list[Finding] = []
    for entry in shaping.entries:
        if place_of(selection, entry.link) is None:
            faults.append(
                Finding("shape", f"shape {quoted(entry.name)}: {no_link(selection, entry.link)}", (entry.link,))
            )
    parts: dict[str, list[tuple[str, Core]]] = {}
    replaced = {entry.link for entry in shaping.entries if entry.capsules is None}
    several = {
        entry.link: entry.capsules for entry in shaping.entries if entry.capsules and 1 <= entry.capsules <= MOST
    }
    faults += _cut_in_vain(root, selection, shaping.entries)
    for element in root.named("link"):
        link = element.attributes.get("name", "")
        if link not in selection.place or link in replaced:
            continue
        waiting = iter(vertices.get(link, ()))
        every = element.named("collision")
        for k, collision in enumerate(every):
            where = f"link {quoted(link)}, shape {k + 1}: "
            try:
                cores, doubt = _of_collision(collision, source, waiting, several.get(link, 1))
            except (Refused, NumberError, MeshError) as error:
                faults.append(Finding("shape", f"{where}{error}", (link,)))
                continue
            name = link if len(every) == 1 else f"{link}.{k + 1}"
            names = [name] if len(cores) == 1 else [f"{name}.{i + 1}" for i in range(len(cores))]
            parts.setdefault(link, []).extend(zip(names, cores, strict=True))
            units = ["" if core[0] == "plane" else unit_doubt(element, selection, core[2], core[3]) for core in cores]
            doubts += [Finding("shape", f"{where}{text}", (link,)) for text in (doubt, *units) if text]
    for entry in shaping.entries:
        try:
            core_of = _of_entry(entry)
        except Refused as error:
            faults.append(Finding("shape", f"shape {quoted(entry.name)}: {error}", (entry.link,)))
            continue
        parts.setdefault(entry.link, []).extend([(entry.name, core_of)] if core_of else [])
    if not faults:
        found = [_placed(selection, link, name, core) for link, cores in parts.items() for name, core in cores]
        faults += _twice(found)
    if not faults:
        doubts += _bare(selection, {shape.link for shape in found})
    return tuple(found), tuple(faults), tuple(doubts)


def _bare(selection: Selection, shaped: set[int]) -> Iterator[Finding]:
    """Moving links without a shape."""
    for k, names in enumerate(selection.carried()):
        if k not in shaped and names[0] not in ("", *selection.hidden) and not selection.joints[k].of_base:
            yield Finding("shape", f"link {quoted(names[0])}: it has no shape; nothing is kept from it", (names[0],))


def _placed(selection: Selection, link: str, name: str, core: Core) -> Shape:
    kind, pose, halves, radius = core
    carrier, place = place_of(selection, link) or (-1, Pose())
    seen = compose(place, pose)
    return Shape(name, link, carrier, kind, seen.rotation, seen.translation, halves, radius)


def _twice(shapes: Sequence[Shape]) -> Iterator[Finding]:
    names = [shape.name for shape in shapes]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Finding("shape", f"{names.count(name)} shapes are called {quoted(name)}; names must differ")


def _cut_in_vain(root: Element, selection: Selection, entries: Sequence[ShapeEntry]) -> Iterator[Finding]:
    """Entries with `capsules` of links without a mesh, or with other entries."""
    solid = {link.attributes.get("name", ""): link.named("collision") for link in root.named("link")}
    for entry in entries:
        if entry.capsules is None or place_of(selection, entry.link) is None:
            continue
        where = f"shape {quoted(entry.name)}: capsules {entry.capsules}, but link {quoted(entry.link)} has "
        geometries = [own for shape in solid.get(entry.link, ()) for own in shape.named("geometry")]
        if not any(own.named("mesh") for own in geometries):
            yield Finding(
                "shape", f"{where}no mesh in <collision> to cut; give radius, end or size instead", (entry.link,)
            )
        if others := [other.name for other in entries if other.link == entry.link and other is not entry]:
            yield Finding(
                "shape", f"{where}other [[shape]] entries ({listed(others)}); expected it alone", (entry.link,)
            )


def _of_entry(entry: ShapeEntry) -> Core | None:
    kinds = [word for word in ("end", "size", "normal") if getattr(entry, word) is not None]
    if entry.capsules is not None:
        if not 1 <= entry.capsules <= MOST:
            raise Refused(f"capsules {entry.capsules}: 1 to {MOST} of every mesh are expected")
        if kinds or entry.radius:
            raise Refused(
                f"it has capsules and {', '.join([*kinds, 'radius'][:1])}; capsules are those of the link's meshes"
            )
        return None
    if len(kinds) > 1:
        raise Refused(f"it has {' and '.join(kinds)}; a capsule has `end`, a box `size`, a plane `normal`")
    if entry.radius < 0.0:
        raise Refused(f"radius {entry.radius:g} m is negative")
    if entry.size is not None:
        if min(entry.size) <= 0.0:
            raise Refused(f"size {entry.size}: sides above 0 m are expected")
        x, y, z = entry.size
        return "box", Pose(rotation_from_rpy(entry.rpy), entry.point), (x / 2, y / 2, z / 2), entry.radius
    if entry.normal is not None:
        if norm(entry.normal) < SHORTEST_AXIS:
            raise Refused(f"normal {entry.normal} has no direction")
        return "plane", Pose(_turned_to(scale(entry.normal, 1.0 / norm(entry.normal))), entry.point), (0.0,), 0.0
    if entry.end is not None:
        if entry.radius == 0.0:
            raise Refused("radius is missing; a capsule's is above 0 m")
        return _capsule(Capsule(entry.point, entry.end, entry.radius))
    return ("sphere", Pose(translation=entry.point), (), entry.radius) if entry.radius else None


def _capsule(found: Capsule) -> Core:
    """A capsule, or the sphere that a short one is."""
    middle = scale(add(found.start, found.end), 0.5)
    way = add(found.end, scale(found.start, -1.0))
    half = norm(way) / 2.0
    if half < LEAST:
        return "sphere", Pose(translation=middle), (), found.radius
    return "capsule", Pose(_turned_to(scale(way, 0.5 / half)), middle), (half,), found.radius


def _turned_to(z: Vec3) -> Mat3:
    """A rotation whose last column is the unit vector z."""
    if z == (0.0, 0.0, 1.0):
        return IDENTITY
    least = int(np.argmin(np.abs(z)))
    x = np.cross(np.eye(3)[least], z)
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    rows = np.stack([x, y, np.array(z)], axis=1).tolist()
    return (tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))


def _of_collision(
    collision: Element, source: Path | None, vertices: Iterator[Any], most: int
) -> tuple[list[Core], str]:
    """The shape of a `<collision>` in the link's frame, a mesh as `most` capsules at most, and what it takes in besides, or
    empty."""
    shape, pose = placed_shape(collision)
    if shape.tag == "mesh":
        return _of_mesh(shape, source, next(vertices, None), pose, most)
    core, text = _of_solid(shape, pose)
    return [core], text


def _of_mesh(shape: Element, source: Path | None, points: Any, pose: Pose, most: int) -> tuple[list[Core], str]:
    """Capsules about a mesh, of a file or of `points` in the link's frame."""
    name, triangles = "mesh", np.empty((0, 3, 3))
    if points is None:
        points, triangles, name = mesh_points(shape, source, most > 1)
        R, x = np.array(pose.rotation), np.array(pose.translation)
        points, triangles = points @ R.T + x, triangles @ R.T + x
    corners, volume = hull(points)
    if most > 1 and not len(triangles):
        triangles = hull_triangles(points)
    found = capsules_of(triangles, most) if most > 1 and len(triangles) else [fitted(corners)]
    total = sum(capsule.volume for capsule in found)
    text = f"{name} of {len(points)} vertices is in "
    if len(found) == 1:
        text += f"a capsule of length {found[0].length:.4g} and radius {found[0].radius:.4g} m"
    else:
        text += f"{len(found)} capsules of radii {', '.join(f'{capsule.radius:.4g}' for capsule in found)} m"
    text += f", {total / volume:.2f} times its hull" if volume > 0.0 else ""
    return [_capsule(capsule) for capsule in found], text


def _of_solid(shape: Element, pose: Pose) -> tuple[Core, str]:
    """Any other shape."""
    if shape.tag == "sphere":
        return ("sphere", pose, (), _size(shape, "radius")), ""
    if shape.tag == "plane":
        return ("plane", pose, (0.0,), 0.0), ""
    if shape.tag == "box":
        sides = read_vector(shape.attributes.get("size", ""))
        if min(sides) <= 0.0:
            raise Refused(f"<box> size={quoted(shape.attributes.get('size', ''))}: sides above 0 m are expected")
        x, y, z = sides
        return ("box", pose, (x / 2, y / 2, z / 2), 0.0), ""
    if shape.tag not in ("capsule", "cylinder"):
        raise Refused(
            f"{shape.label}: spheres, capsules, boxes, cylinders, planes and meshes are taken; write [[shape]] entries for "
            "the link"
        )
    radius, length = _size(shape, "radius"), _size(shape, "length")
    found, text = Capsule((0.0, 0.0, -length / 2), (0.0, 0.0, length / 2), radius), ""
    if shape.tag == "cylinder":
        found = about_cylinder(radius, length)
        share = found.volume / (math.pi * radius**2 * length)
        text = f"a cylinder becomes the capsule about it, of radius {found.radius:.4g} m, {share:.2f} times its volume"
    kind, place, halves, swept = _capsule(found)
    return (kind, compose(pose, place), halves, swept), text


def _size(shape: Element, attribute: str) -> float:
    if attribute not in shape.attributes:
        raise Refused(f"{shape.label} has no {attribute}")
    value = read_number(shape.attributes[attribute])
    if value < LEAST:
        raise Refused(f"{shape.label} {attribute}={value:g}: at least {LEAST:g} m is expected")
    return value


def expect_shapes(robot: Robot) -> None:
    """Refuses a robot without any, before anything is derived."""
    if not robot.shapes:
        raise InputError(
            f"{robot.name}: {arg.clearance}: the description has no <collision>, and the recipe no [[shape]]; nothing is to be "
            "kept clear of."
        )


__all__ = ["WORLD_FRAME", "ShapeEntry", "Shaping", "expect_shapes", "shapes_of"]
