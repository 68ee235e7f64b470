"""The torque of a stop: the model's torque for decelerations within every joint's remaining range.

Friction that opposes the motion is not compensated: that would be late by a message or two, and a wrist of 3e-4 kg·m²
reverses meanwhile. But inertia couples the joints: a joint slowed by friction accelerates others, which is compensated. So
are torques that drive the arm, from a load or spring that the model does not have.
"""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, common_factor, within
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import BRAKING
from diffpbd.runtime.loop.seen import Seen, Shown
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
SLOW = 0.05
"""rad/s; below it a joint's friction is not fully developed."""
CATCH = 50.0
"""1/s²; of a joint's inertia."""
LEAK = 0.05
"""s"""
TURNED = 0.5
"""Factor on the gain of a joint that the brake has turned around."""
SWEEPS, CLOSE = 30, 1e-3
"""Limits of `nearest`: sweeps over all joints, and convergence tolerance [N·m]."""


class Brake:
    """The law of a stop; `motion`: inverse dynamics, None without a model."""

    def __init__(self, limits: Limits, motion: Motion | None) -> None:
        self._limits = limits
        self._motion = motion
        self._most = limits.speed / BRAKING
        self.begin()

    def begin(self, seen: Seen | None = None) -> None:
        zero = np.zeros_like(self._limits.effort)
        shown = Shown(zero, zero, zero) if seen is None else seen.shown()
        self._shown = shown
        self._laden = None
        if shown.load is not None and self._motion is not None and self._motion.laden is not None:
            self._laden = self._motion.laden(shown.load)
        self._gain = np.ones_like(zero)
        self._side = zero
        self._stamp: float | None = None
        self._caught = zero

    def torque(self, stamp: float, q: FloatArray, dq: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        limits, motion = self._limits, self._motion
        if motion is None:
            return np.asarray(-BRAKE_GAIN * limits.effort / limits.speed * dq, dtype=np.float64), None
        side = np.where(np.abs(dq) > SLOW, np.sign(dq), 0.0)
        turned = side * self._side < 0.0
        self._gain = np.where(turned, TURNED * self._gain, self._gain)
        self._side = np.where(side != 0.0, side, self._side)
        wanted = self._gain * dq / -BRAKE_TIME
        wanted = common_factor(wanted, self._most) * wanted
        shown, laden = self._shown, self._laden
        rigid = motion.links if laden is None else laden.rigid
        braking = rigid(q, dq, wanted) + shown.inertia * wanted
        law = common_factor(braking, BRAKE_SHARE * limits.effort) * braking + shown.held
        law = law if laden is None else law + self._weight(q)
        if motion.mass is None:
            return law, None
        mass = motion.mass(q) if laden is None else laden.mass(q)
        whole = mass + np.diag(shown.inertia)
        own = np.diag(whole)
        self._catch(stamp, dq)
        slowed = -np.sign(dq) * np.minimum(shown.friction / own, np.abs(dq) / BRAKE_TIME)
        return law + whole @ (self._caught + slowed) - own * slowed, whole

    def _weight(self, q: FloatArray) -> FloatArray:
        zero = np.zeros_like(q)
        return self._laden.dynamics(q, zero, zero) - self._motion.laden(np.zeros(4)).dynamics(q, zero, zero)

    def _catch(self, stamp: float, dq: FloatArray) -> None:
        elapsed = 0.0 if self._stamp is None else min(max(stamp - self._stamp, 0.0), 0.02)
        self._stamp = stamp if self._stamp is None else max(stamp, self._stamp)
        leak = np.where(self._caught * dq > 0.0, np.exp(-elapsed / LEAK), 1.0)
        self._caught = leak * self._caught - CATCH * self._gain * dq * elapsed

    def yielding(self, q: FloatArray, dq: FloatArray, external: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Torque [N·m] of an arm that yields to `external` [N·m], by damping dq without holding a pose, and the mass matrix.

        A pushed arm is damped with BRAKE_TIME, one that pushes something itself decelerates as in any stop; both within
        YIELD_SHARE of the effort.
        """
        limits, motion = self._limits, self._motion
        if motion is None:
            return self.torque(0.0, q, dq)
        wanted = dq / -BRAKE_TIME
        share = 1.0 if float(external @ dq) > 0.0 else common_factor(wanted, self._most)
        damping = motion.links(q, dq, share * wanted)
        mass = None if motion.mass is None else motion.mass(q)
        return common_factor(damping, YIELD_SHARE * limits.effort) * damping, mass


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
