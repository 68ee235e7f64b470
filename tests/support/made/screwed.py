"""Screws as Drake writes them."""

from __future__ import annotations

from support.description.builders import LIMIT, joint, link, robot

PART = "screw:prismatic"
"""The slide that a screw is read as."""
PITCH = 0.3
"""[m] In a whole turn."""
BODY = (
    '<inertial><origin xyz="0.1 -0.05 0.2"/><mass value="1.5"/>'
    '<inertia ixx="0.04" ixy="0.002" ixz="-0.003" iyy="0.05" iyz="0.001" izz="0.03"/></inertial>'
)
PLACES = ("0 0 0.4", "0.1 0.2 0.3", "0.2 0 0.1")


def thread(pitch: float = PITCH) -> str:
    return f'{LIMIT}<drake:screw_thread_pitch value="{pitch}"/>'


def screw(parent: str, child: str, more: str = "", at: str = PLACES[1]) -> str:
    written = joint("screw", parent, child, "screw", more or thread(), at)
    return written.replace("<joint", "<drake:joint").replace("</joint", "</drake:joint")


def with_prefix(*parts: str) -> bytes:
    return robot(*parts).replace(b"<robot ", b'<robot xmlns:drake="http://drake.mit.edu" ')


def screwed_arm() -> bytes:
    """A hinge, a screw on it about an axis of its own, and a hinge behind."""
    moved = (f'<origin xyz="{PLACES[1]}"', f'<origin rpy="0.3 -0.2 0.5" xyz="{PLACES[1]}"')
    return with_prefix(
        link("base"), *(link(k, BODY) for k in ("arm", "nut", "hand")),
        joint("first", "base", "arm", at=PLACES[0]),
        screw("arm", "nut").replace(*moved).replace('<axis xyz="0 1 0"', '<axis xyz="1 2 -2"'),
        joint("last", "nut", "hand", at=PLACES[2]),
    )  # fmt: skip
