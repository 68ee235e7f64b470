"""The torque of a tick without a plan: the generated `damped_hold` at the pose and rates that were measured last."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, finite, within
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.model.robot import Robot

__all__ = ["FallBack"]

BLIND_AFTER = 0.5
"""s without a finite pose, after which the gravity of the last one says little: an arm that was released 0.1 rad beside an
upright pose has fallen by about a radian then."""


class FallBack:
    """Follows the measured states, whatever else fails in a tick, and gives the torque on demand."""

    def __init__(self, robot: Robot, alpha: FloatArray, h: float, delay: int) -> None:
        """For ticks of h [s] whose torques act `delay` ticks after the measurement."""
        self._damped_hold, self._timing, self._alpha = robot.function("damped_hold"), (float(delay), h), alpha
        self._h, self._still = h, np.zeros(robot.n)
        self.start()

    def start(self) -> None:
        """Forget pose and load; the torque is 0 until a pose is seen."""
        self.load = self._still
        """What acts on the joints [N·m] (n,) beside the model's gravity, as far as it has lasted."""
        self._p: FloatArray | None = None
        self._pd, self._torque, self._unseen = self._still, self._still, 0

    def see(self, p: FloatArray, pd: FloatArray) -> None:
        """The state of this tick. A pose that is not finite leaves the last one; rates that are not finite are not damped."""
        self._unseen = 0 if finite(p) else self._unseen + 1
        self._p = p.copy() if finite(p) else self._p
        self._pd = pd.copy() if finite(pd) else self._still

    @property
    def blind(self) -> bool:
        """Whether there was no finite pose for BLIND_AFTER."""
        return self._unseen * self._h > BLIND_AFTER

    def torque(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """The torque [N·m] (n,) within bounds: without damping where that cannot be determined, the last one where the pose
        cannot be held."""
        if self._p is not None:
            for rates in (self._pd, self._still):
                try:
                    bounds = lower + self.load, upper + self.load
                    held = self._damped_hold(self._p, rates, *bounds, *self._timing, self._alpha)
                except SolverError:
                    continue
                self._torque = np.asarray(held - self.load, dtype=np.float64)
                break
        return within(self._torque, lower, upper)
