"""Left and right: links and joints whose names mirror each other and whose numbers do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from diffpbd.codegen.description.check.faults import principal_moments
from diffpbd.codegen.description.geometry.rigid import norm
from diffpbd.codegen.description.report import Finding, quoted
from diffpbd.codegen.description.tree.elements import Document, JointElement, LinkElement

ASYMMETRY: Final = 1e-3
"""[1] Relative difference of mirrored numbers that is still the rounding of a description."""

_MIRROR: Final = {
    "left": "right",
    "l": "r",
    "lf": "rf",
    "lh": "rh",
    "fl": "fr",
    "rl": "rr",
    "hl": "hr",
    "bl": "br",
}
_WORDS: Final = re.compile(r"[^A-Za-z]+|[A-Za-z]+")


def asymmetry_doubts(document: Document) -> Iterator[Finding]:
    """Mirrored links that differ in mass, distance of the COM or principal moments; joints in limits."""
    links = {link.name: link for link in document.links}
    for link in document.links:
        for name in mirrored(link.name):
            if name in links:
                yield from _differences("link", link.name, name, _of_link(link), _of_link(links[name]))
    joints = {joint.name: joint for joint in document.joints}
    for joint in document.joints:
        for name in mirrored(joint.name):
            if name in joints:
                yield from _differences("joint", joint.name, name, _of_joint(joint), _of_joint(joints[name]))


def mirrored(name: str) -> list[str]:
    """Names on the right of a name on the left: left_wrist gives right_wrist, finger_l gives finger_r."""
    words = _WORDS.findall(name)
    found = []
    for i, word in enumerate(words):
        other = _MIRROR.get(word.lower())
        if other is None:
            for left, right in (("left", "right"), ("Left", "Right")):
                if left in word:
                    found.append("".join((*words[:i], word.replace(left, right), *words[i + 1 :])))
            continue
        if word.isupper():
            other = other.upper()
        elif word[0].isupper():
            other = other.capitalize()
        found.append("".join((*words[:i], other, *words[i + 1 :])))
    return found


def _differences(
    kind: str, left: str, right: str, of_left: dict[str, float], of_right: dict[str, float]
) -> Iterator[Finding]:
    numbers: list[tuple[str, float]] = []
    told: list[str] = []
    for quantity, a in of_left.items():
        b = of_right.get(quantity, a)
        if a != b and abs(a - b) > ASYMMETRY * max(abs(a), abs(b)):
            numbers += [(f"{quantity}_left", a), (f"{quantity}_right", b)]
            told.append(f"{quantity.replace('_', ' ')} {a:.6g} and {b:.6g}")
    if told:
        message = f"{kind}s {quoted(left)} and {quoted(right)} differ: {', '.join(told)}"
        names = (left, right)
        of_links, of_joints = (names, ()) if kind == "link" else ((), names)
        yield Finding("asymmetry", message, of_links, of_joints, tuple(numbers))


def _of_link(link: LinkElement) -> dict[str, float]:
    if link.inertial is None:
        return {"mass": 0.0}
    smallest, middle, largest = principal_moments(link.inertial.inertia)
    return {
        "mass": link.inertial.mass,
        "distance_of_the_COM": norm(link.inertial.com),
        "smallest_moment": smallest,
        "middle_moment": middle,
        "largest_moment": largest,
    }


def _of_joint(joint: JointElement) -> dict[str, float]:
    quantities = {"effort": joint.effort, "velocity": joint.velocity}
    values = {name: value for name, value in quantities.items() if value is not None}
    if joint.lower is not None and joint.upper is not None:
        values["range"] = joint.upper - joint.lower
    return values
