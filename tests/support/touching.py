"""Robots that touch something: bodies on slides and hinges, and arms over tables, as recipes beside their URDF files."""

from __future__ import annotations

from typing import Any

from support.mechanisms import Mechanism, Numbers, bar, body, five_bar, joint

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


def two_arms() -> Mechanism:
    """Two arms on a turntable; a hand of the one against a plate and a ball on the other."""
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
        planes=[{"name": "plate", "link": "right", "point": (0.2, 0.0, 0.03), "normal": (0.2, 0.1, 1.0)}],
        contacts=[
            contact("hand", "hand", (0.3, 0.02, -0.01), 0.03, ["plate", "ball"]),
            {"name": "ball", "link": "right", "point": (0.4, 0.0, 0.05), "radius": 0.06},
        ],
    )  # fmt: skip


MASS, HALF, RADIUS = 1.0, (0.1, 0.1, 0.05), 0.1
"""[kg, m] Of the bodies below; half the sides of the box."""


def inertial(mass: float, moments: Numbers) -> str:
    x, y, z = moments
    return (
        f'<inertial><mass value="{mass}"/><inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def free(name: str, moments: Numbers, contacts: list[dict[str, Any]], base: str) -> tuple[Mechanism, str]:
    """One body over a table, which moves as `base` says; and the line of its recipe."""
    root = f'<link name="{name}">{inertial(MASS, moments)}</link>'
    return Mechanism([], [], [], {}, root=root, planes=[TABLE], contacts=contacts), f'base_joint = "{base}"'


def ball(base: str = "planar", friction: float = 0.2) -> tuple[Mechanism, str]:
    moment = 0.4 * MASS * RADIUS**2
    return free("ball", (moment,) * 3, [contact("ball", "ball", (0.0, 0.0, 0.0), RADIUS, friction=friction)], base)


def box(base: str = "planar", friction: float = 0.5, every: bool = False) -> tuple[Mechanism, str]:
    """Its corners below, or all; of a planar one those of a side."""
    a, b, c = HALF
    moments = tuple(MASS / 3 * (x * x + y * y) for x, y in ((b, c), (a, c), (a, b)))
    sides = (0,) if base == "planar" else (-1, 1)
    corners = [(x * a, y * b, z * c) for z in ((-1, 1) if every else (-1,)) for x in (-1, 1) for y in sides]
    touching = [contact(f"corner_{k + 1}", "box", point, friction=friction) for k, point in enumerate(corners)]
    return free("box", moments, touching, base)


def tossed() -> tuple[Mechanism, str]:
    """The box, free, with all its corners as one surface, and all of both in alpha."""
    mechanism, line = box("floating", every=True)
    for touching in mechanism.contacts:
        touching["surface"] = "box"
    return mechanism, f'{line}\nsymbolic = ["mass", "com", "inertia", "contact"]'


def rod() -> tuple[Mechanism, str]:
    """In a plane, 2 m long, its tips over the table."""
    tips = [
        contact("front", "rod", (1.0, 0.0, 0.0), 0.02, friction=0.5),
        contact("back", "rod", (-1.0, 0.0, 0.0), friction=0.3),
    ]
    return free("rod", (1e-3, MASS / 3, MASS / 3), tips, "planar")


def stack(count: int = 10) -> Mechanism:
    """Balls on upright slides, each on the one below, the lowest on a table."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    names = [f"ball_{k}" for k in range(count)]
    moment = 0.4 * MASS * RADIUS**2
    return Mechanism(
        [f'<link name="{name}">{inertial(MASS, (moment,) * 3)}</link>' for name in names],
        [
            joint(f"z_{k}", "base", name, (0, 0, 0), (0, 0, 1), kind="prismatic", limit=limit)
            for k, name in enumerate(names)
        ],
        [],
        {},
        planes=[TABLE],
        contacts=[
            contact(name, name, (0.0, 0.0, 0.0), RADIUS, names[k - 1] if k else "table", 0.3 if k % 2 else 0.0)
            for k, name in enumerate(names)
        ],
    )


def ball_on_a_hill() -> tuple[Mechanism, str]:
    """In a plane, on a sphere of 0.5 m that stands fixed."""
    mechanism, line = ball("planar", 5.0)
    hill = {"name": "hill", "link": "world", "point": (0.0, 0.0, 0.0), "radius": 0.5}
    mechanism.planes, mechanism.contacts = [], [{**mechanism.contacts[0], "against": "hill"}, hill]
    return mechanism, line


def two_balls() -> Mechanism:
    """Two balls on slides and hinges in a plane, free of each other but where they meet."""
    limit, moment = '<limit lower="-9" upper="9" effort="1" velocity="1"/>', 0.4 * MASS * RADIUS**2
    links, joints = [], []
    for name in "ab":
        mass = f'<link name="{name}">{inertial(MASS, (moment,) * 3)}</link>'
        links += [f'<link name="{name}x"/>', f'<link name="{name}xy"/>', mass]
        for k, (parent, child) in enumerate((("base", f"{name}x"), (f"{name}x", f"{name}xy"))):
            axis = (1 - k, k, 0)
            joints.append(joint(f"{child}_slide", parent, child, (0, 0, 0), axis, kind="prismatic", limit=limit))
        joints.append(joint(f"{name}_turn", f"{name}xy", name, (0, 0, 0), (0, 0, 1)))
    other = {"name": "b", "link": "b", "point": (0.0, 0.0, 0.0), "radius": RADIUS}
    return Mechanism(links, joints, [], {}, contacts=[contact("a", "a", (0.0, 0.0, 0.0), RADIUS, "b"), other])


def pressing_five_bar() -> Mechanism:
    """A five-bar whose tip lies on a table that its arms hang over: a closed loop in contact."""
    mechanism = five_bar()
    mechanism.planes = [{**TABLE, "point": (0.0, 0.0, 0.5)}]
    mechanism.contacts = [contact("tip", "l2", (0.5, 0.0, 0.0), 0.02, friction=0.4)]
    return mechanism


def block(friction: float = 0.5) -> Mechanism:
    """A point mass on three slides over a table."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    names = ["base", "at_x", "at_xy", "block"]
    slides = [
        joint(name, names[k], names[k + 1], (0, 0, 0), axis, kind="prismatic", limit=limit)
        for k, (name, axis) in enumerate(axes.items())
    ]
    mass = f'<link name="block">{inertial(MASS, (1e-3, 1e-3, 1e-3))}</link>'
    links = ['<link name="at_x"/>', '<link name="at_xy"/>', mass]
    return Mechanism(links, slides, [], {}, planes=[TABLE], contacts=[contact("block", "block", (0.0, 0.0, 0.0))])


def presser() -> Mechanism:
    """Two hinges in the x-z plane, their tip, a sphere, over a table."""
    shoulder = joint("shoulder", "base", "upper", (0.0, 0.0, 0.3))
    return Mechanism(
        [bar("upper", 1.0, 0.4), bar("fore", 0.7, 0.4), '<link name="hand"/>'],
        [shoulder, joint("elbow", "upper", "fore", (0.4, 0.0, 0.0)), joint("wrist", "fore", "hand", (0.4, 0, 0), kind="fixed")],
        [],
        {"shoulder": 0.6, "elbow": -1.5},
        planes=[TABLE],
        contacts=[contact("tip", "hand", (0.0, 0.0, 0.0), 0.02, friction=0.4)],
    )  # fmt: skip
