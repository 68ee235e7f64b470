"""The torque of a stop: the model's torque for decelerations within every joint's remaining range.

It counts on what the run has shown of the arm (`Seen`), not on the model's friction or rotors: torque for an inertia that is
not there throws a light joint, and a stop's states are too late to take it back. Friction that opposes the motion is not
compensated, but inertia couples the joints: a joint slowed by friction accelerates others, which is. What drives the arm
and was not seen before is caught by an integral of the speed beyond that of a joint that slows down, within the joints'
inertia: an integral of the whole speed throws light joints back.
"""

from __future__ import annotations

import math

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, common_factor, within
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.reflexes import BRAKING
from diffpbd.runtime.loop.seen import Shown
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
CATCH = 50.0
"""1/s²; deceleration for a radian of way: an eighth of 1 / BRAKE_TIME², so that a stop without a load comes back by a tenth of
its speed at the most."""
LEAK = 0.05
"""s; time constant with which a deceleration by the way goes where it would push along the motion."""
LONGEST = 0.02
"""s; longest time between two states that the way is counted for."""
LEAST_INERTIA = 1e-9
"""kg·m²; of a joint's mass matrix, to divide by."""
SLOWED = 0.15
"""s; time constant of the speed of a joint that slows down, which is not counted."""
TURNED = 0.5
"""Factor on the deceleration of a joint that has turned around under the brake: it is elastic, or lighter than assumed."""
SWEEPS, CLOSE = 30, 1e-3
"""Limits of `nearest`: sweeps over all joints, and convergence tolerance [N·m]."""


class Brake:
    """The law of a stop; `motion`: inverse dynamics, None without a model."""

    def __init__(self, limits: Limits, motion: Motion | None) -> None:
        self._limits = limits
        self._motion = motion
        self._most = limits.speed / BRAKING
        self._zero = np.zeros_like(limits.effort)
        self._empty = None if motion is None else motion.links()
        self.begin(Shown(self._zero, self._zero, self._zero))

    def begin(self, shown: Shown, *, led: bool = False) -> None:
        """A stop begins; `shown` is what is known of the arm besides its model.

        An arm that is `led` by hand or was pushed may carry what nobody has seen: the integral counts all of its speed.
        """
        self._shown, self._led = shown, led
        self._links = self._empty
        if shown.load is not None and self._motion is not None:
            self._links = self._motion.links(shown.load)
        self._caught = self._side = self._zero
        """Decelerations [rad/s²] by the way, and the signs of the last speeds beyond SLOW."""
        self._gain = np.ones_like(self._zero)
        self._stamp: float | None = None
        self._slowing = self._zero
        """Speeds [rad/s] that those at the begin may still have."""

    def torque(
        self, stamp: float, q: FloatArray, dq: FloatArray, pressed: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Torque [N·m] that brakes dq [rad/s] at q [rad], measured at `stamp` [s], and the mass matrix.

        `pressed` [N·m]: see `Seen.pressed`; where it is more than what held the load before, it takes its place.

        One factor for all joints bounds decelerations (speed limit / BRAKING) and their torques (BRAKE_SHARE).
        """
        limits, links, shown = self._limits, self._links, self._shown
        if links is None:
            return np.asarray(-BRAKE_GAIN * limits.effort / limits.speed * dq, dtype=np.float64), None
        self._watch(dq)
        wanted = self._gain * dq / -BRAKE_TIME
        wanted = common_factor(wanted, self._most) * wanted
        braking = links.rigid(q, dq, wanted) + shown.inertia * wanted
        law = common_factor(braking, BRAKE_SHARE * limits.effort) * braking + self._held(q, pressed)
        mass = links.mass(q) + np.diag(shown.inertia)
        self._catch(stamp, dq)
        own = np.maximum(np.diag(mass), LEAST_INERTIA)
        slowed = -np.sign(dq) * np.minimum(shown.friction / own, np.abs(dq) / BRAKE_TIME)
        return law + mass @ (self._caught + slowed) - own * slowed, mass

    def _watch(self, dq: FloatArray) -> None:
        """A joint that turns around is braked less."""
        side = np.where(np.abs(dq) > SLOW, np.sign(dq), 0.0)
        self._gain = np.where(side * self._side < 0.0, TURNED * self._gain, self._gain)
        self._side = np.where(side != 0.0, side, self._side)

    def _catch(self, stamp: float, dq: FloatArray) -> None:
        """Count the way since the last state that a joint made too fast."""
        elapsed = 0.0 if self._stamp is None else min(max(stamp - self._stamp, 0.0), LONGEST)
        begins = self._stamp is None and not self._led
        self._slowing = np.abs(dq) if begins else math.exp(-elapsed / SLOWED) * self._slowing
        self._stamp = stamp
        beyond = np.sign(dq) * np.maximum(np.abs(dq) - self._slowing, 0.0)
        kept = np.where(self._caught * dq > 0.0, np.exp(-elapsed / LEAK), 1.0)
        self._caught = kept * self._caught - CATCH * elapsed * self._gain * beyond

    def _held(self, q: FloatArray, pressed: FloatArray | None) -> FloatArray:
        """The torque [N·m] against loads and pushes."""
        links, empty, held = self._links, self._empty, self._shown.held
        if links is not None and empty is not None and links is not empty:
            held = held + links.dynamics(q, self._zero, self._zero) - empty.dynamics(q, self._zero, self._zero)
        if pressed is None:
            return held
        return np.where(np.sign(pressed) * held < np.abs(pressed), pressed, held)

    def yielding(self, q: FloatArray, dq: FloatArray, external: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Torque [N·m] of an arm that yields to `external` [N·m], by damping dq without holding a pose, and the mass matrix.

        A pushed arm is damped with BRAKE_TIME, one that pushes something itself decelerates as in any stop; both within
        YIELD_SHARE of the effort. Towards its speed limit a joint is driven less and less, so that none exceeds it for long.
        """
        limits, links = self._limits, self._empty
        if links is None:
            return self.torque(0.0, q, dq)
        wanted = dq / -BRAKE_TIME
        share = 1.0 if float(external @ dq) > 0.0 else common_factor(wanted, self._most)
        fast = within((np.abs(dq) / limits.speed - YIELD_SPEED) / (1.0 - YIELD_SPEED), 0.0, 1.0)
        driving = np.where(external * dq > 0.0, fast * external, 0.0)
        damping = links.rigid(q, dq, share * wanted) - driving
        mass = links.mass(q)
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
