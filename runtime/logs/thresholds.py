"""Where a recording stops being believed: one table of numbers, each with what physical recordings show.

Recordings: twelve of a Baxter's left arm (100 Hz, encoder quanta of 4e-4 rad, series-elastic torque sensors) and one of a Panda
(1 kHz, stamps 0.7 to 8.8 ms apart). Each number lies well outside of what they have, and inside of what the mistake makes.
"""

from __future__ import annotations

import math

__all__ = [
    "ADVANTAGE", "ALIKE", "CLOCK", "CLOSE", "EXPLAINED", "FAR_RATIO", "FASTER", "FROZEN", "GAIN", "JUMP", "JUMP_SHARE",
    "LAG", "LAG_STEPS", "LIMIT", "LIMIT_SHARE", "MOST_TURNS_OUT", "MOVING", "NAMED_RATIOS", "POSES", "RATIO", "RELATED",
    "RUN", "SATURATED", "SHARE", "SHIFT", "SLOWEST", "STUCK", "STUCK_WAY", "TOO_FAST", "WINDOW",
]  # fmt: skip

WINDOW = 0.25
"""[s] Over which positions are differenced and rates are added up before the two are compared: long enough that an
encoder's quantum (Baxter: 4e-4 rad) is a hundredth of a slow joint's way, short against a swing."""

MOVING = 0.02
"""[rad/s or m/s] RMS speed below which a joint says nothing about its rates. Baxter's slowest joint has 0.044."""

POSES = 0.05
"""[s] Step of time from which rates of zero may be those of poses held one after the other, sampled once each; motions are
recorded at 20 Hz and more."""

RATIO = 0.15
"""[1] Deviation from 1 of the rates' ratio to the slope of the positions. Baxter 0.991 to 1.010, Panda 0.999 to 1.000: what
noise and a driver's own filter make of it. The smallest mistake worth the name is a wrong gear."""

FAR_RATIO = 2.0
"""[1] Ratio (or its inverse) from which rates are refused: no filter does that; units, signs and gears do."""

CLOCK = 0.05
"""[1] The same deviation where it is the clock's: of all joints' ratios alike."""

ALIKE = 0.02
"""[1] Relative distance of the joints' ratios from their median within which they are alike. Baxter and Panda: 0.01."""

RELATED = 0.7
"""[1] Correlation of rates and slope below which the two have nothing to do with each other. Baxter 0.997, Panda 0.9999."""

LAG = 0.025
"""[s] Rates later or earlier than the slope of the positions. Baxter 13 to 14 ms, Panda 5 ms."""

LAG_STEPS = 2.0
"""[1] The same in steps of time: what two drivers' buffers add."""

FROZEN = 0.05
"""[rad or m] Way that the rates tell of while a position stands still to the last bit: a sensor that stuck. Largest on
Baxter and on Panda: 0.006."""

JUMP = 0.1
"""[rad or m] Step of a position between two samples without a gap. Largest on Baxter 0.031, on Panda 0.009."""

JUMP_SHARE = 10.0
"""[1] The same as a multiple of what nine of ten steps stay below. Largest on Baxter 3.8, on Panda 6.5 (uneven stamps)."""

LIMIT = 0.05
"""[rad or m] Beyond a limit of the description: a zero that was calibrated otherwise, a limit that gives. Baxter and Panda
stay within."""

LIMIT_SHARE = 0.02
"""[1] The same as part of the joint's range."""

MOST_TURNS_OUT = 1.0
"""[1] Ranges of a joint by which its positions may leave it; beyond, that is from twice the range in all, the recording is
refused."""

FASTER = 2.0
"""[1] Multiple of the description's speed limit at which the speed (all but a hundredth of it) is said. Baxter reaches 1.29
of it, Panda 0.83."""

TOO_FAST = 5.0
"""[1] And at which the recording is refused: degrees are 57 times, motor sides 50 times and more."""

SLOWEST = 0.5
"""[s] Step of time from which a clock in ms, µs or ns is suspected: nobody records an arm's motion at 2 Hz."""

RUN = 10
"""[1] Samples in a row at a torque's largest or smallest value, the joint moving, that make it saturated. Baxter, Panda:
3."""

SATURATED = 0.003
"""[1] Part of all samples that such runs make at least. Baxter and Panda: 0."""

STUCK = 0.5
"""[s] For which a torque keeps its value to the last bit, to be called stuck. Baxter 0.08, Panda 0.02."""

STUCK_WAY = 0.05
"""[rad or m] Way of the joint meanwhile: at rest the same torque may be held."""

EXPLAINED = 0.45
"""[1] Part of a torque that rigid body, friction and a listed spring leave unexplained, below which gain and shift in time
are judged. Baxter's large joints 0.03 to 0.15, its w0 0.29 to 0.55; Panda 0.03 to 0.30."""

ADVANTAGE = 0.8
"""[1] What is left unexplained with a sign turned or two joints exchanged, as part of what is left as it stands, from which
that is believed. On Baxter and Panda turning a sign multiplies it by 1.8 at least, exchanging two by 1.7."""

SHARE = 0.7
"""[1] Part of a torque's deviation that the rigid body must make for its gain to be judged: light joints are all
friction."""

GAIN = 2.0
"""[1] Measured torque over that of the description (or its inverse). Baxter 0.68 to 1.02, Panda 0.66 to 0.91. A motor's
current in amperes is a tenth of it, its torque before the gear a hundredth."""

SHIFT = 0.04
"""[s] Torques later or earlier than the motion, where the shift also explains more. Baxter −30 to 0 ms; Panda's large
joints 0, its wrist's best shift explains nothing."""

CLOSE = 0.1
"""[1] Relative distance to a ratio with a name, at which the name is said."""

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
