"""Reflexes: conditions on the motion, checked at every new state; the first breach stops the run.

The thresholds are here, each with its reason; docs/safety.md has them by joint. A state that a reflex distrusts
(MOTION, FROZEN) is not used by the stop either.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.beside import Beside
from diffpbd.runtime.loop.breach import Breach, Reflex, ReflexSettings
from diffpbd.runtime.loop.frozen import Frozen
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.observer import Observer
from diffpbd.runtime.loop.recent import ENCODER, FEW, PUSHED, Recent, Sample
from diffpbd.runtime.loop.slow_faults import LAG, SlowFaults
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.mpc.history import History

__all__ = ["BRAKING", "Breach", "Reflex", "ReflexSettings", "Reflexes"]

BRAKING = 0.25
"""s in which the stop brakes a joint from its speed limit: its braking is speed limit / BRAKING [rad/s²]."""
REACTION = 0.05
"""s from a measurement to the first braking torque at the robot."""
AGREEING = 0.9
"""Times the speed limit; faster motion between states confirms a speed above the limit."""
OVERSHOOT = 1.2
"""Times the speed limit; a joint that an external torque would drive there within REACTION is stopped before."""
DRIVEN = 0.1
"""Of the effort limit; larger torque along the motion is neither friction, nor model error, nor the law's."""
SURE_FLOOR = 0.01
"""rad; tolerated difference of the change of q and the integral of dq over PUSHED, during braking by these speeds."""
MOTION_FLOOR = 0.03
"""rad; tolerated difference of q and the integral of dq over WINDOW; recordings of a physical arm stay below 0.024."""
MOTION_SHARE = 0.3
"""Share of the displacement tolerated besides: a filtered rate lags."""


class Reflexes:
    """Takes every accepted state; `watch` returns the first breach."""

    def __init__(
        self,
        joints: tuple[str, ...],
        limits: Limits,
        settings: ReflexSettings,
        *,
        motion: Motion | None = None,
        clearance: Callable[[FloatArray], str] | None = None,
    ) -> None:
        """`motion` is for CONTACT, `clearance` (what is too near at q, in words, or empty) for COLLISION."""
        self.joints = joints
        self.limits = limits
        self.settings = settings
        self._clearance = clearance
        self._least = (limits.lower + settings.margin).tolist()
        self._most = (limits.upper - settings.margin).tolist()
        self._ends = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
        self._speeds: list[float] = limits.speed.tolist()
        self._efforts: list[float] = limits.effort.tolist()
        self._allowed: list[float] = (settings.speed * limits.speed).tolist()
        self._slow = SlowFaults(joints, settings.contact * limits.effort)
        self.beside = Beside(joints, limits.effort)
        self._recent = Recent()
        self._observer = Observer(motion, limits.effort)
        self._unchanging = Frozen(limits.effort, settings.contact)
        self.start()

    def start(self) -> None:
        """Reset."""
        self._recent.start()
        self._observer.start()
        self._seen: set[str] = set()
        self._pushed: tuple[set[tuple[int, bool]], float] = (set(), -math.inf)
        """Joints, and whether forwards, on which a state showed a torque above CONTACT's threshold; its `since`."""
        self._slow.start()
        self.beside.start()
        self._unchanging.start()

    @property
    def external(self) -> FloatArray:
        """Unexplained torque on the joints [N·m], from the last states."""
        return self._observer.external

    @property
    def moving(self) -> FloatArray:
        """Mean speeds in that time [rad/s], from positions."""
        return self._observer.moving

    @property
    def acted(self) -> History:
        """Takes the laws [N·m] with the times, on the clock of stamps, from which they act."""
        return self._recent.acted

    def watch(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray,
        reference: FloatArray | None = None,
    ) -> Breach | None:  # fmt: skip
        """The breach at an accepted state; `law` [N·m] was sent last, `reference` [rad] is the law's."""
        sample = self._add(stamp, q, dq, effort, law)
        if sample is None:
            return None
        self.beside.add(stamp, sample.q, sample.dq, self.external, reference)
        return (
            self._motion(sample, self._recent.past[0], MOTION_FLOOR) or self._drift() or self._frozen(sample)
            or self._contact() or self._speed(sample) or self._driven(sample) or self._position(sample)
            or self._tracking(sample, reference) or self._power(sample) or self._collision(sample)
        )  # fmt: skip

    def doubt(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray
    ) -> Breach | None:
        """Only a stricter check whether the states contradict each other: braking by a wrong speed drives the arm."""
        sample = self._add(stamp, q, dq, effort, law)
        if sample is None:
            sample = self._recent.past[-1]
        elif frozen := self._frozen(sample):
            return frozen
        return (
            self._motion(sample, self._recent.past[0], MOTION_FLOOR) or self._drift()
            or self._motion(sample, self._recent.lately[0], SURE_FLOOR)
        )  # fmt: skip

    def at_rest(self, speed: float) -> bool:
        """Whether the newest speeds and those from the last positions are below `speed` [rad/s]."""
        return self._recent.at_rest(speed)

    def free(self, way: float, since: FloatArray) -> bool:
        """Whether the arm is within `way` of the pose `since` [rad] and, if stopped now, would rest within its limits and clear
        of what `clearance` checks."""
        now = self._recent.past[-1]
        ahead = np.array(self._ahead(now))
        near = (np.abs(np.array(now.q) - since) <= way).all()
        off = not (self.limits.outside(ahead, self.settings.margin) > 0.0).any()
        return bool(near and off) and not (self._clearance is not None and self._clearance(ahead))

    def _add(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray
    ) -> Sample | None:
        """The state as a sample, if it is a new one."""
        sample = self._recent.add(stamp, q, dq, effort, law)
        if sample is not None:
            self._observer.add(stamp, sample.q, sample.dq, sample.impulse)
            self._slow.add(stamp, sample.q, sample.dq, sample.way, sample.path, self.external)
        return sample

    def _speed(self, now: Sample) -> Breach | None:
        allowed = self._allowed if self.limits.approach is None else self._approaching(now)
        over = [k for k, rate in enumerate(now.dq) if abs(rate) > allowed[k]]
        seen = self._lasts("speed", bool(over))
        if over and not seen and len(self._recent.past) > 1:  # confirmed by positions: not noise
            before = self._recent.past[-2]
            elapsed = now.stamp - before.stamp
            seen = any(abs(now.q[k] - before.q[k]) > AGREEING * self._speeds[k] * elapsed for k in over)
        if not seen:
            return None
        k = _largest([abs(rate) / most for rate, most in zip(now.dq, allowed, strict=True)])
        return self._fast(now, k, f"moves at {abs(now.dq[k]):.2f} rad/s, above {allowed[k]:.2f} rad/s")

    def _fast(self, now: Sample, k: int, text: str) -> Breach:
        """A joint that is too fast: CONTACT if external torque drives it, and positions show the speed; else SPEED."""
        past, along = self._recent.past, math.copysign(1.0, now.dq[k])
        gained = along * (now.dq[k] - past[0].dq[k]) / max(now.stamp - past[0].stamp, PUSHED)
        driven = self._observer.drives(k, along, [one.law for one in past], gained)
        if not driven or self._motion(now, self._recent.lately[0], ENCODER):
            return self._breach(Reflex.SPEED, k, text)
        return self._breach(Reflex.CONTACT, k, f"{text}, driven from outside ({self.external[k]:.1f} N·m on it)")

    def _approaching(self, now: Sample) -> list[float]:
        """The speeds [rad/s] that are allowed where the limits shrink."""
        allowed: list[float] = (
            self.settings.speed * self.limits.speed_along(np.array(now.q), np.array(now.dq))
        ).tolist()
        return allowed

    def _position(self, now: Sample) -> Breach | None:
        ahead = self._ahead(now)
        for k, (lower, upper) in enumerate(self._ends):
            if not (self._least[k] <= now.q[k] <= self._most[k] and lower <= ahead[k] <= upper):
                break
        else:
            return None
        limits = self.limits
        beyond = np.maximum(limits.outside(np.array(now.q), self.settings.margin), limits.outside(np.array(ahead)))
        k = int(np.argmax(beyond))
        lower, upper = self._ends[k]
        return self._breach(
            Reflex.POSITION, k,
            f"at {now.q[k]:.3f} rad and {now.dq[k]:.2f} rad/s comes too near to its limits [{lower:.3f}, {upper:.3f}] rad",
        )  # fmt: skip

    def _driven(self, now: Sample) -> Breach | None:
        """A rate so driven that the braking torque, limited in its own rate of change, would otherwise be too late."""
        then = self._recent.lately[0]
        elapsed = max(now.stamp - then.stamp, PUSHED)
        for k, (rate, push) in enumerate(zip(now.dq, self.external.tolist(), strict=True)):
            along = math.copysign(1.0, rate)
            if rate != 0.0 and along * push > DRIVEN * self._efforts[k]:
                ahead = along * (rate + (rate - then.dq[k]) / elapsed * REACTION)
                allowed = OVERSHOOT * self._speeds[k]
                if ahead > allowed:
                    if not (self._lasts("driven", True) or self._recent.tells()):
                        return None
                    text = f"is driven from {abs(rate):.2f} rad/s towards {ahead:.2f} rad/s, above {allowed:.2f} rad/s"
                    return self._fast(now, k, text)
        self._lasts("driven", False)
        return None

    def _motion(self, now: Sample, then: Sample, floor: float) -> Breach | None:
        if len(self._recent.past) < FEW:
            return None
        worst, found = 0.0, None
        for k, angle in enumerate(now.q):
            moved, shown = angle - then.q[k], now.way[k] - then.way[k]
            apart = moved - shown
            if abs(apart) <= floor:
                continue
            late = LAG * (now.dq[k] - then.dq[k])  # a filtered speed's; one that jumps falsely differs the other way
            apart -= max(min(apart, late), 0.0) + min(max(apart, late), 0.0)
            excess = abs(apart) - floor - MOTION_SHARE * (now.path[k] - then.path[k])
            if excess > worst:
                text = f"moved by {moved:.3f} rad in {now.stamp - then.stamp:.3f} s, its speeds say {shown:.3f} rad"
                worst, found = excess, self._breach(Reflex.MOTION, k, text)
        return found

    def _drift(self) -> Breach | None:
        return Breach(Reflex.MOTION, self._slow.drifted) if self._slow.drifted else None

    def _frozen(self, now: Sample) -> Breach | None:
        found = self._unchanging.find(now)
        return None if found is None else self._breach(Reflex.FROZEN, *found)

    def _tracking(self, now: Sample, reference: FloatArray | None) -> Breach | None:
        there = now.q if reference is None else reference.tolist()
        error = [abs(goal - angle) for goal, angle in zip(there, now.q, strict=True)]
        if not self._lasts("tracking", max(error) > self.settings.tracking):
            return None
        k = _largest(error)
        text = f"is {error[k]:.2f} rad from where its law leads it, above {self.settings.tracking:g} rad"
        return self._breach(Reflex.TRACKING, k, text)

    def _contact(self) -> Breach | None:
        pushes = self.external.tolist()
        shares = [abs(push) / (self.settings.contact * most) for push, most in zip(pushes, self._efforts, strict=True)]
        over = {(k, pushes[k] > 0.0) for k, share in enumerate(shares) if share > 1.0}
        before, since = self._pushed
        renewed = since != self._observer.since  # else one wrong state may be in both
        if renewed or not before:
            self._pushed = (over, self._observer.since)
        if not over:
            return Breach(Reflex.CONTACT, self._slow.loaded) if self._slow.loaded else None
        if not (renewed and over & before or self._recent.confirmed()):  # one state alone may be noise
            return None
        k = _largest(shares)
        allowed = self.settings.contact * self._efforts[k]
        text = f"is moved by {pushes[k]:.1f} N·m that the model does not explain, above {allowed:.1f} N·m"
        return self._breach(Reflex.CONTACT, k, text)

    def _power(self, now: Sample) -> Breach | None:
        power = sum(torque * rate for torque, rate in zip(now.law, now.dq, strict=True))
        if not self._lasts("power", power > self.settings.power):
            return None
        text = f"the law puts {power:.0f} W into the arm, above {self.settings.power:g} W"
        return Breach(Reflex.POWER, text)

    def _collision(self, now: Sample) -> Breach | None:
        if self._clearance is None:
            return None
        near = self._clearance(np.array(now.q)) or self._clearance(np.array(self._ahead(now)))
        return Breach(Reflex.COLLISION, near) if near else None

    def _ahead(self, now: Sample) -> list[float]:
        """The pose in which the stop would bring the arm to rest [rad]."""
        return [
            angle + rate * REACTION + 0.5 * rate * abs(rate) * BRAKING / speed
            for angle, rate, speed in zip(now.q, now.dq, self._speeds, strict=True)
        ]

    def _lasts(self, breach: str, breached: bool) -> bool:
        """Whether a breach is seen in a second state in a row: one may be noise."""
        before = breach in self._seen
        if breached:
            self._seen.add(breach)
        else:
            self._seen.discard(breach)
        return breached and before

    def _breach(self, reflex: Reflex, joint: int, text: str) -> Breach:
        return Breach(reflex, f"{self.joints[joint]} {text}")


def _largest(values: list[float]) -> int:
    """Index of the largest number."""
    return values.index(max(values))
