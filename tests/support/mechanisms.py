"""Mechanisms with closed loops as recipes beside their URDF files: planar, spatial, overconstrained, and with shared links."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime import Robot, load
from support.robots import CACHE, generated

Numbers = tuple[float, ...]


def words(values: Numbers) -> str:
    return " ".join(repr(float(x)) for x in values)


def body(name: str, mass: float, com: Numbers, box: Numbers) -> str:
    x, y, z = box
    ixx, iyy, izz = (mass * (a * a + b * b) / 12 for a, b in ((y, z), (x, z), (x, y)))
    return (
        f'<link name="{name}"><inertial><origin xyz="{words(com)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def bar(name: str, mass: float, length: float) -> str:
    return body(name, mass, (length / 2, 0, 0), (length, 0.04, 0.04))


def joint(
    name: str, parent: str, child: str, xyz: Numbers, axis: Numbers = (0, -1, 0), rpy: Numbers = (0, 0, 0), **more: Any
) -> str:
    """A continuous hinge (by default in the x-z plane, angle from x towards z), or another `kind`; `limit` as in the file."""
    kind, limit = more.get("kind", "continuous"), more.get("limit", "")
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{words(xyz)}" rpy="{words(rpy)}"/><axis xyz="{words(axis)}"/>{limit}</joint>'
    )


@dataclass
class Mechanism:
    """Links and joints of the tree, loops as tables of the recipe, a pose near a closed one by joint name."""

    links: list[str]
    joints: list[str]
    loops: list[dict[str, Any]]
    guess: dict[str, float]
    passive: list[str] = field(default_factory=list)
    more: str = ""
    root: str = '<link name="base"/>'
    planes: list[dict[str, Any]] = field(default_factory=list)
    contacts: list[dict[str, Any]] = field(default_factory=list)

    def write(self, folder: Path, name: str, recipe: str = "") -> Path:
        """Writes NAME.urdf and NAME.toml; `recipe` are further lines of it."""
        folder.mkdir(parents=True, exist_ok=True)
        tree = f"{self.root}{''.join(self.links)}{''.join(self.joints)}{self.more}"
        (folder / f"{name}.urdf").write_text(f'<robot name="{name}">{tree}</robot>')
        lines = [recipe, f"passive = {self.passive!r}"]
        for kind, tables in (("loop", self.loops), ("plane", self.planes), ("contact", self.contacts)):
            for table in tables:
                lines += [f"[[{kind}]]", *(f"{key} = {toml(value)}" for key, value in table.items())]
        path = folder / f"{name}.toml"
        path.write_text("\n".join(lines) + "\n")
        return path


def in_cache(made: Mechanism | tuple[Mechanism, str], name: str, more: str = "", sources: str = "touching") -> Path:
    """The recipe of a mechanism, with or without lines of its own, among the sources of the tests."""
    mechanism, line = made if isinstance(made, tuple) else (made, "")
    return mechanism.write(CACHE / sources, name, "\n".join(filter(None, (line, more))))


def robot_of(
    made: Mechanism | tuple[Mechanism, str], name: str, more: str = "", sources: str = "touching",
    functions: tuple[str, ...] = ("joint_step", "jac_alpha_joint_step"),
) -> Robot:  # fmt: skip
    """It, generated."""
    return load(generated(str(in_cache(made, name, more, sources)), functions=functions))


def toml(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (float, int)):
        return repr(float(value))
    return f"[{', '.join(map(toml, value))}]"


def loop(
    name: str, kind: str, parent: str, parent_xyz: Numbers, child: str, child_xyz: Numbers, **more: Any
) -> dict[str, Any]:
    ends = {"parent_xyz": parent_xyz, "child_xyz": child_xyz}
    return {"name": name, "type": kind, "parent": parent, "child": child, **ends, **more}


PLANAR = (0.0, -1.0, 0.0)


def four_bar() -> Mechanism:
    """Crank 0.3, coupler 0.8, rocker 0.6, ground 0.7 m; mobility 1, driven at j1."""
    return Mechanism(
        [bar("crank", 1.0, 0.3), bar("coupler", 1.5, 0.8), bar("rocker", 1.2, 0.6)],
        [
            joint("j1", "base", "crank", (0, 0, 0)),
            joint("j2", "crank", "coupler", (0.3, 0, 0)),
            joint("j3", "base", "rocker", (0.7, 0, 0)),
        ],
        [loop("four_bar", "hinge", "coupler", (0.8, 0, 0), "rocker", (0.6, 0, 0), axis=PLANAR)],
        {"j1": 0.9, "j2": -0.483, "j3": 1.1991},
        ["j2", "j3"],
    )


def parallelogram() -> Mechanism:
    """Crank and rocker of 0.3 m, coupler and ground of 0.6 m: stretched out, rows depend on each other."""
    return Mechanism(
        [bar("crank", 1.0, 0.3), bar("coupler", 1.5, 0.6), bar("rocker", 1.0, 0.3)],
        [
            joint("j1", "base", "crank", (0, 0, 0)),
            joint("j2", "crank", "coupler", (0.3, 0, 0)),
            joint("j3", "base", "rocker", (0.6, 0, 0)),
        ],
        [loop("par", "hinge", "coupler", (0.6, 0, 0), "rocker", (0.3, 0, 0), axis=PLANAR)],
        {"j1": 0.5, "j2": -0.5, "j3": 0.5},
        ["j2", "j3"],
    )


def five_bar() -> Mechanism:
    """Two arms of 0.3 and 0.5 m on bases 0.2 m apart, driven there; mobility 2."""
    return Mechanism(
        [bar("l1", 1.0, 0.3), bar("l2", 0.8, 0.5), bar("r1", 1.0, 0.3), bar("r2", 0.8, 0.5)],
        [
            joint("j1", "base", "l1", (0, 0, 0)),
            joint("j2", "l1", "l2", (0.3, 0, 0)),
            joint("j3", "base", "r1", (0.2, 0, 0)),
            joint("j4", "r1", "r2", (0.3, 0, 0)),
        ],
        [loop("five_bar", "hinge", "l2", (0.5, 0, 0), "r2", (0.5, 0, 0), axis=PLANAR)],
        {"j1": 2.2, "j2": -1.2, "j3": 0.9, "j4": 0.2},
        ["j2", "j4"],
    )


def watt() -> Mechanism:
    """A six-bar: a second loop on coupler and rocker of the four-bar; two loops share links, mobility 1."""
    four = four_bar()
    return Mechanism(
        [*four.links, bar("x1", 0.6, 0.45), bar("x2", 0.6, 0.5)],
        [*four.joints, joint("j4", "coupler", "x1", (0.5, 0, 0.25)), joint("j5", "rocker", "x2", (0.9, 0, -0.1))],
        [*four.loops, loop("second", "hinge", "x1", (0.45, 0, 0), "x2", (0.5, 0, 0), axis=PLANAR)],
        {"j1": 0.9, "j2": -0.48, "j3": 1.2, "j4": 0.8, "j5": 1.5},
    )


def slider_crank() -> Mechanism:
    """Crank 0.2 m, rod 0.5 m, a slide along x; mobility 1."""
    slide = {"kind": "prismatic", "limit": '<limit lower="-2" upper="2" effort="1" velocity="1"/>'}
    return Mechanism(
        [bar("crank", 1.0, 0.2), bar("rod", 0.7, 0.5), body("piston", 0.5, (0, 0, 0), (0.05, 0.05, 0.05))],
        [
            joint("j1", "base", "crank", (0, 0, 0)),
            joint("j2", "crank", "rod", (0.2, 0, 0)),
            joint("s", "base", "piston", (0, 0, 0.05), (1, 0, 0), **slide),
        ],
        [loop("pin", "hinge", "rod", (0.5, 0, 0), "piston", (0, 0, 0), axis=PLANAR)],
        {"j1": 0.7, "j2": -0.9, "s": 0.6},
    )


def spatial_four_bar() -> Mechanism:
    """RSSR: crank and rocker on crossed axes, a rod between two balls as a distance; mobility 1."""
    return Mechanism(
        [bar("crank", 1.0, 0.2), bar("rocker", 1.2, 0.4)],
        [
            joint("j1", "base", "crank", (0, 0, 0), (0, 0, 1)),
            joint("j2", "base", "rocker", (0.6, 0.2, 0.1), (0, 1, 0), (0, 0, 0.4)),
        ],
        [loop("rod", "distance", "crank", (0.2, 0, 0), "rocker", (0.4, 0, 0), length=0.7)],
        {"j1": 0.4, "j2": -1.2},
    )


def about(axis: int, angle: float) -> Any:
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def bennett() -> Mechanism:
    """Bars of lengths a, b, a, b and twists 40, 75 degrees, a/sin 40 = b/sin 75: movable because of its dimensions alone."""
    a, one, other = 0.4, math.radians(40), math.radians(75)
    b = a * math.sin(other) / math.sin(one)
    bars = ((a, one), (b, other), (a, one))
    links = [
        body(f"l{k + 1}", 1.0 + 0.2 * k, (length / 2, 0, 0), (length, 0.05, 0.05)) for k, (length, _) in enumerate(bars)
    ]
    joints = [joint("j1", "base", "l1", (0, 0, 0), (0, 0, 1))]
    for k in (1, 2):
        length, twist = bars[k - 1]
        joints.append(joint(f"j{k + 1}", f"l{k}", f"l{k + 1}", (length, 0, 0), (0, 0, 1), (twist, 0, 0)))
    # the base is the fourth bar, from joint 4 to joint 1: joint 4 lies at -b, its axis turned back
    frame = loop("bennett", "hinge", "l3", (a, 0, 0), "base", (-b, 0, 0), axis=(0.0, 0.0, 1.0))
    frame |= {"parent_rpy": (one, 0.0, 0.0), "child_rpy": (-other, 0.0, 0.0)}
    return Mechanism(links, joints, [frame], {"j1": -1.0, "j2": -2.75, "j3": 1.0})


def delta() -> Mechanism:
    """3-RUU: three arms carry one plate; two loops through it, mobility 3."""
    base, plate, upper, lower = 0.2, 0.06, 0.25, 0.5
    links, joints, loops, guess = [], [], [], {}
    for k in range(3):
        t = 2 * math.pi * k / 3
        c, s = math.cos(t), math.sin(t)
        links += [
            body(f"u{k}", 0.6, (upper / 2, 0, 0), (upper, 0.04, 0.04)),
            body(f"c{k}", 0.05, (0, 0, 0), (0.03, 0.03, 0.03)),
            body(f"f{k}", 0.3, (0, 0, -lower / 2), (0.03, 0.03, lower)),
            body(f"e{k}", 0.05, (0, 0, 0), (0.03, 0.03, 0.03)),
        ]
        joints += [
            joint(f"a{k}", "base", f"u{k}", (base * c, base * s, 0), (0, 1, 0), (0, 0, t)),
            joint(f"b{k}", f"u{k}", f"c{k}", (upper, 0, 0), (0, 1, 0)),
            joint(f"d{k}", f"c{k}", f"f{k}", (0, 0, 0), (1, 0, 0)),
            joint(f"g{k}", f"f{k}", f"e{k}", (0, 0, -lower), (1, 0, 0)),
        ]
        guess |= {f"a{k}": 0.5, f"b{k}": -0.1, f"d{k}": 0.0, f"g{k}": 0.0}
        if k == 0:
            links.append(body("plate", 0.8, (-plate, 0, 0), (0.12, 0.12, 0.02)))
            joints.append(joint("i0", "e0", "plate", (0, 0, 0), (0, 1, 0)))
        else:
            turn = (0.0, 0.0, t)
            place = (-plate + plate * c, plate * s, 0)
            loops.append(
                loop(f"arm{k}", "hinge", f"e{k}", (0, 0, 0), "plate", place, axis=(0.0, 1.0, 0.0), child_rpy=turn)
            )
    return Mechanism(links, joints, loops, guess | {"i0": -0.4})


def ring() -> Mechanism:
    """Fourteen bars in space, hinges in turn across and upright; one path of fourteen joints, mobility 9."""
    links = [bar(f"l{k}", 0.5, 0.2) for k in range(14)]
    axes = ((0, -1, 0), (0, 0, 1))
    joints = [
        joint(f"j{k}", f"l{k - 1}" if k else "base", f"l{k}", (0.2 if k else 0, 0, 0), axes[k % 2]) for k in range(14)
    ]
    end = loop("ring", "hinge", "l13", (0.2, 0, 0), "base", (0.9, 0, 0), axis=(0.0, 0.0, 1.0))
    return Mechanism(links, joints, [end], {f"j{k}": (0.9, 0.1)[k % 2] for k in range(14)})


MECHANISMS = {
    "four_bar": four_bar, "parallelogram": parallelogram, "five_bar": five_bar, "watt": watt, "slider_crank": slider_crank,
    "spatial_four_bar": spatial_four_bar, "bennett": bennett, "delta": delta, "ring": ring,
}  # fmt: skip
