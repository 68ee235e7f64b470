"""Shapes that are most likely in millimetres: too light for their volume, or far larger than the robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from diffpbd.codegen.description.geometry.rigid import norm
from diffpbd.codegen.description.read.numerals import NumberError, read_number
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.tree.selection import Selection

LIGHTEST: Final = 0.1
"""[kg/m³] Half of helium's density. A link whose lengths are a thousand times too large has 1e-5, in centimetres 1e-2."""
LARGER: Final = 10.0
"""[1] Times the robot's reach, beyond which a shape of a link without mass is no link's."""
LARGE: Final = 2.0
"""[m] What is smaller is not named for that reason."""
ASKED: Final = 'is it in millimetres? A mesh has scale="0.001 0.001 0.001" for that'


def unit_doubt(link: Element, selection: Selection, halves: Sequence[float], radius: float) -> str:
    """Reason to doubt that a sphere, capsule or box of a moving link (its `halves` and `radius`) is in metres, or ""."""
    name = link.attributes.get("name", "")
    if selection.place[name][0] < 0:
        return ""  # a hall or a floor
    span = 2.0 * (radius + max(halves, default=0.0))
    mass = _mass(link)
    density = mass / _volume(halves, radius)
    if mass > 0.0 and density < LIGHTEST:
        return f"it spans {span:.4g} m, and with its link's {mass:.4g} kg is lighter than a gas ({density:.1g} kg/m³); {ASKED}"
    reach = sum(norm(joint.pose.translation) for joint in selection.joints)
    reach += max(norm(pose.translation) for carrier, pose in selection.place.values() if carrier >= 0)
    if mass == 0.0 and reach > 0.0 and span > max(LARGE, LARGER * reach):
        return f"it spans {span:.4g} m, and the robot reaches {reach:.4g} m; {ASKED}"
    return ""


def _volume(halves: Sequence[float], radius: float) -> float:
    """[m³] Of a box about `halves`, a capsule, or a sphere."""
    if len(halves) > 1:
        return 8.0 * math.prod(half + radius for half in halves)
    return math.pi * radius**2 * (2.0 * sum(halves) + 4.0 / 3.0 * radius)


def _mass(link: Element) -> float:
    """[kg] As written; 0 where nothing is."""
    for inertial in link.named("inertial"):
        for mass in inertial.named("mass"):
            try:
                return read_number(mass.attributes.get("value", "0"))
            except NumberError:
                return 0.0
    return 0.0
