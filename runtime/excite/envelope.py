"""Where a motion may go: position, speed and torque limits with a margin, and the height of the tip."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.names import listing
from diffpbd.runtime.robot import Robot

__all__ = ["Envelope", "Motion"]

HALF_RANGE = 0.5 * np.pi
"""[rad or m] Assumed to both sides of zero where a joint has no position limit."""
SPEED = 1.0
"""[rad/s or m/s] Assumed where a joint has no speed limit."""
POSES = 4000
"""[1] Poses among which the one to start from is looked for, besides the middle of the limits."""
TIGHTER = 0.02
"""[1] Part of the limits kept free in a search besides the margin: peaks between its samples, and the barrier's width."""
KNEE = 1e-2
"""[1] Slack, as part of a limit, below which the barrier goes on as a parabola."""
METRE = 1.0
"""[m] Unit of the slack in height."""


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

    `height` is along −gravity in the world frame. `alpha` are the parameters that the torque is predicted with.
    """

    robot: Robot
    alpha: FloatArray
    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    effort: FloatArray
    least_height: float | None
    up: FloatArray
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(robot: Robot, margin: float, least_height: float | None, alpha: FloatArray | None) -> Envelope:
        """The limits of the description, less `margin` of each."""
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
            tuple(notes),
        )  # fmt: skip

    def tightened(self) -> Envelope:
        """A little narrower, for a search on few samples."""
        cut = 0.5 * TIGHTER * (self.upper - self.lower)
        height = None if self.least_height is None else self.least_height + TIGHTER * METRE
        return replace(
            self, lower=self.lower + cut, upper=self.upper - cut, speed=(1.0 - TIGHTER) * self.speed,
            effort=(1.0 - TIGHTER) * self.effort, least_height=height,
        )  # fmt: skip

    def evaluate(self, time: FloatArray, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> Motion:
        """Torque and height of a sampled motion."""
        tau = self.robot.inverse_dynamics(q, dq, ddq, self.alpha)
        return Motion(time, q, dq, ddq, tau, self.robot.tip_pose(q, self.alpha).position @ self.up)

    def _slacks(self, m: Motion) -> list[FloatArray]:
        width = self.upper - self.lower
        slacks = [
            (m.q - self.lower) / width, (self.upper - m.q) / width, 1.0 - m.dq / self.speed, 1.0 + m.dq / self.speed,
            1.0 - m.tau / self.effort, 1.0 + m.tau / self.effort,
        ]  # fmt: skip
        if self.least_height is not None:
            slacks.append((m.height - self.least_height)[:, None] / METRE)
        return slacks

    def slack(self, m: Motion) -> float:
        """The least slack, as part of the limit; negative outside."""
        return float(min(s.min() for s in self._slacks(m)))

    def barrier(self, m: Motion) -> tuple[float, list[FloatArray]]:
        """Mean over the samples of −log slack, and its derivatives (samples, n) by q, dq and ddq."""
        count = len(m.q)
        values, slopes = zip(*(_wall(s) for s in self._slacks(m)), strict=True)
        slopes = tuple(s / count for s in slopes)
        width = self.upper - self.lower
        by_q, by_dq = (slopes[0] - slopes[1]) / width, (slopes[3] - slopes[2]) / self.speed
        by_tau = (slopes[5] - slopes[4]) / self.effort
        found = self.robot.jac_inverse_dynamics(m.q, m.dq, m.ddq, self.alpha)
        by_q = by_q + np.einsum("si,sij->sj", by_tau, found.du_dp)
        by_dq = by_dq + np.einsum("si,sij->sj", by_tau, found.du_dpd)
        by_ddq = np.einsum("si,sij->sj", by_tau, found.du_dpdd)
        if self.least_height is not None:
            lift = np.einsum("i,sij->sj", self.up, self.robot.jac_tip_pose(m.q, self.alpha).dposition_dp)
            by_q = by_q + slopes[6] / METRE * lift
        return float(sum(v.sum() for v in values)) / count, [by_q, by_dq, by_ddq]

    def best_pose(self) -> FloatArray:
        """The pose (n,) with the most room to every limit at rest; InputError if none has any."""
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
                "Lower --margin."
            )
        raise InputError(
            f"--min-tip-height {self.least_height:g} m cannot be kept: the tip's greatest height among {len(poses)} poses "
            f"within the limits is {m.height[held].max():.3g} m."
        )


def _wall(slack: FloatArray) -> tuple[FloatArray, FloatArray]:
    """−log slack and its derivative, from `KNEE` down as the parabola with the same value and two derivatives."""
    safe = np.maximum(slack, KNEE)
    beyond = np.minimum(slack - KNEE, 0.0) / KNEE
    value = -np.log(safe) - beyond + 0.5 * beyond**2
    slope = -1.0 / safe + np.where(slack < KNEE, beyond / KNEE, 0.0)
    return np.asarray(value), np.asarray(slope)
