"""The speed limits of a Franka Research 3 that shrink towards its position limits."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.model.limits import Approach

__all__ = ["APPROACH"]

APPROACH = Approach(
    deceleration=np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0]),
    offset=np.array([0.30, 0.20, 0.2005, 0.30, 0.35, 0.35, 0.35]),
    lower=np.array([-2.7501, -1.7918, -2.9007, -3.0481, -2.8101, 0.54092, -3.0196]),
    upper=np.array([2.7501, 1.7918, 2.9007, -0.1458, 2.8101, 4.5205, 3.0196]),
)
"""Beyond them the robot ends a motion (joint_velocity_violation). Franka's documentation, "Limits for Franka Research 3".

Newer systems tell limits of their own in the robot's description. Joint 3 has those that the driver's simulator carries; where
those of the others are below these, it is by 2.3 % at the most, a quarter of what the guard keeps away.
"""
