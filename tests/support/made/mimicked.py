"""A gripper whose fingers follow one joint."""

from __future__ import annotations

from support.description.builders import LIMIT, joint, link, robot


def follows(name: str, multiplier: float = 1.0, offset: float = 0.0) -> str:
    return f'{LIMIT}<mimic joint="{name}" multiplier="{multiplier}" offset="{offset}"/>'


def gripper() -> bytes:
    """A hinged arm; two fingers that slide together; a knuckle that follows the arm backwards, and what follows that."""
    return robot(
        *map(link, ("base", "arm", "left", "right", "knuckle", "tip")),
        joint("ja", "base", "arm", "revolute"),
        joint("jk", "arm", "knuckle", "revolute", follows("jt", -1.5, 0.3), at="0.1 0.2 0.3"),
        joint("jt", "knuckle", "tip", "revolute", follows("ja", 0.5, -0.2), at="0 0.1 0.3"),
        joint("jl", "arm", "left", "prismatic", at="0.1 0 0.2"),
        joint("jr", "arm", "right", "prismatic", follows("jl", -2.0, 0.01), at="-0.1 0 0.2"),
    )
