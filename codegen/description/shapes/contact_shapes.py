"""Shapes that touch: a `[[contact]]` that is a capsule or a box, as the spheres, points and cores that contacts are made of.

Against a plane a capsule is the spheres NAME.1 and NAME.2 at its ends, a box the points NAME.1 to NAME.8 at its corners.
Against spheres and capsules it is its core NAME. Two capsules touch at every end of either, which carries one that lies along
the other, and where they cross:

    NAME.1, NAME.2 against OTHER,        NAME against OTHER.1, OTHER.2,        NAME against OTHER
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from diffpbd.codegen.description.geometry.rigid import add, apply, multiply, norm, rotation_from_rpy, scale
from diffpbd.codegen.description.joints.loops import found_place
from diffpbd.codegen.description.report import quoted
from diffpbd.codegen.description.robot.contact_law import ContactLaw, given
from diffpbd.codegen.description.robot.robot import BOX, CAPSULE, IDENTITY, SPHERE, ZERO, Contact, Mat3, Vec3
from diffpbd.codegen.description.tree.selection import Selection

SHORTEST: Final = 1e-6
"""[m] Least length of a capsule between its ends, and of a box's side."""
CORNERS: Final = tuple(product((-1.0, 1.0), repeat=3))
"""Corners of a box, in halves of its sides."""


@dataclass(frozen=True)
class ContactEntry(ContactLaw):
    """A `[[contact]]` of a recipe: a sphere about `point` [m] on a link (radius 0: a point), and the planes and contacts that
    it touches; one that others touch needs neither `against` nor `friction`. With `end`, the other end of its axis, it is a
    capsule, with `size` [m] a box about `point`, turned by `rpy` [rad]. Contacts of one `surface` on a link share their law:
    the numbers of it in alpha stand under the surface's name."""

    name: str
    link: str
    point: Vec3
    radius: float = 0.0
    against: tuple[str, ...] = ()
    surface: str | None = None
    end: Vec3 | None = None
    size: Vec3 | None = None
    rpy: Vec3 = ZERO


def kind_of(entry: ContactEntry) -> str:
    """Sphere (or point), capsule or box."""
    return BOX if entry.size is not None else CAPSULE if entry.end is not None else SPHERE


def names_of(entry: ContactEntry) -> list[str]:
    """Names of what a contact is made of, its own among them."""
    parts = {SPHERE: 0, CAPSULE: 2, BOX: len(CORNERS)}[kind_of(entry)]
    return [*(f"{entry.name}.{k + 1}" for k in range(parts)), entry.name]


def shape_faults(entry: ContactEntry) -> Iterator[str]:
    """Errors of the shape of a contact."""
    if entry.end is not None and entry.size is not None:
        yield "it has `end` (a capsule) and `size` (a box); one of them is expected"
        return
    kind = kind_of(entry)
    if kind == CAPSULE and entry.end is not None:
        if norm(add(entry.end, scale(entry.point, -1.0))) < SHORTEST:
            yield f"a capsule from point to end has at least {SHORTEST:g} m; without `end` it is a sphere"
        if entry.radius == 0.0:
            yield "radius is missing; a capsule's is above 0 m"
    if kind == BOX and entry.size is not None:
        if min(entry.size) < SHORTEST:
            yield f"size {list(entry.size)}: sides of at least {SHORTEST:g} m are expected"
        if entry.radius:
            yield f"radius {entry.radius:g} m: a box has `size`, no radius"
    if kind != BOX and entry.rpy != ZERO:
        yield "rpy turns a box alone; `size` is missing"


def together_faults(one: ContactEntry, other: ContactEntry) -> Iterator[str]:
    """Shapes that cannot touch each other."""
    kinds = {kind_of(one), kind_of(other)}
    if BOX in kinds and (kinds != {BOX, SPHERE}):
        yield (
            f"a {kind_of(one)} against a {kind_of(other)}: boxes touch planes and spheres; write spheres along "
            f"{quoted(one.name if kind_of(one) != BOX or kinds == {BOX} else other.name)}, or a plane for a face of the box"
        )
    elif BOX in kinds and not all(entry.radius or kind_of(entry) == BOX for entry in (one, other)):
        yield "a point and a box: a sphere with a radius is expected, or a plane for a face of the box"
    elif kinds == {SPHERE} and one.radius == other.radius == 0.0:
        yield "both are points, which never meet; one needs a radius"


def elements(selection: Selection, entry: ContactEntry, others: Mapping[str, ContactEntry]) -> Sequence[Contact]:
    """The contacts that one of a recipe is made of, on its moving link; `others` are those of the recipe, planes are not."""
    link, pose = found_place(selection, entry.link)
    kind = kind_of(entry)
    planes = tuple(name for name in entry.against if name not in others)
    shapes = tuple(name for name in entry.against if name in others)
    surface = entry.surface or ("" if kind == SPHERE else entry.name)
    part = "" if kind == SPHERE else entry.name

    def made(
        name: str, point: Vec3, against: tuple[str, ...], core: str = SPHERE, axes: Mat3 = IDENTITY, sides: Vec3 = ZERO
    ) -> Contact:
        return Contact(
            name, link, add(pose.translation, apply(pose.rotation, point)), entry.radius, against, surface, part, core, axes,
            scale(sides, 0.5), **{"friction": 0.0, **given(entry)},
        )  # fmt: skip

    if kind == SPHERE:
        return [made(entry.name, entry.point, entry.against)]
    if kind == BOX:
        assert entry.size is not None
        turned, (x, y, z) = rotation_from_rpy(entry.rpy), scale(entry.size, 0.5)
        corners = [add(entry.point, apply(turned, (a * x, b * y, c * z))) for a, b, c in CORNERS]
        own = [made(f"{entry.name}.{k + 1}", corner, planes) for k, corner in enumerate(corners)]
        axes = multiply(pose.rotation, turned)
        return [*own, made(entry.name, entry.point, shapes, BOX, axes, entry.size)]
    assert entry.end is not None
    round_ones = tuple(name for name in shapes if kind_of(others[name]) == CAPSULE)
    ends = [made(f"{entry.name}.{k + 1}", x, planes + round_ones) for k, x in enumerate((entry.point, entry.end))]
    met: list[str] = []
    for name in shapes:
        met += [f"{name}.1", f"{name}.2", name] if name in round_ones else [name]
    middle = scale(add(entry.point, entry.end), 0.5)
    return [*ends, made(entry.name, middle, tuple(met), CAPSULE)]
