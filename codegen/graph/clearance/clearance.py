"""`clearance` of a model: signed distances of shapes on its links from each other and from obstacles given at run time.

Order of distances: pairs, then obstacles, each to every moving shape. `distances` defines a pair; here shapes
are placed in world axes and Jacobians made of it: a joint between the two bodies of a pair, with its axis a through o, moves
the distance by a·M + (o × a)·n where it turns and by a·n where it slides; one that carries both does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.description.robot.robot import Shape
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.expressions.distances import (
    AXES,
    BOX,
    CAPSULE,
    ORDER,
    PLANE,
    SPHERE,
    Apart,
    Placed,
    apart,
    facing,
    held,
)
from diffpbd.codegen.graph.expressions.geometry import square
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.derivatives import Spec
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.solved.floating import FREEDOMS, PLACE, rotation
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.folder.manifest import OBSTACLES

KINDS: Final = dict(zip(OBSTACLES, ORDER, strict=True))
MOST: Final = 5000
"""[1] Distances of a robot; beyond, its C takes minutes to compile."""
SMOOTHING: Final = "clearance.smoothing"
"""The entry of alpha."""
TINY: Final = 1e-12
"""[m or 1] Length of an obstacle's axis or normal, or of a pair's normal, below which its direction is undefined."""


@dataclass(frozen=True)
class Frame:
    """A link in the world: axes (3 × 3), origin (3), and of the joint that moves it the axis a and o × a, the rate
    of the world's origin."""

    axes: Any
    origin: Any
    along: Any = None
    swept: Any = None


@dataclass(frozen=True)
class Row:
    """A distance: the first shape, and the second shape or an obstacle's kind and number."""

    one: int
    other: int
    obstacle: str = ""


def counts_of(words: Sequence[str]) -> dict[str, int]:
    """Numbers of obstacles by kind, of words KIND=COUNT."""
    found: dict[str, int] = {}
    for word in words:
        kind, _, text = word.partition("=")
        if kind not in OBSTACLES or kind in found or not text.isdecimal() or not 1 <= int(text) <= MOST:
            raise InputError(
                f"obstacles: {word!r}; KIND=COUNT is expected, each once, KIND of {', '.join(OBSTACLES)}, COUNT 1 to {MOST}."
            )
        found[kind] = int(text)
    return {kind: found[kind] for kind in OBSTACLES if kind in found}


class Clearance:
    """Distances of a model's shapes, `pairs` of them by index and `counts` of obstacles by kind, as expressions."""

    def __init__(self, graphs: Graphs, pairs: Sequence[tuple[int, int]], counts: Mapping[str, int]) -> None:
        self.graphs, self.model = graphs, graphs.model
        self.robot, self.tree = self.model.robot, self.model.tree
        self.frames = self._frames()
        self.shapes = [self._placed(shape) for shape in self.robot.shapes]
        self.given = {kind: ca.SX.sym(kind, OBSTACLES[kind], count) for kind, count in counts.items()}
        moving = [k for k, shape in enumerate(self.robot.shapes) if shape.link >= 0]
        self.rows = [Row(a, b) for a, b in pairs]
        self.rows += [Row(k, m, kind) for kind, count in counts.items() for m in range(count) for k in moving]
        if len(self.rows) > MOST:
            raise InputError(
                f"{self.robot.name}: {len(self.rows)} distances, at most {MOST} are generated; leave out pairs, shapes or "
                "obstacles."
            )
        index = [entry.name for entry in self.model.entries].index(SMOOTHING)
        self.smoothing = self.model.alpha[index]

    def _frames(self) -> dict[int, Frame]:
        """Every link, −1 the world."""
        blocks, tree, p = self.model.blocks, self.tree, self.graphs.p
        found = {-1: Frame(ca.SX.eye(3), ca.SX.zeros(3))}
        first = 0
        if self.robot.floating:
            found[FREEDOMS - 1] = Frame(rotation(p[3:PLACE]), p[0:3])
            first, p = FREEDOMS, ca.vertcat(ca.SX.zeros(FREEDOMS), p[PLACE:])
        q = self.graphs.gears.positions(p)
        for i in range(first, tree.n):
            before = found[tree.parents[i]]
            axes = ca.mtimes(before.axes, square(blocks["before"][0:9, i]))
            origin = before.origin + ca.mtimes(before.axes, blocks["before"][9:12, i])
            if tree.slides[i]:
                origin = origin + q[i] * axes[:, 2]
            else:
                c, s = ca.cos(q[i]), ca.sin(q[i])
                axes = ca.horzcat(c * axes[:, 0] + s * axes[:, 1], c * axes[:, 1] - s * axes[:, 0], axes[:, 2])
            found[i] = Frame(
                ca.mtimes(axes, square(blocks["after"][:, i])), origin, axes[:, 2], ca.cross(origin, axes[:, 2])
            )
        return found

    def _placed(self, shape: Shape) -> Placed:
        """A shape in world axes."""
        frame = self.frames[shape.link]
        turned = ca.SX(ca.DM([list(row) for row in shape.rotation]))
        own = turned if shape.kind == BOX else turned[:, 2] if AXES[shape.kind] else ca.SX(3, 0)
        centre = frame.origin + ca.mtimes(frame.axes, ca.SX(ca.DM(list(shape.centre))))
        halves = ca.SX(ca.DM(list(shape.halves))) if shape.halves else ca.SX(0, 1)
        return Placed(shape.kind, centre, ca.mtimes(frame.axes, own), halves, shape.radius)

    def _obstacle(self, kind: str, number: int) -> Placed:
        """An obstacle, of its numbers."""
        x = self.given[kind][:, number]
        if KINDS[kind] == SPHERE:
            return Placed(SPHERE, x[0:3], ca.SX(3, 0), ca.SX(0, 1), x[3])
        if KINDS[kind] == CAPSULE:
            way = (x[3:6] - x[0:3]) / 2
            half = ca.sqrt(ca.dot(way, way) + TINY**2)
            return Placed(CAPSULE, (x[0:3] + x[3:6]) / 2, way / half, half, x[6])
        if KINDS[kind] == BOX:
            return Placed(BOX, x[0:3], rotation(x[3:7]), x[7:10] / 2, 0)
        normal = x[0:3] / ca.sqrt(ca.dot(x[0:3], x[0:3]) + TINY**2)
        return Placed(PLANE, normal * x[3], normal, ca.SX(0), 0)

    def pair(self, row: Row) -> tuple[Placed, Placed]:
        """Both bodies of a distance."""
        other = self._obstacle(row.obstacle, row.other) if row.obstacle else self.shapes[row.other]
        return self.shapes[row.one], other

    def found(self) -> list[Apart]:
        """Every distance."""
        return [apart(*self.pair(row), self.smoothing) for row in self.rows]

    def links(self, row: Row) -> tuple[int, int]:
        """The links of both bodies, −1 the world."""
        shapes = self.robot.shapes
        return shapes[row.one].link, -1 if row.obstacle else shapes[row.other].link

    def jacobian(self, found: Sequence[Apart]) -> Any:
        """Derivatives (distances × n) by positions, of a floating base as `tangent` says."""
        n = self.tree.n
        rows = ca.SX.zeros(len(found), n)
        for k, (row, at) in enumerate(zip(self.rows, found, strict=True)):
            ways = [self.tree.ancestors(link) if link >= 0 else () for link in self.links(row)]
            for sign, way, both in ((1, ways[0], ways[1]), (-1, ways[1], ways[0])):
                for joint in way:
                    if joint not in both and not (self.robot.floating and joint < FREEDOMS):
                        rows[k, joint] = sign * self._entry(joint, at)
                if self.robot.floating and way and not both:
                    origin = self.frames[FREEDOMS - 1].origin
                    rows[k, 0:FREEDOMS] = sign * ca.vertcat(at.normal, at.moment - ca.cross(origin, at.normal)).T
        return self.graphs.gears.columns(rows)

    def _entry(self, joint: int, at: Apart) -> Any:
        frame = self.frames[joint]
        if self.tree.slides[joint]:
            return ca.dot(frame.along, at.normal)
        return ca.dot(frame.along, at.moment) + ca.dot(frame.swept, at.normal)

    def points(self, found: Sequence[Apart]) -> tuple[Any, Any]:
        """Nearest points (3 × distances) on the surfaces of both bodies."""
        ones, others = [], []
        for row, at in zip(self.rows, found, strict=True):
            one, _ = self.pair(row)
            size = ca.dot(at.normal, at.normal) + TINY**2
            ones.append(facing(one, at))
            others.append(ones[-1] - at.distance * at.normal / ca.sqrt(size))
        return ca.horzcat(*ones), ca.horzcat(*others)


def specs(clearance: Clearance) -> Iterator[Spec]:
    """`clearance`, its points, and its derivatives."""
    if not clearance.rows:
        raise InputError(
            f"{clearance.robot.name}: {arg.clearance}: no two of its shapes may touch, and there are no {arg.obstacles}; "
            "nothing is to be generated."
        )
    graphs, found = clearance.graphs, clearance.found()
    inputs = [("p", graphs.p), *clearance.given.items(), ("alpha", graphs.alpha)]
    distance = ca.vertcat(*[at.distance for at in found])
    yield _spec("clearance", inputs, {"distance": distance})
    one, other = clearance.points(found)
    normal = ca.horzcat(*[at.normal for at in found])
    outputs = {"distance": distance, "point": one, "other_point": other, "normal": normal}
    yield _spec("clearance_points", inputs, outputs)
    J = clearance.jacobian(found)
    yield _spec("jac_clearance", inputs, {"distance": distance, "ddistance_dp": J})
    yield _reverse(clearance, inputs, J)


def _reverse(clearance: Clearance, inputs: Sequence[tuple[str, Any]], J: Any) -> Spec:
    """vjp_clearance: by p from the Jacobian, by other inputs with the nearest points held."""
    seed = ca.SX.sym("distance_bar", len(clearance.rows))
    total: Any = ca.SX(0)
    symbols, values = [], []
    for k, row in enumerate(clearance.rows):
        one, other = clearance.pair(row)
        moved, slopes = held(one, other, clearance.smoothing)
        own = ca.SX.sym("slopes", slopes.numel())
        symbols.append(own)
        values.append(slopes)
        total += seed[k] * (ca.dot(own, moved) - one.radius - other.radius)
    bars = {"p_bar": ca.mtimes(J.T, seed)}
    bars |= {f"{name}_bar": ca.gradient(total, variable) for name, variable in inputs[1:]}
    found = ca.substitute(list(bars.values()), [ca.vertcat(*symbols)], [ca.vertcat(*values)])
    given = [*inputs, ("distance_bar", seed)]
    return _spec("vjp_clearance", given, dict(zip(bars, found, strict=True)))


def _spec(name: str, inputs: Sequence[tuple[str, Any]], outputs: Mapping[str, Any]) -> Spec:
    return Spec(name, DOCS[name], graph_of(name, dict(inputs), outputs))
