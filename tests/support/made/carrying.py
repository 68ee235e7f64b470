"""A Franka that carries a load."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.load import Body, with_payload

HAND = Body(0.73, np.array([-0.01, 0.0, 0.03]), np.diag([0.001, 0.0025, 0.0017]))
"""What the driver says of the Franka Hand, in the flange's frame."""


TURN = np.array([[np.sqrt(0.5), np.sqrt(0.5), 0.0], [-np.sqrt(0.5), np.sqrt(0.5), 0.0], [0.0, 0.0, 1.0]])
"""The tip's axes in the flange's frame."""


REACH = np.array([0.0, 0.0, 0.1034])


def carrying(robot: Robot, body: Body) -> np.ndarray:
    return with_payload(robot, robot.alpha.defaults, body.seen(TURN.T, -TURN.T @ REACH))
