"""The URDF as written: links and joints, their numbers read strictly, every fault found on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final, TypeVar

from diffpbd.codegen.description.geometry.rigid import Pose, rotated_inertia, rotation_from_rpy, symmetric
from diffpbd.codegen.description.read.numerals import XACRO, NumberError, read_limit, read_number, read_vector
from diffpbd.codegen.description.read.source import DRAKE, Element
from diffpbd.codegen.description.read.unread import unread
from diffpbd.codegen.description.read.urdf.attributes import URDF, WHY
from diffpbd.codegen.description.report import Finding, listed, printable, quoted
from diffpbd.codegen.description.robot.robot import ZERO, Inertial
from diffpbd.codegen.description.tree.elements import (
    DEFAULT_AXIS,
    Document,
    JointElement,
    LinkElement,
    LoopElement,
    MimicElement,
    strange_name,
)
from diffpbd.runtime.base.joint_types import AT_ROOT, FIXED, JOINT_TYPES, MOVING, type_of

SIMILAR: Final = 0.75
"""[1] Likeness (difflib) from which an unknown element is taken for a misspelt one: Origin, limits, axes."""

_THREADS: Final = tuple(kind.pitch for kind in JOINT_TYPES.values() if kind.pitch)
_ROBOT_CHILDREN: Final = ("link", "joint", "loop_joint")
_SHAPES: Final = ("visual", "collision")
_LINK_CHILDREN: Final = ("inertial", *_SHAPES)
_JOINT_CHILDREN: Final = (
    "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
    *_THREADS,
)  # fmt: skip
_LOOP_CHILDREN: Final = ("link1", "link2", "axis")
_INERTIAL_CHILDREN: Final = ("origin", "mass", "inertia")
_INERTIA: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_ATTRIBUTES: Final = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": _INERTIA,
    "axis": ("xyz",),
    "parent": ("link",),
    "child": ("link",),
    "link1": ("link", "rpy", "xyz"),
    "link2": ("link", "rpy", "xyz"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}
_IGNORABLE: Final = ("limit", "dynamics")
"""Elements to which dialects add attributes that do not concern the rigid-body model."""

_WITHOUT_MEANING: Final = {"axis": ("rpy",)}
"""Attributes that the format does not have, that nothing hangs on and that no reader of it takes."""

_MIRRORED: Final = {"iyx": "ixy", "izx": "ixz", "izy": "iyz"}
"""Entries below the diagonal, which some exporters write too, and those above that they repeat."""

_APART: Final = ("gazebo", *_SHAPES, "transmission")
"""Elements whose content no dynamics comes from (a transmission's rotor is a doubt of its own)."""

Value = TypeVar("Value")


def read_document(root: Element) -> Document:
    """Reads every link and joint; nothing is refused here, faults are collected."""
    reader = _Reader()
    if root.tag != "robot" or root.namespace:
        reader.fault("root", f"the root element is {root.label}, a URDF has <robot>, an MJCF <mujoco>")
        return Document("", (), (), tuple(reader.faults), ())
    reader.find_foreign(root)
    reader.expect_children(root, _ROBOT_CHILDREN, others=True)
    name = root.attributes.get("name", "").strip()
    if not name:
        reader.doubt("robot-name", "the robot has no name")
    links = tuple(reader.link(element) for element in root.named("link"))
    joints = tuple(reader.joint(element) for element in spelt(root, "joint"))
    loops = tuple(reader.loop(element) for element in root.named("loop_joint"))
    reader.tell_ignored()
    if not links:
        reader.fault("no-links", "the description has no link")
    return Document(name, links, joints, tuple(reader.faults), (*reader.doubts, *unread([root], URDF, WHY)), loops)


def spelt(element: Element, tag: str) -> list[Element]:
    """Children of this name, Drake's too: what URDF lacks, its files have as <drake:joint> and elements in it."""
    return [child for child in element.children if child.tag == tag and (not child.namespace or child.prefix == DRAKE)]


class _Reader:
    """Collects findings about one link or joint at a time; `where` says which, for the messages."""

    def __init__(self) -> None:
        self.faults: list[Finding] = []
        self.doubts: list[Finding] = []
        self.ignored: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        self.where = ""
        self.links: tuple[str, ...] = ()
        self.joints: tuple[str, ...] = ()

    def fault(self, code: str, message: str) -> None:
        self.faults.append(Finding(code, self.where + message, self.links, self.joints))

    def doubt(self, code: str, message: str) -> None:
        self.doubts.append(Finding(code, self.where + message, self.links, self.joints))

    def ignore(self, what: str) -> None:
        self.ignored.setdefault(what, []).append((self.links, self.joints))

    def tell_ignored(self) -> None:
        """One doubt for everything of a kind: dialects repeat their elements in every link."""
        for what, where in self.ignored.items():
            links = tuple(dict.fromkeys(name for names, _ in where for name in names))
            joints = tuple(dict.fromkeys(name for _, names in where for name in names))
            message = f"unknown {what} was ignored in {listed((*links, *joints), 3)}"
            self.doubts.append(Finding("ignored", message, links, joints))

    def find_foreign(self, root: Element) -> None:
        """Leftovers of xacro and undeclared prefixes: faults where links could hide in them, doubts where none can."""
        stack = [(root, False)]
        while stack:
            element, apart = stack.pop()
            name = f"<{element.prefix}:{printable(element.tag)}> at line {element.line}"
            say = self.doubt if apart else self.fault
            where = "; it stands where nothing concerns the dynamics and was not read" if apart else ""
            if "xacro" in element.namespace:
                say("xacro", f"<xacro:{printable(element.tag)}> at line {element.line} {XACRO}{where}")
            elif element.undeclared:
                say("undeclared-prefix", f"{name}: the prefix is not declared (xmlns:{element.prefix}){where}")
            else:
                apart = apart or element.tag in _APART and not element.namespace
                stack.extend((child, apart) for child in reversed(element.children))

    def link(self, element: Element) -> LinkElement:
        name = self._enter("link", element)
        self.expect_children(element, _LINK_CHILDREN)
        inertial = self._single(element, "inertial")
        result = LinkElement(name, element.line, None if inertial is None else self._inertial(inertial))
        self._leave()
        return result

    def joint(self, element: Element) -> JointElement:
        name = self._enter("joint", element)
        self.expect_children(element, _JOINT_CHILDREN)
        self._expect_thread_alone(element)
        type_ = element.attributes.get("type", "")
        if type_ not in (*MOVING, *AT_ROOT, FIXED.name):
            known = ", ".join((*MOVING, FIXED.name))
            self.fault("joint-type", f"type {quoted(type_)} is not known; supported are {known}")
        axis = self._single(element, "axis")
        limit = self._single(element, "limit")
        dynamics = self._single(element, "dynamics")
        mimic = self._single(element, "mimic")
        result = JointElement(
            name=name,
            line=element.line,
            type=type_,
            parent=self._linked(element, "parent"),
            child=self._linked(element, "child"),
            pose=self._pose(element),
            axis=None if axis is None else self._value(axis, "xyz", read_vector, DEFAULT_AXIS, required=True),
            has_limit=limit is not None,
            lower=self._bound(limit, "lower"),
            upper=self._bound(limit, "upper"),
            velocity=self._bound(limit, "velocity"),
            effort=self._bound(limit, "effort"),
            damping=0.0 if dynamics is None else self._value(dynamics, "damping", read_number, 0.0),
            friction=0.0 if dynamics is None else self._value(dynamics, "friction", read_number, 0.0),
            mimic=None if mimic is None else self._mimic(mimic),
            pitch=self._pitch(element, type_of(type_).pitch),
        )
        self._leave()
        return result

    def loop(self, element: Element) -> LoopElement:
        name = self._enter("loop_joint", element)
        self.expect_children(element, _LOOP_CHILDREN)
        ends = (self._end(element, "link1"), self._end(element, "link2"))
        axis = self._single(element, "axis")
        direction = DEFAULT_AXIS if axis is None else self._value(axis, "xyz", read_vector, DEFAULT_AXIS, required=True)
        self._leave()
        return LoopElement(name, element.line, element.attributes.get("type", ""), ends, direction)

    def _end(self, element: Element, tag: str) -> tuple[str, Pose]:
        name, found = self._linked(element, tag), element.named(tag)
        if not found:
            return name, Pose()
        rpy = self._value(found[0], "rpy", read_vector, ZERO)
        return name, Pose(rotation_from_rpy(rpy), self._value(found[0], "xyz", read_vector, ZERO))

    def _enter(self, kind: str, element: Element) -> str:
        name = element.attributes.get("name", "")
        self.where = f"{kind} {quoted(name)}: "
        if kind == "link":
            self.links = (name,)
        else:
            self.joints = (name,)
        if not name.strip():
            self.fault(f"{kind}-name", f"a {kind} without a name at line {element.line}")
        if not self._expect_expanded(element, "name", name):
            self._expect_harmless(kind, name)
        return name

    def _expect_expanded(self, element: Element, attribute: str, text: str) -> bool:
        """Refuses what xacro left; whether there was something."""
        found = "${" in text or "$(" in text
        if found:
            self.fault("xacro", f"<{element.tag}> {attribute}={quoted(text)} {XACRO}")
        return found

    def _expect_harmless(self, kind: str, name: str) -> None:
        if finding := strange_name(kind, name):
            self.faults.append(finding)

    def _leave(self) -> None:
        self.where, self.links, self.joints = "", (), ()

    def expect_children(self, element: Element, known: tuple[str, ...], *, others: bool = False) -> None:
        """Names unknown elements (unless `others` are at home there), refuses those that look misspelt."""
        for child in element.children:
            if child.namespace or child.tag in known:
                continue
            meant = get_close_matches(child.tag.lower(), known, 1, SIMILAR)
            if meant and meant[0] not in _SHAPES:
                message = f"unknown {child.label} in {element.label}; <{meant[0]}> was meant?"
                self.fault("misspelt-element", message)
            elif not others:
                self.ignore(f"{child.label} in {element.label}")

    def _single(self, element: Element, tag: str) -> Element | None:
        found = element.named(tag)
        if len(found) > 1:
            self.fault("repeated-element", f"{len(found)} <{tag}> in <{element.tag}>, one is expected")
        if not found:
            return None
        self._expect_attributes(found[0])
        return found[0]

    def _expect_attributes(self, element: Element) -> None:
        known = _ATTRIBUTES.get(element.tag)
        for attribute in element.attributes:
            if known is None or attribute in known or attribute.startswith("{"):
                continue
            message = f"attribute {quoted(attribute)} of <{element.tag}> is not known"
            if element.tag in _IGNORABLE or attribute in _WITHOUT_MEANING.get(element.tag, ()):
                self.ignore(f"attribute {quoted(attribute)} of {element.label}")
            elif element.tag == "inertia" and attribute in _MIRRORED:
                self._expect_mirrored(element, attribute)
            else:
                self.fault("unknown-attribute", f"{message}; known are {', '.join(known)}")

    def _expect_mirrored(self, element: Element, attribute: str) -> None:
        """Checks that an inertia given with nine entries is symmetric."""
        upper = _MIRRORED[attribute]
        mine, other = (self._value(element, key, read_number, 0.0) for key in (attribute, upper))
        if mine == other:
            self.ignore(f"attribute {quoted(attribute)} of {element.label}, equal to {upper},")
        else:
            self.fault(
                "asymmetric-inertia", f"<inertia> {attribute}={mine:g} is not {upper}={other:g}; no inertia is so"
            )

    def _linked(self, element: Element, tag: str) -> str:
        found = self._single(element, tag)
        if found is None:
            self.fault(f"no-{tag}", f"no <{tag}> element")
            return ""
        name = found.attributes.get("link")
        if name is None:
            self.fault(f"no-{tag}", f"<{tag}> has no link attribute")
            return ""
        self._expect_expanded(found, "link", name)
        return name

    def _inertial(self, element: Element) -> Inertial:
        self.expect_children(element, _INERTIAL_CHILDREN)
        pose = self._pose(element)
        mass_element = self._single(element, "mass")
        inertia_element = self._single(element, "inertia")
        mass, entries = 0.0, [0.0] * len(_INERTIA)
        if mass_element is None:
            self.fault("no-mass", "<inertial> has no <mass>")
        else:
            mass = self._value(mass_element, "value", read_number, 0.0, required=True)
        if inertia_element is None:
            self.fault("no-inertia", "<inertial> has no <inertia>")
        else:
            entries = [self._value(inertia_element, key, read_number, 0.0, required=True) for key in _INERTIA]
        return Inertial(mass, pose.translation, rotated_inertia(pose.rotation, symmetric(*entries)))

    def _mimic(self, element: Element) -> MimicElement:
        name = element.attributes.get("joint", "")
        if not name:
            self.fault("mimic", "<mimic> does not name a joint to follow")
        self._expect_expanded(element, "joint", name)
        return MimicElement(
            name,
            self._value(element, "multiplier", read_number, 1.0),
            self._value(element, "offset", read_number, 0.0),
        )

    def _expect_thread_alone(self, element: Element) -> None:
        """Reports unsupported drake: elements of a joint."""
        for child in element.children:
            if child.prefix == DRAKE and child.tag not in _THREADS:
                self.ignore(f"<{DRAKE}:{printable(child.tag)}> in {element.label}")
            for attribute in child.attributes:
                if attribute.startswith("{") and DRAKE in attribute:
                    name = printable(attribute.rpartition("}")[2])
                    self.ignore(f"attribute {quoted(f'{DRAKE}:{name}')} of {child.label}")

    def _pitch(self, element: Element, tag: str) -> float:
        """Pitch [m per turn] of a joint whose second motion follows the first; another joint's is reported."""
        for other in _THREADS:
            if other != tag and spelt(element, other):
                self.doubt("pitch", f"<{DRAKE}:{other}> is not used: only a joint of type screw has a thread")
        found = spelt(element, tag)
        if tag and len(found) != 1:
            self.fault("pitch", f'{len(found)} <{DRAKE}:{tag} value="..."> [m per turn], one is expected')
        return self._value(found[0], "value", read_number, 0.0, required=True) if found else 0.0

    def _pose(self, element: Element) -> Pose:
        origin = self._single(element, "origin")
        if origin is None:
            return Pose()
        translation = self._value(origin, "xyz", read_vector, ZERO)
        rpy = self._value(origin, "rpy", read_vector, ZERO)
        return Pose(rotation_from_rpy(rpy), translation)

    def _bound(self, element: Element | None, attribute: str) -> float | None:
        if element is None or attribute not in element.attributes:
            return None
        return self._value(element, attribute, read_limit, 0.0)

    def _value(
        self,
        element: Element,
        attribute: str,
        read: Callable[[str], Value],
        default: Value,
        *,
        required: bool = False,
    ) -> Value:
        attributes: Mapping[str, str] = element.attributes
        if attribute not in attributes:
            if required:
                self.fault("no-number", f"<{element.tag}> has no attribute {attribute}")
            return default
        try:
            return read(attributes[attribute])
        except NumberError as error:
            self.fault("number", f"<{element.tag}> {attribute}={error}")
            return default
