"""The torque of a stop: the model's torque for decelerations within every joint's remaining range.

Friction that opposes the motion is not compensated: that would be late by a message or two, and a wrist of 3e-4 kg·m²
reverses meanwhile. But inertia couples the joints: a joint slowed by friction accelerates others, which is compensated. So
are torques that drive the arm, from a load or spring that the model does not have.
"""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, common_factor, within
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import BRAKING, DRIVEN
from diffpbd.runtime.model.limits import Limits

__all__ = ["Brake", "nearest"]

BRAKE_TIME = 0.05
"""s; time constant of the braking near rest: five messages at 100 Hz, so that a message's delay does not shake it."""
BRAKE_GAIN = 0.1
"""Of effort limit over speed limit [N·m·s/rad]; braking damping without a model of the inertia."""
BRAKE_SHARE = 0.5
"""Of the effort limit; largest torque for decelerations. A stretched Baxter takes 18 N·m of 50 for those of BRAKING."""
YIELD_SHARE = 0.7
"""Of the effort limit; largest damping torque of a yielding arm, which stays slow under 35 N·m at the shoulder."""
YIELD_SPEED = 0.8
"""Share of a joint's speed limit from which a yielding arm balances more and more of what drives it, and all of it at the
limit: a weight that falls or a lasting push must not run away."""
SLOW = 0.05
"""rad/s; below it a joint's friction is not fully developed."""
RESTING, LIGHT = 0.03, 50.0
"""Of the effort limit, and rad/s²: smaller unexplained torque on a resting joint is left to its friction if it would
accelerate the joint more than that. Compensated after a hand had let go, 0.2 N·m threw a wrist of 3e-4 kg·m² to 0.4 rad/s;
heavier joints need the compensation, and a load that moves the joint is compensated in full."""
SWEEPS, CLOSE = 30, 1e-3
"""Limits of `nearest`: sweeps over all joints, and convergence tolerance [N·m]."""


class Brake:
    """The law of a stop; `motion`: inverse dynamics, None without a model."""

    def __init__(self, limits: Limits, motion: Motion | None) -> None:
        self._limits = limits
        self._motion = motion
        self._most = limits.speed / BRAKING

    def torque(
        self, q: FloatArray, dq: FloatArray, external: FloatArray, moving: FloatArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Torque [N·m] that brakes dq [rad/s] at q [rad] against `external` [N·m], estimated while the arm moved at `moving`
        [rad/s], and the mass matrix.

        One factor for all joints bounds decelerations (speed limit / BRAKING) and their torques (BRAKE_SHARE).
        """
        limits, motion = self._limits, self._motion
        if motion is None:
            return np.asarray(-BRAKE_GAIN * limits.effort / limits.speed * dq, dtype=np.float64), None
        wanted = dq / -BRAKE_TIME
        braking = (motion.rigid or motion.inertial)(q, dq, common_factor(wanted, self._most) * wanted)
        mass = None if motion.mass is None else motion.mass(q)
        own = None if mass is None else np.diag(mass)
        rubbing = self._rubbing(external, moving, own)
        law = common_factor(braking, BRAKE_SHARE * limits.effort) * braking - (external - rubbing)
        if mass is None or own is None:
            return law, None
        friction = rubbing - self._known(motion, q, moving)
        slowed = friction / own * np.clip(-np.sign(friction) * dq / SLOW, 0.0, 1.0)
        return law + mass @ slowed - own * slowed, mass

    def yielding(self, q: FloatArray, dq: FloatArray, external: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Torque [N·m] of an arm that yields to `external` [N·m], by damping dq without holding a pose, and the mass matrix.

        A pushed arm is damped with BRAKE_TIME, one that pushes something itself decelerates as in any stop; both within
        YIELD_SHARE of the effort. Towards its speed limit a joint is driven less and less, so that none exceeds it for long.
        """
        limits, motion = self._limits, self._motion
        if motion is None:
            return self.torque(q, dq, external, dq)
        wanted = dq / -BRAKE_TIME
        share = 1.0 if float(external @ dq) > 0.0 else common_factor(wanted, self._most)
        fast = within((np.abs(dq) / limits.speed - YIELD_SPEED) / (1.0 - YIELD_SPEED), 0.0, 1.0)
        driving = np.where(external * dq > 0.0, fast * external, 0.0)
        damping = (motion.rigid or motion.inertial)(q, dq, share * wanted) - driving
        mass = None if motion.mass is None else motion.mass(q)
        return common_factor(damping, YIELD_SHARE * limits.effort) * damping, mass

    def _rubbing(self, external: FloatArray, moving: FloatArray, own: FloatArray | None) -> FloatArray:
        """The part of `external` that may be friction: against the motion up to DRIVEN, of a light joint at rest up to RESTING;
        `own`: diagonal inertia of the joints [kg·m²]."""
        effort = self._limits.effort
        light = np.zeros(len(effort), bool) if own is None else own < RESTING * effort / LIGHT
        resting = np.where(light & (np.abs(moving) < SLOW), RESTING, 0.0)
        share = np.where(external * moving < 0.0, DRIVEN, resting)
        return np.copysign(np.minimum(np.abs(external), share * effort), external)

    def _known(self, motion: Motion, q: FloatArray, moving: FloatArray) -> FloatArray | float:
        """The model's friction torque at `moving` [N·m]."""
        if motion.rigid is None:
            return 0.0
        zero = np.zeros_like(q)
        return np.asarray(motion.inertial(q, moving, zero) - motion.rigid(q, moving, zero), dtype=np.float64)


def nearest(wanted: FloatArray, low: FloatArray, high: FloatArray, mass: FloatArray) -> FloatArray:
    """The torques (n,) [N·m] within [low, high] whose accelerations are nearest to those of the wanted ones, in the
    metric of Gauss's least constraint: the x with the least (x − wanted)ᵀ M⁻¹ (x − wanted), by coordinate descent.

    Wanted torques within the bounds are returned unchanged. One factor for all joints would be set by the one furthest off,
    and the others would keep their old torques meanwhile.
    """
    if (low <= wanted).all() and (wanted <= high).all():
        return wanted
    rows = np.linalg.inv(mass).tolist()
    rooms = list(zip((low - wanted).tolist(), (high - wanted).tolist(), strict=True))
    apart = [min(max(0.0, least), most) for least, most in rooms]
    joints = range(len(rows))
    for _ in range(SWEEPS):
        moved = 0.0
        for k in joints:
            row = rows[k]
            step = sum([row[m] * apart[m] for m in joints]) / row[k]
            least, most = rooms[k]
            found = min(max(apart[k] - step, least), most)
            moved = max(moved, abs(found - apart[k]))
            apart[k] = found
        if moved < CLOSE:
            break
    return within(wanted + np.array(apart), low, high)
