"""Bodies whose contacts are capsules, boxes and spheres: free ones over a table and against each other, and arms."""

from __future__ import annotations

from typing import Any

from support.mechanisms import Mechanism, Numbers, bar, body, joint
from support.touching import MASS, TABLE, free, inertial

LENGTH, THICK = 0.4, 0.05
"""[m] Between the ends of a capsule, and its radius."""
FAR = '<limit lower="-99" upper="99" effort="1" velocity="1"/>'
ROD_MOMENTS = (0.002, 0.02, 0.02)
"""[kg·m²] Of a capsule along x."""


def shape(name: str, link: str, kind: str, against: Any = (), friction: float = 0.5, **more: Any) -> dict[str, Any]:
    """A rod along x, a cube of 0.2 m, or a ball of 0.1 m, about the origin of its link."""
    own: dict[str, Any] = {
        "rod": {"point": (-LENGTH / 2, 0.0, 0.0), "end": (LENGTH / 2, 0.0, 0.0), "radius": THICK},
        "cube": {"point": (0.0, 0.0, 0.0), "size": (0.2, 0.2, 0.2)},
        "ball": {"point": (0.0, 0.0, 0.0), "radius": 0.1},
    }[kind]
    touches = {"against": list(against), "friction": friction} if against else {}
    return {"name": name, "link": link, **own, **touches, **more}


def moments(kind: str, mass: float = MASS) -> Numbers:
    """Moments of inertia of a body of that shape."""
    if kind == "rod":
        return tuple(mass * x for x in ROD_MOMENTS)
    return ((mass * 0.2**2 / 6 if kind == "cube" else 0.4 * mass * 0.1**2),) * 3


def alone(kind: str, base: str = "floating", friction: float = 0.5, **more: Any) -> tuple[Mechanism, str]:
    """One free body over a table."""
    return free("body", moments(kind), [shape("body", "body", kind, ["table"], friction, **more)], base)


FREE = ("x", "y", "z", "yaw", "pitch", "roll")
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "yaw": (0, 0, 1), "pitch": (0, 1, 0), "roll": (1, 0, 0)}


def pair(
    one: str,
    other: str,
    ways: tuple[tuple[str, ...], tuple[str, ...]] = (FREE, FREE),
    turned: float = 0.0,
    masses: tuple[float, float] = (MASS, MASS),
    table: bool = False,
    place: Numbers = (0.0, 0.0, 0.0),
    **more: Any,
) -> Mechanism:
    """Two bodies on slides and hinges `ways`, the second turned about z by so much at its place before these; they touch each
    other, and a table or not."""
    links, joints = [], []
    for name, kind, mass, own, yaw in (
        ("one", one, masses[0], ways[0], 0.0),
        ("two", other, masses[1], ways[1], turned),
    ):
        way = ["base", *(f"{name}_{k}" for k in own[:-1]), name]
        links += [f'<link name="{k}"/>' for k in way[1:-1]]
        links.append(f'<link name="{name}">{inertial(mass, moments(kind, mass))}</link>')
        for k, (before, after, kinds) in enumerate(zip(way, way[1:], own, strict=False)):
            slide = {"kind": "prismatic", "limit": FAR} if kinds in "xyz" else {}
            joints.append(
                joint(
                    f"{name}_{kinds}_joint",
                    before,
                    after,
                    place if yaw and not k else (0, 0, 0),
                    AXES[kinds],
                    (0, 0, 0 if k else yaw),
                    **slide,
                )
            )
    on = ["table"] if table else []
    touching = [shape("one", "one", one, ["two", *on], **more), shape("two", "two", other, on)]
    return Mechanism(links, joints, [], {}, planes=[TABLE] if table else [], contacts=touching)


def over(kind: str, other: str, friction: float = 0.5, **more: Any) -> tuple[Mechanism, str]:
    """A free body over a shape that stands about the world's origin."""
    mechanism, line = alone(kind, friction=friction, **more)
    mechanism.contacts[0]["against"], mechanism.planes = ["stand"], []
    mechanism.contacts.append(shape("stand", "world", other))
    return mechanism, line


def shaped_arms() -> Mechanism:
    """Two arms on a turntable: capsules, balls and a box on their links, against each other, a table and what stands there."""
    return Mechanism(
        [body("turn", 2.0, (0.0, 0.0, 0.1), (0.2,) * 3), bar("left", 1.0, 0.4), bar("hand", 0.7, 0.3), bar("right", 1.0, 0.4)],
        [
            joint("j1", "base", "turn", (0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)),
            joint("j2", "turn", "left", (0.05, 0.1, 0.2), rpy=(0.3, 0.0, 0.2)),
            joint("j3", "left", "hand", (0.4, 0.0, 0.0), axis=(0.0, 0.6, 0.8)),
            joint("j4", "turn", "right", (0.05, -0.2, 0.1), axis=(0.1, -0.8, 0.3), rpy=(0.0, 0.2, 0.5)),
        ],
        [],
        {},
        planes=[TABLE],
        contacts=[
            {"name": "hand", "link": "hand", "point": (0.02, 0.01, 0.0), "end": (0.3, 0.02, -0.01), "radius": 0.03,
             "against": ["table", "arm", "knob", "post"], "friction": 0.5},
            {"name": "arm", "link": "right", "point": (0.0, 0.0, 0.01), "end": (0.4, 0.01, 0.0), "radius": 0.05},
            {"name": "knob", "link": "turn", "point": (-0.1, 0.1, 0.2), "radius": 0.05},
            {"name": "tip", "link": "hand", "point": (0.31, 0.0, 0.0), "radius": 0.04, "against": ["arm", "block", "stand"],
             "friction": 0.0},
            {"name": "block", "link": "right", "point": (0.2, 0.1, 0.0), "size": (0.1, 0.2, 0.15), "rpy": (0.3, -0.2, 0.5)},
            {"name": "stand", "link": "world", "point": (0.4, -0.3, 0.4), "size": (0.2, 0.1, 0.8), "rpy": (0.0, 0.0, 0.4)},
            {"name": "post", "link": "world", "point": (0.4, 0.5, 0.0), "end": (0.4, 0.45, 0.8), "radius": 0.1},
        ],
    )  # fmt: skip
