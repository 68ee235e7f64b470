"""Estimates a disturbance torque for each joint: the part of a motion that the generated step does not explain.

The step is inverted exactly: which additional torque takes the last measured state to the rates measured now, with
friction at those rates. Positions enter through gravity and inertia only, so an encoder step of 0.4 mrad is
millinewton metres here, where a difference of positions would make it hundreds of newton metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.functions.friction import COULOMB, KINDS
from diffpbd.runtime.model.robot import Robot

__all__ = ["TIME_CONSTANT", "DisturbanceObserver", "overload"]

TIME_CONSTANT = 0.02
"""s, of the low-pass on the estimate: two ticks at 100 Hz, so that a push is known before it has moved a shoulder."""
LOAD_TIME = 1.0
"""s; time constant with which what lasts becomes a load: as long as a push by hand, and a few seconds settle a load."""
FREEING = 0.03
"""[1/s] Change of torque that frees a joint which sticks, as a share of its effort limit: its friction in half a second."""
FREEING_JERK = 1000.0
"""rad/s³; the same where it is less, times the inertia: in the two ticks until it is noticed, a light joint moves 1 mrad."""
FORGET = 0.1
"""s; time constant with which an estimate decays without new samples."""
TICK_TOLERANCE = 0.25
"""Tolerance of the time between two samples, as a share of a step."""
LONGEST = 0.03
"""s; the longest time between two samples that may be represented by a mean torque."""
ITERATIONS = 4
"""Limit of Newton's method on one step, which is nearly linear in the torque: one or two are usual."""
SMALL = 0.01
"""N·m; a change of the torque after which the next one would be of the size of its square, in micronewton metres."""


class DisturbanceObserver:
    """Low-passed torque [N·m] (n,) in addition to the commanded and modelled ones, clamped to `load` ± `limit` and the efforts.

    Positive in the direction of the joint. It includes model errors: payload, friction, offsets. A sample that is not
    finite, repeated or late is ignored; without samples the estimate decays.
    """

    def __init__(
        self, robot: Robot, alpha: FloatArray, h: float, *, time_constant: float = TIME_CONSTANT,
        limit: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """`h` [s] between samples; `limit` (n,) [N·m] of what may change at once, the effort limits if None."""
        if not (math.isfinite(time_constant) and time_constant >= 0.0):
            raise InputError(f"Disturbance: the time constant must be at least 0 s, found {time_constant}.")
        if not (math.isfinite(h) and h > 0.0):
            raise InputError(f"Disturbance: the step must be above 0 s, found {h}.")
        self.limit = np.array(robot.limits.effort if limit is None else limit, dtype=np.float64)
        if self.limit.shape != (robot.n,) or not (self.limit > 0.0).all():
            raise InputError(f"Disturbance: expected {robot.n} limits above 0 N·m, found {self.limit.tolist()}.")
        self.h, self._effort = h, np.maximum(robot.limits.effort, self.limit)
        self.most = self._effort
        """The largest load [N·m] (n,)."""
        self._gain = 1.0 if time_constant == 0.0 else 1.0 - math.exp(-h / time_constant)
        self._fade, self._settle = math.exp(-h / FORGET), 1.0 - math.exp(-h / LOAD_TIME)
        self._step, self._friction = robot.function("jac_kicked_step"), robot.function("friction_torque")
        self._alpha = np.array(alpha, dtype=np.float64)
        sizes = [np.abs(self._alpha[[*robot.alpha.indices(kind)]]) for kind in COULOMB if robot.alpha.has(kind)]
        self._coulomb: FloatArray = np.asarray(np.sum(sizes, axis=0), dtype=np.float64)
        self._transition = self._alpha[[*robot.alpha.indices("friction.transition_velocity")]]
        self._smooth = self._alpha.copy()
        self._smooth[[k for kind in KINDS if robot.alpha.has(kind) for k in robot.alpha.indices(kind)]] = 0.0
        self.start()

    def start(self) -> None:
        """Forget everything: no disturbance."""
        self.estimate: FloatArray = np.zeros_like(self.limit)
        """The last estimate [N·m]."""
        self.load: FloatArray = np.zeros_like(self.limit)
        """What has lasted: the estimate's mean over `LOAD_TIME` [N·m]."""
        self._inertia: FloatArray = np.zeros_like(self.limit)
        self.residual: FloatArray = np.zeros_like(self.limit)
        """Disturbance of the last step, before the low-pass [N·m]."""
        self._last: tuple[float, FloatArray, FloatArray] | None = None

    @property
    def since(self) -> float | None:
        """The time [s] of the previous valid sample; None: no such sample."""
        return None if self._last is None else self._last[0]

    def update(
        self, time: float, p: FloatArray, pd: FloatArray, u: FloatArray | None, *, mean: bool = False
    ) -> FloatArray:
        """The estimate at `time` [s], from the state p [rad], pd [rad/s] and the torque u [N·m] since the previous sample.

        u may be None: unknown. `mean`: u is the mean since `since`, so the sample may come early or late, up to LONGEST.
        """
        last, found = self._last, None
        if not (math.isfinite(time) and np.isfinite(p).all() and np.isfinite(pd).all()):
            self._last = None
        elif last is None or not (last[0] < time and (p == last[1]).all() and (pd == last[2]).all() and pd.any()):
            self._last = (time, np.array(p, dtype=np.float64), np.array(pd, dtype=np.float64))
            if last is not None and u is not None:
                h = time - last[0]
                if mean and h <= max(LONGEST, self.h):
                    found = self._unexplained(last[1], last[2], u, self._last[2], h)
                elif self.in_time(h):
                    found = self._unexplained(last[1], last[2], u, self._last[2], self.h)
        # The same reading twice from a moving arm is a stale message: the previous sample is kept, and the next is late.
        if found is None:
            self.estimate = self._fade * self.estimate
        else:
            near = within(found, self.load - self.limit, self.load + self.limit)
            before, self.residual = self.residual, within(near, -self._effort, self._effort)
            # The mean of two: friction of a light joint that turns round at every sample cancels and is not answered.
            self.estimate = self.estimate + self._gain * (0.5 * (before + self.residual) - self.estimate)
        self.load = within(self.load + self._settle * (self.estimate - self.load), -self.most, self.most)
        return self.estimate

    @property
    def lasting(self) -> FloatArray:
        """The part of the estimate [N·m] (n,) that is a load; the rest may end at once, like a push."""
        return within(self.load, np.minimum(self.estimate, 0.0), np.maximum(self.estimate, 0.0))

    def free(self, direction: FloatArray) -> None:
        """Shifts the load a little, so that the torque grows in `direction` (n,) of -1, 0 or 1, where a joint sticks."""
        shift = self.h * np.minimum(FREEING * self._effort, FREEING_JERK * self._inertia) * direction
        self.estimate, self.load = self.estimate - shift, within(self.load - shift, -self.most, self.most)

    def _unexplained(
        self, p: FloatArray, pd: FloatArray, u: FloatArray, pd_next: FloatArray, h: float
    ) -> FloatArray | None:
        """The torque in addition to u of a step h [s] from p, pd to the rates pd_next; None if it is not found."""
        found = self.needed(p, pd, u + self.estimate, pd_next, h)
        return None if found is None else self._beyond_friction(found - u, pd, pd_next)

    def needed(
        self, p: FloatArray, pd: FloatArray, guess: FloatArray, pd_next: FloatArray, h: float
    ) -> FloatArray | None:
        """The torque of a step h [s] from p, pd to the rates pd_next, about `guess`; None if it is not found."""
        found = guess
        try:
            kick = h * self._friction(pd_next, self._alpha)
            for _ in range(ITERATIONS):
                step = self._step(p, pd, found, kick, h, self._smooth)
                self._inertia = h / np.diag(step.dpd_next_du)
                change = np.linalg.solve(step.dpd_next_du, pd_next - step.pd_next)
                found = found + change
                if not np.abs(change).max() > SMALL:
                    break
        except (SolverError, InputError, np.linalg.LinAlgError):
            return None
        return found if np.isfinite(found).all() else None

    def in_time(self, h: float) -> bool:
        """Whether a step of h [s] counts as one between two samples."""
        return abs(h - self.h) <= TICK_TOLERANCE * self.h

    def _beyond_friction(self, torque: FloatArray, pd: FloatArray, pd_next: FloatArray) -> FloatArray:
        """The torque nearest to the load that Coulomb friction can turn into the one found: a joint that sticks, or reverses
        within the step, has any friction up to its Coulomb torque, so a smaller difference is no evidence."""
        slack = self._coulomb * (1.0 - np.tanh(pd / self._transition) * np.tanh(pd_next / self._transition))
        return within(self.load, torque - slack, torque + slack)


def overload(joints: Sequence[str], hold: FloatArray, load: FloatArray, bounds: FloatArray) -> tuple[str, ...]:
    """Joints that cannot be held, in words: `hold` [N·m] bears the weight, `load` acts, `bounds` (2, n) are the torque's."""
    needed = hold - load
    return tuple(
        f"{joints[k]} cannot be held: weight and the estimated load of {load[k]:.3g} N·m take {needed[k]:.3g} N·m, and "
        f"it may give {bounds[0][k]:.3g} to {bounds[1][k]:.3g}; take load off or choose another pose"
        for k in np.flatnonzero((needed < bounds[0]) | (needed > bounds[1])).tolist()
    )
