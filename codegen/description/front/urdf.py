"""The door: a URDF or MJCF file in, a Robot out, or one exception that lists every fault."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.codegen.description.check.validate import Source, examine
from diffpbd.codegen.description.joints.base import FIXED
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.description.robot.robot import Robot


def read_urdf(
    source: Source,
    *,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    hold: Sequence[str] = (),
    base_joint: str = FIXED,
) -> Robot:
    """Reads a URDF or MJCF file (or its bytes) as the tree of moving links from `base` to `tip`.

    `base` is a link name, by default the root; `tip` one or several link names, by default every end below
    the base. Everything rigidly attached is merged into the moving link that carries it; joints named in
    `hold` are welded at their zero position (of any type, so a floating base can be welded too); what hangs
    on any other moving joint that does not lead to a tip is left out. Gravity and tip poses are in the root
    link's frame.
    `base_joint` makes a planar or floating base of it, as does a joint of such a type on a root that carries nothing else.
    Supported: revolute, continuous, prismatic, screw and fixed joints, and joints that mimic one of these; other planar and
    floating joints are refused where they are chosen. Raises DescriptionError with every
    fault at once.
    """
    report, robot = examine(source, base=base, tip=tip, hold=hold, base_joint=base_joint)
    if robot is None:
        raise DescriptionError(report)
    return robot
