"""Laws of the step of every robot, whatever it is made of: Jacobian = differences, reverse = transpose, graph = C,
rollout = steps, batch = rows, gradient of a rollout = that of its steps.

A robot's own tests give a scene, a state where it matters, and the parameters that matter there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.free_flyer import difference, moved
from support.numeric import slopes

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError

__all__ = ["Scene", "differences_best", "properties_of", "rollout_is_its_steps"]

Array = Any
REACH = (10.0, 1.0, 0.1, 0.01, 1e-3)
"""Sizes of differences by alpha, beside the one that is given."""
STEPS = 5
"""Of the rollout that is compared with its steps."""


@dataclass(frozen=True)
class Scene:
    """A robot at a state under a torque, its alpha (all of it), and the step [s]."""

    robot: Robot
    p: Array
    pd: Array
    u: Array
    alpha: Array
    h: float = 0.01
    slopes_of: Scene | None = None
    """Whose step the derivatives are of, where not of its own (an exact cone)."""

    def step(self, p: Array, pd: Array, u: Array, h: float, alpha: Array) -> tuple[Array, Array]:
        found = self.robot.joint_step(p, pd, u, h, alpha)
        return found[0], found[1]

    @property
    def floating(self) -> bool:
        return bool(self.robot.manifest.robot.floating)

    def at(self, d: Array) -> Array:
        """The pose moved by a tangent (n,)."""
        return moved(self.p, d) if self.floating else self.p + d

    def between(self, q: Array, p: Array) -> Array:
        """Tangent from p to q."""
        return difference(q, p) if self.floating else q - p

    def ways(self) -> tuple[Array, Callable[[Array], Array]]:
        """Directions (n, ways) that loops leave, and the pose moved along them."""
        n = self.robot.n
        if not self.robot.manifest.robot.loops:
            return np.eye(n), self.at
        A = np.array([self.robot.loop_residual(self.p, e, self.alpha).row_rates for e in np.eye(n)]).T
        free = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, 1e-9) :].T
        base = np.r_[np.ones(6), np.zeros(n - 6)] if self.floating else np.zeros(n)
        return free, lambda d: np.asarray(self.robot.close_loops(self.at(free @ d), base, self.alpha))


def differences_best(f: Callable[[Array], Array], found: Array, sizes: Sequence[Any]) -> float:
    """The worst column against the best of four-point differences at 0 of several sizes, relative to its largest entry and
    1e-3; a size 0 leaves a column out, and so does a side where a step has a status."""
    left = np.full(found.shape[1], np.inf)
    for size in sizes:
        for k, e in enumerate(np.broadcast_to(size, (found.shape[1],))):
            if e == 0.0:
                left[k] = 0.0
                continue
            d = e * np.eye(found.shape[1])[k]
            try:
                column = (8 * (f(d) - f(-d)) - f(2 * d) + f(-2 * d)) / (12 * e)
            except SolverError:
                continue
            left[k] = min(left[k], np.abs(column - found[:, k]).max() / (np.abs(found[:, k]).max() + 1e-3))
    return float(left.max(initial=0.0))


def properties_of(
    scene: Scene, sizes: Mapping[str, float] | None = None, bar: float = 1e-6, *, graph: float | None = 1e-8,
    reverse: float = 1e-10, along: Sequence[float] = (1e-3, 1e-4, 1e-5, 1e-6),
    efforts: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4),
) -> Array:  # fmt: skip
    """Asserts all of them and returns ∂(p_next, pd_next)/∂alpha.

    `sizes` of differences by entries of alpha or how they begin (default: a thousandth of every one that has room); `graph`
    [rad, …] is how near CasADi's root finder comes, None where there is no graph; `reverse` how near the reverse derivative is
    to the transpose, relative to its largest entry; `along` and `efforts` are sizes of differences by p and pd, and by u.
    """
    r, (p, pd, u, h, alpha) = scene.robot, (scene.p, scene.pd, scene.u, scene.h, scene.alpha)
    n, (free, pose) = r.n, scene.ways()
    end, of = scene.step(p, pd, u, h, alpha), scene.slopes_of or scene
    shared = [(k, of.robot.alpha.index(x)) for k, x in enumerate(r.alpha.names) if x in of.robot.alpha.names]
    ours, theirs = np.array(shared).T

    def after(q: Array, qd: Array = pd, v: Array = u, a: Array = alpha, step: float = h) -> Array:
        changed = of.alpha.copy()
        changed[theirs] += (a - alpha)[ours]
        found = of.step(q, qd, v, step, changed)
        return np.concatenate([scene.between(found[0], end[0]), found[1]])

    J = r.jac_joint_step(p, pd, u, h, alpha)
    by = {k: np.vstack([getattr(J, f"dp_next_d{k}"), getattr(J, f"dpd_next_d{k}")]) for k in ("p", "pd", "u")}
    np.testing.assert_allclose(np.concatenate([J.p_next, J.pd_next]), np.concatenate(end), rtol=0, atol=1e-12)
    way = free if pose == scene.at else slopes(lambda d: scene.between(pose(d), p), free.shape[1])
    found = {
        "p": differences_best(lambda d: after(pose(d)), by["p"] @ way, along),
        "pd": differences_best(lambda d: after(p, pd + d), by["pd"], along),
        "u": differences_best(lambda d: after(p, pd, u + d), by["u"], efforts),
    }
    A = r.jac_alpha_joint_step(p, pd, u, h, alpha)
    columns = np.vstack([A.dp_next_dalpha, A.dpd_next_dalpha])
    scale = _sizes(r, alpha, sizes)
    by_alpha = [x * scale for x in REACH]
    found["alpha"] = differences_best(lambda d: after(p, a=alpha + d), columns, by_alpha)
    assert max(found.values()) < bar, found
    seed = np.random.default_rng(8).standard_normal(2 * n)
    back = r.vjp_joint_step(p, pd, u, h, alpha, seed[:n], seed[n:])
    for key, block in {**by, "alpha": columns}.items():
        wanted = seed @ block
        np.testing.assert_allclose(
            getattr(back, f"{key}_bar"), wanted, rtol=0, atol=reverse * max(1e-3, np.abs(block).max()), err_msg=key
        )
    slope = [seed @ slopes(lambda d: after(p, step=h + d[0]), 1, e)[:, 0] for e in (1e-4, 1e-5, 1e-6)]
    assert min(abs(one - back.h_bar) for one in slope) < max(bar, 1e-6) * (1 + abs(back.h_bar)), (slope, back.h_bar)
    if graph is not None:
        given = r.casadi("joint_step")(p, pd, u, h, alpha)
        ours = np.concatenate([np.array(x).ravel() for x in given])
        np.testing.assert_allclose(ours, np.concatenate(end), rtol=0, atol=graph)
        if not scene.floating and not r.manifest.robot.loops:
            blocks = r.casadi("joint_step").jacobian()(p, pd, u, h, alpha, *given)
            np.testing.assert_allclose(np.array(blocks[5]), J.dpd_next_dp, rtol=0, atol=1e-6 * np.abs(by["p"]).max())
    _rows(scene)
    if "rollout" in r.functions:
        rollout_is_its_steps(scene)
    if "contact_residual" in r.functions and scene.slopes_of is None:
        _residual(scene)
    return columns


def _residual(scene: Scene) -> None:
    """The equations of a step in contact vanish along it, and nowhere beside it."""
    s = scene.robot.rollout_impulses(scene.p, scene.pd, scene.u[None], h=scene.h, alpha=scene.alpha)
    named = {k: np.ravel(getattr(s, k)) for k in s._fields if "impulse" in k}
    given = {"p_next": s.P[1], "pd_next": s.PD[1], "h": scene.h, "alpha": scene.alpha, **named}
    left = scene.robot.contact_residual(scene.p, scene.pd, scene.u, **given)
    assert max(np.abs(np.ravel(x)).max() for x in left) < 1e-8
    for key in ("pd_next", *named):
        beside = scene.robot.contact_residual(scene.p, scene.pd, scene.u, **given | {key: given[key] + 1e-3})
        assert max(np.abs(np.ravel(x)).max() for x in beside) > 1e-6, key


def _rows(scene: Scene) -> None:
    """A batch has the bits of its rows, whatever stands beside them."""
    torques = scene.u * np.array([1.0, 0.5, -1.0, 0.0, 2.0])[:, None]
    rows = [np.tile(x, (5, 1)) for x in (scene.p, scene.pd)]
    batch = scene.step(*rows, torques, scene.h, scene.alpha)
    for k, v in enumerate(torques):
        for one, all_of_them in zip(scene.step(scene.p, scene.pd, v, scene.h, scene.alpha), batch, strict=True):
            np.testing.assert_array_equal(all_of_them[k], one)


def rollout_is_its_steps(scene: Scene) -> None:
    """A rollout is its steps, and its gradient theirs, carried back."""
    r, h, alpha = scene.robot, scene.h, scene.alpha
    U, rng = scene.u * np.linspace(1.0, 0.5, STEPS)[:, None], np.random.default_rng(9)
    P, PD = r.rollout(scene.p, scene.pd, U, h, alpha)
    for k in range(STEPS):
        for found, wanted in zip((P[k + 1], PD[k + 1]), scene.step(P[k], PD[k], U[k], h, alpha), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max()))
    seeds = rng.standard_normal((2, STEPS + 1, r.n))
    whole = r.vjp_rollout(scene.p, scene.pd, U, h, alpha, *seeds)
    bars, alpha_bar, h_bar = [x[-1] for x in seeds], np.zeros(len(alpha)), 0.0
    for k in reversed(range(STEPS)):
        one = r.vjp_joint_step(P[k], PD[k], U[k], h, alpha, *bars)
        _near(whole.U_bar[k], one.u_bar, np.abs(whole.U_bar).max())
        bars, alpha_bar, h_bar = (
            [one.p_bar + seeds[0, k], one.pd_bar + seeds[1, k]],
            alpha_bar + one.alpha_bar,
            h_bar + one.h_bar,
        )
    for found, wanted in zip(
        (whole.p0_bar, whole.pd0_bar, whole.alpha_bar, whole.h_bar), (*bars, alpha_bar, h_bar), strict=True
    ):
        _near(found, wanted, np.abs(wanted).max())
    pieces = r.vjp_rollout(scene.p, scene.pd, U, h, alpha, *seeds, segment=2)
    again = r.vjp_trajectory(U, h, alpha, P, PD, *seeds)
    for one, other, known in zip(whole, pieces, again, strict=True):
        _near(other, one, np.abs(one).max())
        _near(known, one, np.abs(one).max())


def _near(found: Array, wanted: Array, size: float) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * max(1.0, size))


def _sizes(robot: Robot, alpha: Array, sizes: Mapping[str, float] | None) -> Array:
    """The size of a difference by every entry, 0 where there is none, or no room to both sides."""
    found = np.zeros(len(alpha))
    for k, entry in enumerate(robot.manifest.alpha):
        if sizes is None:
            found[k] = 1e-4 if "origin" in entry.name or "length" in entry.name else 1e-3 * max(abs(alpha[k]), 0.1)
        else:
            found[k] = next((s for name, s in sizes.items() if entry.name == name or entry.name.startswith(name)), 0.0)
        least = np.inf if entry.lower is None else alpha[k] - entry.lower
        if least <= 0.0 or entry.name.startswith("payload.inertia"):
            found[k] = 0.0
        elif sizes is None:
            found[k] = min(found[k], least / 25)
    return found
