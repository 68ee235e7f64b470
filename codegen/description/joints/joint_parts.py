"""A joint of several motions as joints of one motion each, with massless links between them: what the derivation knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from diffpbd.codegen.description.geometry.rigid import Pose
from diffpbd.codegen.description.tree.elements import Document, JointElement, LinkElement, MimicElement
from diffpbd.runtime.base.joint_types import alone


def in_parts(document: Document, hold: Sequence[str]) -> Document:
    """The description with each joint of several motions as a chain: the first part keeps the name and all that a coordinate
    has, the second follows it. Joints in `hold` are welded as they are, and what closes a loop is no chain."""
    links, joints = list(document.links), list[JointElement]()
    used = {link.name for link in document.links} | {joint.name for joint in document.joints}
    reached: set[str] = set()
    for joint in document.joints:
        motions = joint.kind.motions
        if len(motions) < 2 or joint.name in hold or joint.child in reached:
            joints.append(joint)
        else:
            name = f"{joint.name}:{alone(motions[1]).name}"
            while name in used:
                name += "_"
            used.add(name)
            links.append(LinkElement(name, joint.line))
            follows = MimicElement(joint.name, joint.pitch / math.tau)
            joints.append(replace(joint, type=alone(motions[0]).name, child=name))
            joints.append(
                JointElement(
                    name,
                    joint.line,
                    alone(motions[1]).name,
                    name,
                    joint.child,
                    Pose(),
                    joint.axis,
                    mimic=follows,
                    part=True,
                )
            )
        reached.add(joint.child)
    return replace(document, links=tuple(links), joints=tuple(joints))
