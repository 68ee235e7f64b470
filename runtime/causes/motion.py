"""A recording and the model that was fitted to it: what columns of causes are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples  # scipy

__all__ = ["Layout", "Motion", "Reach", "Torques"]

Torques: TypeAlias = FloatArray
"""[N·m or N] Of joints, (samples, n), or by a unit of each of k figures, (samples, n, k)."""


@dataclass(frozen=True)
class Reach:
    """Of all recordings: middle and half of each joint's range [rad or m], and its fastest rate (n,)."""

    middle: FloatArray
    half: FloatArray
    fastest: FloatArray

    @staticmethod
    def of(recordings: list[Samples]) -> Reach:
        """Of these recordings."""
        q, dq = (np.vstack([getattr(s, kind) for s in recordings]) for kind in ("q", "dq"))
        half = np.ptp(q, axis=0) / 2.0
        return Reach((q.max(axis=0) + q.min(axis=0)) / 2.0, np.where(half > 0.0, half, 1.0), np.abs(dq).max(axis=0))


@dataclass(frozen=True)
class Layout:
    """Columns of a model's coefficients: `bodies`, those of each link; `of_joints`, those of a kind by `joints`."""

    bodies: tuple[range, ...]
    joints: tuple[str, ...]
    of_joints: Callable[[str], range]

    def at(self, kind: str, joint: str) -> int:
        """The column of a kind of a joint's parameter."""
        return self.of_joints(kind)[self.joints.index(joint)]


@dataclass(frozen=True)
class Motion:
    """One filtered recording, `step` [s] apart before it was thinned, and the model: `phi` (k,), its filtered columns `own`
    (samples, n, k) and what they predict (samples, n) [N·m or N]. `terms` gives the columns, not filtered, of other samples
    and another `alpha`; `full` is alpha with what was fitted."""

    robot: Robot
    samples: Samples
    step: float
    alpha: FloatArray
    full: FloatArray
    phi: FloatArray
    own: FloatArray
    predicted: FloatArray
    terms: Callable[[Samples, FloatArray], FloatArray]
    layout: Layout
    reach: Reach

    def nothing(self, count: int) -> FloatArray:
        """No torque (samples, n, count)."""
        return np.zeros((*self.predicted.shape, count))

    @property
    def open_tree(self) -> bool:
        """Whether torques follow from other motions: the joints of loops cannot be moved one by one."""
        return not self.robot.manifest.robot.loops

    def alone(self, joint: str) -> FloatArray:
        """One at a joint, zero at all others (n,)."""
        return np.asarray(np.eye(self.robot.n)[self.robot.joints.index(joint)])

    @cached_property
    def effect(self) -> FloatArray:
        """Derivative (k, alpha) of the coefficients by alpha."""
        slope = self.robot.casadi("torque_coefficients").factory("J", ["alpha"], ["jac:phi:alpha"])(self.full).full()
        found = np.zeros((self.own.shape[-1], slope.shape[1]))
        found[: len(slope)] = slope
        return found

    def by_parameter(self, name: str) -> FloatArray:
        """Filtered torque (samples, n) by a unit of an entry of alpha; zero where there is none."""
        alpha = self.robot.alpha
        return (
            np.asarray(self.own @ self.effect[:, alpha.index(name)]) if name in alpha.names else self.nothing(1)[..., 0]
        )

    def torque(
        self, q: FloatArray | None = None, dq: FloatArray | None = None, ddq: FloatArray | None = None,
        *, alpha: FloatArray | None = None, phi: FloatArray | None = None,
    ) -> FloatArray:  # fmt: skip
        """Torque (samples, n), not filtered, of another motion or other parameters."""
        s = self.samples
        at = replace(s, q=s.q if q is None else q, dq=s.dq if dq is None else dq, ddq=s.ddq if ddq is None else ddq)
        terms = self.terms(at, self.alpha if alpha is None else alpha)
        return np.asarray(terms @ (self.phi if phi is None else phi)[: terms.shape[-1]], dtype=np.float64)

    @cached_property
    def plain(self) -> FloatArray:
        """Torque (samples, n), not filtered, of the motion itself."""
        return self.torque()

    def smooth(self, torque: FloatArray) -> FloatArray:
        """Filtered as the recording is."""
        return self.samples.smooth(torque)

    def differences(self, moved: Callable[[float], FloatArray], step: float) -> FloatArray:
        """First and second derivative (samples, n, 2), filtered, of a torque by a figure, at zero; of loops none."""
        if not self.open_tree:
            return self.nothing(2)
        ahead, behind = moved(step), moved(-step)
        slope, bend = (ahead - behind) / (2.0 * step), (ahead - 2.0 * self.plain + behind) / step**2
        return np.stack([self.smooth(slope), self.smooth(bend)], axis=-1)
