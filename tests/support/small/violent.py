"""Violent steps of seven robots, three of which bounce too, or have friction against turning, and of capsules and boxes: rates
up to 20 and more, long steps, high friction, noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from support import mechanisms
from support.judges.steps import Judge
from support.mechanisms import Mechanism
from support.robots import CACHE, generated
from support.small.shaped import alone, over, pair

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError

STEPS = 20
"""Of a start, at most: a status ends it."""
CASES = {"rod": "C01-contact-half-turn", "quad": "C01-contact-half-turn", "triple": "C02-dropped-rows-open",
         "weld4": "C03-weld-half-a-turn-off", "stops": "C04-start-outside-a-stop"}  # fmt: skip
MASSES = {"stack 1:1000": 1000.0, "stack 1:3": 3.0}
"""Of the box on top over the one below."""
SLIDES = {"rod": (0, 1), "stack": (0, 1, 3, 4), "hit": (0, 1, 3, 4)} | dict.fromkeys(
    ("quad", "cube", "rods", "edge"), (0, 1, 2)
)
Start = Callable[[Robot, np.random.Generator], tuple[Any, Any]]


def _rod(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    turn = rng.uniform(-3, 3)
    height = abs(np.sin(turn)) + 10.0 ** rng.uniform(-6, -1)
    return np.array([0.0, height, turn]), rng.standard_normal(3) * 10 ** rng.uniform(-1, 1.3)


def _stack(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    low, high = np.array([[-0.1, 0.1], [0.1, 0.2], [-0.4, 0.4], [-0.05, 0.05], [0.3, 0.4], [-0.4, 0.4]]).T
    return rng.uniform(low, high), rng.standard_normal(6) * 10 ** rng.uniform(-1, 1.3)


def _quad(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    q = np.r_[1, rng.uniform(-0.1, 0.1, 3)]
    place = [*rng.uniform(-0.1, 0.1, 2), rng.uniform(0.25, 0.32)]
    p = np.r_[place, q / np.linalg.norm(q), rng.uniform(-0.5, 0.5, 4)]
    return p, rng.standard_normal(10) * 10 ** rng.uniform(-1, 1.3)


def _closed(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    n = robot.n
    p = robot.close_loops(rng.uniform(-1.5, 1.5, n), np.zeros(n))
    return p, robot.close_rates(p, rng.standard_normal(n) * 10 ** rng.uniform(-1, 1.5))


def _stops(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    entries = {e.name: e.default for e in robot.alpha.entries}
    names = [name.removeprefix("limit.lower.") for name in entries if name.startswith("limit.lower.")]
    low, high = (np.array([entries[f"limit.{end}.{name}"] for name in names]) for end in ("lower", "upper"))
    p = np.zeros(robot.n)
    p[: len(names)] = rng.uniform(low, high)
    return p, rng.standard_normal(robot.n) * 10 ** rng.uniform(-1, 1.7)


SHAPED: dict[str, Callable[[], tuple[Mechanism, str]]] = {
    "cube": lambda: alone("cube"),
    "rods": lambda: over("rod", "rod"),
    "edge": lambda: over("ball", "cube"),
    "hit": lambda: (pair("rod", "ball", (("x", "z", "pitch"), ("x", "z")), place=(0.0, 0.0, 0.0), table=True), ""),
}
"""Robots of capsules and boxes: free ones over a table, a rod and a box that stands; a rod and a ball over a table."""


SMALL = 0.2
"""[1] Size of these over that of the others, by which their slides are slower."""


def _above(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    """A free body just outside of what it touches, turned at random."""
    q = rng.standard_normal(4)
    p = np.r_[rng.uniform(-0.2, 0.2, 2), 1.0, q / np.linalg.norm(q)]
    p[2] = _lowered(lambda z: float(np.min(robot.contact_gap(np.r_[p[:2], z, p[3:]]))), rng)
    return p, rng.standard_normal(6) * np.r_[[SMALL] * 3, 1, 1, 1] * 10 ** rng.uniform(-1, 1.3)


def _hit(robot: Robot, rng: np.random.Generator) -> tuple[Any, Any]:
    """A ball over a rod over a table."""
    p = np.r_[rng.uniform(-0.2, 0.2), 0.0, rng.uniform(-3, 3), rng.uniform(-0.3, 0.3), 2.0]
    p[1] = _lowered(lambda z: float(np.min(robot.contact_gap(np.r_[p[0], z, p[2:]]))), rng, 1.0)
    p[4] = _lowered(lambda z: float(np.min(robot.contact_gap(np.r_[p[:4], z]))), rng, 2.0)
    return p, rng.standard_normal(5) * [SMALL, SMALL, 1, SMALL, SMALL] * 10 ** rng.uniform(-1, 1.3)


def _lowered(gap: Callable[[float], float], rng: np.random.Generator, high: float = 1.0) -> float:
    """The least height [m] below a free one at which nothing overlaps, and a little."""
    low = -0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if gap(middle) > 0.0 else (middle, high)
    return high + 10.0 ** rng.uniform(-6, -1.5)


STARTS: dict[str, Start] = {
    "rod": _rod, "stack 1:1000": _stack, "stack 1:3": _stack, "quad": _quad, "triple": _closed, "weld4": _closed,
    "stops": _stops, "cube": _above, "rods": _above, "edge": _above, "hit": _hit,
}  # fmt: skip
BOUNCING = " bouncing"
"""Ends the name of a kind whose contacts give a share of the rate back, drawn anew for every start."""
STARTS |= {k + BOUNCING: STARTS[k] for k in ("rod", "stack 1:3", "quad")}
TURNING = " turning"
"""The same of contacts with friction against turning about the normal and across it."""
STARTS |= {k + TURNING: STARTS[k] for k in ("rod", "stack 1:3", "quad")}
MORE = {BOUNCING: "restitution = 0.5", TURNING: "torsional = 0.01\nrolling = 0.003"}
TORQUE = {"quad": 40.0, "stops": 10.0}
"""[N·m] Noise of the motors."""


@dataclass
class Count:
    """Counts of a kind: steps, statuses, levels of those that were found, and what the judge rejects of status 0."""

    steps: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)

    def row(self, kind: str) -> str:
        """A row of the table in docs/contact.md."""
        statuses = ", ".join(f"{k}: {v}" for k, v in sorted(self.statuses.items())) or "none"
        rejected = ", ".join(f"{k}: {v}" for k, v in sorted(self.rejected.items())) or "0"
        return f"| {kind} | {self.steps} | {statuses} | {rejected} |"


def robot_of(kind: str, shared: Path) -> Robot:
    name = kind.split()[0]
    if kind.endswith((BOUNCING, TURNING)):
        return _with_more(kind, shared)
    if kind in SHAPED:
        return mechanisms.robot_of(SHAPED[kind](), kind, sources="violent", functions=("joint_step",))
    if name != "stack":
        return load(generated(str(shared / "cases" / CASES[kind] / f"{name}.toml"), functions=("joint_step",)))
    folder, ratio = CACHE / "violent" / f"stack_{int(MASSES[kind])}", MASSES[kind]
    folder.mkdir(parents=True, exist_ok=True)
    source = shared / "cases" / CASES["rod"]
    text = (source / "stack.urdf").read_text()
    inertia = 'ixx="{0}" iyy="{0}" izz="{1}"'
    heavy = inertia.format("16.666666666666668", "26.66666666666667")
    text = text.replace('value="1000.0"', f'value="{ratio}"').replace(heavy, inertia.format(ratio / 60, ratio * 2 / 75))
    (folder / "stack.urdf").write_text(text)
    (folder / f"stack_{int(ratio)}.toml").write_text(
        (source / "stack.toml").read_text().replace('"stack"', f'"stack_{int(ratio)}"', 1)
    )
    return load(generated(str(folder / f"stack_{int(ratio)}.toml"), functions=("joint_step",)))


def _with_more(kind: str, shared: Path) -> Robot:
    """The same with more of a law: its recipe with a line or two more for every contact, beside its URDF."""
    more = next(k for k in MORE if kind.endswith(k))
    own = kind.removesuffix(more)
    name, folder = kind.split()[0], CACHE / "violent" / kind.replace(" ", "_").replace(":", "_")
    source = shared / "cases" / CASES.get(own, CASES["rod"])
    recipe = source / f"{name}.toml"
    if own in MASSES:
        robot_of(own, shared)
        source = CACHE / "violent" / f"stack_{int(MASSES[own])}"
        recipe = source / f"stack_{int(MASSES[own])}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.urdf").write_text((source / f"{name}.urdf").read_text())
    text = recipe.read_text().split("\n", 1)[1].replace("friction = ", f"{MORE[more]}\nfriction = ")
    file = folder / f"{name}_{more.strip()}.toml"
    file.write_text(text)
    return load(generated(str(file), functions=("joint_step",)))


def counted(kind: str, robot: Robot, steps: int, seed: int = 0) -> Count:
    """That many violent steps of a kind, and a few more to the end of the last start."""
    rng, count, n = np.random.default_rng(seed), Count(), robot.n
    turning = ~np.isin(np.arange(n), SLIDES.get(kind.split()[0], ()))
    names, bouncing, torsional, rolling = (
        [name for name in robot.alpha.names if name.startswith(f"contact.{k}.")]
        for k in ("friction", "restitution", "torsional", "rolling")
    )
    while count.steps < steps:
        try:
            p, pd = STARTS[kind](robot, rng)
        except SolverError:  # no closed pose nearby
            continue
        friction, h = float(rng.choice([0.3, 0.5, 1.0, 1.5, 2.0])), 10.0 ** rng.uniform(-3, -2)
        given = dict.fromkeys(names, friction) | (dict.fromkeys(bouncing, rng.uniform(0.1, 1.0)) if bouncing else {})
        given |= {k: 10.0 ** rng.uniform(-4, -1) for k in (*torsional, *rolling)}
        alpha = robot.alpha.vector(given)
        if names and np.min(robot.contact_gap(p, alpha=alpha)) < 0.0:
            continue
        U = rng.standard_normal((STEPS, n)) * TORQUE.get(kind.split()[0], 0.0)
        U[:, : len(p) - n and 6] = 0.0  # none on a floating base
        judge = Judge(robot, turning, alpha, [friction] * len(robot.manifest.robot.contacts), bool(bouncing))
        _roll(robot, judge, (p, pd, U, h, alpha), count)
    return count


def _roll(robot: Robot, judge: Judge, start: Any, count: Count) -> None:
    """As a rollout; of one that ends in a status, the status and what a shorter one finds before it."""
    p, pd, U, h, alpha = start
    first = True
    while len(U):
        try:
            if "rollout_impulses" in robot.functions:
                found = robot.rollout_impulses(p, pd, U, h=h, alpha=alpha)
                pushed = [getattr(found, k) for k in ("contact_impulse", "contact_impulse_next") if hasattr(found, k)]
            else:
                found, pushed = robot.rollout(p, pd, U, h=h, alpha=alpha), []
        except SolverError as error:
            if first:
                count.statuses[int(str(error).rsplit("status ", 1)[1].split(")")[0])] += 1
                count.steps += 1
            first, U = False, U[: len(U) // 2]
            continue
        count.steps += len(U)
        P, PD = (found.P, found.PD) if pushed or hasattr(found, "P") else found
        count.rejected += judge.rejects(P, PD, U, h, pushed)
        return
