"""Everything that is wrong or doubtful about a description, at once."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diffpbd.codegen.description.check.doubts import link_doubts, mass_doubts, mimic_doubts, selection_doubts
from diffpbd.codegen.description.check.faults import BODY_FAULTS, JOINT_FAULTS, document_faults, selection_faults
from diffpbd.codegen.description.check.symmetry import asymmetry_doubts
from diffpbd.codegen.description.joints.base import FIXED, Base, base_doubts, base_faults, massless_base, with_base
from diffpbd.codegen.description.joints.joint_parts import in_parts
from diffpbd.codegen.description.joints.loops import (
    LoopEntry,
    closed,
    cut_doubts,
    gathered,
    length_faults,
    loop_faults,
    passive_doubts,
    passive_faults,
)
from diffpbd.codegen.description.read.mjcf.document import is_mjcf, mesh_vertices, read_mjcf
from diffpbd.codegen.description.read.source import Element, SourceError, parse, read_bytes
from diffpbd.codegen.description.read.urdf.document import read_document
from diffpbd.codegen.description.read.urdf.transmissions import rotor_doubts, rotors
from diffpbd.codegen.description.recipe.options import as_names
from diffpbd.codegen.description.report import Finding, Report
from diffpbd.codegen.description.robot.robot import WORLD, Robot, Shape
from diffpbd.codegen.description.shapes.clearance import Shaping, shapes_of
from diffpbd.codegen.description.shapes.collisions import collision_contacts
from diffpbd.codegen.description.shapes.contacts import Touching, contact_doubts, contact_faults, touching
from diffpbd.codegen.description.tree.assembly import assemble
from diffpbd.codegen.description.tree.elements import Document
from diffpbd.codegen.description.tree.selection import Selection, grow, select

Source = str | os.PathLike[str] | bytes


def check(
    source: Source,
    *,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    hold: Sequence[str] = (),
    base_joint: str = FIXED,
) -> Report:
    """The report on a URDF or MJCF file (or its bytes) as the robot from `base` to `tip`; see `read_urdf`.

    Raises InputError only where the file cannot be read at all.
    """
    return examine(source, base=base, tip=tip, hold=hold, base_joint=base_joint)[0]


def examine(
    source: Source,
    *,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    hold: Sequence[str] = (),
    loops: Sequence[LoopEntry] = (),
    passive: Sequence[str] = (),
    base_joint: str = FIXED,
    touch: Touching = Touching(),  # noqa: B008 (frozen)
    shaping: Shaping = Shaping(),  # noqa: B008 (frozen)
    frames: Sequence[str] = (),
) -> tuple[Report, Robot | None]:
    """The report and, without faults, the robot; `loops` and `touch` are a recipe's, `passive` joints have no motor (besides
    those of which an MJCF says so), `base_joint` says how the base moves; shapes are read if `shaping` asks for them, sites of
    an MJCF become links if `frames` names them."""
    name, content = read_bytes(source)
    try:
        root = parse(content)
        document = read_mjcf(source, (*as_names(tip), *frames)) if is_mjcf(root) else read_document(root)
    except SourceError as error:
        return Report(name, faults=(Finding("source", str(error)),)), None
    faults = [*document.faults, *document_faults(document)]
    doubts = [*link_doubts(document), *asymmetry_doubts(document)]
    foot = with_base(in_parts(document, as_names(hold)), base, as_names(hold), base_joint)
    root_link = base if foot.kind == FIXED else None
    selection, more = _chosen(foot.document, root_link, as_names(tip), as_names(hold), document.sites)
    faults += more
    robot = None
    if selection is not None:
        faults, unfelt = _unfelt(_of_chosen(faults, document, selection, foot), selection)
        doubts += unfelt
        faults += selection_faults(selection)
        doubts += selection_doubts(selection)
        passive = _passive(document, selection, passive)
        cuts = gathered(selection, loops, document.loops)
        faults += (
            *loop_faults(selection, cuts),
            *passive_faults(selection, passive),
            *base_faults(foot, document, as_names(hold)),
        )
        doubts += (*cut_doubts(selection), *passive_doubts(selection, passive), *base_doubts(foot, document))
        taken, refused, doubtful = collision_contacts(
            document.shapes or root, touch.collisions, touch.planes, foot.link if foot.kind != FIXED else ""
        )
        spheres = (*touch.contacts, *taken)
        faults += (*refused, *contact_faults(selection, touch.planes, spheres))
        doubts += (*doubtful, *contact_doubts(touch.planes, spheres))
        shapes, refused, doubtful = _shapes(source, document, root, selection, shaping)
        faults, doubts = [*faults, *refused], [*doubts, *doubtful]
    if selection is not None and not faults:
        robot = assemble(document.name or "robot", selection)
        robot = replace(
            robot, loops=closed(robot, selection, cuts), passive=tuple(dict.fromkeys((*foot.freedoms, *passive)))
        )
        faults += length_faults(robot)
        planes, contacts = touching(selection, touch.planes, spheres)
        robot = replace(robot, planes=planes, contacts=contacts, shapes=shapes)
        if foot.kind != FIXED:
            robot = replace(robot, base=foot.chosen, base_joint=foot.kind)
            faults += massless_base(foot, robot)
        driven = [rotor for rotor in rotors(root) if rotor.joint in {joint.name for joint in robot.joints}]
        robot = replace(robot, rotors=tuple((rotor.joint, rotor.reflected) for rotor in driven))
        doubts += rotor_doubts(driven)
        doubts += mimic_doubts(robot)
        doubts += mass_doubts(selection, robot)
    if faults:
        robot = None
    # Numbers that could not be read stand as zeros here: no doubt about them is worth a line.
    unread = {name for fault in document.faults for name in (*fault.links, *fault.joints)}
    report = Report(
        source=name,
        name=document.name,
        joints=tuple(joint.name for joint in robot.joints if not joint.part) if robot else (),
        tips=tuple(tip.name for tip in robot.tips) if robot else (),
        moving_mass=robot.total_mass if robot else 0.0,
        total_mass=math.fsum(link.inertial.mass for link in document.links if link.inertial is not None),
        faults=tuple(faults),
        doubts=(*document.doubts, *(doubt for doubt in doubts if unread.isdisjoint(doubt.names))),
    )
    return report, robot


def _shapes(
    source: Source, document: Document, root: Element, selection: Selection, shaping: Shaping
) -> tuple[tuple[Shape, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """Shapes that must not touch, errors, warnings; nothing unless it is asked for."""
    if not shaping.asked:
        return (), (), ()
    vertices = mesh_vertices(source) if document.shapes is not None else {}
    place = None if isinstance(source, bytes) else Path(source)
    return shapes_of(document.shapes or root, selection, shaping, place, vertices)


def _passive(document: Document, selection: Selection, more: Sequence[str]) -> tuple[str, ...]:
    """Chosen joints of which the file says that they have no motor, and those of the recipe."""
    chosen = {joint.name for joint in selection.joints}
    return (*(name for name in document.passive if name in chosen and name not in more), *more)


def _of_chosen(faults: list[Finding], document: Document, selection: Selection, foot: Base) -> list[Finding]:
    """Faults without those of joints that are held, left out or before the base."""
    chosen = {foot.joint, *(joint.name for joint in selection.joints)}
    others = {joint.name for joint in document.joints} - chosen

    def concerns(fault: Finding) -> bool:
        return fault.code not in JOINT_FAULTS or others.isdisjoint(fault.joints) or not chosen.isdisjoint(fault.joints)

    return [fault for fault in faults if concerns(fault)]


def _unfelt(faults: list[Finding], selection: Selection) -> tuple[list[Finding], list[Finding]]:
    """Faults without, and as doubts those about the inertia of links on the base, which no torque depends on."""
    on_base = {name for name, (carrier, _) in selection.place.items() if carrier == WORLD}
    kept: list[Finding] = []
    doubts: list[Finding] = []
    for fault in faults:
        if fault.code in BODY_FAULTS and on_base.issuperset(fault.links):
            message = f"{fault.message}; it is fixed to the base, no torque depends on it"
            doubts.append(replace(fault, message=message))
        else:
            kept.append(fault)
    return kept, doubts


def _chosen(
    document: Document, base: str | None, tips: tuple[str, ...], hold: tuple[str, ...], sites: frozenset[str]
) -> tuple[Selection | None, list[Finding]]:
    tree, faults = grow(document)
    if tree is None:
        return None, faults
    return select(tree, base, tips, hold, sites)
