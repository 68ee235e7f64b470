"""A torque with another clock than the motion: its delay grows or shrinks over the recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.measured import Measured
from diffpbd.runtime.causes.sensors.delay import SHIFT

FARTHEST: Final = 0.4
"""[s] Largest tried shift at the end of a recording relative to its middle."""
STEPS: Final = 41
"""[1] Number of tried shifts: 20 ms are within the same swing of an arm."""
EDGES: Final = 0.1
"""[1] Largest part of a recording at each end whose shifted torques may lie outside."""
CLOCKED: Final = 0.6
"""[1] Unexplained part with a torque's own clock over that with a shift."""
LONG_ENOUGH, HOLE = 5.0, 0.1
"""[s] A recording whose torque may have a clock, and steps between its samples."""
ALIKE: Final = 0.05
"""[1] Spread of the joints' clocks, relative to their mean, that are one."""


class TorqueClock(Cause):
    """Of one clock of all joints a single finding."""

    kind, order, of_torque = "torque-clock", 2, True
    means = (
        "the delay of the torque after the motion grows or shrinks: its channel has its own clock (detected up to 0.4 s of "
        "drift from the middle to an end)"
    )
    mends = "`--stretch tau=1.01`"

    def measured(self, torques: Measured) -> Findings:
        clocks = {torques.robot.joints[k]: own for k in torques.told() if (own := _own_clock(torques, k)) is not None}
        torques.in_time |= {torques.robot.joints.index(name) for name in clocks}
        slopes = [clock.factor - 1.0 for clock in clocks.values()]
        if 1 < len(slopes) == len(torques.judged) and np.ptp(slopes) < ALIKE * abs(np.mean(slopes)):
            clocks = {"": next(iter(clocks.values()))}
        for joint, clock in clocks.items():
            first, last = (
                f"{1e3 * abs(own):.0f} ms {'after' if own > 0.0 else 'before'}" for own in (clock.first, clock.last)
            )
            what = "its torque comes" if joint else "torques come"
            message = f"{what} {first} the motion at the start and {last} it at the end: a clock of its own?"
            mend = f"{arg.stretch} tau{joint and '_'}{joint}={clock.factor:.5g}"
            yield Finding(self, joint, message, mend, grave=True)


@dataclass(frozen=True)
class Clock:
    """`factor` [1]: seconds of the torque's clock per second; `first`, `last` [s]: its delay after the motion
    at the start and at the end; `left` [1]: unexplained part then."""

    factor: float
    first: float
    last: float
    left: float


def _own_clock(torques: Measured, k: int) -> Clock | None:
    """The clock of a joint's torque, if it explains far more than a shift; of a recording without gaps."""
    time = torques.time
    if np.diff(time).max() > HOLE or not LONG_ENOUGH < time[-1] - time[0]:
        return None
    shift, shifted = torques.shift(k)
    found = _clock(time, torques.tau[:, k], shift, lambda tau, rows: torques.left_at(tau, k, rows))
    clear = found.left < CLOCKED * min(shifted, torques.explained(k).left)
    return found if clear and abs(found.last - found.first) > SHIFT else None


def _clock(
    time: FloatArray, torque: FloatArray, middle: float, left: Callable[[FloatArray, npt.NDArray[np.intp]], float]
) -> Clock:
    """The clock that explains a torque (samples,) best, from a shift in the `middle` [s]; `left` gives the unexplained part of
    torques at these samples."""
    from scipy.optimize import minimize

    half = 0.5 * float(time[-1] - time[0])
    rows = np.flatnonzero(np.abs(time - time[0] - half) <= max(half - FARTHEST - abs(middle), (1.0 - EDGES) * half))
    about = (time[rows] - time[0]) / half - 1.0

    def unexplained(shift: FloatArray) -> float:
        return left(np.interp(time[rows] + shift[0] + shift[1] * about, time, torque), rows)

    ends = np.linspace(-FARTHEST, FARTHEST, STEPS)
    start = min(((middle, end) for end in ends.tolist()), key=lambda own: unexplained(np.array(own)))
    size = np.full(2, FARTHEST / STEPS)
    simplex = np.array(start) + np.array([[0.0, 0.0], [size[0], 0.0], [0.0, size[1]]])
    best = minimize(unexplained, start, method="Nelder-Mead", options={"initial_simplex": simplex, "xatol": 1e-4})
    a, b = best.x.tolist()
    return Clock(1.0 + b / half, a - b, a + b, float(best.fun))
