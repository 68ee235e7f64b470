"""Functions of a robot with a floating base, from functions of a tree with six joints for the base.

At an instant the base's present frame is the reference: gravity and everything else given in world axes is rotated into it, and
the first six joints, three prismatic and three revolute, are zero. With R the base's
rotation at that instant, x its place, s the slides and a the hinges, the base's later place is x + R s, its later rotation
R Rx(a₁) Ry(a₂) Rz(a₃), and its rates are R ṡ and R E(a) ȧ with E = (e₁, Rx e₂, Rx Ry e₃). E is 1 at a = 0, so torques,
inertias and Jacobians are only rotated by R; accelerations have one more term, from dE/dt. Only gravity and objects fixed
in the world depend on the frame: every step has a new one, far from the angles where E is singular.

A position has seven numbers for the base, place [m] and unit quaternion wxyz, rates have six: velocity of the base link's
origin [m/s] and angular velocity [rad/s], world axes. A derivative by a position is one by x + δ, (1, φ/2) ⊗ q and the joints:
`tangent` carries derivatives by the seven to these six.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.expressions.geometry import product, rows, square
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.model.meetings import CORE
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.solved_step import solved
from diffpbd.codegen.program.notation import STATE
from diffpbd.runtime.folder.manifest import Parameter

FREEDOMS, PLACE = 6, 7
"""Rates of a base, numbers of its position."""
PHANTOMS: Final = FREEDOMS - 1
"""Massless links in front of the base link."""
STEP: Final = ("p", "pd", "u", "h", "alpha")
"""Arguments of joint_step."""
FRAME: Final = 12
"""Size of a step's frame: rotation (row by row), position."""


def rotation(q: Any) -> Any:
    """R (3 × 3) of a quaternion that need not have unit length."""
    w, x, y, z = ca.vertsplit(q / ca.norm_2(q))
    return ca.blockcat(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def tangent(p: Any) -> Any:
    """∂p/∂(δ, φ, joints), (n + 1) × n, at a position: the columns along which derivatives are taken."""
    w, x, y, z = (p[k] / 2 for k in range(3, 7))
    turned = ca.blockcat([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])
    return ca.diagcat(ca.SX.eye(3), turned, ca.SX.eye(p.numel() - PLACE))


def seen_from(model: Model, R: Any, x: Any) -> Model:
    """The model with gravity, wrenches and ends of loops transformed from the world to a frame."""
    blocks = {k: ca.SX(v) for k, v in model.blocks.items()}
    blocks["gravity"] = ca.mtimes(R.T, blocks["gravity"])
    if "heading" in blocks:
        blocks["heading"] = rows(R)
    if "wrench" in blocks:
        point, force, torque = ca.vertsplit(blocks["wrench"], 3)
        blocks["wrench"] = ca.vertcat(point, ca.mtimes(R.T, force), ca.mtimes(R.T, torque))
    for k, loop in enumerate(model.robot.loops):
        for start, link in ((0, loop.parent), (12, loop.child)):
            if link < 0:
                axes, place = blocks["loop"][start : start + 9, k], blocks["loop"][start + 9 : start + 12, k]
                blocks["loop"][start : start + 9, k] = rows(ca.mtimes(R.T, square(axes)))
                blocks["loop"][start + 9 : start + 12, k] = ca.mtimes(R.T, place - x)
    for k, contact in enumerate(model.tree.contacts):
        for start, link in ((0, contact.link), (CORE, contact.other)):
            if link < 0:
                core = blocks["core"][start : start + 12, k]
                axes = ca.mtimes(R.T, ca.reshape(core[3:12], 3, 3))
                blocks["core"][start : start + 12, k] = ca.vertcat(ca.mtimes(R.T, core[0:3] - x), ca.vec(axes))
    return dataclasses.replace(model, blocks={k: ca.densify(v) for k, v in blocks.items()})


def from_a_frame(model: Model) -> Model:
    """The model in a frame whose numbers are further parameters, after its own."""
    frame = ca.SX.sym("frame", FRAME)
    names = [*(f"frame.rotation.{i}{k}" for i in "xyz" for k in "xyz"), *(f"frame.place.{i}" for i in "xyz")]
    more = tuple(Parameter(name, "1", 0.0, None, None) for name in names)
    seen = seen_from(model, square(frame[0:9]), frame[9:12])
    return dataclasses.replace(seen, alpha=ca.vertcat(model.alpha, frame), entries=(*model.entries, *more))


def stepped(model: Model) -> ca.Function:
    """joint_step as a differentiable CasADi function of positions with seven numbers for the base."""
    n, na = model.tree.freedoms, model.alpha.numel()
    p, pd, u, h, alpha = given = [ca.MX.sym(k, size) for k, size in zip(STEP, (n + 1, n, n, 1, na), strict=True)]
    R, x = rotation(p[3:PLACE]), p[0:3]

    def turned(R: Any, v: Any) -> Any:
        return ca.vertcat(ca.mtimes(R, v[0:3]), ca.mtimes(R, v[3:FREEDOMS]), v[FREEDOMS:])

    start, frame = ca.vertcat(ca.MX.zeros(FREEDOMS), p[PLACE:]), ca.vertcat(alpha, ca.vec(R.T), x)
    end, rates = solved(from_a_frame(model)).call([start, turned(R.T, pd), turned(R.T, u), h, frame])
    c, s = ca.cos(end[3:FREEDOMS]), ca.sin(end[3:FREEDOMS])
    E = ca.vertcat(ca.horzcat(1, 0, s[1]), ca.horzcat(0, c[0], -s[0] * c[1]), ca.horzcat(0, s[0], c[0] * c[1]))
    q = p[3:PLACE]
    for k in range(3):
        half = end[3 + k] / 2
        q = product(q, ca.vertcat(ca.cos(half), *[ca.sin(half) if i == k else 0 for i in range(3)]))
    p_next = ca.vertcat(x + ca.mtimes(R, end[0:3]), q / ca.norm_2(q), end[FREEDOMS:])
    turning = ca.vertcat(rates[0:3], ca.mtimes(E, rates[3:FREEDOMS]), rates[FREEDOMS:])
    return ca.Function("joint_step", given, [p_next, turned(R, turning)], list(STEP), ["p_next", "pd_next"])


class FloatingGraphs(Graphs):
    """The plain functions of a robot with a floating base, of those of its tree in the base's frame."""

    def __init__(self, model: Model, forward: bool = True) -> None:
        super().__init__(model, forward)
        n = self.gears.n
        self.p = ca.SX.sym("p", n + 1)
        self.R, self.x = rotation(self.p[3:PLACE]), self.p[0:3]
        self.seen = Graphs(seen_from(model, self.R, self.x), forward)
        self.tangent = tangent(self.p)
        rates = self._back(self.pd)
        a, b, c = ca.vertsplit(rates[3:FREEDOMS])
        self._moving = ca.vertcat(ca.SX.zeros(3), b * c, -a * c, a * b, ca.SX.zeros(n - FREEDOMS))
        at = ca.vertcat(ca.SX.zeros(FREEDOMS), self.p[PLACE:])
        self._instant = {
            "p": at, "pd": rates, "pdd": self._back(self.pdd) - self._moving, "u": self._back(self.u),
            "contact_force": ca.mtimes(self.R.T, self.force),
        }  # fmt: skip

    def _turned(self, v: Any, R: Any = None) -> Any:
        """(3, 3, joints) in the base's axes, in the world's; of a matrix its rows."""
        R = self.R if R is None else R
        return ca.vertcat(ca.mtimes(R, v[0:3, :]), ca.mtimes(R, v[3:FREEDOMS, :]), v[FREEDOMS:, :])

    def _back(self, v: Any) -> Any:
        return self._turned(v, self.R.T)

    def values(self) -> Iterator[tuple[str, Sequence[tuple[str, Any]], Mapping[str, Any]]]:
        """(name, inputs, outputs) of every plain function but those that take states of links."""
        own = {"p": self.p, "pd": self.pd, "pdd": self.pdd, "u": self.u, "contact_force": self.force}
        for name, inputs, outputs in self.seen.values():
            if any(key == "xi" for key, _ in inputs):
                continue
            moved = [(key, symbol) for key, symbol in inputs if key in own]
            found = ca.substitute(
                [ca.SX(v) for v in outputs.values()], [s for _, s in moved], [self._instant[key] for key, _ in moved]
            )
            here = self._in_world(name, dict(zip(outputs, found, strict=True)))
            yield name, [(key, own.get(key, symbol)) for key, symbol in inputs], here

    def condensed(self, terms: Callable[[Graphs], Any]) -> Any:
        """The same in world axes, of links and joints that exist."""
        own = self.seen
        (found,) = ca.substitute([terms(own)], [own.p, own.pd, own.pdd], [self._instant[k] for k in ("p", "pd", "pdd")])
        return self._turned(found[:, self._columns(found.size2())])

    def condensed_coefficients(self, coefficients: Callable[[Graphs], Any]) -> Any:
        """The same of those."""
        found = coefficients(self.seen)
        return found[self._columns(found.numel())]

    def _columns(self, count: int) -> list[int]:
        """Columns of links that exist, ten each, then of every kind one a link: none of the base link's is not zero."""
        n = self.model.robot.n
        joints = [list(range(k + PHANTOMS, k + n)) for k in range(10 * n, count, n)]
        return [*range(10 * PHANTOMS, 10 * n), *(k for kind in joints for k in kind)]

    def _in_world(self, name: str, found: dict[str, Any]) -> dict[str, Any]:
        """The outputs of a function at the base's frame, in world axes."""
        if name in ("inverse_dynamics", "gravity", "contact_torque"):
            return {key: self._turned(value) for key, value in found.items()}
        if name == "coriolis":
            return {"u": self._turned(found["u"] - ca.mtimes(self.seen.mass_matrix(self._instant["p"]), self._moving))}
        if name == "forward_dynamics":
            return {"pdd": self._turned(found["pdd"] + self._moving)}
        if name == "mass_matrix":
            return {"M": self._turned(self._turned(found["M"]).T)}
        if name == "regressor":
            return {"Y": self._turned(found["Y"][:, 10 * PHANTOMS :])}
        if name == "energy":
            fallen = ca.dot(self.model.blocks["gravity"], self.x) * self.model.blocks["carried"][0]
            return {**found, "potential": found["potential"] - fallen}
        if name == "tip_pose":
            place, R = self.x + ca.mtimes(self.R, found["position"]), ca.mtimes(self.R, found["rotation"])
            return {"position": place, "rotation": R}
        if name == "contact_jacobian":
            return {key: self._turned(J.T).T for key, J in found.items()}
        if name == "tip_jacobian":
            J = self._turned(found["J"].T).T
            return {"J": ca.vertcat(ca.mtimes(self.R, J[0:3, :]), ca.mtimes(self.R, J[3:6, :]))}
        if name == "fk":
            return {"xi": ca.vertcat(*[self._state(found["xi"][k : k + STATE]) for k in self._links()])}
        return found

    def _links(self) -> range:
        """Where the states of links that exist begin."""
        return range(STATE * PHANTOMS, STATE * self.model.robot.n, STATE)

    def _state(self, xi: Any) -> Any:
        """A link's x, v, q, omega in the base's axes, in the world's."""
        x, v, q, omega = ca.vertsplit(xi, [0, 3, 6, 10, 13])
        turned = product(self.p[3:PLACE] / ca.norm_2(self.p[3:PLACE]), q)
        return ca.vertcat(self.x + ca.mtimes(self.R, x), ca.mtimes(self.R, v), turned, ca.mtimes(self.R, omega))


def graphs_of(model: Model, forward: bool = True) -> Graphs:
    """The plain functions of a robot, whatever its base."""
    return FloatingGraphs(model, forward) if model.robot.floating else Graphs(model, forward)
