"""Contacts from the shapes of `<collision>`, for links that are asked for by name.

Against a plane a sphere is one; a box its eight corners; a capsule the spheres of both ends, and so is a cylinder, whose rim
they round off. Against another link a shape is a sphere, capsule or box as a recipe writes it, a cylinder the capsule of these
spheres. Everything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from diffpbd.codegen.description.geometry.rigid import Pose, add, apply, rotation_from_rpy, rpy_from_rotation
from diffpbd.codegen.description.read.numerals import NumberError, read_number, read_vector
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import ZERO, Vec3
from diffpbd.codegen.description.shapes.contact_shapes import ContactEntry
from diffpbd.codegen.description.shapes.contacts import PlaneEntry
from diffpbd.codegen.description.shapes.surfaces import coefficient, of_gazebo
from diffpbd.runtime.base.errors import arg

_SHAPES: Final = ("sphere", "box", "cylinder", "capsule")
Spheres = list[tuple[Vec3, float]]
"""Centres [m] in the shape's frame, with radii [m]."""


class Refused(ValueError):
    """A shape of a `<collision>` that is not taken, with the reason."""


@dataclass(frozen=True)
class _Asked:
    """A link, the planes and links that it shall touch, and the file's own element of the plane."""

    planes: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    surface: Element | None = None


def collision_contacts(
    root: Element, words: Sequence[str], planes: Sequence[PlaneEntry], free: str = ""
) -> tuple[tuple[ContactEntry, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """Contacts LINK.K of every LINK[=PLANE], faults, doubts; without a PLANE against the only one there is. Those of the link
    `free`, a base that moves, are one surface where the file does not tell its shapes apart. Of LINK=OTHER, a link, contacts
    LINK and OTHER, or LINK.shapeK where a link has several shapes."""
    found: list[ContactEntry] = []
    faults: list[Finding] = []
    doubts: list[Finding] = []
    links = {element.attributes.get("name", ""): element for element in root.named("link")}
    asked: set[tuple[str, str]] = set()
    known = [p.name for p in planes]
    between = [word.split("=") for word in words if word.count("=") == 1 and word.split("=")[1] not in known]
    solid = {link: _Asked() for pair in between if set(pair) <= links.keys() for link in pair}
    for word in words:
        link, _, plane = word.partition("=")
        where = f"contact from collision of {quoted(link)}: "
        reason = _unusable(link, plane, "=" in word, links, known)
        other = plane if link in solid and plane in solid and plane not in known else ""
        if (link, other) in asked:
            reason = "asked for twice"
        asked.add((link, other))
        if reason:
            faults.append(Finding("collision", where + reason, (link,)))
            continue
        if other:
            solid[link].links.append(other)
            continue
        against = next(entry for entry in planes if entry.name == (plane or planes[0].name))
        surface = _surface_of(against, links)
        if link in solid:
            solid[link] = replace(solid[link], planes=[against.name], surface=surface)
            continue
        count, own = 0, len(found)
        for k, element in enumerate(links[link].named("collision")):
            try:
                spheres, doubt = _spheres(element)
            except (Refused, NumberError) as error:
                faults.append(Finding("collision", f"{where}shape {k + 1}: {error}", (link,)))
                continue
            friction, loss = coefficient(element, surface, of_gazebo(root, link))
            doubts += [Finding("collision", f"{where}shape {k + 1}: {text}", (link,)) for text in (doubt, loss) if text]
            for centre, radius in spheres:
                count += 1
                found.append(ContactEntry(f"{link}.{count}", link, centre, radius, (against.name,), friction=friction))
        if link == free and len({contact.friction for contact in found[own:]}) == 1:
            found[own:] = [replace(contact, surface=link) for contact in found[own:]]
    if not faults:
        own_shapes = [c for link, wanted in solid.items() for c in _solids(root, links, link, wanted, faults, doubts)]
        found += [] if faults else own_shapes
    return tuple(found), tuple(faults), tuple(doubts)


def _solids(
    root: Element, links: Mapping[str, Element], link: str, wanted: _Asked, faults: list[Finding], doubts: list[Finding]
) -> Iterator[ContactEntry]:
    """The shapes of a link that touches links or is touched by them; adds to faults and doubts."""
    against = tuple(wanted.planes) + tuple(name for other in wanted.links for name in _names(links, other))
    where = f"contact from collision of {quoted(link)}: "
    for k, (name, element) in enumerate(zip(_names(links, link), links[link].named("collision"), strict=True)):
        try:
            shape, pose = _shape(element)
            own, doubt = _of_shape(shape)
        except (Refused, NumberError) as error:
            faults.append(Finding("collision", f"{where}shape {k + 1}: {error}", (link,)))
            continue
        friction, loss = coefficient(element, wanted.surface, of_gazebo(root, link))
        doubts += [Finding("collision", f"{where}shape {k + 1}: {text}", (link,)) for text in (doubt, loss) if text]
        places = [_placed(pose, centre) for centre, _ in own]
        touches: dict[str, Any] = {"against": against, "friction": friction if against else None}
        if shape.tag == "box":
            more: dict[str, Any] = {
                "size": read_vector(shape.attributes["size"]),
                "rpy": rpy_from_rotation(pose.rotation),
            }
            yield ContactEntry(name, link, pose.translation, **touches, **more)
        else:
            yield ContactEntry(name, link, places[0], own[0][1], **touches, end=places[1] if places[1:] else None)


def _names(links: Mapping[str, Element], link: str) -> list[str]:
    """Names of the contacts of a link's shapes."""
    count = len(links[link].named("collision"))
    return [link] if count == 1 else [f"{link}.shape{k + 1}" for k in range(count)]


def _surface_of(plane: PlaneEntry, links: dict[str, Element]) -> Element | None:
    """The file's own plane of the same name on the same link, if it has one."""
    here = links[plane.link].named("collision") if plane.link in links else []
    named = (element for element in here if element.attributes.get("name") == plane.name)
    return next((element for element in named if _is_plane(element)), None)


def _is_plane(collision: Element) -> bool:
    return any(child.tag == "plane" for geometry in collision.named("geometry") for child in geometry.children)


def _unusable(link: str, plane: str, named: bool, links: dict[str, Element], planes: list[str]) -> str:
    """Why nothing can be taken of a link, or empty."""
    if link not in links:
        return f"the description has no link {quoted(link)}"
    if not links[link].named("collision"):
        return "the link has no <collision>"
    if named and plane not in planes and plane == link:
        return f"against itself; name another link as {link}=OTHER"
    if named and plane not in planes and plane in links:
        return "" if links[plane].named("collision") else f"the link {quoted(plane)} has no <collision>"
    if named and plane not in planes:
        return (
            f"there is no plane {quoted(plane)}; a recipe's [[plane]] makes one, here {listed(planes) or 'none'}, and no link "
            "of that name"
        )
    if not named and len(planes) != 1:
        return (
            f"{len(planes)} planes; name one as {link}=PLANE"
            if planes
            else f"no [[plane]] in the recipe to be against; {arg.ground} 0 makes one"
        )
    return ""


def _spheres(collision: Element) -> tuple[Spheres, str]:
    """Spheres of a `<collision>` in the link's frame, and a doubt or empty."""
    shape, pose = _shape(collision)
    own, doubt = _of_shape(shape)
    return [(_placed(pose, centre), radius) for centre, radius in own], doubt


def _placed(pose: Pose, point: Vec3) -> Vec3:
    return add(pose.translation, apply(pose.rotation, point))


def placed_shape(collision: Element) -> tuple[Element, Pose]:
    """The one shape of a `<collision>`, of whatever kind, and its place in the link's frame."""
    geometries = [child for element in collision.named("geometry") for child in element.children]
    if len(geometries) != 1:
        raise Refused(f"{len(geometries)} shapes in <geometry>, one is expected")
    pose = Pose()
    for origin in collision.named("origin"):
        xyz, rpy = (read_vector(origin.attributes[k]) if k in origin.attributes else ZERO for k in ("xyz", "rpy"))
        pose = Pose(rotation_from_rpy(rpy), xyz)
    return geometries[0], pose


def _shape(collision: Element) -> tuple[Element, Pose]:
    """The shape of a `<collision>`, and its place in the link's frame."""
    shape, pose = placed_shape(collision)
    if shape.tag not in _SHAPES:
        raise Refused(f"{shape.label}: only {', '.join(_SHAPES)} are taken; write [[contact]] entries for it")
    return shape, pose


def _of_shape(shape: Element) -> tuple[Spheres, str]:
    if shape.tag == "sphere":
        return [(ZERO, _size(shape, "radius"))], ""
    if shape.tag == "box":
        text = shape.attributes.get("size", "")
        sides = read_vector(text)
        if min(sides) <= 0.0:
            raise Refused(f"<box> size={quoted(text)}: sides above 0 m are expected")
        x, y, z = (side / 2.0 for side in sides)
        return [((a * x, b * y, c * z), 0.0) for a, b, c in product((-1.0, 1.0), repeat=3)], ""
    radius, length = _size(shape, "radius"), _size(shape, "length")
    if shape.tag == "capsule":
        return list(_ends(length / 2.0, radius)), ""
    if length < 2.0 * radius:
        raise Refused(
            f"<cylinder> of length {length:g} m and radius {radius:g} m: no spheres fit its ends; write [[contact]] entries"
        )
    doubt = "a cylinder becomes the two spheres that fit its ends; its rim does not touch"
    return list(_ends(length / 2.0 - radius, radius)), doubt


def _ends(z: float, radius: float) -> Iterator[tuple[Vec3, float]]:
    for end in (-z, z) if z else (z,):
        yield (0.0, 0.0, end), radius


def _size(shape: Element, attribute: str) -> float:
    if attribute not in shape.attributes:
        raise Refused(f"{shape.label} has no {attribute}")
    value = read_number(shape.attributes[attribute])
    if value <= 0.0:
        raise Refused(f"{shape.label} {attribute}={value:g}: above 0 m is expected")
    return value
