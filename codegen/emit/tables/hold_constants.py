"""Named numbers and statuses of damped_hold, the torque of a controller without a plan, with unit and reason."""

from __future__ import annotations

import math
from typing import Final

from diffpbd.runtime.folder.manifest import Constant

HOLD_CONSTANTS: Final = (
    Constant(
        "hold_rate",
        40.0,
        "1/s",
        "damped_hold: fastest decay of a motion, which states that come 20 ms later than told leave stable",
    ),
    Constant(
        "hold_share",
        math.exp(-1.0),
        "1",
        "damped_hold: decay during the dead time, a tick and a half beside the delay; more would overshoot",
    ),
    Constant("hold_ahead", 0.5, "rad or m", "damped_hold: largest motion until the torque acts that is looked ahead"),
    Constant("hold_sweeps", 30, "1", "damped_hold: sweeps over the motors for the nearest torque within the bounds"),
    Constant("hold_ridge", 1e-6, "1", "damped_hold: regularisation of the mobility where motors are redundant"),
)

HOLD_BAD_INPUT, HOLD_UNDAMPED = 33, 34
HOLD_STATUS: Final = {
    HOLD_BAD_INPUT: "damped_hold: the pose or a parameter is not finite, or bounds contradict each other; u is 0",
    HOLD_UNDAMPED: "damped_hold: rates or the delay are not finite, or the inertia is singular; u holds without damping",
}
"""Its statuses beside those of the functions that it calls."""
HOLD_NAMES: Final = {HOLD_BAD_INPUT: "HOLD_BAD_INPUT", HOLD_UNDAMPED: "HOLD_UNDAMPED"}
"""Their names in the header, after <ROBOT>_STATUS_."""
