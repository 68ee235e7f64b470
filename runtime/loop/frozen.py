"""States with new stamps whose values do not change although they must."""

from __future__ import annotations

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.recent import FEW, Sample

__all__ = ["Frozen"]

UNCHANGED = 0.06
"""s of unchanged values in every joint that count as frozen; recordings of a physical arm never repeat even two states."""
STILL = 0.02
"""rad/s; above it, an encoder of 1e-3 rad or finer must show a change within UNCHANGED."""
FROZEN_SHARE = 0.02
"""Of the effort limit; a sent torque that changes by more must show in measured values."""


class Frozen:
    """Takes every state."""

    def __init__(self, effort: FloatArray, contact: float) -> None:
        """`effort` [N·m] are the limits; `contact`: share of them by which a torque may change without measured torques."""
        self._efforts: list[float] = effort.tolist()
        self._contact = contact
        self.start()

    def start(self) -> None:
        """Reset."""
        self._changed: Sample | None = None
        self._alike = 0
        """Number of states since `_changed` with the same values."""

    def find(self, now: Sample) -> tuple[int, str] | None:
        """A joint that must have moved, with the figures in words."""
        first = self._changed
        if first is None or not first.same(now):
            self._changed, self._alike = now, 1
            return None
        self._alike += 1
        if self._alike < FEW or now.stamp - first.stamp < UNCHANGED:
            return None
        # Without measured torques friction alone may hold a joint while the law changes.
        share = FROZEN_SHARE if now.effort is not None else self._contact
        for k, rate in enumerate(now.dq):
            if abs(rate) > STILL or abs(now.law[k] - first.law[k]) > share * self._efforts[k]:
                return (
                    k,
                    f"and all others show the same values for {now.stamp - first.stamp:.3f} s, but must have moved",
                )
        return None
