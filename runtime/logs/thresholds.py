"""Thresholds of the checks of recordings, each with the values of physical recordings.

Recordings: twelve of a Baxter's left arm (100 Hz, encoder quanta of 4e-4 rad, series-elastic torque sensors) and one of a Panda
(1 kHz, stamps 0.7 to 8.8 ms apart). Each lies well outside of their values, and inside of those of the mistake.
"""

from __future__ import annotations

import math

__all__ = [
    "ADVANTAGE", "ALIKE", "CLOCK", "CLOSE", "EXPLAINED", "FAR_RATIO", "FASTER", "FROZEN", "GAIN", "JUMP", "JUMP_SHARE",
    "LAG", "LAG_STEPS", "LIMIT", "LIMIT_SHARE", "MOST_TURNS_OUT", "MOVING", "NAMED_RATIOS", "POSES", "RATIO", "RELATED",
    "RUN", "SATURATED", "SHARE", "SHIFT", "SLOWEST", "STUCK", "STUCK_WAY", "TOO_FAST", "WINDOW",
]  # fmt: skip

WINDOW = 0.25
"""[s] Window for comparing differences of positions with integrated rates: long enough that quantisation (Baxter: 4e-4 rad)
is a hundredth of a slow joint's displacement, short compared with a swing."""

MOVING = 0.02
"""[rad/s or m/s] RMS speed below which a joint's rates are not checked. Baxter's slowest joint has 0.044."""

POSES = 0.05
"""[s] Time step above which zero rates may be those of a sequence of held poses, one sample each; motions are recorded at 20 Hz
and more."""

RATIO = 0.15
"""[1] Deviation from 1 of the rates' ratio to the slope of the positions. Baxter 0.991 to 1.010, Panda 0.999 to 1.000: what
noise and a driver's own filter make of it. The smallest mistake worth the name is a wrong gear."""

FAR_RATIO = 2.0
"""[1] Ratio (or its inverse) from which rates are refused: no filter does that; units, signs and gears do."""

CLOCK = 0.05
"""[1] That deviation if it is common to all joints, and so the clock's."""

ALIKE = 0.02
"""[1] Relative distance of the joints' ratios from their median within which they are alike. Baxter and Panda: 0.01."""

RELATED = 0.7
"""[1] Correlation of rates and slope below which the two are unrelated. Baxter 0.997, Panda 0.9999."""

LAG = 0.025
"""[s] Rates later or earlier than the slope of the positions. Baxter 13 to 14 ms, Panda 5 ms."""

LAG_STEPS = 2.0
"""[1] LAG in time steps: of two drivers' buffers."""

FROZEN = 0.05
"""[rad or m] Displacement by the rates while a position does not change a bit: a stuck sensor. Largest on
Baxter and on Panda: 0.006."""

JUMP = 0.1
"""[rad or m] Step of a position between two samples without a gap. Largest on Baxter 0.031, on Panda 0.009."""

JUMP_SHARE = 10.0
"""[1] JUMP as a multiple of the 90th percentile of steps. Largest on Baxter 3.8, on Panda 6.5 (uneven stamps)."""

LIMIT = 0.05
"""[rad or m] Tolerance beyond a limit of the description: another calibration of zero, a soft stop. Baxter and Panda
stay within."""

LIMIT_SHARE = 0.02
"""[1] LIMIT relative to the joint's range."""

MOST_TURNS_OUT = 1.0
"""[1] Excess of positions over the range, relative to the range, above which the recording is refused."""

FASTER = 2.0
"""[1] Multiple of the description's speed limit above which the speed (99th percentile) is reported. Baxter reaches 1.29
of it, Panda 0.83."""

TOO_FAST = 5.0
"""[1] Multiple above which the recording is refused: degrees are 57 times, motor sides 50 times and more."""

SLOWEST = 0.5
"""[s] Time step above which a clock in ms, µs or ns is suspected: arms are not recorded at 2 Hz."""

RUN = 10
"""[1] Consecutive samples at a torque's largest or smallest value during motion that count as saturation. Baxter, Panda:
3."""

SATURATED = 0.003
"""[1] Least part of all samples in such runs. Baxter and Panda: 0."""

STUCK = 0.5
"""[s] Duration for which a stuck torque keeps its value to the last bit. Baxter 0.08, Panda 0.02."""

STUCK_WAY = 0.05
"""[rad or m] Displacement of the joint meanwhile: at rest the torque may be constant."""

EXPLAINED = 0.45
"""[1] Unexplained part of a torque (after rigid body, friction and a listed spring) below which gain and time shift are
checked. Baxter's large joints 0.03 to 0.15, its w0 0.29 to 0.55; Panda 0.03 to 0.30."""

ADVANTAGE = 0.8
"""[1] Ratio of the unexplained parts with a reversed sign or exchanged joints and as recorded, below which that hypothesis is
accepted. On Baxter and Panda turning a sign multiplies it by 1.8 at least, exchanging two by 1.7."""

SHARE = 0.7
"""[1] Least part of a torque's deviation from the rigid body for a check of its gain: light joints are all
friction."""

GAIN = 2.0
"""[1] Measured torque over that of the description (or its inverse). Baxter 0.68 to 1.02, Panda 0.66 to 0.91. A motor's
current in amperes is a tenth of it, its torque before the gear a hundredth."""

SHIFT = 0.04
"""[s] Delay of torques after the motion or before it, if the shift also explains more. Baxter −30 to 0 ms; Panda's large
joints 0, its wrist's best shift explains nothing."""

CLOSE = 0.1
"""[1] Relative distance to a named ratio for its name to be reported."""

NAMED_RATIOS = {
    -1.0: "reversed in sign",
    math.degrees(1.0): "in degrees a second",
    math.radians(1.0): "in rad/s beside positions in degrees",
    30.0 / math.pi: "in revolutions a minute",
    0.5 / math.pi: "in revolutions a second",
    1e3: "in thousandths (mm/s), or the time is in ms",
    1e-3: "in m/s beside positions in mm, or the time in ks",
}
"""Ratios of rates to the slope of positions that a unit makes."""
