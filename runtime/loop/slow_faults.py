"""Sensor faults that show only over seconds: positions against speeds, and torque against motion.

Undetected: errors of a position that its speed shares and that hardly change the holding torque.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["SlowFaults"]

EVERY = 0.05
"""s between two checks."""
DRIFT_WINDOW = 5.0
"""s; window for comparing q with the integral of dq."""
DRIFT_FLOOR = 0.04
"""rad; tolerated difference, twice that of recordings of two physical arms over 5 s without the lag (0.019)."""
DRIFT_SHARE = 0.05
"""Share of the path length: speeds sampled in step with a vibrating joint are biased (seen: 0.08 rad of 1.3 in 5 s)."""
LAG = 0.02
"""s; lag of a filtered speed, up to that of a physical arm; the integral lags by the corresponding path."""
LOAD_WINDOW = 3.0
"""s over which unexplained torque is averaged: a hand that leads an arm pushes and brakes, a weight stays."""
LOAD_SHARE = 0.5
"""Share of CONTACT's threshold; above the start's tolerance (0.08 of the effort limit) and a joint's friction together."""


class _Look(NamedTuple):
    stamp: float
    q: list[float]
    dq: list[float]
    way: list[float]
    """∫ dq [rad]."""
    path: list[float]
    """∫ |dq| [rad]."""
    unsure: list[float]
    """[rad] Uncertainty of ∫ dq because the speed vibrates in step with the states."""
    load: list[float]
    """∫ of unexplained torque [N·m·s]."""


class SlowFaults:
    """Takes every state; `drifted` and `loaded` describe faults of the last seconds in words, or are empty."""

    def __init__(self, joints: tuple[str, ...], contact: FloatArray) -> None:
        """`contact` [N·m] is the unexplained torque that ends a run at once."""
        self._joints = joints
        self._allowed: list[float] = (LOAD_SHARE * contact).tolist()
        self.drifted: str
        """Positions and speeds that contradict each other."""
        self.loaded: str
        """Torque that the model does not explain and that lasts."""
        self.start()

    def start(self) -> None:
        """Reset."""
        self.drifted = self.loaded = ""
        self._past: deque[_Look] = deque()
        self._lately: deque[tuple[float, list[float]]] = deque(maxlen=4)
        """Stamps and speeds of the last states."""
        self._unsure: list[float] = [0.0] * len(self._joints)

    def add(
        self, stamp: float, q: list[float], dq: list[float], way: list[float], path: list[float], external: FloatArray
    ) -> None:
        """A state [rad, rad/s], the integrals of dq and of |dq| up to it [rad] and its unexplained torque [N·m]."""
        past = self._past
        self._shake(stamp, dq)
        if not past:
            past.append(_Look(stamp, q, dq, way, path, self._unsure, [0.0] * len(q)))
            return
        elapsed = stamp - past[-1].stamp
        if elapsed < EVERY:
            return
        load = [total + elapsed * push for total, push in zip(past[-1].load, external.tolist(), strict=True)]
        now = _Look(stamp, q, dq, way, path, self._unsure, load)
        past.append(now)
        while stamp - past[1].stamp >= DRIFT_WINDOW:
            past.popleft()
        self.drifted = self._drift(now, past[0])
        then = next((look for look in reversed(past) if stamp - look.stamp >= LOAD_WINDOW), None)
        self.loaded = "" if then is None else self._load(now, then)

    def _shake(self, stamp: float, dq: list[float]) -> None:
        """If the speed alternates from state to state (three changes of opposite signs) it is known only at the states: the
        displacement between lies anywhere between those of both ends' speeds."""
        lately = self._lately
        lately.append((stamp, dq))
        if len(lately) < 4:
            return
        (_, a), (_, b), (then, c), (now, d) = lately
        half = 0.5 * (now - then)
        self._unsure = [
            total
            + (half * min(abs(y - x), abs(z - y), abs(w - z)) if (y - x) * (z - y) < 0.0 > (z - y) * (w - z) else 0.0)
            for total, x, y, z, w in zip(self._unsure, a, b, c, d, strict=True)
        ]

    def _drift(self, now: _Look, then: _Look) -> str:
        worst, found = 0.0, ""
        for k, joint in enumerate(self._joints):
            moved, shown = now.q[k] - then.q[k], now.way[k] - then.way[k]
            allowed = (
                DRIFT_FLOOR + DRIFT_SHARE * (now.path[k] - then.path[k]) + LAG * (abs(now.dq[k]) + abs(then.dq[k]))
                + now.unsure[k] - then.unsure[k]
            )  # fmt: skip
            excess = abs(moved - shown) - allowed
            if excess > worst:
                worst, found = excess, (
                    f"{joint} moved by {moved:.3f} rad in {now.stamp - then.stamp:.2f} s, its speeds say "
                    f"{shown:.3f} rad: its position creeps or its speed is wrong"
                )  # fmt: skip
        return found

    def _load(self, now: _Look, then: _Look) -> str:
        seconds = now.stamp - then.stamp
        worst, found = 1.0, ""
        for k, joint in enumerate(self._joints):
            mean = (now.load[k] - then.load[k]) / seconds
            if abs(mean) > worst * self._allowed[k]:
                worst, found = abs(mean) / self._allowed[k], (
                    f"{joint} was loaded for {seconds:.1f} s by {mean:.1f} N·m that the model does not explain, above "
                    f"{self._allowed[k]:.2f} N·m: a weight, somebody who leans on it, or a wrong position"
                )  # fmt: skip
        return found
