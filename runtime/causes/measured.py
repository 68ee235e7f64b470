"""Measured torques of a recording beside those of the description, and what several causes ask of them.

What a sensor reads is, joint by joint, a gain times the rigid body's torque, Coulomb and viscous friction, a spring where the
recipe lists one, and an offset; gain, friction and stiffness are at least zero. This model is fitted by bounded least
squares, and its residual decides between the hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.rates import MOVING
from diffpbd.runtime.model.closed import motor_torque
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples  # scipy

__all__ = ["ADVANTAGE", "EXPLAINED", "Explained", "Measured", "Reading", "measured", "percent"]

EXPLAINED = 0.45
"""[1] Unexplained part of a torque (after rigid body, friction and a listed spring) below which gain and time shift are
checked. Baxter's large joints 0.03 to 0.15, its w0 0.29 to 0.55; Panda 0.03 to 0.30."""
ADVANTAGE = 0.8
"""[1] Ratio of the unexplained parts with a reversed sign or exchanged joints and as recorded, below which that hypothesis is
accepted. On Baxter and Panda turning a sign multiplies it by 1.8 at least, exchanging two by 1.7."""
POOR = 0.2
"""[1] Unexplained part of all torques above which exchanged joints and units are tried."""
FEWEST, MOST = 50, 1500
"""[1] Samples of a recording: of fewer no torque is judged, of more some are looked at."""
SLIP = 0.02
"""[rad/s or m/s] Rate over which Coulomb friction turns its sign."""
EDGE = 0.03
"""[1] Part of a recording at each end, where its filter settles."""
FARTHEST, FINEST = 0.3, 0.01
"""[s] Shifts in time that are tried."""
LEAST = 1e-3
"""[N·m or N] Least variation of a torque that is checked."""


@dataclass(frozen=True)
class Explained:
    """`left` [1]: unexplained RMS of a torque about its mean, relative to its RMS; `gain` [1] of the rigid-body torque;
    `share` [1]: its part of the torque's deviation."""

    left: float
    gain: float
    share: float


@dataclass(frozen=True)
class Reading:
    """A hypothesis: factors of positions and rates, and of torques (n,), and the order of joints; its joint, words and cure. A
    `rival` has to be worse."""

    motion: FloatArray
    torque: FloatArray
    order: tuple[int, ...]
    joint: str = ""
    what: str = ""
    cure: str = ""
    rival: Reading | None = None


@dataclass
class Measured:
    """Thinned samples: time (samples,) [s], q, dq, ddq, the rigid body's torque u and the measured tau (samples, n), `step` [s]
    apart. Joints that are `judged`, and those whose torque is `settled` by a cause."""

    robot: Robot
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    u: FloatArray
    tau: FloatArray
    step: float
    settled: set[int] = field(default_factory=set)
    in_time: set[int] = field(default_factory=set)
    """Joints whose delay is explained by a cause."""

    @cached_property
    def judged(self) -> list[int]:
        """Joints that move, by a torque that varies."""
        moving = np.sqrt(np.mean(self.dq**2, axis=0)) > MOVING
        varied = (np.std(self.tau, axis=0) > LEAST) & (np.std(self.u, axis=0) > LEAST)
        return [int(k) for k in np.flatnonzero(moving & varied)]

    def open(self) -> Iterator[int]:
        """Judged joints whose torque is not settled."""
        return (k for k in self.judged if k not in self.settled)

    def told(self) -> Iterator[int]:
        """Those of them that the description explains, without a spring."""
        return (k for k in self.open() if not self._sprung(k) and self.explained(k).left < EXPLAINED)

    def _sprung(self, k: int) -> bool:
        return self.robot.joints[k] in self.robot.manifest.recipe.springs

    def explained(self, torque: int, motion: int | None = None, factor: float = 1.0) -> Explained:
        """One joint's torque, times a factor, by the motion of that or another one."""
        j = torque if motion is None else motion
        spring = self.q[:, j] if self._sprung(j) else None
        return _explained(factor * self.tau[:, torque], self.u[:, j], self.dq[:, j], spring)

    def left_at(self, tau: FloatArray, k: int, rows: npt.NDArray[np.intp] | slice) -> float:
        """Unexplained part of a torque (rows,) by the motion of joint k at these rows."""
        return _explained(tau, self.u[rows, k], self.dq[rows, k], None).left

    def shift(self, k: int) -> tuple[float, float]:
        """Delay of a torque after the motion [s], and the unexplained part then."""
        stride = max(1, round(FINEST / self.step))
        most = min(int(FARTHEST / self.step), len(self.tau) // 4)
        best = (0.0, 1.0)
        for shift in range(-(most // stride) * stride, most + 1, stride):
            late = slice(most + shift, len(self.tau) - most + shift)
            left = self.left_at(self.tau[late, k], k, slice(most, len(self.tau) - most))
            if left < best[1]:
                best = (shift * self.step, left)
        return best

    @cached_property
    def as_is(self) -> Reading:
        """The recording as it stands."""
        return Reading(np.ones(self.robot.n), np.ones(self.robot.n), tuple(range(self.robot.n)))

    @cached_property
    def poor(self) -> bool:
        """Whether so little is explained that the joints may be others, or the unit."""
        return self.left(self.as_is) >= POOR

    def left(self, way: Reading) -> float:
        """Unexplained part of all torques in a reading."""
        own, robot = list(way.order), self.robot
        q, dq, ddq = (values[:, own] * way.motion for values in (self.q, self.dq, self.ddq))
        plain = (way.motion == 1.0).all() and own == list(range(robot.n))
        u = self.u if plain else np.reshape(motor_torque(robot, q, dq, ddq, robot.alpha.defaults), q.shape)
        tau = self.tau[:, own] * way.torque
        slots = [own.index(k) for k in self.judged]  # the same measured torques, whatever joints they are taken for
        parts = [_explained(tau[:, i], u[:, i], dq[:, i], q[:, i] if self._sprung(i) else None).left for i in slots]
        return float(np.sqrt(np.mean(np.square(parts))))


def _explained(tau: FloatArray, u: FloatArray, dq: FloatArray, spring: FloatArray | None) -> Explained:
    """Fits a torque (samples,) by a rigid body's, friction at these rates, and a spring's deflection if there is one."""
    from scipy.optimize import nnls

    y = tau - tau.mean()
    size = float(np.linalg.norm(y))
    if size == 0.0:
        return Explained(1.0, 0.0, 0.0)
    columns = [u, np.tanh(dq / SLIP), dq, *([] if spring is None else [spring])]
    A = np.column_stack([column - column.mean() for column in columns])
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = 1.0
    found, left = nnls(A / scale, y)
    return Explained(float(left) / size, float(found[0] / scale[0]), float(found[0]) / size)


def measured(robot: Robot, parts: Sequence[Samples]) -> Measured | None:
    """One recording, given as its filtered parts; None if it has too few torques."""
    parts = [part for part in parts if not part.unread]
    if sum(map(len, parts)) < FEWEST:
        return None
    thin, blocks = max(1, sum(map(len, parts)) // MOST), []
    for part in parts:
        edge = int(EDGE * len(part.time))
        rows = slice(edge, len(part.time) - edge, thin)
        q, dq, ddq, tau = (v[rows] for v in (part.q, part.dq, part.ddq, part.tau))
        u = motor_torque(robot, part.p[rows], dq, ddq, robot.alpha.defaults)
        blocks.append((part.time[rows], q, dq, ddq, np.reshape(u, q.shape), tau))
    time, q, dq, ddq, u, tau = (np.concatenate(values) for values in zip(*blocks, strict=True))
    return Measured(robot, time, q, dq, ddq, u, tau, thin / parts[0].rate)


def percent(*parts: float) -> str:
    """Parts as percentages."""
    return " and ".join(f"{100.0 * part:.0f} %" for part in parts)
