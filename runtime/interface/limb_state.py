"""The measured state of one arm, whatever brought it, and what its stamps may not do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["LEAP", "LimbState", "stepped_ahead", "stepped_back"]

LEAP = 0.1
"""s by which a stamp may be ahead of the quickest message before: the age at which a state counts as none."""


@dataclass(frozen=True, eq=False)
class LimbState:
    """The arm's joints in our order: q [rad], dq [rad/s], effort [N·m] (None if the message had none).

    All from one message. `dq` is NaN if the message had none. `received` is monotonic [s]; `delay` [s] is
    what the message took beyond the quickest one, so age counts from the measurement and not from the
    arrival.
    """

    q: FloatArray
    dq: FloatArray
    effort: FloatArray | None
    stamp: float
    received: float
    delay: float
    source: str

    def age(self, now: float) -> float:
        """Seconds since the measurement, at monotonic time `now`."""
        return now - self.received + self.delay

    @property
    def finite(self) -> bool:
        """Whether positions and velocities are all finite."""
        return bool(np.isfinite(self.q).all() and np.isfinite(self.dq).all())


def stepped_back(seconds: float) -> str:
    """Sentence about a stamp that lies `seconds` before the last one."""
    return f"the stamps of the joint states went back by {seconds:.3f} s: the robot was restarted or its clock was set"


def stepped_ahead(seconds: float) -> str:
    """Sentence about a stamp that lies `seconds` beyond the time that has passed."""
    return f"the stamps of the joint states went ahead by {seconds:.3f} s: the robot's clock was set"
