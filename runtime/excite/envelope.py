"""Constraints of a motion: position, speed and torque limits with a margin, height of the tip, distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.functions.friction import refuse_memory
from diffpbd.runtime.model.clearance import Distances, apart_throughout
from diffpbd.runtime.model.robot import Robot

__all__ = ["Envelope", "Motion"]

HALF_RANGE = 0.5 * np.pi
"""[rad or m] Assumed to both sides of zero where a joint has no position limit."""
SPEED = 1.0
"""[rad/s or m/s] Assumed where a joint has no speed limit."""
POSES = 4000
"""[1] Number of candidates for the start pose, besides the middle of the limits."""
TIGHTER = 0.01
"""[1] Additional margin in a search, for peaks between its samples."""
SHARP = 60.0
"""[1] Sharpness of the smooth minimum of slacks, which is below the true one, by about 0.03 at a peak of several samples."""
STEP = 1e-5
"""[rad or m] Step of the central differences of heights."""
IDLE = 0.05
"""[1] Part of a joint's range and of its speed below which it hardly moves."""
STATE = 13
"""Size of a link's state, its position first."""
METRE = 1.0
"""[m] Unit of the slack in height."""
NEAR = 0.1
"""[m] Unit of the slack in distances of links: the smooth minimum is off by a thirtieth of it."""


@dataclass(frozen=True)
class Motion:
    """Sampled: time (samples,) [s]; q [rad or m], dq, ddq, predicted torque tau [N·m or N] (samples, n), height of the tip
    [m] (samples,).
    """

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    tau: FloatArray
    height: FloatArray


@dataclass(frozen=True)
class Envelope:
    """`lower`, `upper` [rad or m], `speed`, `effort` (n,), margins taken off; `least_height` [m] or None.

    `acceleration` (n,): infinite if unlimited; `table` [m] or None is a plane that the links' centres of mass and the tip stay
    above, `clearance` [m] or None the least distance of links. Heights are along −gravity in the
    world frame. `alpha`: parameters for predicted torques.
    """

    robot: Robot
    alpha: FloatArray
    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    effort: FloatArray
    least_height: float | None
    up: FloatArray
    acceleration: FloatArray
    table: float | None = None
    notes: tuple[str, ...] = ()
    clearance: float | None = None

    def idle(self, motion: Motion) -> list[str]:
        """A sentence on joints that hardly move: κ is a ratio, so what tells little however it moves, such as a mass on a fine
        thread, keeps all the others still."""
        ranges = np.ptp(motion.q, axis=0) / (self.upper - self.lower)
        still = (ranges < IDLE) & (np.abs(motion.dq).max(axis=0) / self.speed < IDLE)
        names = [joint for joint, own in zip(self.robot.joints, still.tolist(), strict=True) if own]
        if not names:
            return []
        return [
            f"{listing(names)} uses less than {100.0 * IDLE:g} % of range and speed: no more makes a better condition number. "
            f"{arg.criterion('log-det')} moves all joints"
        ]

    @staticmethod
    def of(
        robot: Robot,
        margin: float,
        least_height: float | None,
        alpha: FloatArray | None,
        acceleration: FloatArray | None = None,
        table: float | None = None,
    ) -> Envelope:
        """The limits of the description and of `acceleration` (n,), all reduced by the factor `margin`."""
        if loops := [loop.name for loop in robot.manifest.robot.loops]:
            raise InputError(
                f"{robot.name} has closed loops ({listing(loops)}); excitation is searched for open chains."
            )
        if robot.manifest.robot.base_freedoms:
            raise InputError(f"{robot.name} has a base that moves; excitation is searched for arms on one that stands.")
        refuse_memory(robot.alpha.names, f"Excitation of {robot.name}", "take the robot generated without it")
        joints = robot.manifest.robot.joints
        low = np.array([-HALF_RANGE if j.lower is None else j.lower for j in joints])
        high = np.array([HALF_RANGE if j.upper is None else j.upper for j in joints])
        speed = np.array([SPEED if j.velocity is None else j.velocity for j in joints])
        effort = robot.limits.effort
        for joint, a, b, v, f in zip(joints, low, high, speed, effort, strict=True):
            if not (a < b and v > 0.0 and f > 0.0):
                raise InputError(
                    f"joint {joint.name}: its limits leave no motion: position {a:g} to {b:g} {joint.unit}, speed {v:g}, "
                    f"effort {f:g}."
                )
        notes = []
        for what, missing, assumed in (
            ("position", [j.name for j in joints if j.lower is None or j.upper is None], f"±{HALF_RANGE:.4g} rad or m"),
            ("speed", [j.name for j in joints if j.velocity is None], f"{SPEED:g} rad/s or m/s"),
            ("torque", [j.name for j in joints if j.effort is None], "none"),
        ):
            if missing:
                notes.append(f"no {what} limit in the description of {listing(missing)}: assumed {assumed}")
        values = robot.alpha.defaults if alpha is None else alpha
        gravity = values[list(robot.alpha.indices("gravity"))]
        size = float(np.linalg.norm(gravity))
        up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        cut = 0.5 * margin * (high - low)
        return Envelope(
            robot, values, low + cut, high - cut, (1.0 - margin) * speed, (1.0 - margin) * effort, least_height, up,
            np.full(robot.n, np.inf) if acceleration is None else (1.0 - margin) * acceleration, table, tuple(notes),
        )  # fmt: skip

    def tightened(self) -> Envelope:
        """A little narrower, for a search on few samples."""
        cut = 0.5 * TIGHTER * (self.upper - self.lower)
        height = None if self.least_height is None else self.least_height + TIGHTER * METRE
        return replace(
            self, lower=self.lower + cut, upper=self.upper - cut, speed=(1.0 - TIGHTER) * self.speed,
            effort=(1.0 - TIGHTER) * self.effort, acceleration=(1.0 - TIGHTER) * self.acceleration, least_height=height,
            table=None if self.table is None else self.table + TIGHTER * METRE,
            clearance=None if self.clearance is None else self.clearance + TIGHTER * NEAR,
        )  # fmt: skip

    def evaluate(self, time: FloatArray, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> Motion:
        """Torque and height of a sampled motion."""
        tau = self.robot.inverse_dynamics(q, dq, ddq, self.alpha)
        return Motion(time, q, dq, ddq, tau, self.robot.tip_pose(q, self.alpha).position @ self.up)

    def _heights(self, q: FloatArray) -> FloatArray:
        """Heights (samples, links + 1) of the links' centres of mass and of the tip."""
        states = np.asarray(self.robot.fk(q, np.zeros_like(q), self.alpha)).reshape(len(q), -1, STATE)
        return np.column_stack([states[:, :, :3] @ self.up, self.robot.tip_pose(q, self.alpha).position @ self.up])

    def _slacks(self, m: Motion) -> list[FloatArray]:
        """Slacks (samples, k) relative to each limit: position, rate, acceleration, torque on both sides, heights."""
        width = self.upper - self.lower
        slacks = [(m.q - self.lower) / width, (self.upper - m.q) / width]
        for values, limit in ((m.dq, self.speed), (m.ddq, self.acceleration), (m.tau, self.effort)):
            slacks += [1.0 - values / limit, 1.0 + values / limit]
        if self.least_height is not None:
            slacks.append((m.height - self.least_height)[:, None] / METRE)
        if self.table is not None:
            slacks.append((self._heights(m.q) - self.table) / METRE)
        if self.clearance is not None:
            slacks.append((self._distances.at(m.q) - self.clearance) / NEAR)
        return slacks

    @cached_property
    def _distances(self) -> Distances:
        return Distances(self.robot, self.alpha)

    def keeps_apart(
        self,
        time: FloatArray,
        motion: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
        acceleration: FloatArray,
    ) -> bool:
        """Whether links keep their distance also between the times [s]; `acceleration` (n,) bounds the motion's."""
        return self.clearance is None or apart_throughout(self._distances, self.clearance, time, motion, acceleration)

    def slack(self, m: Motion) -> float:
        """The least slack relative to its limit; negative outside."""
        return float(min(s.min() for s in self._slacks(m)))

    def least(self, m: Motion) -> FloatArray:
        """Smooth minimum of the slack over the samples, per limit (limits,): positive if all samples satisfy it."""
        return np.concatenate([_least(s)[0] for s in self._slacks(m)])

    def least_slopes(self, m: Motion, matrices: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
        """Derivatives (limits, n, coordinates) of `least` by the coordinates x of a motion q, dq, ddq = matrices · xᵀ."""
        shares = [_least(s)[1] for s in self._slacks(m)]
        n, width, J = (
            len(self.lower),
            self.upper - self.lower,
            self.robot.jac_inverse_dynamics(m.q, m.dq, m.ddq, self.alpha),
        )
        rows = []
        for k, (own, unit) in enumerate(((0, width), (1, self.speed), (2, self.acceleration))):
            for side, share in zip((1.0, -1.0) if k == 0 else (-1.0, 1.0), shares[2 * k : 2 * k + 2], strict=True):
                slopes = np.zeros((n, n, matrices[own].shape[1]))
                slopes[np.arange(n), np.arange(n)] = side * (share / unit).T @ matrices[own]
                rows.append(slopes)
        by_state = [np.asarray(part) / self.effort[:, None] for part in (J.du_dp, J.du_dpd, J.du_dpdd)]
        for side, share in zip((-1.0, 1.0), shares[6:8], strict=True):
            parts = [_through(side * share, part, own) for part, own in zip(by_state, matrices, strict=True)]
            rows.append(np.sum(parts, axis=0))
        later = iter(shares[8:])
        if self.least_height is not None:
            lift = np.einsum("i,sij->sj", self.up, self.robot.jac_tip_pose(m.q, self.alpha).dposition_dp)
            rows.append(_through(next(later), lift[:, None] / METRE, matrices[0]))
        if self.table is not None:
            moves = [self._heights(m.q + d) - self._heights(m.q - d) for d in STEP * np.eye(n)]
            rows.append(_through(next(later), np.stack(moves, axis=2) / (2.0 * STEP * METRE), matrices[0]))
        if self.clearance is not None:
            rows.append(_through(next(later), self._distances.slopes(m.q)[1] / NEAR, matrices[0]))
        return np.concatenate(rows)

    def best_pose(self) -> FloatArray:
        """The pose (n,) with the largest least slack at rest; InputError if none is positive."""
        rng = np.random.default_rng(0)
        width = self.upper - self.lower
        poses = np.vstack([self.lower + 0.5 * width, self.lower + width * rng.random((POSES, self.robot.n))])
        m = self.evaluate(np.zeros(len(poses)), poses, 0.0 * poses, 0.0 * poses)
        room = np.min([s.min(axis=1) for s in self._slacks(m)], axis=0)
        best = int(np.argmax(room))
        if room[best] > 0.0:
            return np.asarray(poses[best], dtype=np.float64)
        load = np.abs(m.tau) / self.effort
        held = load.max(axis=1) <= 1.0
        if not held.any():
            j = int(np.argmax(load[int(np.argmin(load.max(axis=1)))]))
            raise InputError(
                f"{self.robot.name} cannot hold its own weight within its torque limits: in the best of {len(poses)} poses "
                f"joint {self.robot.joints[j]} needs {100 * load.max(axis=1).min():.3g} % of what the margin leaves. "
                f"Lower {arg.margin}."
            )
        if self.table is not None:
            lowest = (self._heights(poses) - self.table).min(axis=1)
            if not (held & (lowest > 0.0)).any():
                raise InputError(
                    f"{arg.table} {self.table:g} m cannot be kept: the lowest link is {-lowest[held].max():.3g} m below it in "
                    f"the best of {len(poses)} poses within the limits."
                )
        if self.clearance is not None:
            values = self._distances.at(poses)
            if not (held & (values.min(axis=1) > self.clearance)).any():
                k = int(np.argmax(np.where(held, values.min(axis=1), -np.inf)))
                raise InputError(
                    f"{arg.clearance} {self.clearance:g} m cannot be kept: {self._distances.words(values[k])} in the best of "
                    f"{len(poses)} poses within the limits. Ask for less, or name `pairs` in the recipe."
                )
        raise InputError(
            f"{arg.least_height} {self.least_height or 0.0:g} m cannot be kept: the tip's greatest height among {len(poses)} "
            f"poses within the limits is {m.height[held].max():.3g} m."
        )


def _least(slack: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smooth minimum (k,) over the samples of slacks (samples, k), never above the minimum, and its derivatives."""
    lowest = slack.min(axis=0)
    parts = np.exp(-SHARP * (slack - lowest))
    total = parts.sum(axis=0)
    return np.asarray(lowest - np.log(total) / SHARP), np.asarray(parts / total)


def _through(share: FloatArray, by_state: FloatArray, matrix: FloatArray) -> FloatArray:
    """Derivatives (k, n, coordinates) by coordinates of slacks with derivatives (samples, k, n) by the state."""
    return np.asarray(np.einsum("sk,skj,sc->kjc", share, by_state, matrix, optimize=True), dtype=np.float64)
