"""Contacts: planes, spheres, capsules and boxes on links, by a recipe or of the shapes of `<collision>`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from diffpbd.codegen.description.geometry.rigid import SHORTEST_AXIS, add, apply, dot, norm, scale
from diffpbd.codegen.description.joints.loops import WORLD_FRAME, found_place, no_link, place_of
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.contact_law import NUMBERS, law_faults, law_words
from diffpbd.codegen.description.robot.robot import BOX, Contact, Plane, Robot, Vec3
from diffpbd.codegen.description.shapes.contact_shapes import (
    ContactEntry,
    elements,
    names_of,
    shape_faults,
    together_faults,
)
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.base.names import PUNCTUATION, strange_characters


@dataclass(frozen=True)
class PlaneEntry:
    """A `[[plane]]` of a recipe: a surface through `point` [m] on a link or the world, `normal` away from the solid."""

    name: str
    point: Vec3
    normal: Vec3
    link: str = WORLD_FRAME


@dataclass(frozen=True)
class Touching:
    """Entries of a recipe about contact; `collisions` are words LINK or LINK=PLANE whose `<collision>` is taken."""

    planes: tuple[PlaneEntry, ...] = ()
    contacts: tuple[ContactEntry, ...] = ()
    collisions: tuple[str, ...] = ()


def contact_faults(
    selection: Selection, planes: Sequence[PlaneEntry], contacts: Sequence[ContactEntry]
) -> Iterator[Finding]:
    """Planes and contacts that cannot be."""
    every: list[PlaneEntry | ContactEntry] = [*planes, *contacts]
    counts = Counter(plane.name for plane in planes)
    counts.update(name for contact in contacts for name in names_of(contact))
    for name in (name for name, count in counts.items() if count > 1):
        yield Finding(
            "contact", f"{counts[name]} planes and contacts are called {quoted(name)}; names must differ", (), (name,)
        )
    for entry in every:
        if place_of(selection, entry.link) is None:
            kind = "plane" if isinstance(entry, PlaneEntry) else "contact"
            message = f"{kind} {quoted(entry.name)}: {no_link(selection, entry.link)}"
            yield Finding("contact", message, (entry.link,), (entry.name,))
    for plane in planes:
        if norm(plane.normal) < SHORTEST_AXIS:
            message = f"plane {quoted(plane.name)}: its normal {_numbers(plane.normal)} has no direction"
            yield Finding("contact", message, (plane.link,), (plane.name,))
    yield from _surface_faults(contacts)
    others = {entry.name: entry for entry in every}
    touched = {name for contact in contacts for name in contact.against}
    for contact in contacts:
        where = f"contact {quoted(contact.name)}"
        for message in _alone(contact, touched):
            yield Finding("contact", f"{where}: {message}", (contact.link,), (contact.name,))
        for name, count in Counter(contact.against).items():
            against = f"{where} against {quoted(name)}: "
            if name not in others:
                yield Finding(
                    "contact", f"{against}no such plane or contact{_meant(name, others)}", (), (contact.name,)
                )
                continue
            if count > 1:
                yield Finding("contact", f"{against}named {count} times", (), (contact.name,))
            for message in _together(selection, contact, others[name]):
                yield Finding("contact", against + message, (contact.link,), (contact.name, name))


def _surface_faults(contacts: Sequence[ContactEntry]) -> Iterator[Finding]:
    """Contacts of one surface that differ, and surfaces called like a contact that is none of theirs."""
    surfaces: dict[str, list[ContactEntry]] = {}
    for contact in contacts:
        if contact.surface is not None:
            surfaces.setdefault(contact.surface, []).append(contact)
    for name, members in surfaces.items():
        where = f"surface {quoted(name)}"
        names = tuple(contact.name for contact in members)
        for what in (*NUMBERS, "link"):
            if len({getattr(c, what) for c in members}) > 1:
                values = ", ".join(f"{c.name} {getattr(c, what)}" for c in members)
                message = f"{where}: its contacts have different {what} ({values}); one is expected"
                yield Finding("contact", message, tuple(dict.fromkeys(c.link for c in members)), names)
        if any(c.name == name and c.surface != name for c in contacts):
            message = f"{where}: a contact of that name is none of it; their entries of alpha would be the same"
            yield Finding("contact", message, (), (name,))
        if not name.strip() or strange_characters(name):
            message = f"{where}: a name of letters, digits, spaces and {PUNCTUATION.strip()} is expected"
            yield Finding("contact", message, (), names)


def _alone(contact: ContactEntry, touched: set[str]) -> Iterator[str]:
    """Errors of a single contact (its pairs are checked in `_together`)."""
    if contact.radius < 0.0:
        yield f"radius {contact.radius:g} m is negative; 0 is a point"
    yield from shape_faults(contact)
    if not contact.against and contact.name not in touched:
        yield "it touches nothing: `against` names a plane or another contact, or another contact names this one"
    if contact.against and contact.friction is None:
        yield "friction is missing; 0 is frictionless"
    yield from law_faults(contact)


def _together(selection: Selection, contact: ContactEntry, other: PlaneEntry | ContactEntry) -> Iterator[str]:
    """Errors of two that should touch."""
    places = [place_of(selection, link) for link in (contact.link, other.link)]
    if places[0] and places[1] and places[0][0] == places[1][0]:
        same = "the same link" if contact.link == other.link else f"rigidly one link with {quoted(other.link)}"
        yield f"both are on {quoted(contact.link)}, {same}; they cannot move against each other"
    if isinstance(other, PlaneEntry):
        return
    if contact.name in other.against and contact.name < other.name:
        yield "each names the other; once is enough"
    yield from together_faults(contact, other)


def _meant(name: str, others: dict[str, PlaneEntry | ContactEntry]) -> str:
    near = get_close_matches(name, others, 1)
    return f"; {quoted(near[0])} was meant?" if near else f"; there are {listed(others) or 'none'}"


def _numbers(v: Vec3) -> str:
    return f"[{', '.join(f'{x:g}' for x in v)}]"


def contact_doubts(planes: Sequence[PlaneEntry], contacts: Sequence[ContactEntry]) -> Iterator[Finding]:
    """Planes that nothing touches."""
    touched = {name for contact in contacts for name in contact.against}
    for plane in planes:
        if plane.name not in touched:
            message = f"plane {quoted(plane.name)}: no contact is against it, nothing stops there"
            yield Finding("contact", message, (plane.link,), (plane.name,))


def touching(
    selection: Selection, planes: Sequence[PlaneEntry], contacts: Sequence[ContactEntry]
) -> tuple[tuple[Plane, ...], tuple[Contact, ...]]:
    """Planes and contacts on moving links; there are no `contact_faults`."""
    entries = {entry.name: entry for entry in contacts}
    found = (part for entry in contacts for part in elements(selection, entry, entries))
    return tuple(_plane(selection, entry) for entry in planes), tuple(found)


def _plane(selection: Selection, entry: PlaneEntry) -> Plane:
    link, pose = found_place(selection, entry.link)
    normal = apply(pose.rotation, scale(entry.normal, 1.0 / norm(entry.normal)))
    point = add(pose.translation, apply(pose.rotation, entry.point))
    return Plane(entry.name, link, normal, dot(normal, point))


def contact_lines(robot: Robot) -> list[str]:
    """A line for everything that can touch, for `check`."""

    def on(link: int) -> str:
        return "the world" if link < 0 else robot.links[link].name

    lines = []
    for pair in robot.pairs:
        own, other = pair.sphere, pair.other
        shape = "box" if own.core == BOX else f"{own.core} of {own.radius:g} m" if own.radius else "point"
        kind = "plane" if isinstance(other, Plane) else other.core
        lines.append(
            f"contact {quoted(own.name)}: {shape} on {on(own.link)} against {kind} {quoted(other.name)} on {on(other.link)}, "
            f"{law_words(own)}"
        )
    return lines
