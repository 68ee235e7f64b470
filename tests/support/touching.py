"""Robots that touch something: bodies on slides and hinges, and arms over tables, as recipes beside their URDF files."""

from __future__ import annotations

from typing import Any

from support.mechanisms import Mechanism, Numbers, bar, body, joint

TABLE = {"name": "table", "point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0)}


def contact(
    name: str, link: str, point: Numbers, radius: float = 0.0, against: Any = "table", friction: float = 0.5
) -> dict[str, Any]:
    return {"name": name, "link": link, "point": point, "radius": radius, "against": against, "friction": friction}


def reaching_arm() -> Mechanism:
    """A turntable and two hinges out of one plane; its hand and elbow over a table, a slanted wall, a tray and two balls, of
    which one turns with it."""
    return Mechanism(
        [body("turn", 2.0, (0.0, 0.0, 0.1), (0.2, 0.2, 0.2)), bar("upper", 1.0, 0.4), bar("fore", 0.7, 0.3)],
        [
            joint("j1", "base", "turn", (0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)),
            joint("j2", "turn", "upper", (0.05, 0.0, 0.2), rpy=(0.3, 0.0, 0.2)),
            joint("j3", "upper", "fore", (0.4, 0.0, 0.0), axis=(0.0, 0.6, 0.8)),
        ],
        [],
        {"j1": 0.3, "j2": -0.4, "j3": 0.6},
        planes=[
            TABLE,
            {"name": "wall", "point": (0.7, 0.1, 0.0), "normal": (-2.0, 0.5, 1.0)},
            {"name": "tray", "link": "turn", "point": (0.0, 0.0, 0.05), "normal": (0.1, 0.0, 1.0)},
        ],
        contacts=[
            contact("hand", "fore", (0.3, 0.02, -0.01), 0.03, ["table", "wall", "tray", "knob", "post"]),
            contact("elbow", "upper", (0.4, 0.0, 0.0), 0.0, "post", 0.0),
            {"name": "knob", "link": "turn", "point": (-0.1, 0.1, 0.2), "radius": 0.05},
            {"name": "post", "link": "world", "point": (0.4, 0.5, 0.3), "radius": 0.1},
        ],
    )


MECHANISMS = {"reaching_arm": reaching_arm}
