"""Reflexes: conditions on the motion, checked at every new state; the first breach stops the run.

The thresholds are here, each with its reason; docs/safety.md has them by joint. A state that a reflex distrusts
(MOTION, FROZEN) is not used by the stop either.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.loop.beside import Beside
from diffpbd.runtime.loop.motion import Inertial
from diffpbd.runtime.loop.slow_faults import SlowFaults
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.mpc.history import History

__all__ = ["BRAKING", "Breach", "Reflex", "ReflexSettings", "Reflexes"]

BRAKING = 0.25
"""s in which the stop brakes a joint from its speed limit: its braking is speed limit / BRAKING [rad/s²]."""
REACTION = 0.05
"""s from a measurement to the first braking torque at the robot."""
WINDOW = 0.1
"""s of measurement over which motion, frozen values and unexplained torque are judged."""
FEW = 4
"""Least number of states in a window."""
AGREEING = 0.9
"""Times the speed limit; faster motion between states confirms a speed above the limit."""
PUSHED = 0.03
"""s; window for accelerations: four states at 100 Hz."""
OVERSHOOT = 1.2
"""Times the speed limit; a joint that an external torque would drive there within REACTION is stopped before."""
DRIVEN = 0.1
"""Of the effort limit; larger torque along the motion is neither friction, nor model error, nor the law's."""
SURE_FLOOR = 0.01
"""rad; tolerated difference of the change of q and the integral of dq over PUSHED, during braking by these speeds."""
BETWEEN = 0.01
"""s between two estimates of unexplained torque, which take two calls of the model."""
UNCHANGED = 0.06
"""s of unchanged values in every joint that count as frozen; recordings of a physical arm never repeat even two states."""
STILL = 0.02
"""rad/s; above it, an encoder of 1e-3 rad or finer must show a change within UNCHANGED."""
ENCODER = 1e-3
"""rad; a change of position that may be the encoder's steps."""
MOTION_FLOOR = 0.03
"""rad; tolerated difference of q and the integral of dq over WINDOW; recordings of a physical arm stay below 0.024."""
MOTION_SHARE = 0.3
"""Share of the displacement tolerated besides: a filtered rate lags."""
FROZEN_SHARE = 0.02
"""Of the effort limit; a sent torque that changes by more must show in measured values."""


class Reflex(enum.IntEnum):
    """What stopped the run; the value is the exit code of `diffpbd run`."""

    STATE = 20
    """Refused states or outputs for longer than the patience."""
    SPEED = 21
    """A measured speed above the limit."""
    POSITION = 22
    """A joint that could soon not be stopped before its limit."""
    MOTION = 23
    """Measured positions and speeds contradict each other."""
    FROZEN = 24
    """New stamps with values that do not change although they must."""
    TRACKING = 25
    """The arm is far from its law's reference."""
    CONTACT = 26
    """Torque that the model does not explain: contact, payload, another spring."""
    POWER = 27
    """The law puts more power into the arm than allowed."""
    COLLISION = 28
    """The arm comes too near to itself or to a plane."""
    LATENESS = 29
    """Too many missed deadlines."""

    @property
    def may_be_a_person(self) -> bool:
        """Whether the cause may be a person whom the arm touches."""
        return self in (Reflex.CONTACT, Reflex.TRACKING)

    @property
    def distrusts_state(self) -> bool:
        """Whether the states that it saw must not be used."""
        return self in (Reflex.MOTION, Reflex.FROZEN)


@dataclass(frozen=True)
class ReflexSettings:
    """Thresholds that a run may choose.

    `speed` times the limit; `margin` [rad] of the soft position limits; `tracking` [rad]; `contact` as a share of the
    effort limit; `power` [W]. `yielding`: after CONTACT and TRACKING the arm yields
    instead of holding.
    """

    speed: float = 1.1
    """The law's torque fades out at 1.0: above it something else drives the joint. Stops within 1.2."""
    margin: float = 0.02
    """Fifty encoder steps; a joint must not lean on its limit."""
    tracking: float = 0.5
    """A compliant law of 30 N·m/rad yields that far to a hand with 15 N·m."""
    contact: float = option(
        "Share of the effort limits, not explained by the model, at which the run stops.",
        0.3,
        span=(0.0, 1.0),
        open=True,
    )
    """15 N·m at the shoulder: above a hand that leads the arm, below what hurts it."""
    power: float = 80.0
    """W; limit of ISO 10218-1:2006 for the dynamic power of a robot near people."""
    yielding: bool = True
    """A person may be between the arm and something else: a holding arm would clamp them."""

    def __post_init__(self) -> None:
        if not (1.0 <= self.speed <= 1.5 and 0.0 < self.margin < 0.5 and 0.0 < self.tracking <= 3.2):
            raise InputError(
                f"Reflexes: expected a speed from 1 to 1.5, 0 < margin < 0.5 rad and 0 < tracking <= 3.2 rad, found {self}."
            )
        if not (0.0 < self.contact <= 1.0 and 0.0 < self.power <= 1000.0):
            raise InputError(f"Reflexes: expected 0 < contact <= 1 and 0 < power <= 1000 W, found {self}.")


@dataclass(frozen=True)
class Breach:
    """Which reflex, and the figures in words."""

    reflex: Reflex
    text: str


class _Sample(NamedTuple):
    """One state; plain numbers, whose arithmetic for seven joints takes a third of that of arrays."""

    stamp: float
    q: list[float]
    dq: list[float]
    effort: list[float] | None
    law: list[float]
    way: list[float]
    """∫ dq since the start [rad]."""
    path: list[float]
    """∫ |dq| since the start [rad]."""
    push: list[float]
    """∫ law since the start [N·m·s]."""

    def same(self, other: _Sample) -> bool:
        """Whether every measured number is the same; missing torques equal missing torques only."""
        return self.q == other.q and self.dq == other.dq and self.effort == other.effort


class Reflexes:
    """Takes every accepted state; `watch` returns the first breach."""

    def __init__(
        self,
        joints: tuple[str, ...],
        limits: Limits,
        settings: ReflexSettings,
        *,
        inertial: Inertial | None = None,
        clearance: Callable[[FloatArray], str] | None = None,
    ) -> None:
        """`inertial` is for CONTACT, `clearance` (what is too near at q, in words, or empty) for COLLISION."""
        self.joints = joints
        self.limits = limits
        self.settings = settings
        self._inertial = inertial
        self._clearance = clearance
        self._least = (limits.lower + settings.margin).tolist()
        self._most = (limits.upper - settings.margin).tolist()
        self._ends = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
        self._speeds: list[float] = limits.speed.tolist()
        self._efforts: list[float] = limits.effort.tolist()
        self._allowed: list[float] = (settings.speed * limits.speed).tolist()
        self._slow = SlowFaults(joints, settings.contact * limits.effort)
        self.beside = Beside(joints, limits.effort)
        self.external: FloatArray
        """Unexplained torque on the joints [N·m], from the last states."""
        self.moving: FloatArray
        """Mean speeds in that time [rad/s], from positions."""
        self.acted: History
        """Laws [N·m] with the times, on the clock of stamps, from which they acted; if unknown the last one sent is used."""
        self._changed: _Sample | None
        self._alike: int
        """Number of states since `_changed` with the same values."""
        self._judged: float
        """Time of the last estimate of unexplained torque [s]."""
        self.start()

    def start(self) -> None:
        """Reset."""
        self._past: deque[_Sample] = deque()
        self._lately: deque[_Sample] = deque()
        """Last states; the first is the newest that is at least PUSHED older than the last, or the oldest there is."""
        self._seen: set[Reflex] = set()
        self._slow.start()
        self.beside.start()
        self.external = self.moving = np.zeros_like(self.limits.effort)
        self.acted = History(None)
        self._changed = None
        self._judged = float("-inf")

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
            self._motion(sample, self._past[0], MOTION_FLOOR) or self._drift() or self._frozen(sample)
            or self._speed(sample) or self._position(sample) or self._tracking(sample, reference) or self._contact()
            or self._driven(sample) or self._power(sample) or self._collision(sample)
        )  # fmt: skip

    def doubt(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray
    ) -> Breach | None:
        """Only a stricter check whether the states contradict each other: braking by a wrong speed drives the arm."""
        sample = self._add(stamp, q, dq, effort, law)
        if sample is None:
            sample = self._past[-1]
        elif frozen := self._frozen(sample):
            return frozen
        return (
            self._motion(sample, self._past[0], MOTION_FLOOR) or self._drift()
            or self._motion(sample, self._lately[0], SURE_FLOOR)
        )  # fmt: skip

    def at_rest(self, speed: float) -> bool:
        """Whether the newest speeds and those from the last positions are below `speed` [rad/s]."""
        if len(self._past) < FEW:
            return False
        now, then = self._past[-1], self._lately[0]
        way = speed * (now.stamp - then.stamp) + ENCODER
        slow = all(abs(rate) <= speed for rate in now.dq)
        return slow and all(abs(angle - before) <= way for angle, before in zip(now.q, then.q, strict=True))

    def free(self, way: float, since: FloatArray) -> bool:
        """Whether the arm is within `way` of the pose `since` [rad] and, if stopped now, would rest within its limits and clear
        of what `clearance` checks."""
        now = self._past[-1]
        ahead = np.array(self._ahead(now))
        near = (np.abs(np.array(now.q) - since) <= way).all()
        off = not (self.limits.outside(ahead, self.settings.margin) > 0.0).any()
        return bool(near and off) and not (self._clearance is not None and self._clearance(ahead))

    def _add(
        self, stamp: float, q: FloatArray, dq: FloatArray, effort: FloatArray | None, law: FloatArray
    ) -> _Sample | None:
        """The state as a sample, if it is a new one."""
        angles, rates, torques = q.tolist(), dq.tolist(), law.tolist()
        way = path = push = [0.0] * len(angles)
        if self._past:
            last = self._past[-1]
            elapsed = stamp - last.stamp
            if elapsed <= 0.0:
                return None
            half = 0.5 * elapsed
            both = list(zip(last.dq, rates, strict=True))
            way = [total + half * (before + rate) for total, (before, rate) in zip(last.way, both, strict=True)]
            path = [
                total + half * (abs(before) + abs(rate)) for total, (before, rate) in zip(last.path, both, strict=True)
            ]
            push = [total + elapsed * torque for total, torque in zip(last.push, torques, strict=True)]
        measured = None if effort is None else effort.tolist()
        sample = _Sample(stamp, angles, rates, measured, torques, way, path, push)
        past, lately = self._past, self._lately
        past.append(sample)
        lately.append(sample)
        while len(past) > FEW and stamp - past[1].stamp >= WINDOW:
            past.popleft()
        while len(lately) > 1 and stamp - lately[1].stamp >= PUSHED:
            lately.popleft()
        self._observe(sample)
        self._slow.add(stamp, angles, rates, way, path, self.external)
        return sample

    def _speed(self, now: _Sample) -> Breach | None:
        allowed = self._allowed if self.limits.approach is None else self._approaching(now)
        over = [k for k, rate in enumerate(now.dq) if abs(rate) > allowed[k]]
        seen = self._lasts(Reflex.SPEED, bool(over))
        if over and not seen and len(self._past) > 1:  # confirmed by positions: not noise
            before = self._past[-2]
            elapsed = now.stamp - before.stamp
            seen = any(abs(now.q[k] - before.q[k]) > AGREEING * self._speeds[k] * elapsed for k in over)
        if not seen:
            return None
        k = _largest([abs(rate) / most for rate, most in zip(now.dq, allowed, strict=True)])
        return self._breach(Reflex.SPEED, k, f"moves at {abs(now.dq[k]):.2f} rad/s, above {allowed[k]:.2f} rad/s")

    def _approaching(self, now: _Sample) -> list[float]:
        """The speeds [rad/s] that are allowed where the limits shrink."""
        allowed: list[float] = (
            self.settings.speed * self.limits.speed_along(np.array(now.q), np.array(now.dq))
        ).tolist()
        return allowed

    def _position(self, now: _Sample) -> Breach | None:
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

    def _driven(self, now: _Sample) -> Breach | None:
        """A rate so driven that the braking torque, limited in its own rate of change, would otherwise be too late."""
        then = self._lately[0]
        elapsed = max(now.stamp - then.stamp, PUSHED)
        for k, (rate, push) in enumerate(zip(now.dq, self.external.tolist(), strict=True)):
            along = math.copysign(1.0, rate)
            if rate != 0.0 and along * push > DRIVEN * self._efforts[k]:
                ahead = along * (rate + (rate - then.dq[k]) / elapsed * REACTION)
                allowed = OVERSHOOT * self._speeds[k]
                if ahead > allowed:
                    text = f"is driven from {abs(rate):.2f} rad/s towards {ahead:.2f} rad/s, above {allowed:.2f} rad/s"
                    return self._breach(Reflex.SPEED, k, text)
        return None

    def _motion(self, now: _Sample, then: _Sample, floor: float) -> Breach | None:
        if len(self._past) < FEW:
            return None
        worst, found = 0.0, None
        for k, angle in enumerate(now.q):
            moved, shown = angle - then.q[k], now.way[k] - then.way[k]
            excess = abs(moved - shown) - floor - MOTION_SHARE * (now.path[k] - then.path[k])
            if excess > worst:
                text = f"moved by {moved:.3f} rad in {now.stamp - then.stamp:.3f} s, its speeds say {shown:.3f} rad"
                worst, found = excess, self._breach(Reflex.MOTION, k, text)
        return found

    def _drift(self) -> Breach | None:
        return Breach(Reflex.MOTION, self._slow.drifted) if self._slow.drifted else None

    def _frozen(self, now: _Sample) -> Breach | None:
        first = self._changed
        if first is None or not first.same(now):
            self._changed, self._alike = now, 1
            return None
        self._alike += 1
        if self._alike < FEW or now.stamp - first.stamp < UNCHANGED:
            return None
        # Without measured torques friction alone may hold a joint while the law changes.
        share = FROZEN_SHARE if now.effort is not None else self.settings.contact
        for k, rate in enumerate(now.dq):
            if abs(rate) > STILL or abs(now.law[k] - first.law[k]) > share * self._efforts[k]:
                text = f"and all others show the same values for {now.stamp - first.stamp:.3f} s, but must have moved"
                return self._breach(Reflex.FROZEN, k, text)
        return None

    def _tracking(self, now: _Sample, reference: FloatArray | None) -> Breach | None:
        there = now.q if reference is None else reference.tolist()
        error = [abs(goal - angle) for goal, angle in zip(there, now.q, strict=True)]
        if not self._lasts(Reflex.TRACKING, max(error) > self.settings.tracking):
            return None
        k = _largest(error)
        text = f"is {error[k]:.2f} rad from where its law leads it, above {self.settings.tracking:g} rad"
        return self._breach(Reflex.TRACKING, k, text)

    def _contact(self) -> Breach | None:
        pushes = self.external.tolist()
        shares = [abs(push) / (self.settings.contact * most) for push, most in zip(pushes, self._efforts, strict=True)]
        if not max(shares) > 1.0:
            return Breach(Reflex.CONTACT, self._slow.loaded) if self._slow.loaded else None
        k = _largest(shares)
        allowed = self.settings.contact * self._efforts[k]
        text = f"is moved by {pushes[k]:.1f} N·m that the model does not explain, above {allowed:.1f} N·m"
        return self._breach(Reflex.CONTACT, k, text)

    def _observe(self, now: _Sample) -> None:
        """Update `external` from the accelerations of the last states and the torques sent meanwhile."""
        if self._inertial is None or len(self._past) < FEW or now.stamp - self._judged < BETWEEN:
            return
        self._judged = now.stamp
        then = self._lately[0]
        elapsed = now.stamp - then.stamp
        q, dq = np.array(now.q), np.array(now.dq)
        self.moving = (q - then.q) / elapsed
        motion = self._inertial(q, self.moving, (dq - then.dq) / elapsed)
        acted = self.acted.mean(then.stamp, now.stamp)
        self.external = motion - ((np.array(now.push) - then.push) / elapsed if acted is None else acted)

    def _power(self, now: _Sample) -> Breach | None:
        power = sum(torque * rate for torque, rate in zip(now.law, now.dq, strict=True))
        if not self._lasts(Reflex.POWER, power > self.settings.power):
            return None
        text = f"the law puts {power:.0f} W into the arm, above {self.settings.power:g} W"
        return Breach(Reflex.POWER, text)

    def _collision(self, now: _Sample) -> Breach | None:
        if self._clearance is None:
            return None
        near = self._clearance(np.array(now.q)) or self._clearance(np.array(self._ahead(now)))
        return Breach(Reflex.COLLISION, near) if near else None

    def _ahead(self, now: _Sample) -> list[float]:
        """The pose in which the stop would bring the arm to rest [rad]."""
        return [
            angle + rate * REACTION + 0.5 * rate * abs(rate) * BRAKING / speed
            for angle, rate, speed in zip(now.q, now.dq, self._speeds, strict=True)
        ]

    def _lasts(self, reflex: Reflex, breached: bool) -> bool:
        """Whether a breach is seen in a second state in a row: one may be noise."""
        before = reflex in self._seen
        if breached:
            self._seen.add(reflex)
        else:
            self._seen.discard(reflex)
        return breached and before

    def _breach(self, reflex: Reflex, joint: int, text: str) -> Breach:
        return Breach(reflex, f"{self.joints[joint]} {text}")


def _largest(values: list[float]) -> int:
    """Index of the largest number."""
    return values.index(max(values))
