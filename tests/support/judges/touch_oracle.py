"""The step of a robot that touches things, apart from the product: kinematics and cones written anew in CasADi on the project's
own hF and hG, solved densely with patience.

    pose stage   hF − h A(p₀)ᵀ λ − h J(p₀)ᵀ (λₙ, λₜ) = 0,    g(p₁) = 0
    rate stage   hG − h A(p₁)ᵀ η − h J(p₁)ᵀ (γₙ, γₜ) = 0,    A(p₁) ṗ₁ = 0

and for every contact β = P(β − ρ σ), β = (μ λₙ, λₜ), σ = (gₙ/μ + √(‖v‖² + slip²), v), with ψ = (φ₁ + 2 compliance λₙ/h) 2/h and
gₙ = ψ, v = ½ (T(p₀) + T(p₁)) (p₁ − p₀)/h in the first stage, gₙ = N ṗ₁ + ψ, v = T(p₁) ṗ₁ in the second. All is worked out in
world axes; N and T are then seen from the link that carries both bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from diffpbd.codegen.description.robot.robot import Plane, Robot
from diffpbd.codegen.graph.contact.constrained_step import closed_rows
from diffpbd.codegen.graph.expressions.gears import gears_of
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.step.joint_step import Residuals

CAP, PATIENT = 15, 60
"""Iterations at the final slip from the start, and at every slip on the way to it."""


def _places(robot: Robot, q: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Rotation and origin of every link in the world, axis and origin of its joint."""
    found: list[tuple[Any, Any, Any, Any]] = []
    for k, joint in enumerate(robot.joints):
        R, o = (ca.SX.eye(3), ca.SX.zeros(3)) if joint.parent < 0 else found[joint.parent][:2]
        o = o + R @ ca.DM(list(joint.translation))
        R = R @ ca.DM([list(row) for row in joint.rotation])
        axis = ca.DM(list(joint.axis))
        if joint.type.slides:
            o = o + R @ axis * q[k]
            found.append((R, o, R @ axis, o))
        else:
            K = ca.skew(axis)
            turn = ca.SX.eye(3) + ca.sin(q[k]) * K + (1 - ca.cos(q[k])) * (K @ K)
            found.append((R @ turn, o, R @ axis, o))
    return found


def _shared(robot: Robot, one: int, other: int) -> int:
    """The outermost link that carries both, −1 the world."""
    path = set()
    while one >= 0:
        path.add(one)
        one = robot.joints[one].parent
    while other >= 0 and other not in path:
        other = robot.joints[other].parent
    return other


def _basis(n: Any, sign: Any) -> tuple[Any, Any]:
    """Two tangents of a normal. Any two serve; at both ends of a step the same."""
    a = -1 / (sign + n[2])
    b = n[0] * n[1] * a
    return ca.vertcat(1 + sign * n[0] ** 2 * a, sign * b, -sign * n[0]), ca.vertcat(b, sign + n[1] ** 2 * a, -n[1])


class Geometry:
    """Gaps (c), N (c × n) and T (2 c × n) of a robot's pairs at p; signs of the normals' third components as given."""

    def __init__(self, model: Model, p: Any, signs: Any = None) -> None:
        robot, gears = model.robot, gears_of(model.robot)
        index = {e.name: k for k, e in enumerate(model.entries)}
        at = _places(robot, gears.positions(p))
        joints = [j.type.slides for j in robot.joints]

        def entry(name: str) -> Any:
            return model.alpha[index[name]]

        def seen(link: int) -> tuple[Any, Any]:
            return (ca.SX.eye(3), ca.SX.zeros(3)) if link < 0 else at[link][:2]

        def motion(link: int, x: Any) -> Any:
            J = ca.SX.zeros(3, robot.n)
            while link >= 0:
                _, _, axis, origin = at[link]
                J[:, link] = axis if joints[link] else ca.cross(axis, x - origin)
                link = robot.joints[link].parent
            return gears.columns(J)

        gaps, N, T, normals = [], [], [], []
        for k, pair in enumerate(robot.pairs):
            own, other = pair.sphere, pair.other
            R, o = seen(own.link)
            S, q = seen(other.link)
            centre, radius = o + R @ ca.DM(list(own.point)), entry(f"contact.radius.{own.name}")
            if isinstance(other, Plane):
                n = S @ ca.DM(list(other.normal))
                gap = ca.dot(n, centre - q) - entry(f"plane.height.{other.name}") - radius
            else:
                apart = centre - q - S @ ca.DM(list(other.point))
                length = ca.sqrt(ca.dot(apart, apart))
                n, gap = apart / length, length - radius - entry(f"contact.radius.{other.name}")
            x = centre - (radius + gap / 2) * n
            carrier = seen(_shared(robot, own.link, other.link))[0]
            n, J = carrier.T @ n, carrier.T @ (motion(own.link, x) - motion(other.link, x))
            sign = ca.if_else(n[2] >= 0, 1, -1) if signs is None else signs[k]
            t1, t2 = _basis(n, sign)
            gaps.append(gap)
            N.append(n.T @ J)
            T += [t1.T @ J, t2.T @ J]
            normals.append(ca.vertcat(carrier @ n, carrier @ t1, carrier @ t2, sign))
        self.gap, self.N, self.T = ca.vertcat(*gaps), ca.vertcat(*N), ca.vertcat(*T)
        self.frames = ca.horzcat(*normals)


def _positive(z: Any, k: Any) -> Any:
    r = ca.sqrt(z * z + 4 * k)
    return ca.if_else(z > 0, (z + r) / 2, 2 * k / (r + ca.fabs(z)))


def _in_cone(z: Any, k: Any) -> Any:
    n2 = z[1] ** 2 + z[2] ** 2
    D, e = z[0] ** 2 - n2, 8 * k * (z[0] ** 2 + n2) + 16 * k * k
    q = ca.sqrt(D * D + e)
    G = ca.sqrt(2 * (z[0] ** 2 + n2 + 4 * k) + 2 * q)
    near = 2 * k + ca.if_else(D > 0, e / (q + ca.fabs(D)), q - D) / 2
    first = ca.if_else(z[0] > 0, (z[0] + G / 2) / 2, near / 2 / (G / 2 + ca.fabs(z[0])))
    return ca.vertcat(first, 2 * z[1:] * first / G)


@dataclass(frozen=True)
class End:
    """A step's end: multipliers of loops and, contact by contact, (λₙ, λₜ) of both stages [N s], `force` (c × 3) [N] in world
    axes on the sphere; iterations and whether both stages converged."""

    p: Any
    pd: Any
    loops: tuple[Any, Any]
    contacts: tuple[Any, Any]
    force: Any
    gap: Any
    iterations: tuple[int, int]
    solved: bool


class Oracle:
    """Steps of a model with contacts and closed loops."""

    def __init__(self, model: Model) -> None:
        self.model, r = model, Residuals(model)
        self.n, self.pairs, self.m = r.n, model.robot.pairs, model.tree.rows
        c = len(self.pairs)
        index = {e.name: k for k, e in enumerate(model.entries)}
        self.defaults = np.array([e.default for e in model.entries])
        sign, rho, slip = ca.SX.sym("sign", c), ca.SX.sym("rho"), ca.SX.sym("slip")
        loops, beta = ca.SX.sym("L", self.m), ca.SX.sym("beta", 3 * c)
        first, last = Geometry(model, r.p, sign), Geometry(model, r.p_next, sign)
        ln, lt = (
            ca.vertcat(*[beta[3 * k] for k in range(c)]),
            ca.vertcat(*[beta[3 * k + 1 : 3 * k + 3] for k in range(c)]),
        )
        (_, A0), (g, A1) = closed_rows(model, r.p), closed_rows(model, r.p_next)
        rows: list[list[Any]] = [[], []]
        moved = (first.T + last.T) / 2 @ (r.p_next - r.p) / r.h
        rates, closing = last.T @ r.pd_next, last.N @ r.pd_next
        for k, pair in enumerate(self.pairs):
            name = pair.sphere.name
            load, compliance = (r.alpha[index[f"contact.{kind}.{name}"]] for kind in ("load", "compliance"))
            psi = 2 / r.h * (last.gap[k] + 2 * compliance * ln[k] / r.h)
            for stage, (gn, v) in enumerate(
                ((psi, moved[2 * k : 2 * k + 2]), (closing[k] + psi, rates[2 * k : 2 * k + 2]))
            ):
                if pair.sphere.friction == 0.0:
                    row = ln[k] - _positive(ln[k] - rho * gn, rho * load * r.h / 2 * slip)
                    rows[stage].append(ca.vertcat(row, lt[2 * k : 2 * k + 2]))
                    continue
                mu = r.alpha[index[f"contact.friction.{name}"]]
                b = ca.vertcat(mu * ln[k], lt[2 * k : 2 * k + 2])
                s = ca.vertcat(gn / mu + ca.sqrt(ca.dot(v, v) + slip**2), v)
                rows[stage].append(b - _in_cone(b - rho * s, rho * 2 * mu * load * r.h / 2 * slip))
        impulse0 = first.N.T @ ln + first.T.T @ lt
        impulse1 = last.N.T @ ln + last.T.T @ lt
        R1 = ca.vertcat(r.F - r.h * (A0.T @ loops + impulse0), g, *rows[0])
        R2 = ca.vertcat(r.G - r.h * (A1.T @ loops + impulse1), A1 @ r.pd_next, *rows[1])
        known = [r.p, r.pd, r.u, r.h, r.alpha, sign, rho, slip]
        z1, z2 = ca.vertcat(r.p_next, loops, beta), ca.vertcat(r.pd_next, loops, beta)
        cse = {"cse": True}
        self.pose = ca.Function("pose", [*known, z1], [R1, ca.jacobian(R1, z1)], cse)
        self.rate = ca.Function("rate", [*known, r.p_next, z2], [R2, ca.jacobian(R2, z2)], cse)
        start = Geometry(model, r.p)
        self.along = ca.Function("along", [r.p, sign, r.alpha], [first.frames[:9, :]], cse)
        self.start = ca.Function("start", [r.p, r.alpha], [start.gap, start.N, start.T, start.frames], cse)
        self.slip, self.loads = index["contact.slip"], [index[f"contact.load.{p.sphere.name}"] for p in self.pairs]

    def step(self, p: Any, pd: Any, u: Any, h: float, alpha: Any = None) -> End:
        """From a state; `alpha` (the vector) defaults to the model's."""
        alpha = self.defaults if alpha is None else np.asarray(alpha, float)
        frames = np.array(self.start(p, alpha)[3])
        frames, sign = frames[:9], frames[9]
        mass = max(1e-6, self._mass(p, pd, u, h, alpha, sign))
        cold = np.zeros(self.m + 3 * len(self.pairs))
        cold[self.m :: 3] = 0.5 * h * alpha[self.loads]
        known = (p, pd, u, h, alpha, sign, mass)
        z1, i1, ok1 = self._stage(
            lambda s, z: self.pose(*known, s, z), p + h * np.asarray(pd), cold, alpha[self.slip], h
        )
        z2, i2, ok2 = self._stage(
            lambda s, z: self.rate(*known, s, z1[: self.n], z), np.array(pd, float), cold, alpha[self.slip], h
        )
        b1, b2 = (z[self.n + self.m :].reshape(-1, 3) for z in (z1, z2))
        ends = np.array(self.start(z1[: self.n], alpha)[0]).ravel()
        # both ends' frames differ by a step's turn; the impulse of the second stage acts along those of the end
        close = np.array(self.along(z1[: self.n], sign, alpha))
        force = np.array([
            (frames[:, k].reshape(3, 3).T @ b1[k] + close[:, k].reshape(3, 3).T @ b2[k]) / h for k in range(len(b1))
        ]).reshape(-1, 3)  # fmt: skip
        return End(
            z1[: self.n], z2[: self.n], (z1[self.n : self.n + self.m], z2[self.n : self.n + self.m]), (b1, b2),
            force, ends, (i1, i2), ok1 and ok2,
        )  # fmt: skip

    def _mass(self, p: Any, pd: Any, u: Any, h: float, alpha: Any, sign: Any) -> float:
        """One over the largest share of a contact in what an impulse moves."""
        z = np.concatenate([p, np.zeros(self.m + 3 * len(self.pairs))])
        D = np.array(self.pose(p, pd, u, h, alpha, sign, 1.0, 1e-3, z)[1])[: self.n, : self.n]
        _, N, T, _ = map(np.array, self.start(p, alpha))
        J = np.vstack([N, T])
        return 1.0 / max(1e-12, float(np.abs(np.diag(J @ np.linalg.solve(D, J.T))).max()))

    def _stage(self, f: Any, x: Any, cold: Any, slip: float, h: float) -> tuple[Any, int, bool]:
        z, count, ok = self._newton(f, slip, np.concatenate([x, cold]), CAP)
        total = count
        for top, factor in () if ok else ((10.0, 0.1), (100.0, 0.3), (1e3, 0.5)):
            z, s = np.concatenate([x, cold]), max(top * 9.81 * h, slip)
            while True:
                z, count, ok = self._newton(f, s, z, PATIENT)
                total += count
                if s <= slip:
                    break
                s = max(s * factor, slip)
            if ok:
                break
        return z, total, ok

    def _newton(self, f: Any, slip: float, z: Any, cap: int) -> tuple[Any, int, bool]:
        r, J = (np.array(x) for x in f(slip, z))
        r, last = r.ravel(), np.inf
        for count in range(1, cap + 1):
            try:
                d = np.linalg.solve(J, -r)
            except np.linalg.LinAlgError:
                d = np.linalg.lstsq(J, -r, rcond=None)[0]
            size, a = np.linalg.norm(r), 1.0
            for _ in range(10):
                trial = z + a * d
                rn, Jn = (np.array(x) for x in f(slip, trial))
                now = np.linalg.norm(rn)
                if np.isfinite(now) and (now <= (1 - 0.1 * a) * size or now < 1e-15):
                    break
                a *= 0.5
            if not np.isfinite(now):
                return z, count, False
            z, r, J = trial, rn.ravel(), Jn
            worst = float(np.abs(r).max())
            if worst < 1e-15 or (worst < 1e-11 and worst > 0.3 * last):
                return z, count, True
            last = worst
        return z, cap, False
